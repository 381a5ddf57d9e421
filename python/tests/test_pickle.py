"""Kernels, plans, code and runs are pickled as what they were made from; errors as they are."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import crease
from kernels import BLUR, SHIFTED, WAVE


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def test_kernels():
    kernel = crease.Kernel.parse(WAVE)
    assert again(kernel) == kernel and hash(again(kernel)) == hash(kernel)
    assert again(kernel) != crease.Kernel.parse(BLUR) and kernel != WAVE
    assert copy.deepcopy(kernel) == kernel


def test_plans_and_code():
    plan = crease.Kernel.parse(WAVE).plan(N=50, strategy="successive-modulo", threads=1)
    other = again(plan)
    assert other.sizes == plan.sizes == {"N": 50}
    assert other.options == plan.options == {"strategy": "successive-modulo", "threads": 1}
    assert other.report["buffers"] == plan.report["buffers"]
    code = again(plan.compile(instructions="scalar"))
    assert code.plan.sizes == {"N": 50} and code._options["instructions"] == "scalar"


def test_runs_go_on_where_they_were():
    run = crease.Kernel.parse(WAVE).run(N=30)
    random = np.random.default_rng(0)
    run.c = 0.3
    run.write("rough", random.random(30))
    run.write("u", random.random(30))
    run.write("u", random.random(30), back=1)
    run.advance(6)
    other = again(run)
    assert other.step == 6 and other.c == 0.3
    run.advance(9)
    other.advance(9)
    np.testing.assert_array_equal(other.read("u"), run.read("u"))
    fresh = again(crease.Kernel.parse(WAVE).run(N=30))
    with pytest.raises(crease.RunError, match="`c` .* has not been set"):
        fresh.advance(1)


def test_runs_of_all_types_and_without_state():
    run = crease.Kernel.parse(SHIFTED).run(N=5)
    for name in ("u", "h", "mask"):
        run.fill(name, 1)
    run.advance(3)
    other = again(run)
    for name in ("u", "h", "mask"):
        np.testing.assert_array_equal(other.read(name), run.read(name))
    blur = crease.Kernel.parse(BLUR).run(H=5, W=4)
    blur.gain = 2
    blur.fill("image", 1.5)
    other = again(blur)
    assert other.run_once() == {} and other["out"][0, 0] == 27


def test_errors():
    with pytest.raises(crease.PlanError) as caught:
        crease.Kernel.parse(WAVE).plan(M=3)
    error = again(caught.value)
    assert type(error) is crease.PlanError and error.code == "plan/unknown-size" and str(error) == str(caught.value)


def steps_of(run):
    run.advance(4)
    return run.step, run.read("u")


def test_a_run_in_another_process():
    run = crease.Kernel.parse(WAVE).run(N=30)
    run.c = 0.3
    run.fill("rough", 1.0)
    run.fill("u", 2.0)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        step, u = pool.apply(steps_of, (run,))
    assert run.step == 0 and step == 4
    np.testing.assert_array_equal(u, steps_of(run)[1])
