"""Observers compute what arrays that are read out say; what they cannot write into is refused by name."""

import linecache
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest

import crease
from kernels import HEAT, WAVE
from test_answers import bits

#: Of two levels of a state, an input and the step; cells of two types.
ENERGY = """
observe energy {
  output kinetic[x]: f64 for 0 <= x < N
  output slope[x]: f32 for 1 <= x < N-1
  K[t, x] for 0 <= x < N {
    let v = u[t,x] - u[t-1,x]
    kinetic[x] = v * v + index(t) }
  G[t, x] for 1 <= x < N-1 { slope[x] = f32(rough[x] * (u[t,x+1] - u[t,x-1])) }
}
"""

KERNEL = crease.Kernel.parse(WAVE).with_observer(ENERGY)


@pytest.fixture
def run():
    random = np.random.default_rng(0)
    run = KERNEL.run(N=30)
    run.c = 0.2
    run.write("rough", random.random(30))
    run.write("u", random.random(30))
    run.write("u", random.random(30), back=1)
    run.advance(7)
    return run


def expected(run):
    now, before = run.read("u"), run.read("u", back=1)
    v, rough = now - before, run.read("rough")
    return v * v + float(run.step), (rough[1:-1] * (now[2:] - now[:-2])).astype(np.float32)


def test_observers_are_listed():
    assert crease.Kernel.parse(WAVE).observers == {}
    assert list(KERNEL.observers) == ["energy"] and list(KERNEL.observers["energy"]) == ["kinetic", "slope"]
    info = KERNEL.observers["energy"]["slope"]
    assert (info.role, info.dtype, info.indices) == ("output", np.float32, ("x",))
    assert crease.Kernel.parse(KERNEL.text) == pickle.loads(pickle.dumps(KERNEL)) == KERNEL
    assert "observe energy {" in KERNEL.text and "observe" not in crease.Kernel.parse(WAVE).text


@pytest.mark.parametrize("text, code", [("observe", "kernel/expected"), (ENERGY, "kernel/duplicate")])
def test_wrong_observers_are_refused(text, code):
    with pytest.raises(crease.ParseError) as caught:
        KERNEL.with_observer(text)
    assert caught.value.code == code and caught.value.line is not None


def test_new_arrays(run):
    kinetic, slope = expected(run)
    found = run.observe("energy")
    assert list(found) == ["kinetic", "slope"] and found["slope"].dtype == np.float32
    np.testing.assert_array_equal(bits(found["kinetic"]), bits(kinetic))
    np.testing.assert_array_equal(bits(found["slope"]), bits(slope))
    assert run.observed_shape("energy", "slope") == (28,)
    run.advance(3)
    np.testing.assert_array_equal(run.observe("energy")["kinetic"], expected(run)[0])


def test_given_arrays(run):
    kinetic, slope = expected(run)
    large, mirrored = np.full((30, 3), -1.0), np.zeros(28, np.float32)
    found = run.observe("energy", slope=mirrored[::-1], kinetic=large[:, 1])
    np.testing.assert_array_equal(large[:, 1], kinetic)
    np.testing.assert_array_equal(mirrored[::-1], slope)
    assert (large[:, ::2] == -1).all() and found["kinetic"].base is large
    some = np.zeros(30)
    found = run.observe("energy", kinetic=some)
    assert found["kinetic"] is some
    np.testing.assert_array_equal(some, kinetic)
    np.testing.assert_array_equal(found["slope"], slope)
    packed = np.zeros(30, np.dtype([("v", np.float64), ("w", np.uint8)]))
    with pytest.warns(crease.CopyWarning, match="`kinetic` is not aligned"):
        run.observe("energy", kinetic=packed["v"])
    np.testing.assert_array_equal(packed["v"], kinetic)


