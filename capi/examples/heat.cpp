/* Heat in a plate: heat KERNEL-FILE */
#include <crease.hpp>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <vector>

constexpr std::size_t N = 256;

/* A number's bits. */
unsigned long long bits(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

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

  run.monitor_nan(100);  // the call below throws where a NaN appears, and says in which cell
  double heat = 0.0, change = 0.0;
  const bool is_still = run.advance_until(50, 100000, [&](crease::Run& run) {
    run.observe("health", {crease::Run::array("heat", heat), crease::Run::array("change", change)});
    return change < 0.01;
  });
  std::printf("%s after %lld steps\n", is_still ? "still" : "moving", static_cast<long long>(run.step()));
  std::printf("heat %016llx, change %016llx\n", bits(heat), bits(change));
} catch (const crease::Error& error) {
  std::cerr << error.code() << ": " << error.what() << "\n";
  return 1;
}
