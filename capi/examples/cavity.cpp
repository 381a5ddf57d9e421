/*
 * Flow in a box whose lid moves, by the lattice Boltzmann method (D2Q9), in the memory of one lattice.
 *
 *   cavity KERNEL-FILE [CELLS [STEPS]]
 *
 * prints what the storage takes, the speed, and checksums of all populations and of what is observed of them, density
 * and velocity: the same as those of cavity.c and cavity.f90, bit for bit. Fails if mass was lost.
 */
#include <crease.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr double WEIGHTS[9] = {4.0 / 9.0,  1.0 / 9.0,  1.0 / 9.0,  1.0 / 9.0, 1.0 / 9.0,
                               1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0};

std::string population(int q) { return "f" + std::to_string(q); }

/* Numbers added to a checksum, bit for bit. */
std::uint64_t add(std::uint64_t checksum, const std::vector<double>& cells) {
  for (const double cell : cells) {
    std::uint64_t bits;
    std::memcpy(&bits, &cell, sizeof bits);
    checksum = (checksum << 7 | checksum >> 57) ^ bits;
  }
  return checksum;
}

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
  for (int q = 0; q < 9; ++q) checksum = add(checksum, run.read<double>(population(q)));
  std::printf("checksum %016llx\n", static_cast<unsigned long long>(checksum));

  std::vector<double> density(n * n), velocity_x(n * n), velocity_y(n * n);
  run.observe("moments", {crease::Run::array("density", crease::View(density.data(), {n, n})),
                          crease::Run::array("velocity_x", crease::View(velocity_x.data(), {n, n})),
                          crease::Run::array("velocity_y", crease::View(velocity_y.data(), {n, n}))});
  checksum = add(add(add(0, density), velocity_x), velocity_y);
  std::printf("moments %016llx\n", static_cast<unsigned long long>(checksum));
  const double mass = std::accumulate(density.begin(), density.end(), 0.0) / static_cast<double>(n * n);
  const double fastest = *std::max_element(velocity_x.end() - static_cast<std::ptrdiff_t>(n), velocity_x.end());
  std::printf("density %.3f on average, velocity up to %.4f below the lid\n", mass, fastest);
  if (std::abs(mass - 1.0) > 1e-9) throw std::runtime_error("mass was lost");
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
