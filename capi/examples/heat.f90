! Heat in a plate: heat KERNEL-FILE
program heat
  use crease
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 256
  type(crease_kernel) :: kernel
  type(crease_planner) :: planner
  type(crease_plan) :: plan
  type(crease_code) :: code
  type(crease_run) :: run
  real(real64) :: u(0:n-1, 0:n-1) ! u(x, y)
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
end program
