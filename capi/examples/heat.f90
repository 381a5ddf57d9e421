! Heat in a plate: heat KERNEL-FILE

! When the plate is still: what its kernel observes of it.
module stillness
  use crease
  use, intrinsic :: iso_c_binding, only: c_int32_t
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  real(real64), target :: total, change ! two reductions, which are arrays without dimensions
contains
  ! Stops the run where no cell changes by 0.01 any more.
  function until_still(run, progress) result(answer)
    class(crease_run), intent(inout) :: run
    type(crease_progress), intent(in) :: progress
    integer(c_int32_t) :: answer
    call run%observe("health", [crease_lend("heat", total), crease_lend("change", change)])
    answer = merge(crease_stop, crease_continue, change < 0.01_real64)
  end function
end module

program heat
  use crease
  use stillness
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 256
  type(crease_kernel) :: kernel
  type(crease_planner) :: planner
  type(crease_plan) :: plan
  type(crease_code) :: code
  type(crease_run) :: run
  real(real64) :: u(0:n-1, 0:n-1) ! u(x, y)
  type(crease_progress) :: progress
  character(1000) :: path

  call get_command_argument(1, path)
  call kernel%read(path)

  call planner%new(kernel)
  call planner%size("N", n)
  call planner%limit(memory_cap=1000000_int64)
  call planner%build(plan) ! proved; nothing is allocated yet
  print "(a)", plan%explain()

  call plan%compile(code) ! machine code: shared by threads and runs
  call code%instantiate(run) ! folded storage: one grid and one row
  u = 20
  u(128, 128) = 1000
  call run%set("k", 0.1_real64)
  call run%write("u", u) ! logical order in
  call run%advance(100)
  call run%read("u", u) ! logical order out
  print "(f0.3, ' in the middle')", u(128, 128)

  call run%monitor_nan(100) ! the call below fails where a NaN appears, and says in which cell
  call run%advance_with(100000, 50, until_still, progress)
  print "('still after ', i0, ' steps')", progress%step
  print "('heat ', z16.16, ', change ', z16.16)", total, change
end program
