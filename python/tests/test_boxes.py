"""Boxes are NumPy's slices of the array that `read` gives."""

import numpy as np
import pytest

import crease
from kernels import HEAT, SHIFTED, WAVE


@pytest.fixture(scope="module")
def code():
    return crease.Kernel.parse(SHIFTED).plan(N=9).compile()


def started(code):
    run, random = code.instantiate(), np.random.default_rng(0)
    run.write("mask", random.integers(0, 2, (12, 9), dtype=np.uint8))
    run.write("u", random.random((12, 9), dtype=np.float32))
    run.write("h", random.random((12, 9)).astype(np.float16))
    run.advance(3)
    return run


def random_key(random, shape):
    def part(extent):
        kind = random.integers(4)
        if kind == 0:
            return int(random.integers(-extent, extent))
        ends = [None if random.random() < 0.3 else int(random.integers(-extent - 3, extent + 3)) for _ in range(2)]
        step = [None, 1, 2, 3, -1, -2, 40][random.integers(7)]
        return slice(*ends, step)

    parts = tuple(part(extent) for extent in shape)
    return parts + (...,) if random.random() < 0.2 else (parts[0] if random.random() < 0.2 else parts)


@pytest.mark.parametrize("name", ["u", "h", "mask"])
def test_boxes_at_random(code, name):
    run, random = started(code), np.random.default_rng(7)
    whole = run.read(name)
    for _ in range(300):
        key = random_key(random, whole.shape)
        box = run[name][key]
        np.testing.assert_array_equal(box, whole[key], err_msg=str(key))
        assert box.dtype == whole.dtype and np.shape(box) == np.shape(whole[key])
        values = random.integers(0, 9, np.shape(box)).astype(whole.dtype)
        run[name][key] = values
        whole[key] = values
        np.testing.assert_array_equal(run.read(name), whole, err_msg=str(key))


def test_values_are_broadcast(code):
    run = started(code)
    whole = run.read("u")
    for key, values in [
        (np.s_[3], 2.5),
        (np.s_[:, 1:3], [1.0, 2.0]),
        (np.s_[::-2, 4], np.float32(7)),
        (np.s_[...], np.arange(9, dtype=np.float32)),
        (np.s_[2:4, ::3], np.ones((2, 1), np.float32)),
        (np.s_[4:4], 1.0),
    ]:
        run["u"][key] = values
        whole[key] = values
        np.testing.assert_array_equal(run.read("u"), whole)
    with pytest.raises(crease.ArrayError, match=r"shape \[2, 9\], the values have \[3\]") as caught:
        run["u"][0:2] = np.zeros(3, np.float32)
    assert caught.value.code == "run/region-shape"


def test_wrong_boxes_are_named(code):
    u = started(code)["u"]
    with pytest.raises(IndexError, match=r"12 is out of bounds for index `y` \(dimension 0\) of array `u`, .* 12 va"):
        u[12]
    with pytest.raises(IndexError, match="`x`"):
        u[0, -10]
    with pytest.raises(crease.ArrayError, match=r"has 2 index\(es\) \(y, x\), the box has 3"):
        u[0, 0, 0]
    with pytest.raises(IndexError, match="one `...`"):
        u[..., 0, ...]
    for wrong in [None, 1.0, True, [0, 1], np.array([0, 1]), "y"]:
        with pytest.raises(TypeError, match="integers, slices and"):
            u[wrong]
    with pytest.raises(crease.ArrayError, match="a step of 0 for index `x`"):
        u[0, ::0]


def test_positions_count_from_where_an_index_begins(code):
    u = started(code)["u"]
    assert u.index_ranges == [(-2, 9), (5, 13)] and u.shape == (12, 9) and u.ndim == 2
    assert u.indices == ("y", "x") and len(u) == 12 and u.dtype == np.float32
    assert u[np.int64(0), np.uint8(1)] == np.asarray(u)[0, 1]
    assert [row.shape for row in u] == [(9,)] * 12


def test_reading_into_memory_of_any_kind(code):
    run = started(code)
    whole = run.read("u")
    for out in [
        np.zeros((12, 9), np.float32, order="F"),
        np.zeros((24, 18), np.float32)[::2, ::2],
        np.zeros((12, 9), np.float32)[::-1, ::-1],
        np.frombuffer(bytearray(12 * 9 * 4 + 1), np.uint8)[1:].view(np.float32).reshape(12, 9),
        np.zeros((12, 9), np.dtype([("v", np.float32), ("pad", np.uint8)]))["v"],
    ]:
        assert run.read("u", out) is out
        np.testing.assert_array_equal(out, whole)
        run["u"].read_into(np.s_[::-1, 2:], out[::-1, 2:])
        np.testing.assert_array_equal(out[::-1, 2:], whole[::-1, 2:])
        run.write("u", out)
        whole = run.read("u")


