//! Parallel loops on one thread and on several, and buffers with a copy for each worker.

use super::harness::agree;

/// A parallel loop inside a sequential one, with captured variables, a step, and a parallel loop inside.
#[test]
fn parallel_loops_agree_for_any_thread_count() {
    let text = "program rows(T, rows) {
      scalar w: f64
      buffer a: f64[1280] write
      buffer b: f64[1280] write
      let v8 = 64
      for v0 in 0 .. $T {
        let v1 = mod(v0, 3)
        parallel for v2 in v1 .. $rows step 2 {
          let v3 = v8 * v2
          parallel for v4 in 0 .. 2 {
            strip v5 in 0 .. 30 lanes 8 {
              m0 = a[base v3, pos 32 * v4, stride 1]
              m1 = b[base v3 + v1, pos 32 * v4, stride 1]
              m2 = a[base v3, pos 32 * v4, stride 1]
              %0 = load m0: f64
              %1 = scalar w
              %2 = load m1: f64
              %3 = index v4 + 0 step 1: f64
              %4 = fma %1, %0, %2
              %5 = add %4, %3
              %6: store m2, %5
              alias %0, %6: same_lane
            }
          }
        }
        parallel for v6 in 0 .. $rows {
          strip v7 in 0 .. 62 lanes 8 {
            m0 = a[pos 64 * v6, stride 1]
            m1 = b[pos 64 * v6, stride 1]
            %0 = load m0: f64
            %1 = abs %0
            %2: store m1, %1
          }
        }
      }
    }";
    for rows in [0, 1, 2, 7, 19] {
        agree(text, &[5, rows], &[0.5], &[1, 8]);
    }
}

/// Tiles of six rows work in the copy of whoever runs them; a loop inside a tile is sequential and sees the same copy;
/// code between the loops uses the first one.
#[test]
fn copies_per_worker_agree_for_any_thread_count() {
    let text = "program tiles(T, tiles) {
      scalar w: f64
      buffer a: f64[1200] write
      buffer tile: f64[96] write per_worker 130
      buffer mask: u8[16] write per_worker 64
      for v0 in 0 .. $T {
        strip v9 in 0 .. 16 lanes 8 {
          m0 = tile[pos 0, stride 1]
          m1 = a[pos 0, stride 1]
          %0 = index 0 step 2: f64
          %1: store m0, %0
          %2 = load m0: f64
          %3: store m1, %2
        }
        parallel for v1 in 0 .. $tiles {
          for v2 in 0 .. 6 {
            strip v3 in 0 .. 16 lanes 8 {
              m0 = a[base 96 * v1, pos 16 * v2, stride 1]
              m1 = tile[pos 16 * v2, stride 1]
              m2 = mask[pos 0, stride 1]
              %0 = load m0: f64
              %1: store m1, %0
              %2 = index v1 + 0 step 1: f64
              %3: store m2, %2
            }
          }
          parallel for v4 in 0 .. 6 {
            strip v5 in 0 .. 15 lanes 8 {
              m0 = tile[pos 16 * v4, stride 1]
              m1 = tile[pos 16 * v4 + 1, stride 1]
              m2 = a[base 96 * v1, pos 16 * v4, stride 1]
              m3 = mask[pos 1, stride 1]
              %0 = scalar w
              %1 = load m0: f64
              %2 = load m1: f64
              %3 = load m3: f64
              %4 = fma %0, %1, %2
              %5 = add %4, %3
              %6: store m2, %5
            }
          }
        }
      }
    }";
    for tiles in [0, 1, 2, 7, 12] {
        agree(text, &[3, tiles], &[0.25], &[1, 8]);
    }
}

/// Rows of two levels, of which each needs its neighbours of the front before, and definitions beside the fronts; a
/// loop of fronts inside a parallel loop is sequential.
#[test]
fn fronts_agree_for_any_thread_count() {
    let text = "program rows(T, rows) {
      scalar w: f64
      buffer a: f64[2560] write
      for v9 in 0 .. 2 {
        fronts(4, 1, 1) for v0 in 0 .. $T {
          let v1 = mod(v0, 2)
          let v7 = 1280 * v1
          parallel for v2 in 1 .. min($rows, 19) - mod(v0, 3) {
            strip v5 in 0 .. 60 lanes 8 {
              m0 = a[base 1280 - v7, pos 64 * v2 - 64, stride 1]
              m1 = a[base 1280 - v7, pos 64 * v2 + 65, stride 1]
              m2 = a[base v7, pos 64 * v2, stride 1]
              %0 = load m0: f64
              %1 = load m1: f64
              %2 = scalar w
              %3 = index v9 + 1 step 1: f64
              %4 = fma %0, %2, %1
              %5 = add %4, %3
              %6: store m2, %5
              alias %0, %6: disjoint
              alias %1, %6: disjoint
            }
          }
        }
      }
    }";
    for (steps, rows) in [(0, 5), (1, 2), (9, 2), (9, 3), (40, 7), (40, 19)] {
        agree(text, &[steps, rows], &[0.25], &[1, 8]);
    }
    let inside = text.replace("for v9 in 0 .. 2 {", "parallel for v9 in 0 .. 1 {");
    agree(&inside, &[9, 7], &[0.25], &[1, 8]);
}
