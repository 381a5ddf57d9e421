"""Time loops: callbacks, ends, Control-C, cancelling, threads of Python."""

import os
import signal
import subprocess
import sys
import threading
import time

import pickle

import numpy as np
import pytest

import crease
from kernels import BLUR, HEAT, WAVE

#: Steps of days.
FOREVER = 1 << 40


@pytest.fixture(scope="module")
def code():
    return crease.Kernel.parse(HEAT).plan(N=64, threads=1).compile()


def started(code):
    run = code.instantiate()
    run.k, run["u"] = 0.1, np.random.default_rng(0).random((64, 64))
    return run


def is_whole_step(run, code):
    again = started(code)
    again.advance(run.step)
    return np.array_equal(again.read("u"), run.read("u"))


def test_callbacks_come_every_so_many_steps(code):
    run, seen = started(code), []

    def look(called, progress):
        assert called is run and progress.first == 0 and progress.end == 10
        seen.append((progress.step, progress.steps_left))
        called["u"][0, 0] = progress.step

    progress = run.advance(10, every=4, callback=look)
    assert seen == [(4, 6), (8, 2), (10, 0)]
    assert run["u"][0, 0] == 10
    assert (progress.step, progress.steps_done, progress.fraction) == (10, 10, 1.0)
    assert progress.steps_per_second > 0 and progress.time_left == 0 and progress.elapsed > 0


