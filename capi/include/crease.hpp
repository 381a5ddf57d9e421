/*
 * crease.hpp: the C interface for C++17 and later, in one header.
 *
 * Classes own their handles: they are moved, not copied, and free what they hold. What fails throws crease::Error, with
 * the message, the code that stays the same when messages get better, and the status. Arrays of the caller are passed
 * as crease::View: an address, extents and strides. crease.h says what holds of handles, threads and memory.
 */
#ifndef CREASE_HPP
#define CREASE_HPP

#include <crease.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__has_include) && __cplusplus >= 202002L
#if __has_include(<span>)
#include <span>
#endif
#endif

namespace crease {

/* A call that failed. */
class Error : public std::runtime_error {
 public:
  Error(std::int32_t status, std::string code, const std::string& message)
      : std::runtime_error(message), status_(status), code_(std::move(code)) {}

  /* One of CREASE_ERROR_... */
  std::int32_t status() const noexcept { return status_; }
  /* As `run/input-not-given`. */
  const std::string& code() const noexcept { return code_; }

 private:
  std::int32_t status_;
  std::string code_;
};

/* Half precision, as bits. */
struct Half {
  std::uint16_t bits;
};

namespace detail {

inline void check(std::int32_t status) {
  if (status != CREASE_OK) throw Error(status, crease_last_error_code(), crease_last_error_message());
}

/* The text that a call makes, as a string of C++. */
template <class Call>
std::string text(Call call) {
  char* made = nullptr;
  check(call(&made));
  const std::unique_ptr<char, std::int32_t (*)(char*)> owner(made, crease_text_free);
  return std::string(made);
}

/* Owns a handle. */
template <class Raw, std::int32_t (*free_raw)(Raw*)>
class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(Raw* raw) noexcept : raw_(raw) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      free();
      raw_ = std::exchange(other.raw_, nullptr);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { free(); }

  /* The handle, for functions of crease.h; it stays owned. */
  Raw* get() const noexcept { return raw_; }
  explicit operator bool() const noexcept { return raw_ != nullptr; }
  /* Frees what it holds. */
  void free() noexcept { free_raw(std::exchange(raw_, nullptr)); }

 private:
  Raw* raw_ = nullptr;
};

template <class T>
struct ElementOf;
template <>
struct ElementOf<double> : std::integral_constant<std::int32_t, CREASE_F64> {};
template <>
struct ElementOf<float> : std::integral_constant<std::int32_t, CREASE_F32> {};
template <>
struct ElementOf<Half> : std::integral_constant<std::int32_t, CREASE_F16> {};
template <>
struct ElementOf<std::uint8_t> : std::integral_constant<std::int32_t, CREASE_U8> {};
template <>
struct ElementOf<std::int8_t> : std::integral_constant<std::int32_t, CREASE_I8> {};
template <>
struct ElementOf<std::int16_t> : std::integral_constant<std::int32_t, CREASE_I16> {};
template <>
struct ElementOf<std::uint16_t> : std::integral_constant<std::int32_t, CREASE_U16> {};
template <>
struct ElementOf<std::int32_t> : std::integral_constant<std::int32_t, CREASE_I32> {};
template <>
struct ElementOf<std::uint32_t> : std::integral_constant<std::int32_t, CREASE_U32> {};
template <>
struct ElementOf<std::int64_t> : std::integral_constant<std::int32_t, CREASE_I64> {};

}  // namespace detail

/* The number of a cell's type. */
template <class T>
inline constexpr std::int32_t element = detail::ElementOf<std::remove_const_t<T>>::value;

