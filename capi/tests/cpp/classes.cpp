/* What the classes of crease.hpp promise. Prints the number of checks. */
#include <crease.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <type_traits>

namespace {

int checks = 0;

void hold(bool holds, const char* what) {
  ++checks;
  if (!holds) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
  }
}

/* Whether a call throws an error with this code. */
template <class Call>
void refuses(const char* code, std::int32_t status, Call call) {
  try {
    call();
  } catch (const crease::Error& error) {
    const bool is_said = error.code() == code && error.status() == status && error.what()[0] != 0;
    hold(is_said, (error.code() + error.what()).c_str());
    return;
  }
  hold(false, code);
}

const char* const DECAY = R"(
kernel decay(size N; run T) {
  scalar k: f64
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
  S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N { u[t,y,x] = k * u[t-1,y,x] }
  schedule rows { S -> [t, y, x] }
})";

const char* const DIFFERENCE = R"(
kernel difference(size N) {
  input image[y, x]: f32 for 0 <= y < N and 0 <= x < N
  output slope[y, x]: f32 for 0 <= y < N and 0 <= x < N-1
  S[y, x] for 0 <= y < N and 0 <= x < N-1 { slope[y,x] = image[y,x+1] - image[y,x] }
  schedule rows { S -> [y, x] }
})";

void kernels_and_plans() {
  refuses("kernel/expected", CREASE_ERROR_KERNEL, [] { crease::Kernel::parse("kernel"); });
  refuses("file/read", CREASE_ERROR_FILE, [] { crease::Kernel::read("no such file"); });
  const crease::Kernel kernel = crease::Kernel::parse(DECAY);
  hold(kernel.name() == "decay" && kernel.has_state(), "name");
  hold(kernel.sizes() == std::vector<std::string>{"N"} && kernel.scalars() == std::vector<std::string>{"k"}, "lists");
  hold(kernel.schedules().size() == 1 && kernel.arrays().at(0).rank == 2, "arrays");
  hold(kernel.text().find("kernel decay") == 0, "text");
  refuses("plan/missing-size", CREASE_ERROR_PLAN, [&] { kernel.plan().build(); });
  refuses("argument/name", CREASE_ERROR_ARGUMENT, [&] { kernel.plan().strategy("magic"); });
  crease::Planner planner = kernel.plan();
  planner.size("N", 8).threads(1).memory_cap(1 << 20).strategy("auto").objective("balanced");
  planner.rounding("auto").rings("auto").caches(1 << 20, 1 << 25).operation_quota(100000000).work_limit(1 << 20);
  const crease::Plan plan = planner.build();
  hold(plan.threads() == 1 && plan.footprint().folded_bytes == 512, "footprint");
  hold(plan.explain(true).find("64 cells") != std::string::npos && plan.report_json()[0] == '{', "report");
  hold(!plan.dump("loops").empty(), "dump");
  refuses("run/out-of-memory", CREASE_ERROR_MEMORY, [&] {
    plan.compile(crease::Compiler().isa("scalar").unroll("1")).instantiate(crease::Setup().pin_threads(true).memory_limit(1));
  });
}

void caches(const std::string& directory) {
  crease::Planner planner = crease::Kernel::parse(DECAY).plan();
  planner.size("N", 8);
  hold(planner.build().kept() == CREASE_KEPT_OFF, "no cache");
  planner.cache(directory);
  for (const std::int32_t expected : {CREASE_KEPT_ADDED, CREASE_KEPT_FOUND}) {
    const crease::Plan plan = planner.build();
    hold(plan.kept() == expected && plan.compile().kept() == expected, plan.kept_words().c_str());
  }
}

void steps() {
  crease::Run run = crease::Kernel::parse(R"(
kernel driven(size N; run T) {
  input inflow[t, x]: f32 for 1 <= t <= T and 0 <= x < N
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + f64(inflow[t,x]) }
})").plan().size("N", 3).build().compile().instantiate();
  run.fill("u", 0.0);
  const std::vector<float> values{1, 2, 3, 10, 20, 30};
  run.write_steps("inflow", 1, crease::View<const float>(values.data(), {2, 3}));
  run.advance(2);
  hold(run.read<double>("u") == std::vector<double>{11, 22, 33}, "inputs over steps");
  refuses("run/steps-not-given", CREASE_ERROR_RUN, [&] { run.advance(1); });
}

