"""Kernels in Python syntax are those of the text form; mistakes name the line of Python."""

import inspect

import numpy as np
import pytest

import crease
from kernels import BLUR, HEAT, WAVE


def same(built, text):
    kernel = built if isinstance(built, crease.Kernel) else built.build()
    assert kernel.text == crease.Kernel.parse(text).text


def heat():
    with crease.kernel("heat", sizes="N", steps="T", where="N >= 3") as k:
        (N,), T = k.sizes, k.steps
        t, y, x = k.indices("t y x")
        c = k.scalar("k")
        u = k.state("u", (t, y, x), y.within(0, N), x.within(0, N))
        with k.statement("S", (t, y, x), t.between(1, T), y.within(1, N - 1), x.within(1, N - 1)) as S:
            around = u[t-1, y-1, x] + u[t-1, y+1, x] + u[t-1, y, x-1] + u[t-1, y, x+1]
            u[t, y, x] = u[t-1, y, x] + c * (around - 4 * u[t-1, y, x])
        border = (y == 0) | (y == N - 1) | (x == 0) | (x == N - 1)
        with k.statement("E", (t, y, x), t.between(1, T), y.within(0, N), x.within(0, N), border) as E:
            u[t, y, x] = u[t-1, y, x]
        k.schedule("rows", (t, y, x.vector(8)))
        k.schedule("free", {S: (t, y.parallel(), x.vector(8)), E: (t, y.parallel(), x.vector(8))})
    return k


def test_heat():
    same(heat(), HEAT)
    run = heat().run(N=10)
    run.k = 0.1
    run.fill("u", 2.0)
    run.advance(3)
    assert (run["u"][...] == 2).all()
    assert heat().plan({"N": 10}).kernel == crease.Kernel.parse(HEAT)


def test_a_decorated_function():
    @crease.kernel(sizes="H W", where=["H >= 3", "W >= 1"])
    def blur(k):
        """Two passes."""
        H, W = k.sizes
        y, x = k.indices("y, x")
        gain = k.scalar("gain", np.float32)
        image = k.input("image", (y, x), y.within(0, H), x.within(0, W + 2), dtype="f32")
        across = k.temp("across", [y, x], y.within(0, H) & x.within(0, W), dtype=np.float32)
        out = k.output("out", "y x", 0 <= y, y < H - 2, x.within(0, W), dtype="f32")
        with k.statement("S", (y, x), y.within(0, H), x.within(0, W)) as S:
            across[y, x] = image[y, x] + image[y, x + 1] + image[y, x + 2]
        with k.statement("O", (y, x), y.between(2, H - 1), x.within(0, W)) as O:
            out[y - 2, x] = gain * (across[y - 2, x] + across[y - 1, x] + across[y, x])
        k.schedule("rows", {S: (y, 0, x.vector(8)), O: [y, 1, x.vector(8)]})

    assert isinstance(blur, crease.Kernel) and blur.name == "blur"
    image = np.random.default_rng(0).random((6, 9), dtype=np.float32)
    results = [
        kernel.plan(H=6, W=7).compile().run({"image": image}, gain=0.5)["out"]
        for kernel in (blur, crease.Kernel.parse(BLUR))
    ]
    np.testing.assert_array_equal(*results)


