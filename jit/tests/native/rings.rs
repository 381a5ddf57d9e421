//! Rings: strips that are cut where one wraps, in any stride, and a stencil in place in one.

use super::harness::agree;

/// Three rings that wrap at different places, against each other, and more than once.
#[test]
fn strips_are_cut_where_any_ring_wraps() {
    for length in [0, 1, 2, 5, 7, 13, 40] {
        // A strip that is longer than the ring comes back to its cells.
        let fact = if length <= 7 { "alias %4, %6: same_lane" } else { "" };
        let text = format!(
            "program rings(start) {{
               buffer a: f64[16] read
               buffer b: f64[11] read
               buffer c: f64[64] write
               buffer d: f64[7] write
               let v9 = mod($start, 7)
               strip v0 in $start .. $start + {length} lanes 8 {{
                 m0 = a[base 3, pos 5, ring 13, stride 1]
                 m1 = b[pos 10, ring 11, stride -1]
                 m2 = c[base 2, pos 50, ring 61, stride 1]
                 m3 = d[pos v9, ring 7, stride 1]
                 m4 = d[pos v9, ring 7, stride 1]
                 %0 = load m0: f64
                 %1 = load m1: f64
                 %2 = fma %0, %1, %0
                 %3: store m2, %2
                 %4 = load m3: f64
                 %5 = add %4, %2
                 %6: store m4, %5
                 {fact}
               }}
             }}"
        );
        for start in [0, 1, 4, 6] {
            // The ring `d` is shorter than some strips: more than 7 cells in lock-step would meet themselves.
            agree(&text, &[start], &[], &[1, 2, 4]);
        }
    }
}

#[test]
fn long_strides_wrap_too() {
    for stride in [-11, -4, -3, -2, 2, 3, 5, 10, 11] {
        let text = format!(
            "program strides(start) {{
               buffer a: f64[12] read
               buffer b: f32[40] read
               buffer c: f64[30] write
               strip v0 in 0 .. 30 lanes 8 {{
                 m0 = a[base 1, pos $start, ring 11, stride {stride}]
                 m1 = b[pos 39, stride -1]
                 m2 = c[pos 0, stride 1]
                 %0 = load m0: f64
                 %1 = load m1: f32
                 %2 = convert %1: f64
                 %3 = sub %0, %2
                 %4: store m2, %3
               }}
             }}"
        );
        for start in [0, 3, 10] {
            agree(&text, &[start], &[], &[1, 8]);
        }
    }
}

/// In place: a stencil whose reads are ahead of its writes in one ring, for many steps.
#[test]
fn heat_in_one_ring_agrees_for_many_steps() {
    let text = "program heat(T) {
      scalar k: f64
      buffer u: f64[33] write
      for v0 in 1 .. $T + 1 {
        let v1 = mulmod(32, v0, 33)
        let v2 = wrap(v1 + 1, 33)
        strip v3 in 1 .. 31 lanes 8 {
          m0 = u[pos wrap(v2 + 0, 33), ring 33, stride 1]
          m1 = u[pos wrap(v2 + 1, 33), ring 33, stride 1]
          m2 = u[pos wrap(v2 + 2, 33), ring 33, stride 1]
          m3 = u[pos wrap(v1 + 1, 33), ring 33, stride 1]
          %0 = load m0: f64
          %1 = load m1: f64
          %2 = load m2: f64
          %3 = scalar k
          %4 = f64 -2.0
          %5 = fma %4, %1, %0
          %6 = add %5, %2
          %7 = fma %3, %6, %1
          %8: store m3, %7
          alias %0, %8: same_lane
          alias %1, %8: distance -1
          alias %2, %8: distance -2
        }
      }
    }";
    agree(text, &[100], &[0.25], &[1, 2, 4, 8]);
}
