"""The flow of cavity.c from Python: the same lines, the same bits. ../languages.sh compares their speed.

    python capi/examples/cavity.py capi/examples/cavity.crk [CELLS [STEPS]]
"""

import sys
from pathlib import Path

import crease

WEIGHTS = [4 / 9] + 4 * [1 / 9] + 4 * [1 / 36]

path, n, steps = sys.argv[1], *(int(word) for word in sys.argv[2:4] + ["64", "1000"][len(sys.argv) - 2 :])
plan = crease.Kernel.parse(Path(path).read_text(encoding="utf-8")).plan(N=n)
print(f"folded {plan.folded_bytes} bytes, two lattices {2 * 9 * 8 * n * n} bytes")
run = plan.run()
run.omega, run.u_lid = 1.7, 0.1
for q, weight in enumerate(WEIGHTS):
    run.fill(f"f{q}", weight)  # at rest


def tell(run, progress):
    """Called in the middle and at the end."""
    print(f"step {progress.step} of {progress.end}")


progress = run.advance(steps, every=steps // 2 + 1, callback=tell)
print(f"{1e-6 * n * n * progress.steps_per_second:.1f} million cells a second")

checksum, mask = 0, (1 << 64) - 1
for q in range(9):
    for bits in run.read(f"f{q}").view("u8").ravel().tolist():
        checksum = (checksum << 7 & mask | checksum >> 57) ^ bits
print(f"checksum {checksum:016x}")
