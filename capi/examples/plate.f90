! A hot plate cut in two, each half with some columns of the other, which are copied over every few steps: halo planes,
! as codes on several machines exchange them. What the kernel's text calls `u[y, x]` is `u(x, y)` here, so its rows are
! columns.
!
!   plate KERNEL-FILE
!
! Compares with plain loops over the whole plate, bit for bit. Also shows how errors are met.
program plate
  use crease
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: columns = 16, rows = 24, half = 16, halo = 4, rounds = 10
  type(crease_kernel) :: kernel
  type(crease_planner) :: planner
  type(crease_plan) :: plan
  type(crease_code) :: code
  type(crease_run) :: low, high
  real(real64) :: whole(columns, rows), old(columns, rows), found(columns, half)
  integer :: x, y, round, step, stat
  character(200) :: message
  character(1000) :: path

  if (command_argument_count() < 1) error stop "usage: plate KERNEL-FILE"
  call get_command_argument(1, path)
  call kernel%read(path)
  call planner%new(kernel)
  call planner%size("NX", columns)
  call planner%build(plan, stat, message) ! the other size is missing
  if (stat /= crease_error_plan) error stop "a plan without its sizes"
  print "(a)", trim(message)
  call planner%size("NY", half)
  call planner%build(plan)
  call plan%compile(code)
  call code%instantiate(low) ! rows 0 to 15 of the plate
  call code%instantiate(high) ! rows 8 to 23

  do y = 1, rows
    do x = 1, columns
      whole(x, y) = (y - 1)**2 + 3 * (x - 1)
    end do
  end do
  call low%write("u", whole(:, :half)) ! sections are written where they lie
  call high%write("u", whole(:, rows - half + 1:))
  do round = 1, rounds
    call low%advance(halo)
    call high%advance(halo)
    call copy_rows(high, 4, low, 12) ! rows 12 to 15 of the plate, right in the upper part
    call copy_rows(low, 8, high, 0) ! rows 8 to 11
  end do
  do step = 1, rounds * halo
    old = whole
    do y = 2, rows - 1
      do x = 2, columns - 1
        whole(x, y) = 0.25_real64 * (old(x, y - 1) + old(x, y + 1) + (old(x - 1, y) + old(x + 1, y)))
      end do
    end do
  end do

  call low%read("u", found)
  if (any(found /= whole(:, :half))) error stop "the lower half differs"
  call high%read("u", found(columns:1:-1, :)) ! mirrored, without a copy
  if (any(found(columns:1:-1, :) /= whole(:, rows - half + 1:))) error stop "the upper half differs"
  print "(a)", "both halves agree with plain loops over the whole"

contains

  ! Copies rows of one run over those of another. Values of indices are those of the kernel's text.
  subroutine copy_rows(from, from_row, to, to_row)
    type(crease_run), intent(inout) :: from, to
    integer, intent(in) :: from_row, to_row
    real(real64) :: rows(columns, halo)
    call from%read("u", rows, [crease_all(), crease_span(from_row, from_row + halo - 1)])
    call to%write("u", rows, [crease_all(), crease_span(to_row, to_row + halo - 1)])
  end subroutine
end program
