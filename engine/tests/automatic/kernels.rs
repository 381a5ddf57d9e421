//! Kernels without schedules: of steps, of images and tables, of domains that are no boxes, and in periodic boxes.

/// A step of diffusion with a border that is written as one statement.
pub(super) const PLANE: &str = "kernel plane(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
    S[t, y, x] for 1 <= t <= T and 1 <= y < N-1 and 1 <= x < N-1 {
      u[t,y,x] = 0.5 * u[t-1,y,x] + 0.125 * (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1]) }
    E[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
      u[t,y,x] = u[t-1,y,x] }
  }";

/// Two statements a step, of which the second needs rows on both sides of the first.
pub(super) const STAGES: &str = "kernel stages(size N; run T) for N >= 6 {
    state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
    temp v[t, y, x]: f64 for 1 <= t <= T and 0 <= y < N and 0 <= x < N
    V[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N { v[t,y,x] = 0.5 * u[t-1,y,x] + 1.0 }
    U[t, y, x] for 1 <= t <= T and 2 <= y < N-2 and 0 <= x < N { u[t,y,x] = v[t,y-2,x] - 0.25 * v[t,y+2,x] }
    E[t, y, x] for 1 <= t <= T and (0 <= y < 2 or N-2 <= y < N) and 0 <= x < N { u[t,y,x] = u[t-1,y,x] * 0.5 }
  }";

/// Two rows of one array for each of another one, and the other way round.
pub(super) const RATES: &str = "kernel rates(size N) for N >= 4 and N mod 2 = 0 {
    input a[y, x]: f32 for 0 <= y, x < N
    temp b[y, x]: f32 for 0 <= y, x < N
    temp c[y, x]: f32 for 0 <= 2*y < N and 0 <= x < N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    B[y, x] for 0 <= y, x < N { b[y,x] = 0.5 * a[y,x] + 1 }
    C[y, x] for 0 <= 2*y < N and 0 <= x < N { c[y,x] = b[2*y,x] - b[2*y+1,x] }
    E[y, x] for 2 <= 2*y < N and 1 <= x < N { d[2*y,x] = c[y,x-1] + c[y-1,x] }
    O[y, x] for 2 <= 2*y < N and 1 <= x < N { d[2*y+1,x] = c[y,x] + b[2*y+1,x-1] }
  }";

/// Sweeps within a step.
pub(super) const SWEEPS: &str = "kernel sweeps(size N; run T) for N >= 4 {
    state u[t, y, x]: f64 for 0 <= y, x < N
    temp w[t, k, y, x]: f64 for 1 <= t <= T and 0 <= k <= 3 and 0 <= y, x < N
    I[t, y, x] for 1 <= t <= T and 0 <= y, x < N { w[t,0,y,x] = u[t-1,y,x] }
    J[t, k, y, x] for 1 <= t <= T and 1 <= k <= 3 and 1 <= y, x < N-1 {
      w[t,k,y,x] = 0.5 * u[t-1,y,x] + 0.25 * (w[t,k-1,y-1,x] + w[t,k-1,y,x+1]) }
    B[t, k, y, x] for 1 <= t <= T and 1 <= k <= 3 and 0 <= y, x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
      w[t,k,y,x] = w[t,k-1,y,x] }
    O[t, y, x] for 1 <= t <= T and 0 <= y, x < N { u[t,y,x] = w[t,3,y,x] }
  }";

/// A border that needs no row that lies ahead, of an array whose inside does.
pub(super) const BORDER: &str = "kernel border(size N; run T) for N >= 8 {
    state u[t, y, x]: f64 for 0 <= y, x < N outside clamp
    temp a[t, y, x]: f64 for 1 <= t <= T and 0 <= y, x < N outside clamp
    A[t, y, x] for 1 <= t <= T and 0 <= y, x < N { a[t,y,x] = u[t-1,y,x+1] - 0.5 * u[t-1,y,x] + u[t-1,y+1,x] }
    S[t, y, x] for 1 <= t <= T and 0 <= y, x < N { u[t,y,x] = 0.25 * (u[t-1,y,x] + a[t,y+1,x] - a[t,y,x]) }
  }";