/* Cells of an array: an address, extents and strides (in cells, of any sign). Owns nothing. */
template <class T>
class View {
 public:
  /* Contiguous cells of this shape, the last axis fastest. */
  View(T* data, std::vector<std::size_t> shape) : data_(data), shape_(std::move(shape)), strides_(shape_.size(), 1) {
    for (std::size_t axis = shape_.size(); axis > 1; --axis)
      strides_[axis - 2] = strides_[axis - 1] * static_cast<std::ptrdiff_t>(shape_[axis - 1]);
  }
  View(T* data, std::initializer_list<std::size_t> shape) : View(data, std::vector<std::size_t>(shape)) {}
  /* Cells of any strides. `data` is where the cell at position 0 of all axes is. */
  View(T* data, std::vector<std::size_t> shape, std::vector<std::ptrdiff_t> strides)
      : data_(data), shape_(std::move(shape)), strides_(std::move(strides)) {
    if (shape_.size() != strides_.size()) throw std::invalid_argument("a view has one stride for each extent");
  }
  /* One axis. */
  View(std::vector<std::remove_const_t<T>>& cells) : View(cells.data(), {cells.size()}) {}
#ifdef __cpp_lib_span
  View(std::span<T> cells) : View(cells.data(), {cells.size()}) {}
#endif
  /* The same cells, only to be read. */
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T> && !std::is_const_v<U>>>
  View(const View<U>& other) : data_(other.data()), shape_(other.shape()), strides_(other.strides()) {}

  T* data() const noexcept { return data_; }
  std::size_t rank() const noexcept { return shape_.size(); }
  const std::vector<std::size_t>& shape() const noexcept { return shape_; }
  const std::vector<std::ptrdiff_t>& strides() const noexcept { return strides_; }
  std::size_t size() const noexcept {
    std::size_t cells = 1;
    for (const std::size_t extent : shape_) cells *= extent;
    return cells;
  }

  /* The cell at a position, a number for each axis; positions are not checked. */
  template <class... Position>
  T& operator()(Position... position) const noexcept {
    const std::array<std::ptrdiff_t, sizeof...(Position)> at{static_cast<std::ptrdiff_t>(position)...};
    std::ptrdiff_t offset = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * strides_[axis];
    return data_[offset];
  }

  /* Positions `first` to before `end` of an axis, every `step`-th. */
  View slice(std::size_t axis, std::size_t first, std::size_t end, std::size_t step = 1) const {
    if (axis >= rank() || first > end || end > shape_[axis] || step == 0) throw std::out_of_range("slice of a view");
    View part = *this;
    part.data_ += static_cast<std::ptrdiff_t>(first) * strides_[axis];
    part.shape_[axis] = (end - first + step - 1) / step;
    part.strides_[axis] *= static_cast<std::ptrdiff_t>(step);
    return part;
  }

  /* The same cells with the axes in reverse order: what is column-major seen as row-major. */
  View transposed() const {
    return View(data_, {shape_.rbegin(), shape_.rend()},
                std::vector<std::ptrdiff_t>(strides_.rbegin(), strides_.rend()));
  }

 private:
  T* data_;
  std::vector<std::size_t> shape_;
  std::vector<std::ptrdiff_t> strides_;
};

template <class T>
View(T*, std::initializer_list<std::size_t>) -> View<T>;
template <class T>
View(T*, std::vector<std::size_t>) -> View<T>;

/* Values of one index, as the kernel's text has them. A number stands for that value alone. */
struct Range : crease_range {
  Range(std::int64_t value) : crease_range{CREASE_RANGE_ONE, value, 0, 1} {}
  Range(std::int64_t kind, std::int64_t first, std::int64_t end, std::int64_t step)
      : crease_range{kind, first, end, step} {}
  /* Every so many values. */
  Range every(std::int64_t values) const { return {kind, first, end, values}; }
};

/* All values of an index. */
inline const Range all{CREASE_RANGE_ALL, 0, 0, 1};
/* From `first` to before `end`. */
inline Range from(std::int64_t first, std::int64_t end) { return {CREASE_RANGE_FROM, first, end, 1}; }

/* Cells of an array: a range for each index, as in Region{3, crease::all, crease::from(0, 10)}. */
class Region {
 public:
  /* All cells. */
  Region() = default;
  Region(std::initializer_list<Range> ranges) : ranges_(ranges.begin(), ranges.end()), is_whole_(false) {}
  /* The same cells so many steps before the present one. */
  Region back(std::uint32_t steps) const {
    Region region = *this;
    region.back_ = steps;
    return region;
  }
  crease_region raw() const noexcept { return {ranges_.size(), is_whole_ ? nullptr : ranges_.data(), back_}; }