def test_levels_of_the_past_have_boxes():
    run = crease.Kernel.parse(WAVE).run(N=8)
    run.write("u", np.arange(8.0))
    run.array("u", back=1)[2:5] = 3.0
    run.array("u", back=1)[:2] = 1.0
    run.array("u", back=1)[5:] = 4.0
    np.testing.assert_array_equal(run.read("u", back=1), [1, 1, 3, 3, 3, 4, 4, 4])
    np.testing.assert_array_equal(run.read("u"), np.arange(8.0))
    with pytest.raises(crease.RunError, match="level 2 back is gone") as caught:
        run.read("u", back=2)
    assert caught.value.code == "run/no-such-level"


def test_views_show_what_lies_there():
    run = crease.Kernel.parse(HEAT).run(N=8)
    run.k, run["u"] = 0.1, np.arange(64.0).reshape(8, 8)
    whole = run.read("u")
    row = run.view("u", np.s_[3])
    assert row.base is not None and not row.flags.writeable and not row.flags.owndata
    np.testing.assert_array_equal(row, whole[3])
    with pytest.raises(ValueError):
        row.flags.writeable = True
    np.testing.assert_array_equal(run["u"].view(np.s_[2, 1::2]), whole[2, 1::2])
    np.testing.assert_array_equal(run["u"].view(np.s_[2, ::-1]), whole[2, ::-1])
    writable = run.view("u", np.s_[3, 2:4], writable=True)
    writable[:] = [-1, -2]
    np.testing.assert_array_equal(run["u"][3, 1:5], [25, -1, -2, 28])


def test_a_run_with_views_does_no_step():
    run = crease.Kernel.parse(HEAT).run(N=8)
    run.k = 0.1
    run.fill("u", 1.0)
    view = run.view("u", np.s_[0, 1:])[::2]
    with pytest.raises(crease.RunError, match=r"1 view\(s\) of this run exist") as caught:
        run.advance(1)
    assert caught.value.code == "py/viewed" and run.step == 0
    with pytest.raises(crease.RunError):
        run.set_step(3)
    del view
    run.advance(1)
    assert run.step == 1


def test_a_view_outlives_the_name_of_its_run():
    run = crease.Kernel.parse(HEAT).run(N=8)
    run["u"] = np.arange(64.0).reshape(8, 8)
    view = run.view("u", np.s_[5])
    del run
    np.testing.assert_array_equal(view, np.arange(40.0, 48.0))


def test_views_that_no_strides_describe_are_refused():
    run = crease.Kernel.parse(HEAT).run(N=8)
    run.k = 0.1
    run.fill("u", 1.0)
    whole = 0
    for _ in range(12):
        try:
            run.view("u")
            whole += 1
        except crease.RunError as error:
            assert error.code == "run/wraps-around" and "index `y`" in str(error)
        run.advance(1)
    assert 0 < whole < 12


def test_a_view_is_no_target_of_its_own_run():
    run = crease.Kernel.parse(HEAT).run(N=8)
    run.fill("u", 1.0)
    view = run.view("u", np.s_[0], writable=True)
    for wrong in [lambda: run["u"].read_into(np.s_[1], view), lambda: run["u"].__setitem__(1, view[:8])]:
        with pytest.raises(crease.ArrayError, match="a view of this run") as caught:
            wrong()
        assert caught.value.code == "py/overlap"


def test_folded_memory_is_described():
    run = crease.Kernel.parse(HEAT).run(N=8)
    run.k, run["u"] = 0.1, np.random.default_rng(0).random((8, 8))
    for _ in range(12):
        whole, folded = run.read("u"), run.folded("u")
        assert not folded.cells.flags.writeable and folded.cells.size >= 64
        for y, x in np.ndindex(8, 8):
            assert folded.cells[folded.place(y, x)] == whole[y, x]
        for outside in [(8, 0), (0, -1), (3,), (1, 2, 3)]:
            with pytest.raises(IndexError, match="outside of the box"):
                folded.place(*outside)
        row = run.folded("u", np.s_[2])
        assert row.base is not None and [index.extent for index in row.indices] == [1, 8]
        for x in range(8):
            place = row.base
            for i, index in zip((2, x), row.indices):
                place += index.stride * ((i + index.offset) % index.modulus)
            assert row.cells[place] == whole[2, x]
        with pytest.raises(crease.RunError, match="view"):
            run.advance(1)
        del folded, row
        run.advance(1)


def test_a_step_beyond_the_array_takes_one_value():
    run = crease.Kernel.parse(HEAT).run(N=8)
    run["u"] = np.arange(64.0).reshape(8, 8)
    assert run["u"][-(2**70) : 2**70 : 2**69, 3].tolist() == [3.0]
