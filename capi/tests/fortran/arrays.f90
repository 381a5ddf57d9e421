! Arrays of every rank and type that the module passes, sections without copies, regions, scalars, restarts, borrowed
! arrays, observers, callbacks, cancelling, errors. Prints the number of checks.
module watcher
  use crease
  use, intrinsic :: iso_c_binding, only: c_int32_t
  implicit none
  integer :: calls = 0
contains
  function watch(run, progress) result(answer)
    class(crease_run), intent(inout) :: run
    type(crease_progress), intent(in) :: progress
    integer(c_int32_t) :: answer
    calls = calls + 1
    answer = crease_continue
    if (run%step() /= progress%step) answer = 9
    if (progress%step == 6) answer = crease_stop
  end function

  function fail(run, progress) result(answer)
    class(crease_run), intent(inout) :: run
    type(crease_progress), intent(in) :: progress
    integer(c_int32_t) :: answer
    answer = merge(7_c_int32_t, 8_c_int32_t, run%step() == progress%step)
  end function
end module

program arrays
  use crease
  use watcher
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  implicit none
  character(*), parameter :: nl = new_line("a")
  integer :: checks = 0, stat
  character(300) :: message

  call ranks()
  call driven()
  call times()
  call borrowed()
  call observers()
  call reductions()
  if (crease_version() /= "0.1.0") error stop "version"
  print "(i0, ' checks')", checks

