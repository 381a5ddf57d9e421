"""Runs compute the same bits as loops over full arrays: the catalogue's in Rust, and NumPy's."""

import numpy as np
import pytest

import crease
from kernels import BLUR, HEAT, WAVE

#: Entries with one kernel of each family, small sizes and steps.
ENTRIES = [
    ("heat-1d", {"N": 37}, 9),
    ("heat-2d-5pt", {"N": 21}, 7),
    ("lbm-d2q9-cavity", {"N": 16}, 12),
    ("lbm-d2q9-cavity-f32", {"N": 13}, 5),
    ("lbm-d2q9-cavity-f16", {"N": 13}, 5),
    ("lbm-d2q9-periodic", {"N": 12}, 6),
    ("lbm-d3q19-cavity", {"N": 6}, 3),
]


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8)


def heat_by_numpy(u, k, steps):
    for _ in range(steps):
        new = u.copy()
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (around - 4 * u[1:-1, 1:-1])
        u = new
    return u


@pytest.mark.parametrize("name, sizes, steps", ENTRIES)
def test_kernels_of_the_catalogue(name, sizes, steps):
    entry = crease.catalogue[name]
    run = entry.run(sizes)
    run.advance(steps)
    expected = entry.reference(entry.initial(sizes), steps, sizes)
    assert expected
    for array, values in expected.items():
        assert values.dtype == run[array].dtype
        np.testing.assert_array_equal(bits(run.read(array)), bits(values), err_msg=array)


def test_every_kernel_of_the_catalogue_is_there():
    assert len(crease.catalogue) == len(crease.kernels()) > 30
    for name in crease.kernels():
        entry = crease.catalogue[name]
        assert crease.Kernel.parse(entry.kernel.text) == entry.kernel
    assert "no-such" not in crease.catalogue
    with pytest.raises(crease.PlanError, match="no kernel `no-such`; it has heat-1d, "):
        crease.catalogue["no-such"]


@pytest.mark.parametrize("options", [{}, {"schedule": "free", "threads": 2}, {"schedule": "auto"}])
def test_heat_is_what_numpy_computes(options):
    kernel, start = crease.Kernel.parse(HEAT), np.random.default_rng(1).random((40, 40))
    run = kernel.run(N=40, **options)
    run.k = 0.1
    run["u"] = start
    run.advance(25)
    expected = heat_by_numpy(start, 0.1, 25)
    np.testing.assert_array_equal(run.read("u"), expected)
    np.testing.assert_array_equal(np.asarray(run["u"]), expected)


@pytest.mark.parametrize("instructions", ["scalar", "v128", "auto"])
def test_instructions_do_not_matter(instructions):
    start = np.random.default_rng(2).random((20, 20))
    run = crease.Kernel.parse(HEAT).plan(N=20).compile(instructions=instructions).instantiate()
    run.k, run["u"] = 0.2, start
    run.advance(9)
    np.testing.assert_array_equal(run.read("u"), heat_by_numpy(start, 0.2, 9))


def test_levels_and_steps_count():
    n, random = 30, np.random.default_rng(3)
    now, before, rough = random.random(n), random.random(n), random.random(n)
    run = crease.Kernel.parse(WAVE).run(N=n)
    run.c = 0.2
    run.write("rough", rough)
    run.write("u", now)
    run.write("u", before, back=1)
    run.advance(11)
    for t in range(1, 12):
        new = now.copy()
        bend = now[:-2] - 2 * now[1:-1] + now[2:]
        new[1:-1] = 2 * now[1:-1] - before[1:-1] + 0.2 * rough[1:-1] * bend + 0.001 * t
        now, before = new, now
    np.testing.assert_array_equal(run.read("u"), now)
    np.testing.assert_array_equal(run.array("u", back=1)[...], before)


def blur_by_numpy(image, gain):
    across = image[:, :-2] + image[:, 1:-1] + image[:, 2:]
    return np.float32(gain) * (across[:-2] + across[1:-1] + across[2:])


def test_an_image_pipeline_on_borrowed_arrays():
    kernel = crease.Kernel.parse(BLUR)
    code = kernel.plan(H=20, W=30).compile()
    image = np.random.default_rng(4).random((20, 32), dtype=np.float32)
    expected = blur_by_numpy(image, 0.25)
    made = code.run({"image": image}, gain=0.25)
    np.testing.assert_array_equal(made["out"], expected)
    # Outputs of the caller's, as columns, and an input turned round.
    out = np.zeros((30, 18), np.float32).T
    code.run({"image": image[::-1, ::-1][::-1, ::-1]}, {"out": out}, gain=0.25)
    np.testing.assert_array_equal(out, expected)
    backwards = code.run({"image": image[::-1, ::-1]}, gain=0.25)["out"]
    np.testing.assert_array_equal(backwards, blur_by_numpy(image[::-1, ::-1].copy(), 0.25))


def test_an_image_pipeline_on_copies():
    image = np.random.default_rng(5).random((9, 12), dtype=np.float32)
    run = crease.Kernel.parse(BLUR).run(H=9, W=10)
    run.gain = 2.0
    run["image"] = image
    assert run.run_once() == {}
    np.testing.assert_array_equal(run["out"][...], blur_by_numpy(image, 2.0))


def test_threads_do_not_matter():
    start, runs = np.random.default_rng(6).random((64, 64)), []
    plan = crease.Kernel.parse(HEAT).plan(N=64, schedule="free", threads=2)
    for threads in (1, 2, 3):
        run = plan.compile().instantiate(threads=threads)
        assert run.threads == threads
        run.k, run["u"] = 0.05, start
        run.advance(20)
        runs.append(run.read("u"))
    for result in runs:
        np.testing.assert_array_equal(result, heat_by_numpy(start, 0.05, 20))


def test_tiles_and_arithmetic():
    kernel = crease.catalogue["heat-1d"].kernel
    tiled = kernel.diamond("mine", "rows", ("t", "x"), 16).parallelogram("other", "rows", ("t", "x"), (4, 32))
    assert {"mine", "other"} <= set(tiled.schedules)
    start, results = np.random.default_rng(7).random(200), []
    for schedule in ("rows", "mine", "other"):
        run = tiled.run(N=200, schedule=schedule)
        run.k, run["u"] = 0.1, start
        run.advance(37)
        results.append(run.read("u"))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    with pytest.raises(crease.PlanError, match="no schedule `columns`") as caught:
        kernel.diamond("mine", "columns", ("t", "x"), 16)
    assert caught.value.code == "transform/unknown-schedule"
    heat = crease.Kernel.parse(HEAT)
    assert "arithmetic contract" in heat.with_arithmetic("contract").text
    assert heat.with_arithmetic("contract").with_arithmetic() == heat
    with pytest.raises(crease.PlanError, match="no `fast`"):
        heat.with_arithmetic("fast")