void runs_and_views() {
  const crease::Code code = crease::Kernel::parse(DECAY).plan().size("N", 4).build().compile();
  crease::Run run = code.instantiate();
  static_assert(!std::is_copy_constructible_v<crease::Run> && std::is_nothrow_move_constructible_v<crease::Run>);
  hold(!run.scalar("k") && run.set("k", 0.5).scalar("k") == 0.5, "scalars");
  std::vector<double> cells(16);
  for (std::size_t k = 0; k < 16; ++k) cells[k] = static_cast<double>(k);
  const crease::View view(cells.data(), {4, 4});
  run.write("u", view.transposed());
  run.advance(1);
  hold(run.read<double>("u").at(1) == 2.0, "transposed");
  run.read("u", view.slice(0, 0, 4, 2).slice(1, 2, 4), {crease::all.every(2), crease::from(2, 4)});
  hold(cells[2] == 4.0 && cells[0] == 0.0 && cells[11] == 7.0, "slices");
  std::vector<double> row(4);
  run.read("u", crease::View<double>(row), {3, crease::all});
  hold(row[1] == 3.5, "one row");
#ifdef __cpp_lib_span
  run.write("u", crease::View<const double>(std::span<const double>(row)), {0, crease::all});
  hold(run.read<double>("u", {0, 1}).at(0) == 3.5, "spans");
#endif
  run.fill("u", 8.0, {0, 0});
  hold(run.view<double>("u", {0, 0})() == 8.0, "a point where it lies");
  const crease::Folded folded = run.folded("u");
  const double* buffer = static_cast<const double*>(folded.buffer.cells);
  hold(buffer[folded.place({0, 0})] == 8.0 && buffer[folded.place({3, 1})] == 3.5, "folded");
  run.view_mut<double>("u")(3, 1) = 6.0;
  hold(run.read<double>("u").at(13) == 6.0, "written where it lies");
  hold(run.shape("u") == std::vector<std::size_t>{4, 4} && run.index_ranges("u").at(1).second == 3, "shape");
  refuses("run/shape", CREASE_ERROR_RUN, [&] { run.write("u", view.slice(0, 1, 4)); });
  refuses("run/no-such-level", CREASE_ERROR_RUN, [&] { run.fill("u", 1.0, crease::Region().back(1)); });
  try {
    run.view<float>("u");
    hold(false, "another type");
  } catch (const std::invalid_argument&) {
    ++checks;
  }
  try {
    view.slice(2, 0, 1);
    hold(false, "no such axis");
  } catch (const std::out_of_range&) {
    ++checks;
  }

  crease::Run moved = std::move(run);
  hold(!run && moved, "moved");
  refuses("argument/null", CREASE_ERROR_ARGUMENT, [&] { run.advance(1); });
  run = std::move(moved);
  hold(run.step() == 1, "and back");
  run.set_step(10);
  hold(run.step() == 10 && run.threads() >= 1, "a restart");
}

void time_loops() {
  crease::Run run = crease::Kernel::parse(DECAY).plan().size("N", 4).build().compile().instantiate();
  run.set("k", 0.5).fill("u", 1.0);
  int calls = 0;
  const crease::Progress done = run.advance_with(10, 4, [&](const crease::Progress& progress) {
    ++calls;
    return progress.step == 8 ? crease::Next::stop : crease::Next::go_on;
  });
  hold(calls == 2 && done.step == 8 && done.end == 10, "callbacks");
  try {
    run.advance_with(10, 1, [](const crease::Progress&) -> crease::Next { throw std::runtime_error("mine"); });
    hold(false, "what a callback throws");
  } catch (const std::runtime_error& error) {
    hold(std::string(error.what()) == "mine" && run.step() == 9, "what a callback throws");
  }
  const auto is_small = [](crease::Run& run) { return run.read<double>("u", {0, 0}).at(0) < 1e-4; };
  hold(run.advance_until(1, 100, is_small) && run.step() == 14, "until");
  hold(!run.advance_until(1, 2, [](crease::Run&) { return false; }), "never");
  std::uint64_t left = 50;
  while (left > 0) left -= run.advance_for(std::chrono::milliseconds(1), left);
  hold(run.step() == 66 && run.advance_for(std::chrono::seconds(0), 3) == 1, "calls of some time");
  refuses("argument/number", CREASE_ERROR_ARGUMENT, [&] { run.advance_for(std::chrono::seconds(-1), 3); });

  const crease::Cancel cancel;
  run.cancel_with(cancel);
  std::thread stopper([&] { cancel.now(); });
  refuses("run/cancelled", CREASE_ERROR_CANCELLED, [&] { run.advance(std::uint64_t{1} << 40); });
  stopper.join();
  hold(cancel.is_set(), "cancelled");
  cancel.reset();
  run.advance(1);
}