def test_wrong_names(run):
    with pytest.raises(crease.RunError, match="kernel `wave` has no observer `moments`; it has energy") as caught:
        run.observe("moments")
    assert caught.value.code == "run/unknown-observer"
    with pytest.raises(crease.RunError, match="observer `energy` has no output `u`; it has kinetic, slope") as caught:
        run.observe("energy", u=np.zeros(30))
    assert caught.value.code == "run/unknown-output"
    with pytest.raises(crease.RunError) as caught:
        run.observed_shape("moments", "density")
    assert caught.value.code == "run/unknown-observer"
    with pytest.raises(crease.RunError) as caught:
        run.observed_shape("energy", "u")
    assert caught.value.code == "run/unknown-output"
    with pytest.raises(crease.RunError, match="has no observer `energy`; it has none"):
        crease.Kernel.parse(HEAT).run(N=6).observe("energy")


FROZEN = np.zeros(30)
FROZEN.flags.writeable = False


@pytest.mark.parametrize(
    "wrong, code",
    [
        (np.zeros(30, np.float32), "run/element-type"),
        (np.zeros(30, ">f8"), "py/layout"),
        (np.zeros(29), "run/shape"),
        (np.zeros((30, 1)), "run/shape"),
        (np.zeros(()), "run/shape"),
        (FROZEN, "py/read-only"),
        (np.lib.stride_tricks.as_strided(np.zeros(1), (30,), (0,)), "py/overlap"),
        ([0.0] * 30, "py/not-an-array"),
        (0.0, "py/not-an-array"),
    ],
)
def test_wrong_arrays(run, wrong, code):
    slope = np.zeros(28, np.float32)
    with pytest.raises(crease.ArrayError, match="`kinetic`") as caught:
        run.observe("energy", slope=slope, kinetic=wrong)
    assert caught.value.code == code and not slope.any()


def test_outputs_that_share_cells(run):
    both = np.zeros(30, np.float64)
    with pytest.raises(crease.ArrayError) as caught:
        run.observe("energy", kinetic=both, slope=both.view(np.float32)[:28])
    assert caught.value.code == "py/overlap"
    run.fill("u", 0.0)
    lying = run.view("u", writable=True)
    with pytest.raises(crease.ArrayError, match="is a view of this run") as caught:
        run.observe("energy", kinetic=lying)
    assert caught.value.code == "py/overlap"


def test_the_extension_checks_by_itself(run):
    """What Python code checks first is checked once more where cells are borrowed."""
    kinetic, slope = np.zeros(30), np.zeros(28, np.float32)
    for outputs, code in [
        ([("kinetic", kinetic)], "run/missing-output"),
        ([("kinetic", kinetic), ("slope", slope), ("slope", slope.copy())], "run/duplicate-array"),
        ([("kinetic", kinetic), ("u", slope)], "run/unknown-output"),
        ([("kinetic", slope), ("slope", slope)], "run/element-type"),
        ([("kinetic", np.zeros(())), ("slope", slope)], "run/shape"),
    ]:
        with pytest.raises(crease.RunError) as caught:
            run._run.observe("energy", outputs)
        assert caught.value.code == code
        assert not kinetic.any() and not slope.any()
    with pytest.raises(crease.RunError) as caught:
        run._run.observe("moments", [("kinetic", kinetic)])
    assert caught.value.code == "run/unknown-observer"


def test_what_is_not_given():
    run = KERNEL.run(N=30)
    for code, give in [
        ("run/unset-scalar", lambda: run.set("c", 0.5)),
        ("run/input-not-given", lambda: run.fill("rough", 1.0)),
        ("run/state-not-given", lambda: run.write("u", np.zeros(30))),
        ("run/state-not-given", lambda: run.fill("u", 2.0)),
    ]:
        with pytest.raises(crease.RunError) as caught:
            run.observe("energy")
        assert caught.value.code == code
        give()
    assert (run.observe("energy")["kinetic"] == 0).all()


def test_observers_in_callbacks_and_beside_views(run):
    seen = []
    run.advance(4, every=2, callback=lambda run, _: seen.append(run.observe("energy")["kinetic"][3]))
    assert len(seen) == 2 and seen[1] == expected(run)[0][3]
    rough = run.view("rough")
    np.testing.assert_array_equal(run.observe("energy")["slope"], expected(run)[1])
    assert rough.shape == (30,)


