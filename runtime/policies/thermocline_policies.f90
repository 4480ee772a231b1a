! The policies of policies.h for Fortran: compile this file with the program, and link with
! -lthermocline-policies.
!
!     use thermocline_policies
!     real(real64), pointer :: field(:)
!     call tc_spill_array(field, n)          ! or tc_write_heavy_array, tc_read_mostly_array
!     if (.not. associated(field)) error stop tc_policy_message()
!     ...
!     call tc_free_array(field)
!
! Arrays of other types and ranks: c_f_pointer on what tc_spill and its like return.
module thermocline_policies
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: tc_memory, tc_socket, tc_spill_options, tc_isolation_options
  public :: tc_memory_detect, tc_spill, tc_write_heavy, tc_read_mostly, tc_policy_free, tc_run_near
  public :: tc_limit_writers, tc_write_begin, tc_write_end, tc_allow_page_cache
  public :: tc_memory_from_text, tc_policy_message
  public :: tc_spill_array, tc_write_heavy_array, tc_read_mostly_array, tc_free_array

  integer, parameter :: max_sockets = 16
  integer(c_int), parameter :: tc_allow_page_cache = 1

  type, bind(c) :: tc_socket
    integer(c_int) :: fast = 0, big = -1
  end type
  type, bind(c) :: tc_memory
    integer(c_int) :: sockets = 0
    type(tc_socket) :: socket(max_sockets)
    integer(c_int) :: fast_percent = 0, big_percent = 0
  end type
  type, bind(c) :: tc_spill_options
    type(c_ptr) :: memory = c_null_ptr
    integer(c_size_t) :: block_bytes = 0
    integer(c_int) :: weighted = 0
  end type
  type, bind(c) :: tc_isolation_options
    type(c_ptr) :: memory = c_null_ptr
    integer(c_size_t) :: block_bytes = 0
    type(c_ptr) :: directories = c_null_ptr
    integer(c_int) :: directory_count = 0, flags = 0
  end type

  interface
    integer(c_int) function tc_memory_detect(memory) bind(c)
      import :: c_int, tc_memory
      type(tc_memory), intent(out) :: memory
    end function
    type(c_ptr) function tc_spill(bytes, options) bind(c)
      import :: c_ptr, c_size_t, tc_spill_options
      integer(c_size_t), value :: bytes
      type(tc_spill_options), intent(in), optional :: options
    end function
    type(c_ptr) function tc_write_heavy(bytes, options) bind(c)
      import :: c_ptr, c_size_t, tc_isolation_options
      integer(c_size_t), value :: bytes
      type(tc_isolation_options), intent(in), optional :: options
    end function
    type(c_ptr) function tc_read_mostly(bytes, options) bind(c)
      import :: c_ptr, c_size_t, tc_isolation_options
      integer(c_size_t), value :: bytes
      type(tc_isolation_options), intent(in), optional :: options
    end function
    subroutine tc_policy_free(start, bytes) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: start
      integer(c_size_t), value :: bytes
    end subroutine
    integer(c_int) function tc_run_near(p) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: p
    end function
    subroutine tc_limit_writers(most) bind(c)
      import :: c_int
      integer(c_int), value :: most
    end subroutine
    subroutine tc_write_begin() bind(c)
    end subroutine
    subroutine tc_write_end() bind(c)
    end subroutine
    integer(c_int) function memory_parse(memory, text) bind(c, name="tc_memory_parse")
      import :: c_char, c_int, tc_memory
      type(tc_memory), intent(out) :: memory
      character(kind=c_char), intent(in) :: text(*)
    end function
    type(c_ptr) function policy_error() bind(c, name="tc_policy_error")
      import :: c_ptr
    end function
  end interface

contains

  integer function tc_memory_from_text(memory, text) result(status)
    type(tc_memory), intent(out) :: memory
    character(*), intent(in) :: text
    status = memory_parse(memory, text//c_null_char)
  end function

  function tc_policy_message() result(message)
    character(:), allocatable :: message
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: text
    integer :: i
    text = policy_error()
    call c_f_pointer(text, letters, [320]) ! as long as the library's buffer
    message = ''
    do i = 1, size(letters)
      if (letters(i) == c_null_char) exit
      message = message//letters(i)
    end do
  end function

  subroutine tc_spill_array(array, n, options)
    real(real64), pointer, intent(out) :: array(:)
    integer(int64), intent(in) :: n
    type(tc_spill_options), intent(in), optional :: options
    call associate_array(array, n, tc_spill(8_c_size_t*n, options))
  end subroutine

  subroutine tc_write_heavy_array(array, n, options)
    real(real64), pointer, intent(out) :: array(:)
    integer(int64), intent(in) :: n
    type(tc_isolation_options), intent(in), optional :: options
    call associate_array(array, n, tc_write_heavy(8_c_size_t*n, options))
  end subroutine

  subroutine tc_read_mostly_array(array, n, options)
    real(real64), pointer, intent(out) :: array(:)
    integer(int64), intent(in) :: n
    type(tc_isolation_options), intent(in), optional :: options
    call associate_array(array, n, tc_read_mostly(8_c_size_t*n, options))
  end subroutine

  subroutine tc_free_array(array)
    real(real64), pointer, intent(inout) :: array(:)
    if (.not. associated(array)) return
    call tc_policy_free(c_loc(array), 8_c_size_t*size(array, kind=c_size_t))
    nullify (array)
  end subroutine

  subroutine associate_array(array, n, start)
    real(real64), pointer, intent(out) :: array(:)
    integer(int64), intent(in) :: n
    type(c_ptr), intent(in) :: start
    nullify (array)
    if (c_associated(start)) call c_f_pointer(start, array, [n])
  end subroutine

end module