void borrowed() {
  crease::Run run = crease::Kernel::parse(DIFFERENCE).plan().size("N", 3).build().compile().instantiate();
  std::vector<float> image{0, 1, 4, 9, 16, 25, 36, 49, 64}, slope(6);
  const crease::View<const float> seen(image.data(), {3, 3});
  run.run_on({crease::Run::array("image", seen)}, {crease::Run::array("slope", crease::View(slope.data(), {3, 2}))});
  hold(slope[0] == 1.0f && slope[5] == 15.0f, "borrowed");
  refuses("run/missing-array", CREASE_ERROR_RUN, [&] { run.run_on({crease::Run::array("image", seen)}, {}); });
  run.write("image", crease::View(image.data(), {3, 3}));
  run.once();
  hold(run.read<float>("slope").at(1) == 3.0f, "once");
}

void observers() {
  const crease::Kernel plain = crease::Kernel::parse(DECAY);
  hold(plain.observers().empty(), "no observers");
  const crease::Kernel kernel = plain.with_observer(R"(observe look {
    output twice[y, x]: f64 for 0 <= y < N and 0 <= x < N
    output row[x]: f32 for 0 <= x < N
    D[t, y, x] for 0 <= y < N and 0 <= x < N { twice[y,x] = 2 * u[t,y,x] }
    R[t, x] for 0 <= x < N { row[x] = f32(u[t,1,x]) }
  })");
  refuses("kernel/expected", CREASE_ERROR_KERNEL, [&] { plain.with_observer("look"); });
  const std::vector<crease::Kernel::Observer> found = kernel.observers();
  hold(found.size() == 1 && found[0].name == "look" && found[0].outputs.size() == 2, "observers");
  hold(std::string(found[0].outputs[1].name) == "row" && found[0].outputs[1].element == CREASE_F32, "outputs");
  hold(found[0].outputs[0].rank == 2 && found[0].outputs[0].role == CREASE_OUTPUT, "ranks");

  crease::Run run = kernel.plan().size("N", 3).build().compile().instantiate();
  std::vector<double> cells{0, 1, 2, 3, 4, 5, 6, 7, 8}, twice(9);
  std::vector<float> row(3);
  run.set("k", 0.5).write("u", crease::View(cells.data(), {3, 3}));
  run.advance(1);
  const crease::View grid(twice.data(), {3, 3});
  const crease::Run::Array seen = crease::Run::array("row", crease::View<float>(row));
  run.observe("look", {crease::Run::array("twice", grid.transposed()), seen});
  hold(grid(1, 0) == 1.0 && grid(0, 1) == 3.0 && row[0] == 1.5f && row[2] == 2.5f, "observed");
  run.advance_observing(1, "look", {crease::Run::array("twice", grid.transposed()), seen});
  hold(run.step() == 2 && grid(1, 0) == 0.5 && row[2] == 1.25f, "observed by a step");
  refuses("run/missing-output", CREASE_ERROR_RUN, [&] { run.advance_observing(1, "look", {seen}); });
  hold(run.step() == 2, "refused before a step");
  hold(run.observed_shape("look", "twice") == std::vector<std::size_t>{3, 3}, "shape");
  refuses("run/unknown-observer", CREASE_ERROR_RUN, [&] { run.observed_shape("peek", "row"); });
  refuses("run/unknown-output", CREASE_ERROR_RUN, [&] { run.observed_shape("look", "u"); });
  refuses("run/unknown-observer", CREASE_ERROR_RUN, [&] { run.observe("peek", {}); });
  refuses("run/missing-output", CREASE_ERROR_RUN, [&] { run.observe("look", {seen}); });
  refuses("run/duplicate-array", CREASE_ERROR_RUN, [&] { run.observe("look", {seen, seen}); });
  const crease::View line(twice.data(), {3});
  refuses("run/element-type", CREASE_ERROR_RUN, [&] { run.observe("look", {crease::Run::array("row", line)}); });
  refuses("run/shape", CREASE_ERROR_RUN, [&] { run.observe("look", {crease::Run::array("row", grid)}); });
  // One number, which this output is not.
  float number = -1.0f;
  const crease::Run::Array scalar = crease::Run::array("row", number);
  hold(scalar.shape.empty() && scalar.strides.empty() && scalar.element == CREASE_F32, "one number");
  refuses("run/shape", CREASE_ERROR_RUN, [&] { run.observe("look", {scalar}); });
  hold(number == -1.0f, "left alone");
}

