! Fortran's ALLOCATE in its forms: each array is in the tier of the procedure that made it.
module fields
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: n = 60000
  real(8), allocatable, target :: density(:), pressure(:)
  type :: cell_set
    real(8), allocatable :: mass(:)
  end type
  interface
    subroutine expect_tier(block, bytes, tier) bind(c)
      import :: c_ptr, c_size_t, c_int
      type(c_ptr), value :: block
      integer(c_size_t), value :: bytes
      integer(c_int), value :: tier
    end subroutine
    function finish_test() bind(c) result(status)
      import :: c_int
      integer(c_int) :: status
    end function
  end interface
contains
  subroutine fast_module_array()
    allocate (density(n))
  end subroutine
  subroutine slow_module_array()
    allocate (pressure(n))
  end subroutine
  subroutine fast_component(set)
    type(cell_set), intent(inout) :: set
    allocate (set%mass(n), source=1.0d0)
  end subroutine
  subroutine slow_component(set)
    type(cell_set), intent(inout) :: set
    allocate (set%mass(n), source=1.0d0)
  end subroutine
  subroutine fast_pointer(p)
    real(8), pointer, intent(out) :: p(:)
    allocate (p(n))
  end subroutine
  subroutine slow_pointer(p)
    real(8), pointer, intent(out) :: p(:)
    allocate (p(n))
  end subroutine
  subroutine fast_text(text)
    character(:), allocatable, intent(out) :: text
    allocate (character(20000) :: text)
  end subroutine
  subroutine slow_assigned(a, b)
    real(8), allocatable, intent(inout) :: a(:)
    real(8), intent(in) :: b(:)
    a = b
  end subroutine
  subroutine check(a, tier)
    real(8), intent(in), target, contiguous :: a(:)
    integer(c_int), intent(in) :: tier
    call expect_tier(c_loc(a(1)), 8_c_size_t*size(a, kind=c_size_t), tier)
  end subroutine
end module

program placement
  use fields
  implicit none
  type(cell_set), target :: hot, cold
  real(8), pointer :: p(:), q(:)
  character(:), allocatable, target :: text
  real(8), allocatable :: assigned(:)
  integer :: round

  do round = 1, 3
    call fast_module_array()
    call slow_module_array()
    call fast_component(hot)
    call slow_component(cold)
    call fast_pointer(p)
    call slow_pointer(q)
    call fast_text(text)
    density = 1
    pressure = 2
    p = 3
    q = 4
    text = repeat('x', 20000)
    call slow_assigned(assigned, density)
    call check(density, 0)
    call check(pressure, 1)
    call check(hot%mass, 0)
    call check(cold%mass, 1)
    call check(p, 0)
    call check(q, 1)
    call check(assigned, 1)
    call expect_tier(c_loc(text), 20000_c_size_t, 0)
    deallocate (density, pressure, hot%mass, cold%mass, p, q, text, assigned)
  end do
  if (finish_test() /= 0) stop 1
end program
