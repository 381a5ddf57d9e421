//! Streams of one ring that lie side by side but where it ends: wide code for both, and the choice between them.

use super::harness::agree;
use super::load_sharing::lane_shifts;

/// Heat on a line that is written `behind` cells behind what is read, in a ring of `cells`, in strips up to `end`; with
/// alias facts, which short strips have.
fn heat(ty: &str, (cells, behind): (usize, usize), end: &str, facts: bool) -> String {
    let distance = |ahead: i64| match ahead - behind as i64 {
        0 => "same_lane".to_string(),
        distance => format!("distance {distance}"),
    };
    let facts: Vec<String> = (0..3)
        .zip([1, 0, -1])
        .map(|(load, ahead)| format!("alias %{load}, %8: {}", distance(ahead)))
        .filter(|_| facts)
        .collect();
    format!(
        "program heat(T, more) {{
           scalar k: {ty}
           buffer u: {ty}[{cells}] write
           for v0 in 1 .. $T + 1 {{
             let v1 = mulmod({back}, v0, {cells})
             strip v3 in 1 .. {end} lanes 8 {{
               m0 = u[pos wrap(v1 + {west}, {cells}), ring {cells}, stride 1]
               m1 = u[pos wrap(v1 + {here}, {cells}), ring {cells}, stride 1]
               m2 = u[pos wrap(v1 + {east}, {cells}), ring {cells}, stride 1]
               m3 = u[pos wrap(v1 + 1, {cells}), ring {cells}, stride 1]
               %0 = load m0: {ty}
               %1 = load m1: {ty}
               %2 = load m2: {ty}
               %3 = scalar k
               %4 = {ty} -2.0
               %5 = fma %4, %1, %0
               %6 = add %5, %2
               %7 = fma %3, %6, %1
               %8: store m3, %7
               {facts}
             }}
           }}
         }}",
        facts = facts.join("\n"),
        back = cells - behind,
        west = behind,
        here = behind + 1,
        east = behind + 2,
    )
}

/// Strips wrap at every place, at the ends of vectors and inside, between neighbours and between the store and the
/// loads; short ones and such of all but a few cells of the ring.
#[test]
fn joined_and_cut_segments_agree() {
    for ty in ["f64", "f32"] {
        for (cells, behind) in [(203, 1), (203, 8), (509, 16)] {
            for length in [2, 9, cells / 2, cells - behind - 2] {
                for (end, facts) in [(format!("{}", length + 1), true), (format!("{length} + $more"), false)] {
                    let text = heat(ty, (cells, behind), &end, facts);
                    agree(&text, &[cells as i64 + 3, 1], &[0.25], &[1, 2, 8]);
                }
            }
        }
    }
}

#[test]
fn neighbours_in_a_ring_share_vectors() {
    for (facts, expected) in [(true, 2), (false, 0)] {
        let found = lane_shifts(&heat("f64", (4001, 8), "2000", facts));
        assert!(found.is_none_or(|found| found == expected), "{found:?}: the loads of one function, if read before");
    }
}