 private:
  std::vector<crease_range> ranges_;
  bool is_whole_ = true;
  std::uint32_t back_ = 0;
};

/* Stops runs, from any thread and from signal handlers. */
class Cancel : public detail::Handle<crease_cancel, crease_cancel_free> {
 public:
  Cancel() : Handle(make()) {}
  /* One store to memory. */
  void now() const noexcept { crease_cancel_now(get()); }
  /* Lets runs go on. */
  void reset() const { detail::check(crease_cancel_reset(get())); }
  bool is_set() const {
    std::int32_t is_set = 0;
    detail::check(crease_cancel_is_set(get(), &is_set));
    return is_set != 0;
  }

 private:
  static crease_cancel* make() {
    crease_cancel* raw = nullptr;
    detail::check(crease_cancel_new(&raw));
    return raw;
  }
};

using Progress = crease_progress;

/* Whether a time loop goes on. */
enum class Next : std::int32_t { go_on = CREASE_CONTINUE, stop = CREASE_STOP };

/* What an array is made of, where it is folded. */
struct Folded {
  crease_folded buffer;
  std::vector<crease_folded_coordinate> coordinates;
  /* Those of the first coordinate first, one for each index. */
  std::vector<std::int64_t> coefficients;

  /* Where in the buffer a cell is. */
  std::int64_t place(const std::vector<std::int64_t>& index) const {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < coordinates.size(); ++k) {
      std::int64_t value = coordinates[k].offset;
      for (std::size_t axis = 0; axis < buffer.rank; ++axis)
        value += coefficients[k * buffer.rank + axis] * index[axis];
      const std::int64_t modulus = coordinates[k].modulus;
      at += (value % modulus + modulus) % modulus * static_cast<std::int64_t>(coordinates[k].stride);
    }
    return at;
  }
};

/* Folded storage in use. One call at a time. */
class Run : public detail::Handle<crease_run, crease_run_free> {
 public:
  using Handle::Handle;

  std::size_t threads() const {
    std::size_t threads = 0;
    detail::check(crease_run_threads(get(), &threads));
    return threads;
  }

  Run& set(const std::string& scalar, double value) {
    detail::check(crease_run_set(get(), scalar.c_str(), value));
    return *this;
  }
  /* As it was set; none if it was not. */
  std::optional<double> scalar(const std::string& name) const {
    double value = 0.0;
    std::int32_t is_set = 0;
    detail::check(crease_run_scalar(get(), name.c_str(), &value, &is_set));
    return is_set != 0 ? std::optional<double>(value) : std::nullopt;
  }

  std::int64_t step() const {
    std::int64_t step = 0;
    detail::check(crease_run_step(get(), &step));
    return step;
  }
  /* For a restart: all levels of state have to be written then. */
  void set_step(std::int64_t step) { detail::check(crease_run_set_step(get(), step)); }
  void advance(std::uint64_t steps) { detail::check(crease_run_advance(get(), steps)); }
  /* Runs at most `most` more steps: as many as take about this time, as far as calls before tell, but at least one.
     How many. For callers that have something else to look at meanwhile and no thread for it. */
  std::uint64_t advance_for(std::chrono::duration<double> time, std::uint64_t most) {
    std::uint64_t done = 0;
    detail::check(crease_run_advance_for(get(), time.count(), most, &done));
    return done;
  }
  /* Looks for NaN in all states after every so many steps; calls that advance then throw `run/not-a-number`, which
     names cell and step. 0 ends that. */
  void monitor_nan(std::uint64_t every) { detail::check(crease_run_monitor_nan(get(), every)); }
  /* Runs a kernel without state on the arrays written before. */
  void once() { detail::check(crease_run_once(get())); }