contains

  subroutine hold(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    checks = checks + 1
    if (.not. holds) error stop what
  end subroutine

  subroutine new_run(text, run)
    character(*), intent(in) :: text
    type(crease_run), intent(inout) :: run
    type(crease_kernel) :: kernel
    type(crease_planner) :: planner
    type(crease_plan) :: plan
    type(crease_code) :: code
    type(crease_setup) :: setup
    type(crease_footprint) :: footprint
    character(1000) :: directory
    call kernel%parse(text)
    call hold(index(kernel%text(), "kernel") == 1, "text")
    call planner%new(kernel)
    call planner%size("N", 3)
    call planner%choose(schedule="all", strategy="auto", objective="footprint", rounding="exact", rings="cut")
    call planner%choose(strategy="magic", stat=stat, errmsg=message)
    call hold(stat == crease_error_argument .and. index(message, "argument/name: ") == 1, "strategy")
    call planner%limit(threads=1, memory_cap=100000_int64)
    call planner%build(plan)
    call hold(plan%kept() == crease_kept_off, "no cache")
    call get_command_argument(1, directory)
    call planner%cache(trim(directory))
    call planner%build(plan)
    call hold(plan%kept() == crease_kept_added, "added to the cache")
    call planner%build(plan)
    call hold(plan%kept() == crease_kept_found, "found in the cache")
    call hold(index(plan%explain(), "memory: ") > 0, "explain")
    call hold(index(plan%report_json(), "{") == 1, "json")
    call hold(len(plan%dump("loops")) > 0, "dump")
    call plan%footprint(footprint)
    call hold(footprint%copied_bytes > 0, "footprint")
    call plan%compile(code)
    call setup%new()
    call setup%threads(1)
    call setup%guard_pages(.true.)
    call setup%flush_denormals(.false.)
    call setup%pin_threads(.true.)
    call setup%memory_limit(10_int64)
    call code%instantiate(run, setup, stat, message)
    call hold(stat == crease_error_memory .or. stat == crease_ok, "memory")
    call setup%memory_unchecked()
    call code%instantiate(run, setup)
  end subroutine

  ! An input over steps is given some of them at a time; the last dimension are the steps.
  subroutine driven()
    type(crease_run) :: run
    real(real32) :: inflow(3, 4)
    real(real64) :: u(3)
    integer :: t
    call new_run("kernel driven(size N; run T) {" // nl // &
      "  input inflow[t, x]: f32 for 1 <= t <= T and 0 <= x < N" // nl // &
      "  state u[t, x]: f64 for 0 <= x < N" // nl // &
      "  S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + f64(inflow[t,x]) }" // nl // &
      "  schedule all { S -> [t, x] }" // nl // "}", run)
    do t = 1, 4
      inflow(:, t) = real(t, real32) * [1.0, 10.0, 100.0]
    end do
    u = 0
    call run%write("u", u)
    call run%write_steps("inflow", 1, inflow(:, :2))
    call run%advance(3, stat, message)
    call hold(stat == crease_error_run .and. index(message, "step 3 was not given") > 0, "missing steps")
    call run%write_steps("inflow", 3, inflow(:, 3:))
    call run%advance(4)
    call run%read("u", u)
    call hold(all(u == [10, 100, 1000]), "steps")
  end subroutine

  ! An array u[z, y, x] is u(x, y, z).
  subroutine ranks()
    type(crease_run) :: run
    real(real64) :: a1(3), a4(3, 4, 5, 6), b4(3, 4, 5, 6), large(6, 8, 10, 12), point
    real(real32) :: a2(3, 4), b2(3, 4)
    integer(int8) :: a3(3, 4, 5), b3(3, 4, 5)
    real(real64) :: plane(4, 6)
    integer :: i, j, k, l
    call new_run("kernel ranks(size N; run T) {" // nl // &
      "  input a[i]: f64 for 0 <= i < N" // nl // &
      "  input b[j, i]: f32 for 0 <= j < 4 and 0 <= i < N" // nl // &
      "  input c[k, j, i]: u8 for 0 <= k < 5 and 0 <= j < 4 and 0 <= i < N" // nl // &
      "  state u[t, l, k, j, i]: f64 for 0 <= l < 6 and 0 <= k < 5 and 0 <= j < 4 and 0 <= i < N" // nl // &
      "  S[t, l, k, j, i] for 1 <= t <= T and 0 <= l < 6 and 0 <= k < 5 and 0 <= j < 4 and 0 <= i < N {" // nl // &
      "    u[t,l,k,j,i] = u[t-1,l,k,j,i] + a[i] + f64(b[j,i]) + f64(c[k,j,i]) }" // nl // &
      "  schedule all { S -> [t, l, k, j, i] }" // nl // "}", run)
    do i = 1, 3
      a1(i) = i
      do j = 1, 4
        a2(i, j) = 10 * i + j
        do k = 1, 5
          a3(i, j, k) = int(i + 10 * j + 20 * (k - 1), int8)
          do l = 1, 6
            a4(i, j, k, l) = 1000 * l + 100 * k + 10 * j + i
          end do
        end do
      end do
    end do
    call hold(all(run%shape("u") == [3, 4, 5, 6]), "shape")
    call run%write("a", a1)
    call run%write("b", a2)
    call run%write("c", a3)
    large = -1
    large(2:6:2, 8:2:-2, ::2, 12:1:-2) = a4(:, :, :, :)
    call run%write("u", large(2:6:2, 8:2:-2, ::2, 12:1:-2))
    call run%read("b", b2)
    call run%read("c", b3)
    call run%read("u", b4)
    call hold(all(b2 == a2) .and. all(b3 == a3) .and. all(b4 == a4), "what was written")
    call run%advance(1)
    call run%read("u", b4)
    do l = 1, 6
      do k = 1, 5
        do j = 1, 4
          call hold(all(b4(:, j, k, l) == a4(:, j, k, l) + a1 + a2(:, j) + real(a3(:, j, k), real64)), "a step")
        end do
      end do
    end do
    ! Ranges in Fortran's order, values from 0: u(3, :, 2, :).
    call run%read("u", plane, [crease_at(2), crease_all(), crease_at(1), crease_all()])
    call hold(all(plane == b4(3, :, 2, :)), "a plane")
    call run%read("u", plane(1:2, 1:3), [crease_at(0), crease_span(1, 2), crease_at(4), crease_all(2)])
    call hold(all(plane(1:2, 1:3) == b4(1, 2:3, 5, ::2)), "a coarse plane")
    call run%read("u", point, [crease_at(0), crease_at(1), crease_at(2), crease_at(3)])
    call hold(point == b4(1, 2, 3, 4), "a point")
    call run%fill("u", 5.0_real64, [crease_at(0), crease_all(), crease_all(), crease_all()])
    call run%read("u", b4)
    call hold(all(b4(1, :, :, :) == 5) .and. b4(2, 1, 1, 1) /= 5, "filled")
    call run%read("u", b4(:, :, :, 1:2), stat=stat, errmsg=message)
    call hold(stat == crease_error_run .and. index(message, "run/shape: ") == 1, "a wrong shape")
    call run%read("u", b2, stat=stat)
    call hold(stat == crease_error_run, "a wrong type")
    call run%read("u", b4, [crease_all(), crease_all(), crease_all(), crease_all(), crease_all()], stat=stat)
    call hold(stat == crease_error_run, "too many ranges")
    call run%read("nothing", b4, stat=stat, errmsg=message)
    call hold(stat == crease_error_run .and. index(message, "nothing") > 0, "an unknown array")
    call run%read("u", b4, back=1, stat=stat)
    call hold(stat == crease_error_run, "a level that is not kept")
  end subroutine

  subroutine times()
    type(crease_run) :: run, nothing
    type(crease_cancel) :: cancel
    type(crease_progress) :: progress
    real(real64) :: value
    logical :: is_set
    integer :: done
    call new_run("kernel decay(size N; run T) {" // nl // &
      "  scalar k: f64" // nl // &
      "  input a[x]: f64 for 0 <= x < N" // nl // &
      "  state u[t, x]: f64 for 0 <= x < N" // nl // &
      "  S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = k * u[t-1,x] + a[x] }" // nl // &
      "  schedule all { S -> [t, x] }" // nl // "}", run)
    call run%get("k", value, is_set)
    call hold(.not. is_set, "not set")
    call run%advance(1, stat)
    call hold(stat == crease_error_run, "unset scalars")
    call run%set("k", 0.5_real64)
    call run%get("k", value, is_set)
    call hold(is_set .and. value == 0.5_real64, "set")
    call run%fill("a", 0.0_real64)
    call run%fill("u", 64.0_real64)
    call run%advance_with(10, 3, watch, progress)
    call hold(calls == 2 .and. run%step() == 6 .and. progress%end == 10, "callbacks")
    call run%advance_with(1, 1, fail, stat=stat, errmsg=message)
    call hold(stat == crease_error_callback .and. index(message, "7") > 0, "a callback that fails")
    call run%read("u", value, [crease_at(0)])
    call hold(value == 0.5_real64, "7 halves")
    call run%advance_for(0.0_real64, 5, done)
    call hold(done == 1 .and. run%step() == 8, "a call of some time")
    call run%advance_for(-1.0_real64, 5, done, stat, message)
    call hold(stat == crease_error_argument .and. index(message, "seconds") > 0 .and. done == 0, "a negative time")
    call run%set_step(40_int64)
    call hold(run%step() == 40, "a restart")
    call run%fill("u", 2.0_real64)
    call cancel%new()
    call run%cancel_with(cancel)
    call cancel%now()
    call run%advance(5, stat)
    call hold(stat == crease_error_cancelled, "cancelled")
    call cancel%reset()
    call run%advance(1)
    call run%advance(-1, stat)
    call hold(stat == crease_error_run, "backwards")
    call run%once()
    call hold(run%step() == 42, "once is a step")
    call nothing%advance(1, stat, message)
    call hold(stat == crease_error_argument .and. index(message, "argument/null") == 1, "no run")
    call run%free()
    call run%free()
    call run%advance(1, stat)
    call hold(stat == crease_error_argument, "freed")
  end subroutine

  subroutine borrowed()
    type(crease_run) :: run
    real(real64) :: a(3), b(6)
    call new_run("kernel squares(size N) {" // nl // &
      "  input a[x]: f64 for 0 <= x < N" // nl // &
      "  output b[x]: f64 for 0 <= x < N" // nl // &
      "  S[x] for 0 <= x < N { b[x] = a[x] * a[x] }" // nl // &
      "  schedule all { S -> [x] }" // nl // "}", run)
    a = [1, 2, 3]
    b = 0
    call run%on([crease_lend("a", a)], [crease_lend("b", b(6:1:-2))])
    call hold(all(b == [0, 9, 0, 4, 0, 1]), "borrowed")
    call run%on([crease_lend("a", a)], [crease_lend("b", b)], stat, message)
    call hold(stat == crease_error_run .and. index(message, "`b`") > 0, "a wrong shape")
  end subroutine

  ! An output twice[y, x] is twice(x, y).
  subroutine observers()
    type(crease_kernel) :: kernel
    type(crease_planner) :: planner
    type(crease_plan) :: plan
    type(crease_code) :: code
    type(crease_run) :: run
    type(crease_observed), allocatable :: observed(:)
    real(real64), target :: start(3, 4), twice(3, 4), large(6, 4)
    real(real32), target :: row(3), number
    integer :: x, y
    call kernel%parse("kernel decay(size N; run T) {" // nl // &
      "  scalar k: f64" // nl // &
      "  state u[t, y, x]: f64 for 0 <= y <= N and 0 <= x < N" // nl // &
      "  S[t, y, x] for 1 <= t <= T and 0 <= y <= N and 0 <= x < N { u[t,y,x] = k * u[t-1,y,x] }" // nl // "}")
    call kernel%observed(observed)
    call hold(size(observed) == 0, "no observers")
    call kernel%add_observer("observe look {", stat, message)
    call hold(stat == crease_error_kernel .and. index(message, "kernel/") == 1, "a wrong observer")
    call kernel%add_observer("observe look {" // nl // &
      "  output twice[y, x]: f64 for 0 <= y <= N and 0 <= x < N" // nl // &
      "  output row[x]: f32 for 0 <= x < N" // nl // &
      "  D[t, y, x] for 0 <= y <= N and 0 <= x < N { twice[y,x] = 2 * u[t,y,x] }" // nl // &
      "  R[t, x] for 0 <= x < N { row[x] = f32(u[t,1,x]) }" // nl // "}")
    call kernel%observed(observed)
    call hold(size(observed) == 2 .and. observed(1)%observer == "look" .and. observed(2)%output == "row", "outputs")
    call hold(observed(1)%rank == 2 .and. observed(2)%rank == 1 .and. observed(2)%element == "f32", "ranks and types")
    call planner%new(kernel)
    call planner%size("N", 3)
    call planner%build(plan)
    call plan%compile(code)
    call code%instantiate(run)
    do y = 1, 4
      do x = 1, 3
        start(x, y) = 10 * y + x
      end do
    end do
    call run%set("k", 0.5_real64)
    call run%write("u", start)
    call run%advance(1)
    call run%observe("look", [crease_lend("twice", twice), crease_lend("row", row)])
    call hold(all(twice == start) .and. all(row == real(start(:, 2) / 2, real32)), "observed")
    large = -1
    call run%observe("look", [crease_lend("row", row(3:1:-1)), crease_lend("twice", large(::2, 4:1:-1))])
    call hold(all(large(::2, 4:1:-1) == start) .and. all(large(2::2, :) == -1), "sections")
    call hold(row(1) == real(start(3, 2) / 2, real32), "mirrored")
    call hold(all(run%observed_shape("look", "twice") == [3, 4]), "the shape")
    call hold(size(run%observed_shape("look", "thrice", stat, message)) == 0, "no shape")
    call hold(stat == crease_error_run .and. index(message, "thrice") > 0, "an unknown output")
    call run%observe("peek", [crease_lend("row", row)], stat, message)
    call hold(stat == crease_error_run .and. index(message, "run/unknown-observer: ") == 1, "an unknown observer")
    call run%observe("look", [crease_lend("row", row)], stat, message)
    call hold(stat == crease_error_run .and. index(message, "run/missing-output: ") == 1, "a missing output")
    call run%observe("look", [crease_lend("row", row), crease_lend("row", row)], stat, message)
    call hold(stat == crease_error_run .and. index(message, "run/duplicate-array: ") == 1, "an output twice")
    call run%observe("look", [crease_lend("row", twice(:, 1))], stat, message)
    call hold(stat == crease_error_run .and. index(message, "run/element-type: ") == 1, "a wrong type")
    number = -1
    call run%observe("look", [crease_lend("row", number)], stat, message) ! which this output is not
    call hold(stat == crease_error_run .and. index(message, "run/shape: ") == 1, "one number")
    call hold(number == -1, "left alone")
  end subroutine

  ! Numbers that a state is reduced to, and the monitor for NaN.
  subroutine reductions()
    type(crease_kernel) :: kernel
    type(crease_planner) :: planner
    type(crease_plan) :: plan
    type(crease_code) :: code
    type(crease_run) :: run
    type(crease_observed), allocatable :: observed(:)
    real(real64), target :: total
    real(real32), target :: least, one(1)
    call kernel%parse("kernel decay(size N; run T) {" // nl // &
      "  state u[t, y, x]: f64 for 0 <= y <= N and 0 <= x < N" // nl // &
      "  S[t, y, x] for 1 <= t <= T and 0 <= y <= N and 0 <= x < N { u[t,y,x] = 0.5 * u[t-1,y,x] }" // nl // &
      "  observe totals {" // nl // &
      "    reduce sum total: f64" // nl // &
      "    reduce min least: f32" // nl // &
      "    R[t, y, x] for 0 <= y <= N and 0 <= x < N { total = u[t,y,x] least = f32(u[t,y,x]) }" // nl // &
      "  }" // nl // "}")
    call kernel%observed(observed)
    call hold(size(observed) == 2 .and. all(observed%rank == 0), "numbers")
    call hold(observed(1)%reduction == "sum" .and. observed(2)%reduction == "min", "reductions")
    call planner%new(kernel)
    call planner%size("N", 3)
    call planner%build(plan)
    call plan%compile(code)
    call code%instantiate(run)
    call run%write("u", reshape([real(real64) :: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], [3, 4]))
    call run%advance(1)
    call hold(size(run%observed_shape("totals", "total")) == 0, "no shape")
    total = -1
    least = -1
    call run%observe("totals", [crease_lend("total", least), crease_lend("least", least)], stat, message)
    call hold(stat == crease_error_run .and. index(message, "run/element-type: ") == 1, "a number of another type")
    call run%observe("totals", [crease_lend("total", total), crease_lend("least", one)], stat, message)
    call hold(stat == crease_error_run .and. index(message, "run/shape: ") == 1, "an array of one cell")
    call run%observe("totals", [crease_lend("total", total)], stat, message)
    call hold(stat == crease_error_run .and. index(message, "output `least` of observer `totals`") > 0, "a missing one")
    call hold(total == -1 .and. least == -1, "left alone")
    call run%observe("totals", [crease_lend("least", least), crease_lend("total", total)])
    call hold(total == 51 .and. least == 1.5, "reduced")

    call run%monitor_nan(-1, stat, message)
    call hold(stat == crease_error_argument .and. index(message, "argument/number: ") == 1, "a negative interval")
    call run%monitor_nan(2)
    call run%advance(1)
    call run%fill("u", ieee_value(total, ieee_quiet_nan), [crease_at(2), crease_at(3)])
    call run%advance(9, stat, message)
    call hold(stat == crease_error_run .and. index(message, "run/not-a-number: `u[3, 2]` is NaN after step 3, ") == 1, &
      "the monitor")
    call hold(run%step() == 3, "stopped")
    call run%monitor_nan(0)
    call run%advance(9)
  end subroutine
end program
