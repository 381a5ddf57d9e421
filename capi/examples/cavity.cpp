/*
 * Flow in a box whose lid moves, by the lattice Boltzmann method (D2Q9), in the memory of one lattice.
 *
 *   cavity KERNEL-FILE [CELLS [STEPS]]
 *
 * prints what the storage takes, the speed, and a checksum of all populations: the same as those of cavity.c and
 * cavity.f90, bit for bit. Fails if mass was lost.
 */
#include <crease.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

namespace {

constexpr double WEIGHTS[9] = {4.0 / 9.0,  1.0 / 9.0,  1.0 / 9.0,  1.0 / 9.0, 1.0 / 9.0,
                               1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0};

std::string population(int q) { return "f" + std::to_string(q); }

/* Prints how far the run is. */
crease::Next tell(const crease::Progress& progress) {
  std::cout << "step " << progress.step << " of " << progress.end << "\n";
  return crease::Next::go_on;
}

void cavity(const std::string& path, std::size_t n, std::uint64_t steps) {
  const crease::Kernel kernel = crease::Kernel::read(path);
  const crease::Plan plan = kernel.plan().size("N", static_cast<std::int64_t>(n)).build();
  std::cout << "folded " << plan.footprint().folded_bytes << " bytes, two lattices " << 2 * 9 * 8 * n * n << " bytes\n";
  crease::Run run = plan.compile().instantiate();
  run.set("omega", 1.7).set("u_lid", 0.1);
  for (int q = 0; q < 9; ++q) run.fill(population(q), WEIGHTS[q]);  // at rest

  const crease::Progress done = run.advance_with(steps, steps / 2 + 1, tell);
  std::cout << 1e-6 * static_cast<double>(n * n) * done.steps_per_second << " million cells a second\n";

  std::uint64_t checksum = 0;
  double mass = 0.0;
  for (int q = 0; q < 9; ++q) {
    for (const double f : run.read<double>(population(q))) {
      std::uint64_t bits;
      std::memcpy(&bits, &f, sizeof bits);
      checksum = (checksum << 7 | checksum >> 57) ^ bits;
      mass += f;
    }
  }
  std::printf("checksum %016llx\n", static_cast<unsigned long long>(checksum));
  if (std::abs(mass / static_cast<double>(n * n) - 1.0) > 1e-9) throw std::runtime_error("mass was lost");
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: cavity KERNEL-FILE [CELLS [STEPS]]\n";
    return 2;
  }
  try {
    crease::check_abi();
    cavity(arguments[1], count > 2 ? std::stoul(arguments[2]) : 64, count > 3 ? std::stoul(arguments[3]) : 1000);
  } catch (const crease::Error& error) {
    std::cerr << error.code() << ": " << error.what() << "\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
