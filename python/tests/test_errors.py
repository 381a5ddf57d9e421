"""Errors have a class, a code, and the library's words."""

import numpy as np
import pytest

import crease
from kernels import HEAT

KERNEL = crease.Kernel.parse(HEAT)


def test_texts():
    with pytest.raises(crease.ParseError, match="unknown array `v`") as caught:
        crease.Kernel.parse(HEAT.replace("{\n    u[t,y,x] = u[t-1", "{\n    v[t,y,x] = u[t-1", 1))
    error = caught.value
    assert isinstance(error, ValueError) and isinstance(error, crease.Error)
    assert (error.line, error.column, error.code) == (6, 5, "kernel/unknown")
    assert "line 6, column 5" in str(error) and error.reason.startswith("unknown array `v`")
    with pytest.raises(crease.ParseError):
        crease.Kernel.parse("")
    with pytest.raises(FileNotFoundError):
        crease.Kernel.from_file("/no/such/file")


def test_files(tmp_path):
    path = tmp_path / "heat.crease"
    path.write_text(HEAT)
    assert crease.Kernel.from_file(path) == crease.Kernel.from_file(str(path)) == KERNEL


@pytest.mark.parametrize(
    "options, code, message",
    [
        ({}, "plan/missing-size", "size parameter `N` has no value"),
        ({"N": 2}, "plan/outside-context", "not defined for N = 2"),
        ({"N": 9, "M": 2}, "plan/unknown-size", "no size parameter `M`; it has N"),
        ({"N": 9, "schedule": "columns"}, "plan/unknown-schedule", "no schedule `columns`; it has rows, free"),
        ({"N": 9, "strategy": "magic"}, "py/unknown-choice", "strategy: there is no `magic`"),
        ({"N": 9, "rounding": "up"}, "py/unknown-choice", "rounding: "),
        ({"N": 9, "threads": 0}, "plan/threads", "planned for 0 threads"),
        ({"N": 900, "memory_cap_bytes": 100_000}, "plan/too-large", r"more than the cap of 100000; .*N = \d+"),
        ({"N": 9, "mapping": "u[t, y, x] -> [x mod 3]"}, "storage/unproved", "would share a cell"),
        ({"N": 9, "work_limit": 1}, "lower/work", "work_limit"),
    ],
)
def test_plans(options, code, message):
    with pytest.raises(crease.PlanError, match=message) as caught:
        KERNEL.plan(**options)
    assert caught.value.code == code


def test_options_of_wrong_types():
    for wrong in [{"N": 9.5}, {"N": "9"}, {"N": 9, "threads": "two"}, {"N": 9, "schedule": 1}]:
        with pytest.raises(TypeError):
            KERNEL.plan(**wrong)
    for wrong in [{"N": 9, "threads": -1}, {"N": 1 << 70}]:
        with pytest.raises(crease.PlanError, match="it must be from") as caught:
            KERNEL.plan(**wrong)
        assert caught.value.code == "py/option"
    assert KERNEL.plan({"N": np.int32(9)}).sizes == {"N": 9}


def test_code_and_runs():
    plan = KERNEL.plan(N=9)
    with pytest.raises(crease.PlanError, match="instructions: there is no `mmx`"):
        plan.compile(instructions="mmx")
    with pytest.raises(TypeError, match="no option `speed`"):
        plan.dump("clif", speed=3)
    code = plan.compile(vectors=256, unroll=2)
    with pytest.raises(crease.RunError, match="100000") as caught:
        code.instantiate(threads=100000)
    assert caught.value.code.startswith("threads/")
    with pytest.raises(crease.RunError, match="and 100 are left") as caught:
        code.instantiate(memory_limit_bytes=100)
    assert caught.value.code == "run/out-of-memory"
    code.instantiate(check_memory=False, guard_pages=True, flush_denormals=True, pin_threads=True)
    run = code.instantiate()
    for wrong in [lambda: run["v"], lambda: run.read("v"), lambda: run.write("v", 1), lambda: run.fill("v", 1)]:
        with pytest.raises(crease.RunError, match="no array `v`; it has u") as caught:
            wrong()
        assert caught.value.code == "run/unknown-array"


def test_stages_as_text():
    plan = KERNEL.plan(N=9)
    assert "u[t, y, x] -> u[" in plan.dump("mapping")
    assert "vmov" in plan.dump("asm", instructions="avx2") or plan.dump("asm", instructions="scalar")
    with pytest.raises(crease.PlanError, match="no `colour`; there are kernel") as caught:
        plan.dump("colour")
    assert caught.value.code == "py/unknown-choice"


def test_opaque_functions_run_only_where_asked():
    kernel = crease.Kernel.parse(
        "kernel k(size N) { opaque f(1) input a[i]: f64 for 0 <= i < N output b[i]: f64 for 0 <= i < N "
        "S[i] for 0 <= i < N { b[i] = f(a[i]) } schedule s { S -> [i] } }"
    )
    with pytest.raises(crease.PlanError, match="declared as opaque"):
        kernel.plan(N=4).compile()
    kernel.plan(N=4, run_opaque_functions=True).compile().run({"a": np.ones(4)})
