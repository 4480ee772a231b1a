! A free-surface, hydrostatic ocean in a channel (ROMS-like).
!
! Many two- and three-dimensional fields behind pointers in derived types.  Each step
! runs fast barotropic sub-steps on a few 2-D fields, then density, momentum, tracers
! and an implicit vertical mixing on the 3-D ones.  Tracers are advected in flux form
! and the sea surface is a divergence, so their totals are kept: that is the check.
!
!   ocean [SIZE [STEPS]]     2 SIZE x SIZE x 24 cells
module ocean_types
  implicit none
  integer, parameter :: dp = selected_real_kind(15), fast_steps = 30
  real(dp), parameter :: g = 9.81_dp, f0 = 1e-4_dp, dx = 4000, depth_step = 40
  real(dp), parameter :: dt_fast = 10, dt = dt_fast*fast_steps
  integer :: nx, ny, nz = 24

  type surface_fields
    real(dp), pointer :: zeta(:, :), ubar(:, :), vbar(:, :), forcing_u(:, :), forcing_v(:, :)
    real(dp), pointer :: mean_u(:, :), mean_v(:, :)
  end type
  type volume_fields
    real(dp), pointer :: u(:, :, :), v(:, :, :), w(:, :, :), rho(:, :, :), pressure(:, :, :)
    real(dp), pointer :: tracer(:, :, :, :)
  end type
  type mixing_fields
    real(dp), pointer :: viscosity(:, :, :), diffusivity(:, :, :)
  end type
  type static_fields
    real(dp), pointer :: depth(:, :), coriolis(:, :), stress(:, :), latitude(:, :), longitude(:, :)
    real(dp), pointer :: climate(:, :, :, :) ! what the tracers started from
  end type
  type average_fields
    real(dp), pointer :: zeta(:, :), u(:, :, :), v(:, :, :), tracer(:, :, :, :)
  end type

  type(surface_fields) :: surface
  type(volume_fields) :: volume
  type(mixing_fields) :: mixing
  type(static_fields) :: fixed
  type(average_fields) :: average

contains

  subroutine new_2d(field)
    real(dp), pointer, intent(out) :: field(:, :)
    allocate (field(nx, ny))
    field = 0
  end subroutine

  subroutine new_3d(field)
    real(dp), pointer, intent(out) :: field(:, :, :)
    allocate (field(nx, ny, nz))
    field = 0
  end subroutine

  subroutine new_4d(field)
    real(dp), pointer, intent(out) :: field(:, :, :, :)
    allocate (field(nx, ny, nz, 2))
    field = 0
  end subroutine

  pure integer function east(i)
    integer, intent(in) :: i
    east = merge(1, i + 1, i == nx)
  end function

  pure integer function west(i)
    integer, intent(in) :: i
    west = merge(nx, i - 1, i == 1)
  end function
end module

module ocean_setup
  use ocean_types
  implicit none

contains

  subroutine build()
    integer :: i, j, k
    call new_2d(surface%zeta); call new_2d(surface%ubar); call new_2d(surface%vbar)
    call new_2d(surface%forcing_u); call new_2d(surface%forcing_v)
    call new_2d(surface%mean_u); call new_2d(surface%mean_v)
    call new_3d(volume%u); call new_3d(volume%v); call new_3d(volume%w)
    call new_3d(volume%rho); call new_3d(volume%pressure); call new_4d(volume%tracer)
    call new_3d(mixing%viscosity); call new_3d(mixing%diffusivity)
    call new_2d(fixed%depth); call new_2d(fixed%coriolis); call new_2d(fixed%stress)
    call new_2d(fixed%latitude); call new_2d(fixed%longitude); call new_4d(fixed%climate)
    call new_2d(average%zeta); call new_3d(average%u); call new_3d(average%v)
    call new_4d(average%tracer)
    do j = 1, ny
      do i = 1, nx
        fixed%longitude(i, j) = 0.04_dp*i
        fixed%latitude(i, j) = 40 + 0.04_dp*j
        fixed%depth(i, j) = nz*depth_step
        fixed%coriolis(i, j) = f0*(1 + 0.001_dp*(j - ny/2))
        fixed%stress(i, j) = 1e-4_dp*sin(3.14159_dp*j/ny)
        surface%zeta(i, j) = 0.1_dp*exp(-((i - nx/2)**2 + (j - ny/2)**2)/100.0_dp)
      end do
    end do
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          volume%tracer(i, j, k, 1) = 5 + 15.0_dp*k/nz + sin(0.1_dp*i)*cos(0.1_dp*j)
          volume%tracer(i, j, k, 2) = 35 - 0.5_dp*k/nz
        end do
      end do
    end do
    fixed%climate = volume%tracer
  end subroutine
