! Maxwell's equations in the time domain on Yee's grid (fotonik3d-like).
!
! A pulse in a dielectric waveguide with holes, between perfectly conducting walls.
! Fields are allocatable components, material tables are module allocatables, and a
! monitor accumulates Fourier components of one plane and a time-averaged energy
! density of the whole volume now and then.  Without losses the scheme keeps
! sum(eps E(n)^2 + H(n-1/2) H(n+1/2)) to rounding: that is the program's check.
!
!   fdtd [SIZE [STEPS]]     2 SIZE x SIZE x SIZE cells
module grid
  implicit none
  integer, parameter :: dp = selected_real_kind(15)
  integer :: nx, ny, nz
  real(dp) :: courant = 0.5_dp

  type vector_field
    real(dp), allocatable :: x(:, :, :), y(:, :, :), z(:, :, :)
  end type

contains

  subroutine allocate_field(f)
    type(vector_field), intent(inout) :: f
    allocate (f%x(0:nx, 0:ny, 0:nz), f%y(0:nx, 0:ny, 0:nz), f%z(0:nx, 0:ny, 0:nz))
    f%x = 0
    f%y = 0
    f%z = 0
  end subroutine
end module

module materials
  use grid
  implicit none
  integer, allocatable :: kind_of_cell(:, :, :)
  type(vector_field) :: inverse_eps

contains

  subroutine build_materials()
    integer :: i, j, k
    real(dp) :: table(0:2)
    table = [1.0_dp, 1/12.0_dp, 1/2.1_dp] ! air, core, substrate: 1/eps
    allocate (kind_of_cell(0:nx, 0:ny, 0:nz))
    call allocate_field(inverse_eps)
    do k = 0, nz
      do j = 0, ny
        do i = 0, nx
          kind_of_cell(i, j, k) = cell_kind(i, j, k)
        end do
      end do
    end do
    do k = 0, nz
      do j = 0, ny
        do i = 0, nx
          inverse_eps%x(i, j, k) = table(kind_of_cell(i, j, k))
          inverse_eps%y(i, j, k) = table(kind_of_cell(i, j, k))
          inverse_eps%z(i, j, k) = table(kind_of_cell(i, j, k))
        end do
      end do
    end do
  end subroutine

  pure integer function cell_kind(i, j, k)
    integer, intent(in) :: i, j, k
    cell_kind = 0
    if (k < nz/3) cell_kind = 2
    if (k >= nz/3 .and. k < 2*nz/3 .and. abs(j - ny/2) < ny/6) then
      cell_kind = 1
      if (mod(i, 8) < 3 .and. abs(j - ny/2) < 3) cell_kind = 0 ! holes
    end if
  end function
end module

module fields
  use grid
  use materials
  implicit none
  type(vector_field) :: e, h

contains

  subroutine build_fields()
    integer :: i, j, k
    real(dp) :: r2
    call allocate_field(e)
    call allocate_field(h)
    do k = 1, nz - 1
      do j = 1, ny - 1
        do i = 1, nx - 1
          r2 = (i - nx/4)**2 + (j - ny/2)**2 + (k - nz/2)**2
          e%z(i, j, k) = exp(-r2/36)
          e%y(i, j, k) = 0.5_dp*exp(-r2/25)
        end do
      end do
    end do
  end subroutine

  subroutine advance_h(product_sum)
    real(dp), intent(out) :: product_sum ! of the old H and the new one
    real(dp) :: change, total
    integer :: i, j, k
    total = 0
    !$omp parallel do private(i, j, change) reduction(+:total)
    do k = 0, nz - 1
      do j = 0, ny - 1
        do i = 0, nx - 1
          change = courant*((e%y(i, j, k + 1) - e%y(i, j, k)) - (e%z(i, j + 1, k) - e%z(i, j, k)))
          total = total + h%x(i, j, k)*(h%x(i, j, k) + change)
          h%x(i, j, k) = h%x(i, j, k) + change
          change = courant*((e%z(i + 1, j, k) - e%z(i, j, k)) - (e%x(i, j, k + 1) - e%x(i, j, k)))
          total = total + h%y(i, j, k)*(h%y(i, j, k) + change)
          h%y(i, j, k) = h%y(i, j, k) + change
          change = courant*((e%x(i, j + 1, k) - e%x(i, j, k)) - (e%y(i + 1, j, k) - e%y(i, j, k)))
          total = total + h%z(i, j, k)*(h%z(i, j, k) + change)
          h%z(i, j, k) = h%z(i, j, k) + change
        end do
      end do
    end do
    product_sum = total
  end subroutine

  ! Tangential E stays 0 on the walls, so only the inside is advanced.
  subroutine advance_e()
    integer :: i, j, k
    !$omp parallel do private(i, j)
    do k = 0, nz - 1
      do j = 0, ny - 1
        do i = 0, nx - 1
          if (j > 0 .and. k > 0) e%x(i, j, k) = e%x(i, j, k) + courant*inverse_eps%x(i, j, k)* &
            ((h%z(i, j, k) - h%z(i, j - 1, k)) - (h%y(i, j, k) - h%y(i, j, k - 1)))
          if (i > 0 .and. k > 0) e%y(i, j, k) = e%y(i, j, k) + courant*inverse_eps%y(i, j, k)* &
            ((h%x(i, j, k) - h%x(i, j, k - 1)) - (h%z(i, j, k) - h%z(i - 1, j, k)))
          if (i > 0 .and. j > 0) e%z(i, j, k) = e%z(i, j, k) + courant*inverse_eps%z(i, j, k)* &
            ((h%y(i, j, k) - h%y(i - 1, j, k)) - (h%x(i, j, k) - h%x(i, j - 1, k)))
        end do
      end do
    end do
  end subroutine

  real(dp) function electric_energy()
    integer :: i, j, k
    real(dp) :: total
    total = 0
    !$omp parallel do private(i, j) reduction(+:total)
    do k = 0, nz - 1
      do j = 0, ny - 1
        do i = 0, nx - 1
          total = total + e%x(i, j, k)**2/inverse_eps%x(i, j, k) &
            + e%y(i, j, k)**2/inverse_eps%y(i, j, k) + e%z(i, j, k)**2/inverse_eps%z(i, j, k)
        end do
      end do
    end do
    electric_energy = total
  end function