def test_a_callback_ends_the_call(code):
    run = started(code)
    assert run.advance(10, every=3, callback=lambda *_: False).step == 3
    with pytest.raises(ZeroDivisionError):
        run.advance(10, every=3, callback=lambda *_: 1 // 0)
    assert run.step == 6
    run.advance(5, callback=lambda *_: None)
    assert run.step == 11


def test_until(code):
    run = started(code)
    assert run.advance_until(lambda run: run.step >= 12, every=5, limit=100) is True
    assert run.step == 15
    assert run.advance_until(lambda run: False, every=5, limit=12) is False
    assert run.step == 27


def test_wrong_numbers_of_steps(code):
    run = started(code)
    for wrong, error in [(-1, crease.RunError), (1.5, TypeError), ("3", TypeError), (1 << 80, crease.RunError)]:
        with pytest.raises(error):
            run.advance(wrong)
    with pytest.raises(crease.RunError, match="step 0 plus 4611686018427387904 leaves 62 bits") as caught:
        run.advance(1 << 62)
    assert caught.value.code == "run/too-many-steps"
    with pytest.raises(crease.RunError) as caught:
        run.advance(3, every=0, callback=lambda *_: None)
    assert caught.value.code == "run/no-interval"
    with pytest.raises(TypeError):
        run.advance(3, every=1)
    assert run.step == 0
    run.advance(np.int64(2))
    assert run.step == 2


def test_what_was_not_given_is_named(code):
    run = code.instantiate()
    with pytest.raises(crease.RunError, match="scalar `k` of kernel `heat` has not been set"):
        run.advance(1)
    run.k = 1
    with pytest.raises(crease.RunError, match="state `u` of kernel `heat` was not given at the first step"):
        run.advance(1)
    assert run.step == 0
    with pytest.raises(crease.RunError, match="has state"):
        run.run_once({}, {})
    with pytest.raises(crease.RunError, match="has no state to advance"):
        crease.Kernel.parse(BLUR).run(H=5, W=5).advance(1)


def test_scalars_are_attributes(code):
    run = code.instantiate()
    assert run.k is None and run.scalar("k") is None
    run.k = 1
    assert run.k == run.scalar("k") == 1.0
    assert "k" in dir(run)
    with pytest.raises(AttributeError, match="no scalar `kay`; it has k"):
        run.kay = 2
    with pytest.raises(AttributeError):
        run.kay
    with pytest.raises(AttributeError):
        run.step = 3
    with pytest.raises(crease.RunError, match="no scalar `kay`"):
        run.set("kay", 2)
    with pytest.raises(TypeError):
        run.k = "a lot"
    named = crease.Kernel.parse(HEAT.replace("k *", "step *").replace("scalar k", "scalar step")).run(N=5)
    with pytest.raises(AttributeError, match="has the name of a member of runs"):
        named.step = 0.5
    named.set("step", 0.5)
    assert named.scalar("step") == 0.5 and named.step == 0


def test_control_c_stops_a_run(code):
    run = started(code)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run.advance(FOREVER)
    assert run.step > 0 and is_whole_step(run, code)
    run.advance(5)
    assert is_whole_step(run, code)


def test_a_handler_may_touch_the_run(code):
    run, seen = started(code), []

    def handle(*_):
        seen.append((run.step, float(run["u"][3, 3])))
        if len(seen) == 2:
            raise StopIteration

    previous = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        with pytest.raises(StopIteration):
            run.advance(FOREVER)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert len(seen) == 2 and 0 < seen[0][0] < seen[1][0] == run.step


def test_control_c_from_outside():
    program = f"""
import sys, crease
run = crease.Kernel.parse('''{HEAT}''').run(N=32, threads=1)
run.k = 0.1
run.fill("u", 1.0)
print("running", flush=True)
try:
    run.advance({FOREVER}, every=1 << 30, callback=lambda *_: None)
except KeyboardInterrupt:
    print("stopped", run.step > 0, flush=True)
    sys.exit(7)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "running\n"
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "stopped True\n"
    assert child.wait(timeout=120) == 7
    child.stdout.close()


def test_control_c_stops_waiting_for_a_plan():
    """A plan that takes seconds, as it counts; what is left of it ends beside the tests."""
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        crease.catalogue["lbm-d3q19-cavity"].plan(N=40).explain(all_sizes=True)
        pytest.fail("the interrupt did not come while the plan was made")


def test_another_thread_cancels(code):
    run, cancel = started(code), crease.Cancel()
    run.cancel_with(cancel)
    begin = run.step
    timer = threading.Timer(0.2, cancel.cancel)
    timer.start()
    with pytest.raises(crease.Cancelled, match="cancelled at step") as caught:
        run.advance(FOREVER)
    assert f" {begin + FOREVER - run.step} step(s) before the end" in str(caught.value)
    assert caught.value.code == "run/cancelled" and cancel.is_cancelled
    assert is_whole_step(run, code)
    with pytest.raises(crease.Cancelled):
        run.advance(1)
    cancel.reset()
    run.advance(1)
    assert is_whole_step(run, code)


def test_other_threads_go_on_and_see_the_step(code):
    run, cancel = started(code), crease.Cancel()
    run.cancel_with(cancel)
    worker = threading.Thread(target=lambda: pytest.raises(crease.Cancelled, run.advance, FOREVER))
    worker.start()
    steps, refused = set(), 0
    # However slow the machine is: the deadline only keeps a broken test from running forever.
    deadline = time.monotonic() + 120
    while (len(steps) <= 3 or refused <= 3) and time.monotonic() < deadline:
        steps.add(run.step)
        try:
            run.read("u")
        except crease.RunError as error:
            assert error.code == "py/busy"
            refused += 1
        time.sleep(0.005)
    cancel.cancel()
    worker.join(timeout=120)
    assert not worker.is_alive() and len(steps) > 3 and refused > 3
    assert is_whole_step(run, code)


def test_runs_of_one_code_side_by_side(code):
    runs = [started(code) for _ in range(4)]
    workers = [threading.Thread(target=run.advance, args=(50 + at,)) for at, run in enumerate(runs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [run.step for run in runs] == [50, 51, 52, 53]
    assert all(is_whole_step(run, code) for run in runs)


def test_a_restart_at_a_step():
    kernel, start = crease.Kernel.parse(WAVE), np.random.default_rng(1).random(20)

    def begin():
        run = kernel.run(N=20)
        run.c = 0.1
        run.fill("rough", 1.0)
        return run

    run = begin()
    run.write("u", start)
    run.write("u", start / 2, back=1)
    run.advance(7)
    now, before = run.read("u"), run.read("u", back=1)
    run.advance(5)
    again = begin()
    again.set_step(7)
    again.write("u", now)
    again.write("u", before, back=1)
    again.advance(5)
    assert again.step == run.step == 12
    np.testing.assert_array_equal(again.read("u"), run.read("u"))
    with pytest.raises(crease.RunError, match="cannot stand at step -1"):
        again.set_step(-1)


DRIVEN = """
kernel driven(size N; run T) {
  input inflow[t]: f64 for 1 <= t <= T
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + inflow[t] }
}"""


def test_inputs_over_steps():
    run = crease.Kernel.parse(DRIVEN).run(N=5)
    run.fill("u", 0.0)
    run.write_steps("inflow", 1, np.arange(1.0, 101.0))
    run.advance(60)
    again = pickle.loads(pickle.dumps(run))
    with pytest.raises(crease.RunError, match="step 61 was not given"):
        again.advance(1)
    for one in (run, again):
        one.write_steps("inflow", 61, np.arange(61.0, 101.0))
        one.advance(40)
        assert (one.read("u") == 5050).all()
    with pytest.raises(crease.Error, match="is an input over steps"):
        run["inflow"] = np.arange(3.0)