/// Values of one step feed each other along rows: no lanes.
pub(super) const SWEEP: &str = "kernel sweep(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
    S[t, y, x] for 1 <= t <= T and 0 <= y < N and 1 <= x < N { u[t,y,x] = 0.5 * (u[t,y,x-1] + u[t-1,y,x]) }
    E[t, y] for 1 <= t <= T and 0 <= y < N { u[t,y,0] = u[t-1,y,0] }
  }";

/// A ring of cells: dependences as long as the line.
pub(super) const RING: &str = "kernel ring(size N; run T) for N >= 3 {
    state u[t, x]: f64 for 0 <= x < N
    S[t, x] for 1 <= t <= T and 1 <= x < N { u[t,x] = 0.5 * (u[t-1,x-1] + u[t-1,x]) }
    E[t] for 1 <= t <= T { u[t,0] = 0.5 * (u[t-1,N-1] + u[t-1,0]) }
  }";

/// Nine points on rows that are periodic, between walls.
pub(super) const CYLINDER: &str = "kernel cylinder(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y, x < N outside x periodic, y value 0
    S[t, y, x] for 1 <= t <= T and 0 <= y, x < N {
      u[t,y,x] = 0.5 * u[t-1,y,x] + 0.0625 * sum(d in -1..2, e in -1..2, u[t-1,y+d,x+e]) }
  }";

/// Five points on a torus.
pub(super) const TORUS: &str = "kernel torus(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y, x < N outside y periodic, x periodic
    S[t, y, x] for 1 <= t <= T and 0 <= y, x < N {
      u[t,y,x] = 0.5 * u[t-1,y,x]
        + 0.125 * (u[t-1,y-1,x] + u[t-1,y+1,x] + (u[t-1,y,x-1] + u[t-1,y,x+1])) }
  }";

/// A cube.
pub(super) const CUBE: &str = "kernel cube(size N; run T) for N >= 3 {
    state u[t, z, y, x]: f64 for 0 <= z < N and 0 <= y < N and 0 <= x < N
    S[t, z, y, x] for 1 <= t <= T and 1 <= z < N and 0 <= y < N - 1 and 0 <= x < N {
      u[t,z,y,x] = 0.5 * u[t-1,z-1,y,x] + 0.25 * u[t-1,z,y+1,x] }
    E[t, z, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N and (z = 0 or 1 <= z < N and y = N - 1) {
      u[t,z,y,x] = u[t-1,z,y,x] }
  }";

pub(super) const STAR: &str = "kernel star(size N; run T) for N >= 3 {
    state u[t, z, y, x]: f64 for 0 <= z < N and 0 <= y < N and 0 <= x < N
    S[t, z, y, x] for 1 <= t <= T and 1 <= z < N - 1 and 1 <= y < N - 1 and 1 <= x < N - 1 {
      u[t,z,y,x] = 0.1 * (u[t-1,z-1,y,x] - u[t-1,z+1,y,x] + u[t-1,z,y-1,x]) + 0.3 * u[t-1,z,y+1,x] - 0.2 * u[t-1,z,y,x-1] }
    E[t, z, y, x] for 1 <= t <= T and 0 <= z < N and 0 <= y < N and 0 <= x < N
      and (z = 0 or z = N - 1 or y = 0 or y = N - 1 or x = 0 or x = N - 1) { u[t,z,y,x] = u[t-1,z,y,x] }
  }";

/// All 27 points of a cube.
pub(super) const ALL_AROUND: &str = "kernel all_around(size N; run T) for N >= 3 {
    state u[t, z, y, x]: f64 for 0 <= z < N and 0 <= y < N and 0 <= x < N
    define row(c, b) = 0.3 * u[t-1,z+c,y+b,x-1] + 0.4 * u[t-1,z+c,y+b,x] - 0.2 * u[t-1,z+c,y+b,x+1]
    S[t, z, y, x] for 1 <= t <= T and 1 <= z < N - 1 and 1 <= y < N - 1 and 1 <= x < N - 1 {
      u[t,z,y,x] = sum(c in 0..3, sum(b in 0..3, row(c - 1, b - 1))) }
    E[t, z, y, x] for 1 <= t <= T and 0 <= z < N and 0 <= y < N and 0 <= x < N
      and (z = 0 or z = N - 1 or y = 0 or y = N - 1 or x = 0 or x = N - 1) { u[t,z,y,x] = u[t-1,z,y,x] }
  }";