  /* Runs some steps and calls back after every `every`, and after the last: `Next each(const Progress&)`. What the
     callback throws ends the call and is thrown on. */
  template <class Each>
  Progress advance_with(std::uint64_t steps, std::uint64_t every, Each&& each) {
    struct Context {
      std::remove_reference_t<Each>* each;
      std::exception_ptr thrown;
    } context{&each, nullptr};
    const auto call = [](crease_run*, const crease_progress* progress, void* raw) -> std::int32_t {
      Context& context = *static_cast<Context*>(raw);
      try {
        return static_cast<std::int32_t>((*context.each)(*progress));
      } catch (...) {
        context.thrown = std::current_exception();
        return -1;
      }
    };
    Progress progress{};
    const std::int32_t status = crease_run_advance_with(get(), steps, every, call, &context, &progress);
    if (context.thrown) std::rethrow_exception(context.thrown);
    detail::check(status);
    return progress;
  }

  /* Runs until `is_reached(*this)`, which is asked after every `every` steps, for `limit` steps at most. Whether it
     was. */
  template <class IsReached>
  bool advance_until(std::uint64_t every, std::uint64_t limit, IsReached&& is_reached) {
    bool reached = false;
    advance_with(limit, every, [&](const Progress&) {
      reached = is_reached(*this);
      return reached ? Next::stop : Next::go_on;
    });
    return reached;
  }

  /* Lets a handle cancel this run's calls. */
  void cancel_with(const Cancel& cancel) { detail::check(crease_run_cancel_with(get(), cancel.get())); }

  /* Copies cells in and out. */
  template <class T>
  void write(const std::string& array, const View<T>& from, const Region& region = {}) {
    const crease_region cells = region.raw();
    detail::check(crease_run_write(get(), array.c_str(), &cells, from.data(), element<T>, from.rank(),
                                   from.shape().data(), from.strides().data()));
  }
  /* Gives an input over steps its values at step `first` and those after it: the view's first axis are the steps. */
  template <class T>
  void write_steps(const std::string& array, std::int64_t first, const View<T>& from) {
    detail::check(crease_run_write_steps(get(), array.c_str(), first, from.data(), element<T>, from.rank(),
                                         from.shape().data(), from.strides().data()));
  }
  template <class T>
  void read(const std::string& array, const View<T>& into, const Region& region = {}) const {
    static_assert(!std::is_const_v<T>, "cells that are read into are written");
    const crease_region cells = region.raw();
    detail::check(crease_run_read(get(), array.c_str(), &cells, into.data(), element<T>, into.rank(),
                                  into.shape().data(), into.strides().data()));
  }
  /* The whole array, contiguous in logical order. */
  template <class T>
  std::vector<T> read(const std::string& array, const Region& region = {}) const {
    const std::vector<std::size_t> extents = shape(array, region);
    std::size_t cells = 1;
    for (const std::size_t extent : extents) cells *= extent;
    std::vector<T> found(cells);
    read(array, View<T>(found.data(), extents), region);
    return found;
  }
  /* All cells, and all levels that the kernel reads back. */
  void fill(const std::string& array, double value) {
    detail::check(crease_run_fill(get(), array.c_str(), nullptr, value));
  }
  void fill(const std::string& array, double value, const Region& region) {
    const crease_region cells = region.raw();
    detail::check(crease_run_fill(get(), array.c_str(), &cells, value));
  }