def test_moments_of_the_catalogue():
    run = crease.catalogue["lbm-d2q9-cavity"].run(N=16)
    run.advance(20)
    moments = run.observe("moments")
    assert set(moments) == {"density", "velocity_x", "velocity_y"}
    density = run.read("f0")
    for q in range(1, 9):
        density = density + run.read(f"f{q}")
    np.testing.assert_array_equal(bits(moments["density"]), bits(density))
    assert moments["velocity_x"][-1].max() > 0


def built():
    with crease.kernel("heat", sizes="N", steps="T", where="N >= 3") as k:
        (N,), (t, x) = k.sizes, k.indices("t x")
        c = k.scalar("c")
        u = k.state("u", (t, x), x.within(0, N))
        with k.observer("flux"):
            q = k.output("q", (x,), x.within(0, N - 1), dtype="f32")
            mean = k.output("mean", (x,), x.within(1, N - 1))
            with k.statement("Q", (t, x), x.within(0, N - 1)):
                q[x] = crease.f32(c * (u[t, x] - u[t, x + 1]))
            with k.statement("M", (t, x), x.within(1, N - 1)):
                mean[x] = (u[t, x-1] + u[t, x] + u[t, x+1]) / 3
        with k.statement("S", (t, x), t.between(1, k.steps), x.within(1, N - 1)):
            u[t, x] = u[t-1, x] + c * (u[t-1, x-1] - 2 * u[t-1, x] + u[t-1, x+1])
        with k.statement("E", (t, x), t.between(1, k.steps), (x == 0) | (x == N - 1)):
            u[t, x] = u[t-1, x]
        with k.observer("ends"):
            end = k.output("end", (x,), (x == 0) | (x == N - 1))
            with k.statement("L", (t, x), (x == 0) | (x == N - 1)):
                end[x] = u[t, x]
        k.schedule("rows", (t, x.vector(8)))
    return k


def test_observers_in_python_syntax():
    kernel = built().build()
    assert {name: list(outputs) for name, outputs in kernel.observers.items()} == {
        "flux": ["q", "mean"],
        "ends": ["end"],
    }
    assert [info.name for info in kernel.arrays.values()] == ["u"] and kernel.schedules == ["rows"]
    run = kernel.run(N=12)
    run.c = 0.25
    run["u"] = np.arange(12.0) ** 2
    run.advance(3)
    u, found = run.read("u"), run.observe("flux")
    np.testing.assert_array_equal(found["q"], (0.25 * (u[:-1] - u[1:])).astype(np.float32))
    np.testing.assert_array_equal(found["mean"], (u[:-2] + u[1:-1] + u[2:]) / 3)
    out = np.full(12, -1.0)
    run.observe("ends", end=out)
    np.testing.assert_array_equal(out, [u[0], *[-1] * 10, u[-1]])


def reduced():
    with crease.kernel("walk", sizes="N", steps="T", where="N >= 3") as k:
        (N,), (t, x) = k.sizes, k.indices("t x")
        u = k.state("u", (t, x), x.within(0, N))
        with k.statement("S", (t, x), t.between(1, k.steps), x.within(1, N - 1)):
            u[t, x] = 0.5 * (u[t-1, x-1] + u[t-1, x+1])
        with k.statement("E", (t, x), t.between(1, k.steps), (x == 0) | (x == N - 1)):
            u[t, x] = u[t-1, x]
        with k.observer("health"):
            heat = k.reduce("sum", "heat")
            row = k.output("row", (x,), x.within(0, N))
            least = k.reduce("min", "least", np.float32)
            change = k.reduce("max", "change", dtype="f32")
            with k.statement("A", (t, x), x.within(0, N)):
                heat.put(u[t, x])
                row[x] = u[t, x]
                least.put(crease.f32(u[t, x]))
            with k.statement("C", (t, x), x.within(1, N - 1)):
                change.put(crease.f32(abs(0.5 * (u[t, x-1] + u[t, x+1]) - u[t, x])))
    return k.build()