/// A sweep down the rows of a plane and one up again, in each step.
pub(super) const THERE_AND_BACK: &str = "kernel back(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N
    temp v[t, y, x]: f64 for 1 <= t <= T and 0 <= y < N and 0 <= x < N
    V[t, y, x] for 1 <= t <= T and 1 <= y < N and 0 <= x < N { v[t,y,x] = 0.5 * (v[t,y-1,x] + u[t-1,y,x]) }
    V0[t, y, x] for 1 <= t <= T and y = 0 and 0 <= x < N { v[t,y,x] = u[t-1,y,x] }
    U[t, y, x] for 1 <= t <= T and 0 <= y < N-1 and 0 <= x < N { u[t,y,x] = 0.25 * u[t,y+1,x] + v[t,y,x] }
    U0[t, y, x] for 1 <= t <= T and y = N-1 and 0 <= x < N { u[t,y,x] = v[t,y,x] }
  }";

/// Sweeps along rows, then down columns, in each step.
pub(super) const ALTERNATING: &str = "kernel alternating(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N outside value 0
    temp v[t, y, x]: f64 for 1 <= t <= T and 0 <= y < N and 0 <= x < N outside value 0
    V[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N {
      v[t,y,x] = 0.5 * v[t,y,x-1] + 0.25 * (u[t-1,y-1,x] - u[t-1,y+1,x]) }
    U[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N {
      u[t,y,x] = 0.5 * u[t,y-1,x] + 0.25 * (v[t,y,x-1] - v[t,y,x+1]) }
  }";

/// Two statements a step on a ring, of which the second needs neighbours of the first.
pub(super) const STAGED_RING: &str = "kernel staged_ring(size N; run T) for N >= 3 {
    state u[t, x]: f64 for 0 <= x < N outside periodic
    temp f[t, x]: f64 for 1 <= t <= T and 0 <= x < N outside periodic
    F[t, x] for 1 <= t <= T and 0 <= x < N { f[t,x] = 0.5 * u[t-1,x] - 0.25 * u[t-1,x+1] }
    U[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] - 0.5 * (f[t,x] - f[t,x-1]) }
  }";

/// Points of one colour of a chess board, then those of the other.
pub(super) const RED_BLACK: &str = "kernel red_black(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y, x < N
    R[t, y, x] for 1 <= t <= T and 1 <= y, x < N - 1 and (y + x) mod 2 = 0 {
      u[t,y,x] = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x] - u[t-1,y,x-1]) + 0.5 * u[t-1,y,x+1] }
    B[t, y, x] for 1 <= t <= T and 1 <= y, x < N - 1 and (y + x) mod 2 = 1 {
      u[t,y,x] = 0.25 * (u[t,y-1,x] + u[t,y+1,x] - u[t,y,x-1]) + 0.5 * u[t,y,x+1] }
    E[t, y, x] for 1 <= t <= T and 0 <= y, x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) { u[t,y,x] = u[t-1,y,x] }
  }";

/// Cells need those on the left and above of the same step.
pub(super) const SEIDEL: &str = "kernel seidel(size N; run T) for N >= 3 {
    state u[t, y, x]: f64 for 0 <= y, x < N outside value 0
    S[t, y, x] for 1 <= t <= T and 0 <= y, x < N {
      u[t,y,x] = 0.25 * (u[t,y-1,x+1] - u[t,y-1,x] + u[t,y,x-1]) + 0.5 * u[t-1,y,x+1] - 0.125 * u[t-1,y+1,x] }
  }";

