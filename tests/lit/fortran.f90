! Each form of ALLOCATE, and what allocates without saying so, at each -O level.
! RUN: %options="module=x;context=1;twins=off" %flang -g -O0 %s %link -o %t.0
! RUN: %options="module=x;context=1;twins=off" %flang -g -O3 %s %link -o %t.3
! RUN: %flang -O1 %s -o %t.plain
! RUN: %t.plain > %t.expected
! RUN: env KEYS=1 %t.0 > %t.out 2> %t.keys
! RUN: cmp %t.out %t.expected
! RUN: FileCheck %s < %t.keys
! RUN: env KEYS=1 %t.3 > %t.out 2> %t.keys
! RUN: cmp %t.out %t.expected
! RUN: FileCheck %s < %t.keys
! RUN: FileCheck %s --check-prefix=CARRIED < %t.keys

! Whatever is carried across a library call is set back.
! CARRIED: _FortranA{{.*}} x!
! CARRIED-NEXT: {{carried|_FortranA}}
module forms
  implicit none
  type node
    integer :: value = 1
    real(8), allocatable :: part(:)
    type(node), pointer :: next => null()
  end type
  type, extends(node) :: large
    real(8) :: room(10) = 2
  end type
  real(8), allocatable :: in_module(:,:)
contains
  function result_of(n) result(r)
    integer, intent(in) :: n
    real(8), allocatable :: r(:)
    allocate(r(n)); r = 1
  end function
  subroutine by_dummy(a, n)
    real(8), allocatable, intent(inout) :: a(:)
    integer, intent(in) :: n
    if (.not. allocated(a)) allocate(a(n))
    a = 7
  end subroutine
  subroutine all_forms(n)
    integer, intent(in) :: n
    real(8), allocatable :: x(:), y(:), z(:), q(:,:), d(:)
    character(len=:), allocatable :: s, t
    type(node), pointer :: p
    class(node), allocatable :: c
    type(node), allocatable :: nodes(:)
    real(8), pointer :: rp(:)
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(x(n)); x = 1
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(y, source=x)
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(z, mold=x); z = 3
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(in_module(n,n)); in_module = 4
    ! CHECK: x!forms::result_of@lit/fortran.f90:32:5 < forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    z = result_of(n)
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    z = [x, y]
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(character(len=n) :: s)
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    s = repeat('a', 3*n)
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    t = trim(s)//'b'
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(p)
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(p%part(n)); p%part = 5
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(p%next)
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(large :: c)
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(nodes(n))
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    allocate(rp(n)); rp = 6
    ! CHECK: x!forms::by_dummy@lit/fortran.f90:37:29 < forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    call by_dummy(d, n)
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    q = reshape(x, [n/2, 2])
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    q = matmul(q, transpose(q))
    ! CHECK: x!forms::all_forms@lit/fortran.f90:[[#@LINE+1]]:
    nodes(1)%part = x
    print *, sum(x), sum(y), sum(z), sum(q), sum(in_module), s, t, p%part(1), p%next%value
    print *, c%value, size(nodes), rp(1), sum(d), nodes(1)%part(1)
  end subroutine
end module
program main
  use forms
  call all_forms(10 + command_argument_count())
end program