  /* The shape of views that go with a region. */
  std::vector<std::size_t> shape(const std::string& array, const Region& region = {}) const {
    const crease_region cells = region.raw();
    std::size_t rank = 0;
    detail::check(crease_run_shape(get(), array.c_str(), &cells, &rank, nullptr, 0));
    std::vector<std::size_t> shape(rank);
    detail::check(crease_run_shape(get(), array.c_str(), &cells, nullptr, shape.data(), rank));
    return shape;
  }
  /* First and last value of each index. */
  std::vector<std::pair<std::int64_t, std::int64_t>> index_ranges(const std::string& array) const {
    std::size_t rank = 0;
    detail::check(crease_run_index_ranges(get(), array.c_str(), &rank, nullptr, nullptr, 0));
    std::vector<std::int64_t> first(rank), last(rank);
    detail::check(crease_run_index_ranges(get(), array.c_str(), nullptr, first.data(), last.data(), rank));
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) ranges[axis] = {first[axis], last[axis]};
    return ranges;
  }

  /* A region where it lies, without a copy; throws where no strides describe that. Valid until the run is next written,
     filled, advanced or freed. */
  template <class T>
  View<const T> view(const std::string& array, const Region& region = {}) const {
    const View<T> found = lies<T>(array, region, 0);
    return View<const T>(found);
  }
  template <class T>
  View<T> view_mut(const std::string& array, const Region& region = {}) {
    return lies<T>(array, region, 1);
  }

  /* Where in folded memory a region is, at the present step. Valid as a view is. */
  Folded folded(const std::string& array, const Region& region = {}) const {
    const crease_region cells = region.raw();
    Folded found{};
    detail::check(crease_run_folded(get(), array.c_str(), &cells, &found.buffer));
    found.coordinates.resize(found.buffer.coordinates);
    found.coefficients.resize(found.buffer.coordinates * found.buffer.rank);
    detail::check(crease_run_folded_coordinates(get(), array.c_str(), &cells, found.coordinates.data(),
                                                found.coordinates.size(), found.coefficients.data(),
                                                found.coefficients.size()));
    return found;
  }

  /* An array of the caller for run_on and observe. */
  struct Array {
    std::string name;
    void* data;
    std::int32_t element;
    std::vector<std::size_t> shape;
    std::vector<std::ptrdiff_t> strides;
  };
  template <class T>
  static Array array(std::string name, const View<T>& cells) {
    void* data = const_cast<std::remove_const_t<T>*>(cells.data());
    return {std::move(name), data, crease::element<T>, cells.shape(), cells.strides()};
  }
  /* One number: an array of rank 0. */
  template <class T, std::int32_t element = detail::ElementOf<T>::value>
  static Array array(std::string name, T& number) {
    return {std::move(name), &number, element, {}, {}};
  }
  /* Runs a kernel without state once, on the caller's arrays, where they lie. */
  void run_on(const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
    const std::vector<crease_array> in = raw(inputs), out = raw(outputs);
    detail::check(crease_run_on(get(), in.data(), in.size(), out.data(), out.size()));
  }

  /* Computes an observer of the kernel, of the states as they are, into the caller's arrays, where they lie. */
  void observe(const std::string& observer, const std::vector<Array>& outputs) {
    const std::vector<crease_array> out = raw(outputs);
    detail::check(crease_run_observe(get(), observer.c_str(), out.data(), out.size()));
  }
  /* Runs so many more steps and computes an observer of the states that they leave, if that is faster in the last of
     them: the same bits as advance and observe. */
  void advance_observing(std::uint64_t steps, const std::string& observer, const std::vector<Array>& outputs) {
    const std::vector<crease_array> out = raw(outputs);
    detail::check(crease_run_advance_observing(get(), steps, observer.c_str(), out.data(), out.size()));
  }
  /* The shape of an observer's output; empty for one number. */
  std::vector<std::size_t> observed_shape(const std::string& observer, const std::string& output) const {
    std::size_t rank = 0;
    detail::check(crease_run_observed_shape(get(), observer.c_str(), output.c_str(), &rank, nullptr, 0));
    std::vector<std::size_t> shape(rank);
    detail::check(crease_run_observed_shape(get(), observer.c_str(), output.c_str(), nullptr, shape.data(), rank));
    return shape;
  }

 private:
  template <class T>
  View<T> lies(const std::string& array, const Region& region, std::int32_t is_written) const {
    const crease_region cells = region.raw();
    std::int32_t found = 0;
    detail::check(crease_run_element(get(), array.c_str(), &found));
    if (found != element<T>) throw std::invalid_argument("array `" + array + "` has cells of another type");
    std::vector<std::size_t> extents = shape(array, region);
    std::vector<std::ptrdiff_t> strides(extents.size());
    crease_view view{};
    detail::check(crease_run_view(get(), array.c_str(), &cells, is_written, &view, extents.data(), strides.data(),
                                  extents.size()));
    return View<T>(static_cast<T*>(view.cells), std::move(extents), std::move(strides));
  }
  static std::vector<crease_array> raw(const std::vector<Array>& arrays) {
    std::vector<crease_array> raw;
    for (const Array& array : arrays)
      raw.push_back({array.name.c_str(), array.data, array.element, array.shape.size(), array.shape.data(),
                     array.strides.data()});
    return raw;
  }
};

