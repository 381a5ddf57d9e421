"""A lid-driven cavity, D2Q9 with one relaxation time: loops of Python write the statements of nine populations.

    python python/examples/cavity.py
"""

import numpy as np

import crease

#: Velocities (y, x), weights, and who goes the other way.
C = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)]
W = [4 / 9] + 4 * [1 / 9] + 4 * [1 / 36]
OPPOSITE = [0, 2, 1, 4, 3, 6, 5, 8, 7]


def moments(f):
    """Density and velocity (y, x): of values of a kernel, and as well of NumPy arrays."""
    density = f[0]
    for q in range(1, 9):
        density = density + f[q]
    momentum = [f[3] - f[4] + f[5] - f[6] + f[7] - f[8], f[1] - f[2] + f[5] - f[6] - f[7] + f[8]]
    return density, momentum[0] / density, momentum[1] / density


def collided(f, omega):
    """Populations after a collision: of the same."""
    density, v, u = moments(f)
    square = 1.5 * (v * v + u * u)
    after = []
    for (cy, cx), weight, population in zip(C, W, f):
        along = 3.0 * (cy * v + cx * u) if (cy, cx) != (0, 0) else 0.0 * u
        equilibrium = weight * density * (1.0 + along + 0.5 * along * along - square)
        after.append(population + omega * (equilibrium - population))
    return after


def lid(q, speed):
    """What bouncing off the lid adds."""
    return 6.0 * W[q] * C[q][1] * speed


@crease.kernel(sizes="N", steps="T", where="N >= 3")
def cavity(k):
    """Streaming by pulling, and half-way bounce-back in a statement for each part of the border."""
    (N,), T = k.sizes, k.steps
    t, y, x = k.indices("t y x")
    omega, speed = k.scalar("omega"), k.scalar("speed")
    f = [k.state(f"f{q}", (t, y, x), y.within(0, N), x.within(0, N)) for q in range(9)]
    parts = {"Low": lambda i: i == 0, "Inner": lambda i: i.within(1, N - 1), "High": lambda i: i == N - 1}
    for vertical, where_y in parts.items():
        for horizontal, where_x in parts.items():
            blocked = {"Low": 1, "Inner": 0, "High": -1}
            name = f"{vertical}{horizontal}"
            with k.statement(name, (t, y, x), t.between(1, T), where_y(y), where_x(x)):
                pulled = []
                for q, (cy, cx) in enumerate(C):
                    if cy and cy == blocked[vertical] or cx and cx == blocked[horizontal]:
                        back = f[OPPOSITE[q]][t-1, y, x]
                        pulled.append(back + lid(q, speed) if cy == -1 and vertical == "High" and cx else back)
                    else:
                        pulled.append(f[q][t-1, y - cy, x - cx])
                for q, value in enumerate(collided(pulled, omega)):
                    f[q][t, y, x] = value
    k.schedule("rows", (t, y, x.vector(8)))
    with k.observer("moments"):
        names = ["density", "velocity_y", "velocity_x"]
        outputs = [k.output(name, (y, x), y.within(0, N), x.within(0, N)) for name in names]
        with k.statement("M", (t, y, x), y.within(0, N), x.within(0, N)):
            for output, value in zip(outputs, moments([population[t, y, x] for population in f])):
                output[y, x] = value


def pulled_by_numpy(f, speed):
    """The same on full arrays."""
    pulled = []
    for q, (cy, cx) in enumerate(C):
        came = np.roll(f[q], (cy, cx), (0, 1))
        back = f[OPPOSITE[q]]
        for axis, c in enumerate((cy, cx)):
            if c:
                border = (slice(None),) * axis + (0 if c > 0 else -1,)
                came[border] = back[border]
        if cy == -1 and cx:
            came[-1] = back[-1] + lid(q, speed)
        pulled.append(came)
    return pulled


SIZE, STEPS, OMEGA, SPEED = 48, 300, 1.4, 0.1
run = cavity.run(N=SIZE)
run.omega, run.speed = OMEGA, SPEED
for q in range(9):
    run.fill(f"f{q}", W[q])
cells = run.plan.report["buffers"]
print("lattices of storage:", sum(buffer["cells"] for buffer in cells) / (9 * SIZE * SIZE))


def watch(run, progress):
    """Called every 100 steps."""
    seen = run.observe("moments")
    mass, fastest = seen["density"].sum(), seen["velocity_x"][-1].max()
    print(f"step {progress.step}: mass {mass:.6f}, velocity up to {fastest:.4f} below the lid,",
          f"{progress.steps_per_second:.0f} steps a second")


run.advance(STEPS, every=100, callback=watch)

f = [np.full((SIZE, SIZE), weight) for weight in W]
for _ in range(STEPS):
    f = collided(pulled_by_numpy(f, SPEED), OMEGA)
for q in range(9):
    assert np.array_equal(run.read(f"f{q}"), f[q]), q
seen = run.observe("moments")
for name, values in zip(["density", "velocity_y", "velocity_x"], moments(f)):
    assert np.array_equal(seen[name], values), name
print("the same bits as NumPy")