/// An image in three stages.
pub(super) const IMAGE: &str = "kernel image(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp b[y, x]: f32 for 1 <= y < N and 0 <= x < N
    temp c[y, x]: f32 for 1 <= y < N and 1 <= x < N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    B[y, x] for 1 <= y < N and 0 <= x < N { b[y,x] = a[y,x] - a[y-1,x] }
    C[y, x] for 1 <= y < N and 1 <= x < N { c[y,x] = b[y,x] * b[y,x-1] }
    D[y, x] for 2 <= y < N and 1 <= x < N { d[y,x] = c[y,x] + c[y-1,x] }
  }";

/// A product of matrices: sums go along the last index of what is written, and rows of one factor along another.
pub(super) const PRODUCT: &str = "kernel product(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp c[y, x, k]: f32 for 2 <= y < N and 1 <= x < N and 0 <= k <= N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    Z[y, x] for 2 <= y < N and 1 <= x < N { c[y,x,0] = 0 }
    S[y, x, k] for 2 <= y < N and 1 <= x < N and 0 <= k < N { c[y,x,k+1] = c[y,x,k] + a[y,k] * a[k,x] }
    D[y, x] for 2 <= y < N and 1 <= x < N { d[y,x] = c[y,x,N] }
  }";

/// A product of a matrix with itself, both factors along the sum.
pub(super) const TRANSPOSED: &str = "kernel transposed(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp c[y, x, k]: f32 for 2 <= y < N and 1 <= x < N and 0 <= k <= N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    Z[y, x] for 2 <= y < N and 1 <= x < N { c[y,x,0] = 0 }
    S[y, x, k] for 2 <= y < N and 1 <= x < N and 0 <= k < N { c[y,x,k+1] = c[y,x,k] + a[y,k] * a[x,k] }
    D[y, x] for 2 <= y < N and 1 <= x < N { d[y,x] = c[y,x,N] }
  }";

/// A recursive filter along rows, forwards and back, and the sum of both.
pub(super) const FILTER: &str = "kernel filter(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp f[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp g[y, x]: f32 for 0 <= y < N and 0 <= x < N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    F0[y] for 0 <= y < N { f[y,0] = a[y,0] }
    F[y, x] for 0 <= y < N and 1 <= x < N { f[y,x] = a[y,x] + 0.5 * f[y,x-1] }
    G0[y] for 0 <= y < N { g[y,N-1] = a[y,N-1] }
    G[y, x] for 0 <= y < N and 0 <= x < N-1 { g[y,x] = a[y,x] + 0.5 * g[y,x+1] }
    D[y, x] for 2 <= y < N and 1 <= x < N { d[y,x] = f[y,x] + g[y,x] }
  }";

/// A triangular factor by columns: each cell needs sums over what lies on its left, in its own row and in another one.
pub(super) const FACTOR: &str = "kernel factor(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp s[y, x, k]: f32 for 0 <= k <= x and x <= y and y < N
    temp l[y, x]: f32 for 0 <= x <= y and y < N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    Z[y, x] for 0 <= x <= y and y < N { s[y,x,0] = a[y,x] + 9 }
    S[y, x, k] for 1 <= k <= x and x <= y and y < N { s[y,x,k] = s[y,x,k-1] - 0.01 * l[y,k-1] * l[x,k-1] }
    L[y, x] for 0 <= x < y and y < N { l[y,x] = s[y,x,x] / (abs(l[x,x]) + 1) }
    R[y, x] for 0 <= y < N and x = y { l[y,x] = sqrt(abs(s[y,y,y])) }
    D[y, x] for 2 <= y < N and 1 <= x <= y { d[y,x] = l[y,x] }
    U[y, x] for 2 <= y < x and x < N { d[y,x] = 0 - l[x,y] }
  }";