/* How a run is set up. */
class Setup : public detail::Handle<crease_setup, crease_setup_free> {
 public:
  Setup() : Handle(make()) {}
  Setup& threads(std::uint64_t threads) { return with(crease_setup_threads(get(), threads)); }
  Setup& guard_pages(bool wanted) { return with(crease_setup_guard_pages(get(), wanted)); }
  Setup& pin_threads(bool wanted) { return with(crease_setup_pin_threads(get(), wanted)); }
  Setup& flush_denormals(bool wanted) { return with(crease_setup_flush_denormals(get(), wanted)); }
  Setup& memory_limit(std::uint64_t bytes) { return with(crease_setup_memory_limit(get(), bytes)); }
  Setup& memory_unchecked() { return with(crease_setup_memory_unchecked(get())); }

 private:
  static crease_setup* make() {
    crease_setup* raw = nullptr;
    detail::check(crease_setup_new(&raw));
    return raw;
  }
  Setup& with(std::int32_t status) {
    detail::check(status);
    return *this;
  }
};

/* How to compile. */
class Compiler : public detail::Handle<crease_compiler, crease_compiler_free> {
 public:
  Compiler() : Handle(make()) {}
  Compiler& isa(const std::string& name) { return with(crease_compiler_isa(get(), name.c_str())); }
  Compiler& width(const std::string& name) { return with(crease_compiler_width(get(), name.c_str())); }
  Compiler& unroll(const std::string& text) { return with(crease_compiler_unroll(get(), text.c_str())); }
  Compiler& non_temporal(const std::string& name) { return with(crease_compiler_non_temporal(get(), name.c_str())); }
  Compiler& prefetch(const std::string& name) { return with(crease_compiler_prefetch(get(), name.c_str())); }
  Compiler& work_limit(std::uint64_t operations) { return with(crease_compiler_work_limit(get(), operations)); }

 private:
  static crease_compiler* make() {
    crease_compiler* raw = nullptr;
    detail::check(crease_compiler_new(&raw));
    return raw;
  }
  Compiler& with(std::int32_t status) {
    detail::check(status);
    return *this;
  }
};

/* Machine code, shared by any number of runs and threads. */
class Code : public detail::Handle<crease_code, crease_code_free> {
 public:
  using Handle::Handle;
  Run instantiate() const { return instantiate_with(nullptr); }
  Run instantiate(const Setup& setup) const { return instantiate_with(setup.get()); }
  /* CREASE_KEPT_OFF, CREASE_KEPT_FOUND, ...: what became of it in the planner's cache. */
  std::int32_t kept() const {
    std::int32_t kept = 0;
    detail::check(crease_code_kept(get(), &kept, nullptr));
    return kept;
  }

 private:
  Run instantiate_with(crease_setup* setup) const {
    crease_run* run = nullptr;
    detail::check(crease_code_instantiate(get(), setup, &run));
    return Run(run);
  }
};

/* Proved storage. */
class Plan : public detail::Handle<crease_plan, crease_plan_free> {
 public:
  using Handle::Handle;
  std::size_t threads() const {
    std::size_t threads = 0;
    detail::check(crease_plan_threads(get(), &threads));
    return threads;
  }
  crease_footprint footprint() const {
    crease_footprint footprint{};
    detail::check(crease_plan_footprint(get(), &footprint));
    return footprint;
  }
  /* CREASE_KEPT_OFF, CREASE_KEPT_FOUND, ...: what became of it in the planner's cache. */
  std::int32_t kept() const {
    std::int32_t kept = 0;
    detail::check(crease_plan_kept(get(), &kept, nullptr));
    return kept;
  }
  /* The same in words, which say why it could not be kept. */
  std::string kept_words() const {
    std::int32_t kept = 0;
    return detail::text([&](char** text) { return crease_plan_kept(get(), &kept, text); });
  }
  /* For a person; with bounds: and what no storage can go below, which takes longer. */
  std::string explain(bool with_bounds = false) const {
    return detail::text([&](char** text) { return crease_plan_explain(get(), with_bounds, text); });
  }
  std::string report_json(bool with_bounds = false) const {
    return detail::text([&](char** text) { return crease_plan_report_json(get(), with_bounds, text); });
  }
  /* An intermediate form: "mapping", "loops", "asm", ... */
  std::string dump(const std::string& stage) const {
    return detail::text([&](char** text) { return crease_plan_dump(get(), stage.c_str(), text); });
  }
  Code compile() const { return compile_with(nullptr); }
  Code compile(const Compiler& compiler) const { return compile_with(compiler.get()); }
  /* Times ways to compile; what was found is kept in the directory, if one is named. */
  Code compile_tuned(const std::string& directory = "") const {
    crease_code* code = nullptr;
    const char* kept = directory.empty() ? nullptr : directory.c_str();
    detail::check(crease_plan_compile_tuned(get(), nullptr, kept, &code));
    return Code(code);
  }

