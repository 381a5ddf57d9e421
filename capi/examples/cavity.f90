! Flow in a box whose lid moves, by the lattice Boltzmann method (D2Q9), in the memory of one lattice.
!
!   cavity KERNEL-FILE [CELLS [STEPS]]
!
! prints what the storage takes, the speed, and checksums of all populations and of what is observed of them, density
! and velocity: the same as those of cavity.c and cavity.cpp, bit for bit. Fails if mass was lost.
module cavity_output
  use crease
  use, intrinsic :: iso_c_binding, only: c_int32_t
  implicit none
contains
  ! Prints how far the run is.
  function tell(run, progress) result(answer)
    class(crease_run), intent(inout) :: run
    type(crease_progress), intent(in) :: progress
    integer(c_int32_t) :: answer
    print "('step ', i0, ' of ', i0)", run%step(), progress%end
    answer = crease_continue
  end function
end module

program cavity
  use crease
  use cavity_output, only: tell
  use, intrinsic :: iso_fortran_env, only: real64, int64
  implicit none
  real(real64), parameter :: weights(0:8) = [4, 1, 1, 1, 1, 0, 0, 0, 0] / 9.0_real64 + &
    [0, 0, 0, 0, 0, 1, 1, 1, 1] / 36.0_real64
  type(crease_kernel) :: kernel
  type(crease_planner) :: planner
  type(crease_plan) :: plan
  type(crease_code) :: code
  type(crease_run) :: run
  type(crease_footprint) :: footprint
  type(crease_progress) :: progress
  real(real64), allocatable, target :: f(:, :), density(:, :), velocity_x(:, :), velocity_y(:, :)
  integer(int64) :: checksum
  integer :: n, steps, q
  character(2) :: name
  character(1000) :: path

  if (command_argument_count() < 1) error stop "usage: cavity KERNEL-FILE [CELLS [STEPS]]"
  call get_command_argument(1, path)
  n = argument(2, 64)
  steps = argument(3, 1000)

  call kernel%read(path)
  call planner%new(kernel)
  call planner%size("N", n)
  call planner%build(plan)
  call plan%footprint(footprint)
  print "('folded ', i0, ' bytes, two lattices ', i0, ' bytes')", footprint%folded_bytes, 2 * 9 * 8 * n * n
  call plan%compile(code)
  call code%instantiate(run)
  call run%set("omega", 1.7_real64)
  call run%set("u_lid", 0.1_real64)
  do q = 0, 8 ! at rest
    write (name, "('f', i1)") q
    call run%fill(name, weights(q))
  end do
  call run%advance_with(steps, steps / 2 + 1, tell, progress)
  print "(f0.1, ' million cells a second')", 1e-6_real64 * real(n, real64)**2 * progress%steps_per_second

  allocate (f(n, n))
  checksum = 0
  do q = 0, 8
    write (name, "('f', i1)") q
    call run%read(name, f) ! f(x, y)
    call add(checksum, f)
  end do
  print "('checksum ', z16.16)", checksum

  allocate (density(n, n), velocity_x(n, n), velocity_y(n, n))
  call run%observe("moments", [crease_lend("density", density), crease_lend("velocity_x", velocity_x), &
    crease_lend("velocity_y", velocity_y)]) ! of the folded populations, where they lie
  checksum = 0
  call add(checksum, density)
  call add(checksum, velocity_x)
  call add(checksum, velocity_y)
  print "('moments ', z16.16)", checksum
  print "('density ', f0.3, ' on average, velocity up to ', f6.4, ' below the lid')", sum(density) / size(density), &
    maxval(velocity_x(:, n))
  if (abs(sum(density) / size(density) - 1) > 1e-9_real64) error stop "mass was lost"

contains

  ! Adds numbers to a checksum, bit for bit.
  subroutine add(checksum, cells)
    integer(int64), intent(inout) :: checksum
    real(real64), intent(in) :: cells(:, :)
    integer :: x, y
    do y = 1, size(cells, 2)
      do x = 1, size(cells, 1)
        checksum = ieor(ishftc(checksum, 7), transfer(cells(x, y), checksum))
      end do
    end do
  end subroutine

  ! An argument of the command, or what it is without.
  integer function argument(position, otherwise)
    integer, intent(in) :: position, otherwise
    character(20) :: word
    argument = otherwise
    if (command_argument_count() < position) return
    call get_command_argument(position, word)
    read (word, *) argument
  end function
end program
