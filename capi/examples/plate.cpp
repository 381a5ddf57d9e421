/*
 * A hot plate cut in two, each half with some rows of the other, which are copied over every few steps: halo planes, as
 * codes on several machines exchange them.
 *
 *   plate KERNEL-FILE
 *
 * Compares with plain loops over the whole plate, bit for bit.
 */
#include <crease.hpp>

#include <algorithm>
#include <iostream>
#include <vector>

namespace {

constexpr std::size_t ROWS = 24, COLUMNS = 16, HALF = 16, HALO = 4, ROUNDS = 10;

/* Copies rows of one run over those of another. */
void copy_rows(const crease::Run& from, std::int64_t from_row, crease::Run& to, std::int64_t to_row) {
  std::vector<double> halo(HALO * COLUMNS);
  const crease::View view(halo.data(), {HALO, COLUMNS});
  from.read("u", view, {crease::from(from_row, from_row + 4), crease::all});
  to.write("u", view, {crease::from(to_row, to_row + 4), crease::all});
}

/* One step of the whole plate. */
void plain_step(const crease::View<double>& u) {
  const std::vector<double> before(u.data(), u.data() + u.size());
  const crease::View old(before.data(), u.shape());
  for (std::size_t y = 1; y < ROWS - 1; ++y)
    for (std::size_t x = 1; x < COLUMNS - 1; ++x)
      u(y, x) = 0.25 * (old(y - 1, x) + old(y + 1, x) + (old(y, x - 1) + old(y, x + 1)));
}

bool agree(const crease::Run& run, const crease::View<double>& rows) {
  return run.read<double>("u") == std::vector<double>(rows.data(), rows.data() + rows.size());
}

int plate(const char* path) {
  const crease::Kernel kernel = crease::Kernel::read(path);
  const crease::Code code = kernel.plan().size("NY", HALF).size("NX", COLUMNS).build().compile();
  crease::Run low = code.instantiate(), high = code.instantiate();  // rows 0 to 15, and 8 to 23

  std::vector<double> cells(ROWS * COLUMNS);
  const crease::View<double> whole(cells.data(), {ROWS, COLUMNS});
  for (std::size_t y = 0; y < ROWS; ++y)
    for (std::size_t x = 0; x < COLUMNS; ++x) whole(y, x) = static_cast<double>(y * y + 3 * x);
  low.write("u", whole.slice(0, 0, HALF));
  high.write("u", whole.slice(0, ROWS - HALF, ROWS));
  for (std::size_t round = 0; round < ROUNDS; ++round) {
    low.advance(HALO);
    high.advance(HALO);
    copy_rows(high, 4, low, 12);  // rows 12 to 15 of the plate, right in the upper part
    copy_rows(low, 8, high, 0);   // rows 8 to 11
  }
  for (std::size_t step = 0; step < ROUNDS * HALO; ++step) plain_step(whole);
  if (!agree(low, whole.slice(0, 0, HALF)) || !agree(high, whole.slice(0, ROWS - HALF, ROWS))) return 1;
  std::cout << "both halves agree with plain loops over the whole\n";
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: plate KERNEL-FILE\n";
    return 2;
  }
  try {
    return plate(arguments[1]);
  } catch (const crease::Error& error) {
    std::cerr << error.code() << ": " << error.what() << "\n";
    return 1;
  }
}