/* Numbers that a state is reduced to, also in time loops, and the monitor for NaN. */
void reductions() {
  const crease::Kernel kernel = crease::Kernel::parse(DECAY).with_observer(R"(observe totals {
    reduce sum total: f64
    reduce max most: f32
    output row[x]: f64 for 0 <= x < N
    A[t, y, x] for 0 <= y < N and 0 <= x < N { total = u[t,y,x] most = f32(u[t,y,x]) }
    R[t, x] for 0 <= x < N { row[x] = u[t,1,x] }
  })");
  const crease::Kernel::Observer found = kernel.observers().at(0);
  hold(found.reductions == std::vector<std::string>{"sum", "max", ""} && found.outputs[0].rank == 0, "reductions");

  crease::Run run = kernel.plan().size("N", 3).build().compile().instantiate();
  std::vector<double> cells{0, 1, 2, 3, 4, 5, 6, 7, 8}, row(3);
  run.set("k", 0.5).write("u", crease::View(cells.data(), {3, 3}));
  double total = -1.0;
  float most = -1.0f;
  const std::vector<crease::Run::Array> numbers = {crease::Run::array("total", total), crease::Run::array("most", most),
                                                   crease::Run::array("row", crease::View<double>(row))};
  run.advance(1);
  hold(run.observed_shape("totals", "total").empty(), "no shape");
  float other = -1.0f;
  refuses("run/element-type", CREASE_ERROR_RUN,
          [&] { run.observe("totals", {crease::Run::array("total", other), numbers[1], numbers[2]}); });
  refuses("call/overlap", CREASE_ERROR_RUN,
          [&] { run.observe("totals", {crease::Run::array("total", row[0]), numbers[1], numbers[2]}); });
  const crease::Run::Array wide = crease::Run::array("total", crease::View<double>(row));
  refuses("run/shape", CREASE_ERROR_RUN, [&] { run.observe("totals", {wide, numbers[1], numbers[2]}); });
  hold(total == -1.0 && most == -1.0f && row[0] == 0.0, "left alone");
  run.observe("totals", numbers);
  hold(total == 18.0 && most == 4.0f && row[2] == 2.5, "reduced");
  const bool is_small = run.advance_until(2, 20, [&](crease::Run& run) {
    run.observe("totals", numbers);
    return total < 1.0;
  });
  hold(is_small && run.step() == 7 && total == 36.0 / 128.0, "until a reduction is small");

  run.monitor_nan(3);
  run.fill("u", std::nan(""), {2, crease::all});
  bool is_named = false;
  try {
    run.advance(10);
  } catch (const crease::Error& error) {
    const std::string message = error.what();
    is_named = error.code() == "run/not-a-number" && message.find("`u[2, 0]` is NaN after step 10, and 3 cell(s)") == 0;
  }
  hold(is_named && run.step() == 10, "the monitor");
  run.monitor_nan(0);
  run.advance(5);
}

}  // namespace

int main(int count, char** arguments) {
  hold(count == 2, "a directory for caches");
  crease::check_abi();
  kernels_and_plans();
  caches(arguments[1]);
  steps();
  runs_and_views();
  time_loops();
  borrowed();
  observers();
  reductions();
  std::printf("%d checks\n", checks);
}