 private:
  Code compile_with(crease_compiler* compiler) const {
    crease_code* code = nullptr;
    detail::check(crease_plan_compile(get(), compiler, &code));
    return Code(code);
  }
};

/* What a plan is to be made for; crease.h has the names and defaults. */
class Planner : public detail::Handle<crease_planner, crease_planner_free> {
 public:
  using Handle::Handle;
  Planner& size(const std::string& name, std::int64_t value) {
    return with(crease_planner_size(get(), name.c_str(), value));
  }
  Planner& schedule(const std::string& name) { return with(crease_planner_schedule(get(), name.c_str())); }
  Planner& strategy(const std::string& name) { return with(crease_planner_strategy(get(), name.c_str())); }
  Planner& objective(const std::string& name) { return with(crease_planner_objective(get(), name.c_str())); }
  Planner& rounding(const std::string& name) { return with(crease_planner_rounding(get(), name.c_str())); }
  Planner& rings(const std::string& name) { return with(crease_planner_rings(get(), name.c_str())); }
  Planner& storage_view(const std::string& name) { return with(crease_planner_storage_view(get(), name.c_str())); }
  Planner& mapping(const std::string& text) { return with(crease_planner_mapping(get(), text.c_str())); }
  Planner& horizon(std::uint64_t steps) { return with(crease_planner_horizon(get(), steps)); }
  Planner& threads(std::uint64_t threads) { return with(crease_planner_threads(get(), threads)); }
  Planner& memory_cap(std::uint64_t bytes) { return with(crease_planner_memory_cap(get(), bytes)); }
  Planner& caches(std::uint64_t second_level_bytes, std::uint64_t last_level_bytes) {
    return with(crease_planner_caches(get(), second_level_bytes, last_level_bytes));
  }
  Planner& double_map(std::uint64_t page_bytes) { return with(crease_planner_double_map(get(), page_bytes)); }
  Planner& operation_quota(std::uint64_t operations) {
    return with(crease_planner_operation_quota(get(), operations));
  }
  Planner& work_limit(std::uint64_t operations) { return with(crease_planner_work_limit(get(), operations)); }
  Planner& run_opaque_functions(bool allowed) { return with(crease_planner_run_opaque_functions(get(), allowed)); }

  /* Keeps plans and code in the user's directory for such files, or in another, and takes them from there. */
  Planner& cache() { return with(crease_planner_cache(get(), nullptr)); }
  Planner& cache(const std::string& directory) { return with(crease_planner_cache(get(), directory.c_str())); }

  /* Analyses, chooses storage, proves it. The planner stays as it is. */
  Plan build() const {
    crease_plan* plan = nullptr;
    detail::check(crease_planner_build(get(), &plan));
    return Plan(plan);
  }

 private:
  Planner& with(std::int32_t status) {
    detail::check(status);
    return *this;
  }
};

/* What to compute. */
class Kernel : public detail::Handle<crease_kernel, crease_kernel_free> {
 public:
  using Handle::Handle;
  static Kernel parse(const std::string& text) {
    crease_kernel* kernel = nullptr;
    detail::check(crease_kernel_parse(text.c_str(), &kernel));
    return Kernel(kernel);
  }
  static Kernel read(const std::string& path) {
    crease_kernel* kernel = nullptr;
    detail::check(crease_kernel_read(path.c_str(), &kernel));
    return Kernel(kernel);
  }