end module

module ocean_step
  use ocean_types
  implicit none

contains

  ! Forward-backward sub-steps of the depth mean; leaves the mean flow over them.
  subroutine barotropic()
    integer :: n, i, j
    real(dp) :: in, out
    surface%mean_u = 0
    surface%mean_v = 0
    do n = 1, fast_steps
      !$omp parallel do private(i, in, out)
      do j = 1, ny
        do i = 1, nx
          out = surface%ubar(i, j) + surface%vbar(i, j)
          in = surface%ubar(west(i), j)
          if (j > 1) in = in + surface%vbar(i, j - 1)
          surface%zeta(i, j) = surface%zeta(i, j) - dt_fast/dx*fixed%depth(i, j)*(out - in)
        end do
      end do
      !$omp parallel do private(i)
      do j = 1, ny
        do i = 1, nx
          surface%ubar(i, j) = surface%ubar(i, j) + dt_fast*(surface%forcing_u(i, j) &
            - g*(surface%zeta(east(i), j) - surface%zeta(i, j))/dx)
          if (j < ny) surface%vbar(i, j) = surface%vbar(i, j) + dt_fast*(surface%forcing_v(i, j) &
            - g*(surface%zeta(i, j + 1) - surface%zeta(i, j))/dx)
          surface%mean_u(i, j) = surface%mean_u(i, j) + surface%ubar(i, j)/fast_steps
          surface%mean_v(i, j) = surface%mean_v(i, j) + surface%vbar(i, j)/fast_steps
        end do
      end do
    end do
  end subroutine

  subroutine density_and_pressure()
    integer :: i, j, k
    !$omp parallel do private(i, k)
    do j = 1, ny
      do k = nz, 1, -1
        do i = 1, nx
          volume%rho(i, j, k) = -0.2_dp*(volume%tracer(i, j, k, 1) - 10) &
            + 0.77_dp*(volume%tracer(i, j, k, 2) - 35) - 0.005_dp*(volume%tracer(i, j, k, 1) - 10)**2
          volume%pressure(i, j, k) = g/1025*depth_step*volume%rho(i, j, k)
          if (k < nz) volume%pressure(i, j, k) = volume%pressure(i, j, k) + volume%pressure(i, j, k + 1)
        end do
      end do
    end do
  end subroutine

  subroutine mixing_coefficients()
    integer :: i, j, k
    real(dp) :: shear, stability
    !$omp parallel do private(i, k, shear, stability)
    do j = 1, ny
      do k = 1, nz - 1
        do i = 1, nx
          shear = (volume%u(i, j, k + 1) - volume%u(i, j, k))**2 &
            + (volume%v(i, j, k + 1) - volume%v(i, j, k))**2
          stability = max(0.0_dp, volume%rho(i, j, k) - volume%rho(i, j, k + 1))
          mixing%viscosity(i, j, k) = 1e-4_dp + 1e-2_dp*shear/(shear + stability + 1e-3_dp)
          mixing%diffusivity(i, j, k) = 1e-5_dp + 0.1_dp*mixing%viscosity(i, j, k)
        end do
      end do
    end do
  end subroutine

  subroutine momentum()
    real(dp), allocatable :: turn_u(:, :), turn_v(:, :)
    integer :: i, j, k
    real(dp) :: du, dv
    allocate (turn_u(nx, ny), turn_v(nx, ny))
    do k = 1, nz
      turn_u = fixed%coriolis*volume%v(:, :, k)
      turn_v = -fixed%coriolis*volume%u(:, :, k)
      !$omp parallel do private(i, du, dv)
      do j = 1, ny
        do i = 1, nx
          du = turn_u(i, j) - (volume%pressure(east(i), j, k) - volume%pressure(i, j, k))/dx
          if (k == nz) du = du + fixed%stress(i, j)/depth_step
          volume%u(i, j, k) = volume%u(i, j, k) + dt*du
          if (j == ny) cycle
          dv = turn_v(i, j) - (volume%pressure(i, j + 1, k) - volume%pressure(i, j, k))/dx
          volume%v(i, j, k) = volume%v(i, j, k) + dt*dv
        end do
      end do
    end do
    ! The depth mean belongs to the barotropic mode.
    turn_u = surface%mean_u - sum(volume%u, dim=3)/nz
    turn_v = surface%mean_v - sum(volume%v, dim=3)/nz
    do k = 1, nz
      volume%u(:, :, k) = volume%u(:, :, k) + turn_u
      volume%v(:, :, k) = volume%v(:, :, k) + turn_v
    end do
    surface%forcing_u = fixed%coriolis*surface%mean_v + fixed%stress/fixed%depth
    surface%forcing_v = -fixed%coriolis*surface%mean_u
  end subroutine

  subroutine vertical_velocity()
    integer :: i, j, k
    real(dp) :: out, in
    !$omp parallel do private(i, k, out, in)
    do j = 1, ny
      do k = 1, nz - 1
        do i = 1, nx
          out = volume%u(i, j, k) + volume%v(i, j, k)
          in = volume%u(west(i), j, k)
          if (j > 1) in = in + volume%v(i, j - 1, k)
          volume%w(i, j, k) = (in - out)*depth_step/dx
          if (k > 1) volume%w(i, j, k) = volume%w(i, j, k) + volume%w(i, j, k - 1)
        end do
      end do
    end do
  end subroutine

  subroutine advect(t)
    real(dp), intent(inout) :: t(:, :, :)
    real(dp), allocatable :: flux_x(:, :, :), flux_y(:, :, :), flux_z(:, :, :)
    integer :: i, j, k
    allocate (flux_x(nx, ny, nz), flux_y(nx, 0:ny, nz), flux_z(nx, ny, 0:nz))
    !$omp parallel do private(i, j)
    do k = 1, nz
      flux_y(:, 0, k) = 0
      flux_y(:, ny, k) = 0
      do j = 1, ny
        do i = 1, nx
          flux_x(i, j, k) = dt/dx*upwind(volume%u(i, j, k), t(i, j, k), t(east(i), j, k))
          if (j < ny) flux_y(i, j, k) = dt/dx*upwind(volume%v(i, j, k), t(i, j, k), t(i, j + 1, k))
        end do
      end do
      flux_z(:, :, k) = 0
      if (k == nz) cycle
      do j = 1, ny
        do i = 1, nx
          flux_z(i, j, k) = dt/depth_step*upwind(volume%w(i, j, k), t(i, j, k), t(i, j, k + 1))
        end do
      end do
    end do
    flux_z(:, :, 0) = 0
    !$omp parallel do private(i, j)
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          t(i, j, k) = t(i, j, k) - (flux_x(i, j, k) - flux_x(west(i), j, k)) &
            - (flux_y(i, j, k) - flux_y(i, j - 1, k)) - (flux_z(i, j, k) - flux_z(i, j, k - 1))
        end do
      end do
    end do
  end subroutine

  pure real(dp) function upwind(speed, here, there)
    real(dp), intent(in) :: speed, here, there
    upwind = speed*merge(here, there, speed > 0)
  end function

  ! Solves (1 - d/dz K d/dz) t = t, one column of tridiagonal systems a row of cells.
  subroutine mix(t, coefficient)
    real(dp), intent(inout) :: t(:, :, :)
    real(dp), intent(in) :: coefficient(:, :, :)
    real(dp), allocatable :: upper(:, :), pivot(:)
    real(dp) :: a, c
    integer :: i, j, k
    !$omp parallel do private(i, k, a, c, upper, pivot)
    do j = 1, ny
      allocate (upper(nx, nz), pivot(nx))
      do k = 1, nz
        do i = 1, nx
          a = 0
          c = 0
          if (k > 1) a = -dt/depth_step**2*coefficient(i, j, k - 1)
          if (k < nz) c = -dt/depth_step**2*coefficient(i, j, k)
          pivot(i) = 1 - a - c
          if (k > 1) pivot(i) = pivot(i) - a*upper(i, k - 1)
          upper(i, k) = c/pivot(i)
          if (k > 1) t(i, j, k) = t(i, j, k) - a*t(i, j, k - 1)
          t(i, j, k) = t(i, j, k)/pivot(i)
        end do
      end do
      do k = nz - 1, 1, -1
        do i = 1, nx
          t(i, j, k) = t(i, j, k) - upper(i, k)*t(i, j, k + 1)
        end do
      end do
      deallocate (upper, pivot)
    end do
  end subroutine

  subroutine step(n)
    integer, intent(in) :: n
    integer :: which
    call density_and_pressure()
    call mixing_coefficients()
    call barotropic()
    call momentum()
    call mix(volume%u, mixing%viscosity)
    call mix(volume%v, mixing%viscosity)
    call vertical_velocity()
    do which = 1, 2
      call advect(volume%tracer(:, :, :, which))
      call mix(volume%tracer(:, :, :, which), mixing%diffusivity)
    end do
    average%zeta = average%zeta + surface%zeta
    if (mod(n, 5) /= 0) return
    average%u = average%u + volume%u
    average%v = average%v + volume%v
    average%tracer = average%tracer + volume%tracer
  end subroutine
