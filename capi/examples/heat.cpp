/* Heat in a plate: heat KERNEL-FILE */
#include <crease.hpp>

#include <cstdio>
#include <iostream>
#include <vector>

constexpr std::size_t N = 256;

int main(int count, char** arguments) try {
  if (count < 2) return 2;
  const crease::Kernel kernel = crease::Kernel::read(arguments[1]);
  const crease::Plan plan = kernel.plan().size("N", N).memory_cap(1000000).build();  // proved; nothing is allocated yet
  std::cout << plan.explain();
  const crease::Code code = plan.compile();  // machine code: shared by threads and runs
  crease::Run run = code.instantiate();      // folded storage: one grid and one row

  std::vector<double> cells(N * N, 20.0);
  const crease::View<double> u(cells.data(), {N, N});
  u(128, 128) = 1000.0;
  run.set("k", 0.1);
  run.write("u", u);  // logical order in
  run.advance(100);
  run.read("u", u);  // logical order out
  std::printf("%.3f in the middle\n", u(128, 128));
} catch (const crease::Error& error) {
  std::cerr << error.code() << ": " << error.what() << "\n";
  return 1;
}