def test_reductions_in_python_syntax():
    kernel = reduced()
    observe = kernel.text[kernel.text.index("observe health"):]
    for line in ["reduce sum heat: f64", "reduce min least: f32", "reduce max change: f32", "heat[] = u[t, x]"]:
        assert line in observe
    assert crease.Kernel.parse(kernel.text) == kernel
    found = {name: (info.reduction, info.indices) for name, info in kernel.observers["health"].items()}
    assert found == {"heat": ("sum", ()), "row": (None, ("x",)), "least": ("min", ()), "change": ("max", ())}
    assert kernel.arrays["u"].reduction is None


def test_reductions_are_numbers():
    run = reduced().run(N=10)
    run["u"] = np.arange(10.0) ** 2
    found = run.observe("health")
    assert (found["heat"], found["least"], found["change"]) == (285.0, 0.0, 1.0)
    assert all(type(found[name]) is float for name in ("heat", "least", "change"))
    assert run.observed_shape("health", "heat") == ()
    given = np.full((), -1.0)
    assert run.observe("health", heat=given)["heat"] is given and given == 285.0
    for wrong, code in [
        (np.zeros((), np.float32), "run/element-type"),
        (np.zeros(1), "run/shape"),
        (0.0, "py/not-an-array"),
    ]:
        with pytest.raises(crease.ArrayError, match="`heat`") as caught:
            run.observe("health", heat=wrong)
        assert caught.value.code == code


def test_reductions_have_the_bits_of_any_number_of_threads():
    kernel, random = reduced(), np.random.default_rng(3)
    start, found = random.random(5000), []
    for threads in (1, 3):
        run = kernel.run(N=5000, threads=threads)
        run["u"] = start
        found.append(run.observe("health"))
    assert found[0]["heat"] == found[1]["heat"] == pytest.approx(start.sum(), rel=1e-14)
    assert found[0]["least"] == found[1]["least"] == float(np.float32(start.min()))
    nan = start.copy()
    nan[4321] = np.nan
    run["u"] = nan
    assert all(np.isnan(run.observe("health")[name]) for name in ("heat", "least", "change"))


def test_runs_until_a_reduction_is_small():
    run = reduced().run(N=10)
    run["u"] = np.arange(10.0) ** 2
    assert run.advance_until(lambda run: run.observe("health")["change"] < 1e-3, every=10, limit=1000)
    assert run.step % 10 == 0 and run.observe("health")["change"] < 1e-3
    line = run.read("u")
    assert np.abs(0.5 * (line[:-2] + line[2:]) - line[1:-1]).max() < 1e-3


def test_reductions_have_the_bits_of_the_other_languages():
    """Those that the tests of the C interface expect of Rust, C, C++ and Fortran."""
    run = crease.Kernel.from_file(Path(__file__).parents[2] / "capi/examples/heat.crk").run(N=256)
    run.k = 0.1
    run.fill("u", 20.0)
    run["u"][128, 128] = 1000.0
    run.advance(100)
    assert run.advance_until(lambda run: run.observe("health")["change"] < 0.01, every=50, limit=100_000)
    found = run.observe("health")
    heat, change = (struct.pack(">d", found[name]).hex() for name in ("heat", "change"))
    assert (run.step, heat, change) == (300, "413403d400000000", "3f81b7a09dff6ccd")


def test_the_monitor_names_cell_and_step():
    run = reduced().run(N=10)
    run.fill("u", 1.0)
    run.monitor_nan(4)
    run.advance(6)
    run["u"][7] = np.nan
    with pytest.raises(crease.RunError, match=r"`u\[5\]` is NaN after step 8, and 2 cell\(s\)") as caught:
        run.advance(100)
    assert caught.value.code == "run/not-a-number" and run.step == 8
    run.monitor_nan(0)
    assert run.advance(10).step == 18
    for every, code in [(-1, "py/count"), (1 << 64, "py/count")]:
        with pytest.raises(crease.RunError) as caught:
            run.monitor_nan(every)
        assert caught.value.code == code
    once = crease.Kernel.parse(
        "kernel once(size N) { output b[x]: f64 for 0 <= x < N S[x] for 0 <= x < N { b[x] = 1.0 } }"
    )
    with pytest.raises(crease.RunError) as caught:
        once.run(N=4).monitor_nan(1)
    assert caught.value.code == "run/no-steps"