end module

program ocean
  use ocean_setup
  use ocean_step
  implicit none
  integer :: size, steps, n
  integer(8) :: t0, t1, rate
  real(dp) :: drift
  character(len=:), allocatable :: verdict
  size = argument(1, 112)
  steps = argument(2, 6)
  if (size < 8 .or. size > 2000 .or. steps < 1) then
    write (0, '(a)') 'usage: ocean [SIZE [STEPS]]: 8 <= SIZE <= 2000, STEPS >= 1'
    stop 2, quiet=.true.
  end if
  nx = 2*size
  ny = size
  call build()
  drift = sum(surface%zeta)
  call system_clock(t0, rate)
  do n = 1, steps
    call step(n)
  end do
  call system_clock(t1)
  drift = abs(sum(surface%zeta) - drift)/nx/ny
  drift = max(drift, abs(total(volume%tracer)/total(fixed%climate) - 1))
  verdict = 'kept'
  if (.not. drift < 1e-12_dp) verdict = 'LOST'
  print '(a,a)', 'check: water, heat and salt ', verdict
  print '(a,es17.10)', 'checksum: ', sum(surface%zeta**2) + sum(volume%u**2) &
    + sum(volume%tracer**2)/nx/ny + sum(average%zeta**2) + sum(average%u**2)
  print '(a,es10.3,a)', 'metric: ', real(nx, dp)*ny*nz*steps*rate/max(t1 - t0, 1_8), ' cell steps/s'
  if (verdict /= 'kept') stop 1, quiet=.true.

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

  ! Columns first: one running sum over millions of cells would itself drift by more than 1e-12.
  real(dp) function total(field)
    real(dp), intent(in) :: field(:, :, :, :)
    total = sum(sum(sum(sum(field, 1), 1), 1))
  end function
end program
