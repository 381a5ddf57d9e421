"""Heat on a plate: a kernel in Python syntax, NumPy arrays in and out, a residual every 50 steps.

    python python/examples/stencil.py
"""

import numpy as np

import crease

with crease.kernel("plate", sizes="NY NX", steps="T", where="NY >= 3 and NX >= 3") as k:
    (NY, NX), T = k.sizes, k.steps
    t, y, x = k.indices("t y x")
    dt = k.scalar("dt")
    kappa = k.input("kappa", (y, x), y.within(0, NY), x.within(0, NX))
    u = k.state("u", (t, y, x), y.within(0, NY), x.within(0, NX))
    with k.statement("Inside", (t, y, x), t.between(1, T), y.within(1, NY - 1), x.within(1, NX - 1)):
        around = u[t-1, y-1, x] + u[t-1, y+1, x] + u[t-1, y, x-1] + u[t-1, y, x+1]
        u[t, y, x] = u[t-1, y, x] + dt * kappa[y, x] * (around - 4 * u[t-1, y, x])
    with k.statement("Kept", (t, y, x), t.between(1, T), (y == 0) | (y == NY - 1), x.within(0, NX)):
        u[t, y, x] = u[t-1, y, x]
    with k.statement("Left", (t, y, x), t.between(1, T), y.within(1, NY - 1), x == 0):
        u[t, y, x] = u[t-1, y, x+1]
    with k.statement("Right", (t, y, x), t.between(1, T), y.within(1, NY - 1), x == NX - 1):
        u[t, y, x] = u[t-1, y, x-1]
    k.schedule("rows", (t, y, x.vector(8)))

plan = k.plan(NY=60, NX=80)
print(f"{plan.folded_bytes} bytes of storage, where two grids have {2 * 8 * 60 * 80}")

kappa_values = 1 + 0.2 * np.random.default_rng(0).random((60, 80))
start = np.zeros((60, 80))
start[0] = 100
run = plan.run()
run.dt = 0.2
run["kappa"], run["u"] = kappa_values, start

before = run.read("u")


def is_still(run):
    """Whether 50 steps have changed no temperature by more than a hundredth."""
    change = np.abs(run.read("u") - before).max()
    run.read("u", out=before)
    return change < 0.01


print("still" if run.advance_until(is_still, every=50, limit=10_000) else "not still", "after", run.step, "steps")
print("the middle has", run["u"][30, 40])

# The same by NumPy, on two grids.
old = start
for _ in range(run.step):
    new = old.copy()
    around = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
    new[1:-1, 1:-1] = old[1:-1, 1:-1] + 0.2 * kappa_values[1:-1, 1:-1] * (around - 4 * old[1:-1, 1:-1])
    new[1:-1, 0], new[1:-1, -1] = old[1:-1, 1], old[1:-1, -2]
    old = new
assert np.array_equal(run.read("u"), old)
print("the same bits as NumPy")