/// Both factors of a square: rows above are needed from the diagonal on.
pub(super) const FACTORS: &str = "kernel factors(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp s[y, x, k]: f32 for 0 <= y, x < N and 0 <= k <= y and k <= x
    temp f[y, x]: f32 for 0 <= y, x < N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    Z[y, x] for 0 <= y, x < N { s[y,x,0] = a[y,x] + 9 }
    S[y, x, k] for 0 <= y, x < N and 1 <= k <= y and k <= x { s[y,x,k] = s[y,x,k-1] - 0.01 * f[y,k-1] * f[k-1,x] }
    L[y, x] for 0 <= x < y and y < N { f[y,x] = s[y,x,x] / (abs(f[x,x]) + 1) }
    U[y, x] for 0 <= y <= x and x < N { f[y,x] = s[y,x,y] }
    D[y, x] for 2 <= y < N and 1 <= x < N { d[y,x] = f[y,x] }
  }";

/// Unknowns one after the other, in each of which those before it are put, for as many right sides as there are columns.
pub(super) const SUBSTITUTION: &str = "kernel substitution(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp s[y, k]: f32 for 0 <= k <= y and y < N
    temp v[y]: f32 for 0 <= y < N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    Z[y] for 0 <= y < N { s[y,0] = a[y,0] }
    S[y, k] for 1 <= k <= y and y < N { s[y,k] = s[y,k-1] - 0.1 * a[y,k-1] * v[k-1] }
    V[y] for 0 <= y < N { v[y] = s[y,y] / (a[y,y] + 1) }
    D[y, x] for 2 <= y < N and 1 <= x < N { d[y,x] = v[y] + v[x] }
  }";

/// A table in a band around its diagonal.
pub(super) const BAND: &str = "kernel band(size N) for N >= 8 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp t[y, x]: f32 for 0 <= y, x < N and -3 <= y - x <= 3
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    E[y, x] for 0 <= y, x < N and (y - x = 3 or x - y = 3 or y = 0 and 0 <= x < 3 or x = 0 and 1 <= y < 3) { t[y,x] = a[y,x] }
    T[y, x] for 1 <= y, x < N and -3 < y - x < 3 { t[y,x] = a[y,x] + min(min(t[y-1,x], t[y,x-1]), t[y-1,x-1]) }
    D[y, x] for 2 <= y < N and 1 <= x < N and -3 <= y - x <= 3 { d[y,x] = t[y,x] }
    O[y, x] for 2 <= y < N and 1 <= x < N and (y - x > 3 or x - y > 3) { d[y,x] = 0 }
  }";

/// A table of intervals, of which each needs shorter ones: its rows go upwards.
pub(super) const INTERVALS: &str = "kernel intervals(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp t[y, x]: f32 for 0 <= y < N and y <= x + 1 and x < N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    Z[y, x] for 0 <= y < N and y - 1 <= x <= y { t[y,x] = a[y,0] }
    T[y, x] for 0 <= y < x and x < N { t[y,x] = max(max(t[y+1,x], t[y,x-1]), t[y+1,x-1] + a[y,x]) }
    D[y, x] for 2 <= y < N and 1 <= x < N { d[y,x] = t[0,x] - a[y,x] }
  }";

/// Four pixels for each, and every second row of another image.
pub(super) const FLOORS: &str = "kernel floors(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y < N and 0 <= x < N
    temp b[y, x]: f32 for 0 <= y, x < N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    B[y, x] for 0 <= y, x < N { b[y,x] = 0.5 * a[y,x] + 1 }
    D[y, x] for 2 <= y < N and 1 <= x < N {
      d[y,x] = b[floor(y/2),floor(x/2)] - b[floor((y+1)/2),floor(x/2)] + a[y,floor(x/2)] }
  }";

/// A periodic box.
pub(super) const PERIODIC: &str = "kernel cross(size N; run T) for N >= 5 {
    state u[t, y, x]: f64 for 0 <= y < N and 0 <= x < N outside periodic
    S[t, y, x] for 1 <= t <= T and 0 <= y < N and 0 <= x < N {
      u[t,y,x] = 0.25 * (u[t-1,y-1,x] + u[t-1,y+1,x]) - 0.5 * u[t-1,y,x-1] }
  }";

