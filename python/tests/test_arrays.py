"""Arrays that do not fit are refused by name; what is copied instead of borrowed is said."""

import warnings

import numpy as np
import pytest

import crease
from kernels import BLUR, HEAT, SHIFTED


@pytest.fixture
def run():
    run = crease.Kernel.parse(HEAT).run(N=6)
    run.k = 0.1
    return run


@pytest.fixture(scope="module")
def blur():
    return crease.Kernel.parse(BLUR).plan(H=6, W=5).compile()


GOOD = np.arange(36.0).reshape(6, 6)


@pytest.mark.parametrize(
    "wrong, code, message",
    [
        (GOOD.astype(np.float32), "run/element-type", "`u` holds float64, the NumPy array has dtype float32"),
        (GOOD.astype(int), "run/element-type", "dtype int64"),
        (GOOD.astype(complex), "run/element-type", "dtype complex128"),
        (GOOD.astype(object), "run/element-type", "dtype object"),
        (GOOD.astype(">f8"), "py/layout", "`u` is not in this machine's byte order"),
        (GOOD[:5], "run/shape", r"`u` has shape \[6, 6\], the view has \[5, 6\]"),
        (GOOD.ravel(), "run/shape", r"the view has \[36\]"),
        (GOOD[None], "run/shape", r"the view has \[1, 6, 6\]"),
        (np.float64(3), "run/shape", r"the view has \[\]"),
        ([[1, 2], [3]], "run/element-type", "array `u` holds float64: "),
        ("hello", "run/element-type", "array `u` holds float64: "),
    ],
)
def test_what_cannot_be_written(run, wrong, code, message):
    with pytest.raises(crease.ArrayError, match=message) as caught:
        run.write("u", wrong)
    assert caught.value.code == code
    with pytest.raises(crease.RunError, match="has no value"):
        run.read("u")


@pytest.mark.parametrize(
    "values",
    [
        GOOD,
        np.asfortranarray(GOOD),
        GOOD[::-1],
        GOOD.T,
        np.arange(144.0).reshape(12, 12)[::2, ::-2],
        np.broadcast_to(np.arange(6.0), (6, 6)),
        GOOD.tolist(),
        np.frombuffer(b"-" + GOOD.tobytes(), np.uint8)[1:].view(np.float64).reshape(6, 6),
        np.rec.fromarrays([GOOD, GOOD.astype(np.uint8)], names="v, w")["v"],
    ],
)
def test_what_can_be_written(run, values):
    run.write("u", values)
    np.testing.assert_array_equal(run.read("u"), np.array(values))


def test_values_of_bytes_are_not_cut(run):
    run = crease.Kernel.parse(SHIFTED).run(N=9)
    run["mask"] = np.ones((12, 9), np.uint8)
    run["mask"][0, 0] = 255
    for wrong in [256, -1, 0.5, [1, 2, 300]]:
        with pytest.raises(crease.ArrayError) as caught:
            run["mask"][0, :3] = wrong
        assert caught.value.code == "run/element-type"
    assert run["mask"][0, 0] == 255 and run["mask"][0, 1] == 1


@pytest.mark.parametrize(
    "wrong, code",
    [
        (np.zeros((6, 6), np.float32), "run/element-type"),
        (np.zeros((6, 6), ">f8"), "py/layout"),
        (np.zeros((6, 7)), "run/shape"),
        (np.broadcast_to(np.zeros(6), (6, 6)), "py/read-only"),
        (np.lib.stride_tricks.as_strided(np.zeros(6), (6, 6), (0, 8)), "py/overlap"),
        (np.lib.stride_tricks.as_strided(np.zeros(16), (6, 6), (16, 8)), "py/overlap"),
        ([0.0] * 6, "py/not-an-array"),
    ],
)
def test_what_cannot_be_read_into(run, wrong, code):
    run.write("u", GOOD)
    with pytest.raises(crease.ArrayError, match="`u`") as caught:
        run.read("u", wrong)
    assert caught.value.code == code


def test_what_cannot_be_borrowed(blur):
    image, out = np.ones((6, 7), np.float32), np.zeros((4, 5), np.float32)
    frozen = out.copy()
    frozen.flags.writeable = False
    both = np.zeros((6, 7), np.float32)
    for inputs, outputs, code in [
        ({"image": image.astype(np.float64)}, {"out": out}, "run/element-type"),
        ({"image": image.astype(">f4")}, {"out": out}, "py/layout"),
        ({"image": image[:, 1:]}, {"out": out}, "run/shape"),
        ({"image": image}, {"out": frozen}, "py/read-only"),
        ({"image": image}, {"out": out.T}, "run/shape"),
        ({"image": both}, {"out": both[1:5, 1:6]}, "py/overlap"),
        ({"image": image}, {"out": out, "image": image.copy()}, "run/wrong-role"),
        ({"image": image}, {"across": out}, "run/wrong-role"),
        ({"image": image, "nothing": image}, {"out": out}, "run/unknown-array"),
        ({}, {"out": out}, "run/missing-array"),
    ]:
        with pytest.raises(crease.RunError) as caught:
            blur.run(inputs, outputs, gain=1.0)
        assert caught.value.code == code, code
        assert not out.any()
    with pytest.raises(crease.RunError, match="`gain` .* has not been set"):
        blur.run({"image": image}, {"out": out})
    with pytest.raises(crease.RunError, match="no scalar `gian`; it has gain"):
        blur.run({"image": image}, gian=1.0)


def test_a_copy_is_said(blur):
    image = np.random.default_rng(0).random((6, 7), dtype=np.float32)
    expected = blur.run({"image": image}, gain=1.0)["out"]
    packed = np.zeros((6, 7), np.dtype([("v", np.float32), ("w", np.uint8)]))
    packed["v"] = image
    with pytest.warns(crease.CopyWarning, match="`image` is not aligned .* and was copied"):
        np.testing.assert_array_equal(blur.run({"image": packed["v"]}, gain=1.0)["out"], expected)
    out = np.zeros((4, 5), packed.dtype)
    with pytest.warns(crease.CopyWarning, match="`out`"):
        blur.run({"image": image}, {"out": out["v"]}, gain=1.0)
    np.testing.assert_array_equal(out["v"], expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blur.run({"image": image[::-1].copy()[::-1]}, {"out": np.zeros((4, 5), np.float32, order="F")}, gain=1.0)


def test_the_extension_checks_by_itself(run):
    """What Python code checks first is checked once more where cells are borrowed."""
    odd = np.rec.fromarrays([GOOD, GOOD.astype(np.uint8)], names="v, w")["v"]
    for wrong, code in [
        (odd, "py/layout"),
        (GOOD.astype(np.float32), "run/element-type"),
        (GOOD.astype(">f8"), "run/element-type"),
        (7, "py/not-an-array"),
        (np.zeros((1,) * 33 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else (1,) * 32), None),
    ]:
        with pytest.raises(crease.ArrayError) as caught:
            run._run.write("u", None, 0, wrong)
        assert code is None or caught.value.code == code
        with pytest.raises(crease.RunError):
            run._run.read("u", None, 0, wrong)


def test_values_of_other_libraries_are_taken_as_arrays(run):
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            return GOOD

    run.write("u", Tensor())
    np.testing.assert_array_equal(run.read("u"), GOOD)