def test_mistakes_with_reductions_name_their_line():
    k = crease.kernel("wrong", sizes="N", steps="T")
    (N,), (t, x) = k.sizes, k.indices("t x")
    u = k.state("u", (t, x), x.within(0, N))
    with k.statement("S", (t, x), t.between(1, k.steps), x.within(0, N)):
        u[t, x] = u[t-1, x]
    with pytest.raises(crease.ParseError, match="reduction `heat` is declared outside of an observer"):
        k.reduce("sum", "heat")
    with k.observer("health"):
        heat = k.reduce("sum", "heat")
        with pytest.raises(crease.ParseError, match="`heat` is assigned outside of a statement"):
            heat.put(1.0)
        with pytest.raises(crease.ParseError, match="`heat` is assigned .*, which is no value"):
            with k.statement("H", (t, x), x.within(0, N)):
                heat.put(heat)
        with k.statement("H", (t, x), x.within(0, N)):
            heat.put(u[t, x])
    assert k.build().observers["health"]["heat"].reduction == "sum"
    with k.observer("other"):
        k.reduce("mean", "average")
    with pytest.raises(crease.ParseError, match="unknown reduction `mean`; known here: `sum`, `min`, `max`") as caught:
        k.build()
    assert 'k.reduce("mean"' in linecache.getline(__file__, caught.value.lineno)


def test_mistakes_in_python_syntax_name_their_line():
    k = crease.kernel("wrong", sizes="N", steps="T")
    (N,), (t, x) = k.sizes, k.indices("t x")
    u = k.state("u", (t, x), x.within(0, N))
    with k.statement("S", (t, x), t.between(1, k.steps), x.within(0, N)):
        u[t, x] = u[t-1, x]
    k.schedule("s", (t, x))
    good = k.build()
    for wrong, message in [
        (lambda: k.observer("inner").__enter__(), "`inner` begins inside observer `outer`"),
        (lambda: k.schedule("other", (t, x)), "`other` stands inside observer `outer`, which has none"),
    ]:
        with pytest.raises(crease.ParseError, match=message), k.observer("outer"):
            wrong()
    with pytest.raises(crease.ParseError, match="`late` begins inside statement `S2`"):
        with k.statement("S2", (t, x)), k.observer("late"):
            pass
    assert k.build() == good
    with k.observer("wrong_state"):
        k.state("v", (t, x), x.within(0, N))
    with pytest.raises(crease.ParseError) as caught:
        k.build()
    assert caught.value.code == "kernel/expected" and caught.value.filename == __file__
    assert 'k.state("v"' in linecache.getline(__file__, caught.value.lineno)


def test_steps_end_with_observers(run):
    other = KERNEL.run(N=30)
    other.c = run.c
    other.write("rough", run.read("rough"))
    other.write("u", run.read("u"))
    other.write("u", run.read("u", back=1), back=1)
    for steps in (1, 40, 0, 3):
        mine = np.zeros(30)
        seen = other.advance_observing(steps, "energy", kinetic=mine)
        assert seen["kinetic"] is mine
        now, before = other.read("u"), other.read("u", back=1)
        v, rough = now - before, other.read("rough")
        assert np.array_equal(bits(mine), bits(v * v + float(other.step)))
        slope = (rough[1:-1] * (now[2:] - now[:-2])).astype(np.float32)
        assert np.array_equal(bits(seen["slope"]), bits(slope))
    assert other.step == 44
    with pytest.raises(crease.RunError) as caught:
        other.advance_observing(5, "energy", kinetic=np.zeros(7))
    assert caught.value.code == "run/shape" and other.step == 44
    with pytest.raises(crease.RunError) as caught:
        other.advance_observing(5, "none")
    assert caught.value.code == "run/unknown-observer" and other.step == 44