/// Steps of several stages in periodic boxes: fluxes of two fields, two stages that reach two rows, a box in space.
pub(super) const FLUXES: &str = "kernel fluxes(size N; run T) for N >= 5 {
    state u[t, y, x]: f64 for 0 <= y, x < N outside periodic
    state v[t, y, x]: f64 for 0 <= y, x < N outside periodic
    temp f[t, y, x]: f64 for 1 <= t <= T and 0 <= y, x < N outside periodic
    temp g[t, y, x]: f64 for 1 <= t <= T and 0 <= y, x < N outside periodic
    F[t, y, x] for 1 <= t <= T and 0 <= y, x < N {
      f[t,y,x] = 0.5 * (u[t-1,y,x] - v[t-1,y+1,x]) - 0.25 * v[t-1,y,x]
      g[t,y,x] = 0.5 * (v[t-1,y,x] - u[t-1,y+1,x]) + 0.25 * u[t-1,y,x] }
    U[t, y, x] for 1 <= t <= T and 0 <= y, x < N {
      u[t,y,x] = u[t-1,y,x] - 0.25 * (f[t,y,x] - f[t,y-1,x] + g[t,y,x+1])
      v[t,y,x] = v[t-1,y,x] - 0.25 * (g[t,y,x] - g[t,y-1,x] + f[t,y,x+1]) }
  }";

pub(super) const WIDE: &str = "kernel wide(size N; run T) for N >= 8 {
    state u[t, y, x]: f64 for 0 <= y, x < N outside periodic
    temp a[t, y, x]: f64 for 1 <= t <= T and 0 <= y, x < N outside periodic
    A[t, y, x] for 1 <= t <= T and 0 <= y, x < N {
      a[t,y,x] = u[t-1,y,x] + 0.125 * (u[t-1,y-2,x] - u[t-1,y+2,x]) - 0.25 * (u[t-1,y-1,x] + u[t-1,y,x+1]) }
    U[t, y, x] for 1 <= t <= T and 0 <= y, x < N {
      u[t,y,x] = 0.5 * u[t-1,y,x] + 0.125 * (a[t,y-2,x] - a[t,y+2,x]) - 0.25 * (a[t,y+1,x] + a[t,y,x-1]) }
  }";

pub(super) const BOX: &str = "kernel box(size N; run T) for N >= 5 {
    state u[t, z, y, x]: f64 for 0 <= z, y, x < N outside periodic
    temp a[t, z, y, x]: f64 for 1 <= t <= T and 0 <= z, y, x < N outside periodic
    A[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N {
      a[t,z,y,x] = u[t-1,z,y,x] - 0.25 * (u[t-1,z-1,y,x] + u[t-1,z+1,y,x]) + 0.125 * u[t-1,z,y,x+1] }
    U[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N {
      u[t,z,y,x] = 0.5 * u[t-1,z,y,x] + 0.25 * (a[t,z-1,y,x] - a[t,z+1,y,x]) - 0.125 * a[t,z,y-1,x] }
  }";

/// One array has its sums along a dimension of the other one, which it does not have all dimensions of.
pub(super) const COVARIANCE: &str = "kernel covariance(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y, x < N
    temp m[i, x]: f32 for 0 <= i <= N and 0 <= x < N
    temp s[i, y, x]: f32 for 0 <= i <= N and 0 <= y, x < N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    Z[x] for 0 <= x < N { m[0,x] = 0 }
    M[i, x] for 0 <= i, x < N { m[i+1,x] = m[i,x] + a[i,x] }
    O[y, x] for 0 <= y, x < N { s[0,y,x] = 0 }
    S[i, y, x] for 0 <= i, y, x < N { s[i+1,y,x] = s[i,y,x] + (a[i,y] - m[N,y]) * (a[i,x] - m[N,x]) }
    D[y, x] for 2 <= y < N and 1 <= x < N { d[y,x] = s[N,y,x] }
  }";