def test_all_operators_and_functions():
    k = crease.kernel("all", sizes="N", where="N >= 4", arithmetic="contract")
    k.allow("reciprocal")
    N, M = k.size("N"), k.size("M")
    i, j = k.indices("i j")
    s = k.scalar("s")
    f = k.opaque("f", 1, 2)
    a = k.input("a", (i,), i.within(-1, N + 1), dtype="u8")
    h = k.input("h", (i,), i.within(0, N), dtype=np.float16)
    o = k.output("o", (i, j), i.within(0, N), j.between(0, M), live_in=(i == 0) & (j == 0))
    t = k.temp("t", (i,), i.within(0, N), live_out=[i < N, "i >= 0"])
    with k.statement("S", (i, j), ~((i + j) % 3 == 1), i.within(0, N), j.between(0, M), (i != 0) | (j > 0)):
        half = k.let("half", crease.f64(a[(i + j) // 2]) * 0.5)
        root = np.sqrt(abs(half)) + half.sqrt() + crease.sqrt(2) + crease.absolute(-half)
        o[i, j] = crease.where(
            (half < 1.5) & ~(half == 0) | (i >= 2) | (s != 1e-30),
            crease.minimum(root, 3) / crease.maximum(i, 2.5) - (1 - half) - (2 / s) * -s,
            crease.fma(half, 2, -3.25) + f(i * 0.5) + f(half, s) + crease.f64(crease.f32(s)) + crease.f64(h[0]),
        )
    with k.statement("R", "i", i.within(0, N)):
        t[i] = np.float64(2) * s + 2 * i - 3 + (2 * i + 1) * s + i * i + i / 2 + (i - j + j) * 1.0
    k.schedule("one", {("S",): (0, i, j), ("R",): (1, -2 * i + 2 * N, (i + 1) // 4)})
    k.schedule("two", "{ S[i, j] -> [0, i, j]; R[i] -> [1, i, 0] }", kinds=["sequential", "sequential", "vector(4)"])
    k.schedule("auto")
    same(
        k,
        """kernel all(size N, M) for N >= 4 {
          arithmetic contract, reciprocal
          scalar s: f64
          opaque f(1), f(2)
          input a[i]: u8 for -1 <= i and i < N + 1
          input h[i]: f16 for 0 <= i < N
          output o[i, j]: f64 for 0 <= i < N and 0 <= j <= M live in for i = 0 and j = 0
          temp t[i]: f64 for 0 <= i < N live out for i < N and i >= 0
          S[i, j] for not ((i + j) mod 3 = 1) and 0 <= i < N and 0 <= j <= M and (i != 0 or j > 0) {
            let half = f64(a[floor((i + j)/2)]) * 0.5
            let root = sqrt(abs(half)) + sqrt(half) + sqrt(2) + abs(-half)
            o[i, j] = select(half < 1.5 and not half == 0 or index(i) >= index(2) or s != 1e-30,
              min(root, 3) / max(index(i), 2.5) - (1 - half) - (2 / s) * -s,
              fma(half, 2, -3.25) + f(index(i) * 0.5) + f(half, s) + f64(f32(s)) + f64(h[0])) }
          R[i] for 0 <= i < N {
            t[i] = 2 * s + index(2 * i) - 3 + index(2 * i + 1) * s + index(i) * index(i) + index(i) / 2
              + index(i) * 1 }
          schedule one { S -> [0, i, j]; R -> [1, -2 * i + 2 * N, floor((i + 1)/4)] }
          schedule two "{ S[i, j] -> [0, i, j]; R[i] -> [1, i, 0] }" [sequential, sequential, vector(4)]
          schedule auto
        }""",
    )


def test_values_that_are_used_twice_are_written_once():
    k = crease.kernel("deep", sizes="N")
    i, v1 = k.index("i"), k.scalar("v1")
    a = k.input("a", i, i.within(0, k.size("N")))
    o = k.output("o", i, i.within(0, k.size("N")))
    with k.statement("S", i, i.within(0, k.size("N"))):
        value = a[i] + v1
        for _ in range(40):
            value = value * value * 0.5 + 0.1
        o[i] = value
    k.schedule("s", i)
    assert len(k.text) < 3000 and "let v2 = a[i] + v1" in k.text and "let v1 " not in k.text
    data = np.array([0.1, 0.2, -0.7])
    expected = data + 0.05
    for _ in range(40):
        expected = expected * expected * 0.5 + 0.1
    found = k.run(N=3).code.run({"a": data}, v1=0.05)["o"]
    np.testing.assert_array_equal(found, expected)


def test_numbers_of_numpy_and_late_declarations():
    k = crease.kernel("late", sizes="N")
    i = k.index("i")
    o = k.output("o", i, i.within(0, k.sizes[0]))
    with k.statement("S", i, i.within(0, k.sizes[0])):
        o[np.int64(1) * i] = np.float64(0.5) * i + abs(i - np.int8(3)) * np.float32(2)
    k.schedule("s", i)
    first = k.build()
    np.testing.assert_array_equal(k.run(N=5).run_once({})["o"], [6, 4.5, 3, 1.5, 4])
    assert k.build() is first
    k.size("M")
    k.allow("contract")
    assert k.build().sizes == ["N", "M"] and "arithmetic contract" in k.build().text


def test_sums_associate_as_written():
    k = crease.kernel("sums", sizes="N")
    i = k.index("i")
    a = k.input("a", i, i.within(0, k.size("N")))
    o = k.output("o", i, i.within(0, k.size("N")))
    b = a[i]
    with k.statement("S", i, i.within(0, k.size("N"))):
        o[i] = 1 - (b - (b + 2)) - b * (b / (b * 3)) / (2 / b) + -(b - 1) - (-b) * -2.0
    k.schedule("s", i)
    data = np.random.default_rng(0).random(50) + 0.1
    b = data
    expected = 1 - (b - (b + 2)) - b * (b / (b * 3)) / (2 / b) + -(b - 1) - (-b) * -2.0
    np.testing.assert_array_equal(k.run(N=50).code.run({"a": data})["o"], expected)


def line_of(marker):
    lines, first = inspect.getsourcelines(test_mistakes_name_the_line_of_python)
    return first + next(at for at, line in enumerate(lines) if f"# {marker}" in line)


def test_mistakes_name_the_line_of_python():
    def begin():
        k = crease.kernel("wrong", sizes="N", steps="T")
        t, x = k.indices("t x")
        return k, k.sizes[0], t, x

    def refused(k, marker, code, message):
        with pytest.raises(crease.ParseError, match=message) as caught:
            k.build()
        error = caught.value
        assert error.code == code and error.filename == __file__ and error.lineno == line_of(marker), str(error)
        assert f"{__file__}, line {error.lineno}: " in str(error)

    k, N, t, x = begin()
    u = k.state("u", (t, x), x.within(0, N))
    with k.statement("S", (t, x), t.between(1, k.steps), x.within(0, N)):
        u[t, x] = u[t-1, x]
        u[t, x + 1] = u[t-1, k.index("q")]  # unknown
    k.schedule("s", (t, x))
    refused(k, "unknown", "kernel/unknown", "`q`")

    k, N, t, x = begin()
    k.state("rat", (t, x), x.within(0, N))  # bad name
    refused(k, "bad name", "kernel/bad-name", "`rat`")

    k, N, t, x = begin()
    u = k.state("u", (t, x), x.within(0, N))
    with k.statement("S", (t, x), x.within(0, N)):  # unbounded
        u[t, x] = u[t-1, x]
    k.schedule("s", (t, x))
    refused(k, "unbounded", "kernel/not-bounded-by-run", "must bound its first iterator")

    k, N, t, x = begin()
    u = k.state("u", (t, x), x.within(0, N))
    with k.statement("S", (t, x), t.between(1, k.steps), x.within(0, N)) as S:
        u[t, x] = u[t-1, x]
    with k.statement("E", (t, x), t.between(1, k.steps), x.within(0, N)):
        u[t, x] = u[t-1, x]
    k.schedule("s", {S: (t, x)})  # forgotten
    refused(k, "forgotten", "kernel/not-scheduled", "`E`")


def test_mistakes_of_python_are_refused_where_they_are():
    k = crease.kernel("wrong", sizes="N", steps="T")
    (N,), (t, x) = k.sizes, k.indices("t x")
    s, u = k.scalar("s"), k.state("u", (t, x), x.within(0, N))
    for wrong in [
        lambda: 0 <= x < N,
        lambda: x == 0 or x == 1,
        lambda: not (x == 0),
        lambda: min(s, 1.0),
        lambda: (1 if s > 0 else 2),
    ]:
        with pytest.raises(TypeError, match="no truth value while a kernel is built"):
            wrong()
    numbers = np.ones(3)
    for wrong in [lambda: s // 2, lambda: s % 2, lambda: s + "a", lambda: s + numbers, lambda: x << 1]:
        with pytest.raises(TypeError):
            wrong()
    for wrong, message in [
        (lambda: u[t], r"has 2 index\(es\), this access has 1"),
        (lambda: u[t, s], "index 1 of array `u` is an affine expression"),
        (lambda: u[t, x * x], "affine"),
        (lambda: u[t, 0.5], "affine"),
        (lambda: u.__setitem__((t, crease.clamp(s)), 1.0), "index 1 of array `u` is an affine expression"),
        (lambda: crease.clamp("text"), "`clamp` takes a value"),
        (lambda: u.__setitem__((t, x), 1.0), "outside of a statement"),
        (lambda: x // N, "takes an integer"),
        (lambda: s ** 2, "a power, here of 2, is a product"),
        (lambda: s + float("nan"), "nan is no number"),
        (lambda: s * (2**53 + 1), "no double"),
        (lambda: k.state("v", (t, x + 1)), "as an iterator"),
        (lambda: k.state("v", (t, x), s < 1), "no condition on indices"),
        (lambda: k.state("v", (t, x), dtype=bool), "is no element type; there are f64, f32, f16, u8, i8"),
        (lambda: k.schedule("s", (t, x)), "comes after the statements"),
        (lambda: k.let("q", "text"), "no value"),
        (lambda: crease.kernel(sizes="N").build(), "has no name"),
        (lambda: crease.kernel("n").steps, "has no steps"),
        (lambda: x.within(0, 1.5), "affine expression of sizes"),
    ]:
        with pytest.raises(crease.ParseError, match=message):
            wrong()
    with pytest.raises(crease.ParseError, match="inside statement `S`"):
        with k.statement("S", (t, x)):
            with k.statement("E", (t, x)):
                pass
    with pytest.raises(ZeroDivisionError):
        with crease.kernel("unfinished") as other:
            other.index("i")
            1 // 0


def test_inputs_are_looked_up_at_computed_integers():
    with crease.kernel("tones", sizes="N") as k:
        (N,), (x, c, v) = k.sizes, k.indices("x c v")
        image = k.input("image", (x,), x.within(0, N), dtype="u8")
        curves = k.input("curves", (c, v), c.within(0, 2), v.within(0, 256), dtype=np.float32)
        out = k.output("out", (x,), x.within(0, N), dtype="f32")
        with k.statement("S", (x,), x.within(0, N)):
            pixel = image[x]
            toned = curves[1, crease.clamp(pixel)]
            out[x] = toned + curves[crease.clamp(crease.shift_right(pixel, 7)), crease.clamp(crease.i32(toned))]
        k.schedule("rows", (x.vector(16),))
    kernel = k.build()
    assert "curves[clamp(shift_right(image[x], 7)), clamp(i32(" in kernel.text
    pixels = np.arange(0, 250, 11, dtype=np.uint8)
    tables = np.stack([np.arange(256), 300 - 2 * np.arange(256)]).astype(np.float32)
    first = tables[1, pixels]
    expected = first + tables[pixels >> 7, np.clip(first.astype(np.int32), 0, 255)]
    found = kernel.plan(N=len(pixels)).compile().run({"image": pixels, "curves": tables})["out"]
    assert np.array_equal(found, expected)