end module

module monitor
  use fields
  implicit none
  integer, parameter :: frequencies = 6
  complex(dp), allocatable :: spectrum(:, :, :) ! of Ez in one plane
  real(dp), allocatable :: mean_energy(:, :, :), trace(:)

contains

  subroutine build_monitor()
    allocate (spectrum(0:ny, 0:nz, frequencies), source=(0.0_dp, 0.0_dp))
    allocate (mean_energy(0:nx, 0:ny, 0:nz))
    mean_energy = 0
    trace = [real(dp) ::]
  end subroutine

  subroutine watch(step)
    integer, intent(in) :: step
    integer :: f, plane
    plane = nx/2
    do f = 1, frequencies
      spectrum(:, :, f) = spectrum(:, :, f) + e%z(plane, :, :)*exp(cmplx(0, -0.05_dp*f*step, dp))
    end do
    trace = [trace, e%z(nx/4, ny/2, nz/2)] ! grows by automatic reallocation
    if (mod(step, 8) == 0) mean_energy = mean_energy + e%x**2 + e%y**2 + e%z**2
  end subroutine
end module

program fdtd
  use monitor
  implicit none
  integer :: size, steps, step
  integer(8) :: t0, t1, rate
  real(dp) :: electric, magnetic, first, last, worst
  size = argument(1, 80)
  steps = argument(2, 16)
  if (size < 8 .or. size > 600 .or. steps < 2) then
    write (0, '(a)') 'usage: fdtd [SIZE [STEPS]]: 8 <= SIZE <= 600, STEPS >= 2'
    stop 2, quiet=.true.
  end if
  nx = 2*size
  ny = size
  nz = size
  call build_materials()
  call build_fields()
  call build_monitor()
  first = 0
  last = 0
  worst = 0
  call system_clock(t0, rate)
  do step = 1, steps
    if (step == 1 .or. step == steps) electric = electric_energy()
    call advance_h(magnetic)
    if (step == 1) first = electric + magnetic
    if (step == steps) last = electric + magnetic
    call advance_e()
    call watch(step)
  end do
  call system_clock(t1)
  worst = abs(last/first - 1)
  print '(a,a)', 'check: field energy ', merge('kept', 'LOST', worst < 1e-11_dp)
  print '(a,es17.10)', 'checksum: ', sum(abs(spectrum)) + sum(mean_energy) + sum(trace)
  print '(a,es10.3,a)', 'metric: ', real(nx, dp)*ny*nz*steps*rate/max(t1 - t0, 1_8), ' cell steps/s'
  if (worst >= 1e-11_dp) stop 1, quiet=.true.

contains

  integer function argument(n, default)
    integer, intent(in) :: n, default
    character(len=32) :: text
    integer :: status
    argument = default
    if (command_argument_count() < n) return
    call get_command_argument(n, text)
    read (text, *, iostat=status) argument
    if (status /= 0) argument = -1
  end function
end program