/// A sweep in each step, of which there is one, so that nothing has to go along `k`.
pub(super) const ONE_SWEEP: &str = "kernel one_sweep(size N; run T) for N >= 4 {
    state u[t, y, x]: f64 for 0 <= y, x < N
    temp q[t, k, y, x]: f64 for 1 <= t <= T and 0 <= k <= 1 and 0 <= y, x < N
    I[t, y, x] for 1 <= t <= T and 0 <= y, x < N { q[t,0,y,x] = u[t-1,y,x] }
    Q[t, k, y, x] for 1 <= t <= T and k = 1 and 1 <= y, x < N-1 {
      q[t,k,y,x] = 0.25 * (q[t,k-1,y-1,x] + q[t,k-1,y,x+1]) }
    B[t, k, y, x] for 1 <= t <= T and k = 1 and 0 <= y, x < N and (y = 0 or y = N-1 or x = 0 or x = N-1) {
      q[t,k,y,x] = q[t,k-1,y,x] }
    U[t, y, x] for 1 <= t <= T and 0 <= y, x < N { u[t,y,x] = q[t,1,y,x] }
  }";

/// Columns made orthogonal to each other, one after the other (Gram and Schmidt): of each, sums over its rows stand
/// between. Rows of a pass are not written out there.
pub(super) const GRAM: &str = "kernel gram(size N) for N >= 4 {
    input a[y, x]: f32 for 0 <= y, x < N
    temp w[k, y, x]: f32 for 0 <= y < N and 0 <= k <= x < N
    temp n[k, y]: f32 for 0 <= k < N and 0 <= y <= N
    temp q[y, k]: f32 for 0 <= y, k < N
    temp r[k, y, x]: f32 for 0 <= k < x < N and 0 <= y <= N
    output d[y, x]: f32 for 2 <= y < N and 1 <= x < N
    I[y, x] for 0 <= y, x < N { w[0,y,x] = a[y,x] }
    N0[k] for 0 <= k < N { n[k,0] = 1 }
    S[k, y] for 0 <= k, y < N { n[k,y+1] = n[k,y] + w[k,y,k] * w[k,y,k] }
    D[k, y] for 0 <= k, y < N { q[y,k] = w[k,y,k] / sqrt(n[k,N]) }
    Z[k, x] for 0 <= k < x < N { r[k,0,x] = 0 }
    R[k, y, x] for 0 <= k < x < N and 0 <= y < N { r[k,y+1,x] = r[k,y,x] + q[y,k] * w[k,y,x] }
    U[k, y, x] for 0 <= k < x < N and 0 <= y < N { w[k+1,y,x] = w[k,y,x] - q[y,k] * r[k,N,x] }
    O[y, k] for 2 <= y < N and 1 <= k < N { d[y,k] = q[y,k] }
  }";

/// Sound in a cube: pressure is pushed by what it has pushed in the same step. The walls keep theirs.
pub(super) const STAGED_CUBE: &str = "kernel staged_cube(size N; run T) for N >= 3 {
  state v[3][t, z, y, x]: f64 for 0 <= z, y, x < N outside value 0
  state u[t, z, y, x]: f64 for 0 <= z, y, x < N outside value 0
  V[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N {
    v[0][t,z,y,x] = v[0][t-1,z,y,x] - 0.25 * (u[t-1,z+1,y,x] - u[t-1,z,y,x])
    v[1][t,z,y,x] = v[1][t-1,z,y,x] - 0.25 * (u[t-1,z,y+1,x] - u[t-1,z,y,x])
    v[2][t,z,y,x] = v[2][t-1,z,y,x] - 0.25 * (u[t-1,z,y,x+1] - u[t-1,z,y,x]) }
  P[t, z, y, x] for 1 <= t <= T and 1 <= z, y, x < N - 1 {
    u[t,z,y,x] = u[t-1,z,y,x] - 0.5 * (v[0][t,z,y,x] - v[0][t,z-1,y,x])
               - 0.5 * (v[1][t,z,y,x] - v[1][t,z,y-1,x] + v[2][t,z,y,x] - v[2][t,z,y,x-1]) }
  W[t, z, y, x] for 1 <= t <= T and 0 <= z, y, x < N
    and (z = 0 or z = N - 1 or y = 0 or y = N - 1 or x = 0 or x = N - 1) { u[t,z,y,x] = u[t-1,z,y,x] } }";
