"""A blur in two passes on NumPy arrays where they lie: a window of a larger image, single precision, no copy.

    python python/examples/image.py
"""

import numpy as np

import crease

blur = crease.Kernel.parse("""
    kernel blur(size H, W) for H >= 3 and W >= 1 {
      input image[y, x]: f32 for 0 <= y < H and 0 <= x < W + 2
      temp across[y, x]: f32 for 0 <= y < H and 0 <= x < W
      output out[y, x]: f32 for 0 <= y < H - 2 and 0 <= x < W
      S[y, x] for 0 <= y < H and 0 <= x < W { across[y,x] = image[y,x] + image[y,x+1] + image[y,x+2] }
      O[y, x] for 2 <= y < H and 0 <= x < W { out[y-2,x] = (across[y-2,x] + across[y-1,x] + across[y,x]) / 9 }
      schedule rows { S -> [y, 0, x vector(8)]; O -> [y, 1, x vector(8)] }
    }""")
plan = blur.plan(H=402, W=600)
print(f"the intermediate image takes {plan.folded_bytes} bytes, of {4 * 402 * 600}")

photo = np.random.default_rng(0).random((800, 1000), dtype=np.float32)
window = photo[100:502, 200:802]
result = np.zeros((800, 1000), np.float32)
plan.compile().run({"image": window}, {"out": result[101:501, 201:801]})

across = window[:, :-2] + window[:, 1:-1] + window[:, 2:]
expected = (across[:-2] + across[1:-1] + across[2:]) / np.float32(9)
assert np.array_equal(result[101:501, 201:801], expected)
assert not result[:101].any() and not result[501:].any()
print("the same bits as NumPy, and nothing around them was written")
