"""Kernels that several tests use."""

HEAT = """
kernel heat(size N; run T) for N >= 3 {
  scalar k: f64
  state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
  S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
    u[t,y,x] = u[t-1,y,x] + k * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] - 4 * u[t-1,y,x]) }
  E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
    u[t,y,x] = u[t-1,y,x] }
  schedule rows { S, E -> [t, y, x vector(8)] }
  schedule free { S, E -> [t, y parallel, x vector(8)] }
}
"""

#: Indices that do not begin at 0, cells of four types.
SHIFTED = """
kernel shifted(size N; run T) for N >= 3 {
  input mask[y, x]: u8 for -2 <= y <= N and 5 <= x < N + 5
  state u[t, y, x]: f32 for -2 <= y <= N and 5 <= x < N + 5
  state h[t, y, x]: f16 for -2 <= y <= N and 5 <= x < N + 5
  S[t, y, x] for 1 <= t <= T and -2 <= y <= N and 5 <= x < N + 5 {
    u[t,y,x] = u[t-1,y,x] * 0.5 + f32(mask[y,x])
    h[t,y,x] = h[t-1,y,x] + 1 }
  schedule rows { S -> [t, y, x] }
}
"""

#: Reads two steps back.
WAVE = """
kernel wave(size N; run T) for N >= 3 {
  scalar c: f64
  input rough[x]: f64 for 0 <= x < N
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 1 <= x < N-1 {
    u[t,x] = 2 * u[t-1,x] - u[t-2,x] + c * rough[x] * (u[t-1,x-1] - 2 * u[t-1,x] + u[t-1,x+1]) + 0.001 * index(t) }
  E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
  schedule rows { S, E -> [t, x vector(8)] }
}
"""

#: No state: an image pipeline in single precision.
BLUR = """
kernel blur(size H, W) for H >= 3 and W >= 1 {
  scalar gain: f32
  input image[y, x]: f32 for 0 <= y < H and 0 <= x < W + 2
  temp across[y, x]: f32 for 0 <= y < H and 0 <= x < W
  output out[y, x]: f32 for 0 <= y < H - 2 and 0 <= x < W
  S[y, x] for 0 <= y < H and 0 <= x < W { across[y,x] = image[y,x] + image[y,x+1] + image[y,x+2] }
  O[y, x] for 2 <= y < H and 0 <= x < W { out[y-2,x] = gain * (across[y-2,x] + across[y-1,x] + across[y,x]) }
  schedule rows { S -> [y, 0, x vector(8)]; O -> [y, 1, x vector(8)] }
}
"""