  std::string text() const {
    return detail::text([&](char** text) { return crease_kernel_text(get(), text); });
  }
  std::string name() const {
    const char* name = nullptr;
    detail::check(crease_kernel_name(get(), &name));
    return name;
  }
  bool has_state() const {
    std::int32_t has_state = 0;
    detail::check(crease_kernel_has_state(get(), &has_state));
    return has_state != 0;
  }
  /* Names in these live as long as the kernel. */
  std::vector<crease_array_info> arrays() const {
    std::size_t count = 0;
    detail::check(crease_kernel_counts(get(), &count, nullptr, nullptr, nullptr));
    std::vector<crease_array_info> arrays(count);
    for (std::size_t k = 0; k < count; ++k) detail::check(crease_kernel_array(get(), k, &arrays[k]));
    return arrays;
  }
  std::vector<std::string> scalars() const {
    std::size_t count = 0;
    detail::check(crease_kernel_counts(get(), nullptr, &count, nullptr, nullptr));
    return names(count,
                 [&](std::size_t k, const char** name) { return crease_kernel_scalar(get(), k, name, nullptr); });
  }
  std::vector<std::string> schedules() const {
    std::size_t count = 0;
    detail::check(crease_kernel_counts(get(), nullptr, nullptr, nullptr, &count));
    return names(count, [&](std::size_t k, const char** name) { return crease_kernel_schedule(get(), k, name); });
  }
  /* Parameters that a plan has to bind. */
  std::vector<std::string> sizes() const {
    std::size_t count = 0;
    detail::check(crease_kernel_counts(get(), nullptr, nullptr, &count, nullptr));
    std::vector<std::string> sizes;
    for (std::size_t k = 0; k < count; ++k) {
      const char* name = nullptr;
      std::int32_t kind = 0;
      detail::check(crease_kernel_param(get(), k, &name, &kind));
      if (kind == CREASE_SIZE) sizes.emplace_back(name);
    }
    return sizes;
  }

  /* What is computed of the states on demand. Names in `outputs` live as long as the kernel. */
  struct Observer {
    std::string name;
    std::vector<crease_array_info> outputs;
    /* How values become each output that is one number: "sum", "min" or "max"; empty for arrays. */
    std::vector<std::string> reductions;
  };
  std::vector<Observer> observers() const {
    std::size_t count = 0;
    detail::check(crease_kernel_observers(get(), &count));
    std::vector<Observer> observers(count);
    for (std::size_t k = 0; k < count; ++k) {
      const char* name = nullptr;
      std::size_t outputs = 0;
      detail::check(crease_kernel_observer(get(), k, &name, &outputs));
      observers[k].name = name;
      observers[k].outputs.resize(outputs);
      for (std::size_t position = 0; position < outputs; ++position) {
        const char* reduction = nullptr;
        detail::check(crease_kernel_observer_output(get(), k, position, &observers[k].outputs[position]));
        detail::check(crease_kernel_observer_reduction(get(), k, position, &reduction));
        observers[k].reductions.emplace_back(reduction == nullptr ? "" : reduction);
      }
    }
    return observers;
  }
  /* The kernel with one more observer, in text form: "observe name { .. }". */
  Kernel with_observer(const std::string& text) const {
    crease_kernel* observed = nullptr;
    detail::check(crease_kernel_with_observer(get(), text.c_str(), &observed));
    return Kernel(observed);
  }

  /* Starts a plan. */
  Planner plan() const {
    crease_planner* planner = nullptr;
    detail::check(crease_planner_new(get(), &planner));
    return Planner(planner);
  }

 private:
  template <class Call>
  static std::vector<std::string> names(std::size_t count, Call call) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < count; ++k) {
      const char* name = nullptr;
      detail::check(call(k, &name));
      names.emplace_back(name);
    }
    return names;
  }
};

/* Throws if this header and the library do not fit. */
inline void check_abi() { detail::check(crease_check_abi(CREASE_ABI_VERSION)); }

}  // namespace crease

#endif
