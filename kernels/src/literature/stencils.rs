//! Kernels of Table I of the SMO paper: pipelines, one tile of an image or of a stencil on a line, lattice nodes.

use super::text::{Guarded, GuardedRead, opaque};

/// Each value is made of its predecessors along both dimensions; the last row and column are needed afterwards.
pub(super) fn produce_consume() -> String {
    let read = |cell: &str, condition: &str| GuardedRead { cell: cell.into(), condition: condition.into() };
    let reads = vec![read("A[t-1, i]", "t >= 1"), read("A[t, i-1]", "i >= 1")];
    let stmt = Guarded { name: "S", iters: "t, i", domain: "0 <= t, i < N", target: "A[t, i]", reads };
    let (text, names) = stmt.split();
    let names = names.join(", ");
    format!(
        "kernel produce_consume(size N) for N >= 3 {{
  {}
  temp A[t, i]: f64 for 0 <= t, i < N live out for t = N-1 or i = N-1
{text}  schedule order {{ {names} -> [t, i] }}
}}
",
        opaque(2)
    )
}

/// Two stages of a blur, point by point: rows `y - 2 ..= y` of the first are read.
pub(super) fn blur_interleaved() -> String {
    "\
kernel blur_interleaved(size N) for N >= 4 {
  opaque f(2), f(3)
  temp blurx[y, x]: f64 for 0 <= y, x < N
  output out[y, x]: f64 for 2 <= y < N and 0 <= x < N
  S[y, x] for 0 <= y, x < N { blurx[y, x] = f(y, x) }
  T[y, x] for 2 <= y < N and 0 <= x < N { out[y, x] = f(blurx[y-2, x], blurx[y-1, x], blurx[y, x]) }
  schedule order { S -> [y, x, 0]; T -> [y, x, 1] }
}
"
    .into()
}

/// Two stages inside a tile of side B, row by row: the second reads a window of `width` values, and the tile to the
/// right needs the last of them.
pub(super) fn window(name: &str, array: &str, width: i64) -> String {
    let reach = width - 1;
    let mut text = format!(
        "kernel {name}(size B) for B >= {} {{
  {}
  temp {array}[x, y]: f64 for 0 <= x, y < B live out for y >= B - {reach}
  output out[x, y]: f64 for 0 <= x, y < B
  P[x, y] for 0 <= x, y < B {{ {array}[x, y] = f(x, y) }}
",
        2 * width - 1,
        opaque(width as usize)
    );
    let mut names = Vec::new();
    for known in (0..=reach).rev() {
        let cells: Vec<String> = (0..=known).map(|k| format!("{array}[x, y-{k}]")).collect();
        let rows = if known == reach { format!("{reach} <= y < B") } else { format!("y = {known}") };
        text.push_str(&format!(
            "  Q{known}[x, y] for 0 <= x < B and {rows} {{ out[x, y] = f({}) }}\n",
            cells.join(", ")
        ));
        names.push(format!("Q{known}"));
    }
    text.push_str(&format!("  schedule order {{ P -> [x, 0, y]; {} -> [x, 1, y] }}\n}}\n", names.join(", ")));
    text
}

/// One tile of a three-point stencil on a line. `inside` says which instances `(t, i)` belong to it; values that other
/// tiles read live on.
pub(super) fn tile(name: &str, inside: fn(&str, &str) -> String) -> String {
    let own = inside("t", "i");
    let neighbour = |sign: &str, k: i64| inside(&format!("(t {sign} 1)"), &format!("(i + {k})"));
    let reads = (-1..=1)
        .map(|k| GuardedRead { cell: format!("A[t-1, i+{k}]").replace("+-", "-"), condition: neighbour("-", k) });
    let stmt = Guarded { name: "S", iters: "t, i", domain: &own, target: "A[t, i]", reads: reads.collect() };
    let (text, names) = stmt.split();
    let readers = (-1..=1).map(|k| format!("({})", neighbour("+", k))).collect::<Vec<_>>().join(" and ");
    let names = names.join(", ");
    format!(
        "kernel {name}(size B) for B >= 4 {{
  {}
  temp A[t, i]: f64 for {own} live out for not ({readers})
{text}  schedule order {{ {names} -> [t, i] }}
}}
",
        opaque(3)
    )
}

/// A diamond of side B.
pub(super) fn diamond(t: &str, i: &str) -> String {
    format!("{t} - {i} <= B-1 and {t} + {i} >= B-1 and {i} - {t} <= B-1 and {t} + {i} <= 3B-3")
}

/// A parallelogram of side B.
pub(super) fn parallelogram(t: &str, i: &str) -> String {
    format!("0 <= {t} and {t} <= B-1 and 0 <= {t} + {i} and {t} + {i} <= B-1")
}

/// A hexagon of height 2B - 1.
pub(super) fn hexagon(t: &str, i: &str) -> String {
    let sides = format!("{i} - {t} >= 1-B and {t} + {i} >= B-1 and {i} - {t} <= 2B-2 and {t} + {i} <= 4B-4");
    format!("{sides} and 0 <= {t} and {t} <= 2B-2")
}

/// N steps of a lattice whose nodes are kept whole: each reads its neighbours, those of `links`, of the step before.
pub(super) fn nodes(name: &str, dims: &[&str], links: fn(&[i64]) -> bool) -> String {
    let index = dims.join(", ");
    let mut text = format!(
        "kernel {name}(size N) for N >= 3 {{
  {}
  temp A[t, {index}]: f64 for 0 <= t, {index} < N live out for t = N-1
  I[t, {index}] for t = 0 and 0 <= {index} < N {{ A[t, {index}] = f({index}) }}
",
        opaque(combinations(dims.len()).len())
    );
    let mut names = vec!["I".to_owned()];
    for region in combinations(dims.len()) {
        let suffix: String = region.iter().map(|place| ["l", "m", "h"][(place + 1) as usize]).collect();
        let place = |(k, dim): (usize, &&str)| match region[k] {
            -1 => format!("{dim} = 0"),
            0 => format!("1 <= {dim} <= N-2"),
            _ => format!("{dim} = N-1"),
        };
        let domain: Vec<String> = dims.iter().enumerate().map(place).collect();
        // At a low or high end there is no neighbour beyond.
        let exists =
            |link: &Vec<i64>| links(link) && link.iter().zip(&region).all(|(l, place)| *place == 0 || l != place);
        let cell = |link: Vec<i64>| {
            let moved = dims.iter().zip(link).map(|(dim, l)| match l {
                0 => (*dim).to_owned(),
                l => format!("{dim}{l:+}"),
            });
            format!("A[t-1, {}]", moved.collect::<Vec<_>>().join(", "))
        };
        let cells: Vec<String> = combinations(dims.len()).into_iter().filter(exists).map(cell).collect();
        let (domain, cells) = (domain.join(" and "), cells.join(", "));
        text.push_str(&format!(
            "  S{suffix}[t, {index}] for 1 <= t < N and {domain} {{ A[t, {index}] = f({cells}) }}\n"
        ));
        names.push(format!("S{suffix}"));
    }
    text.push_str(&format!("  schedule order {{ {} -> [t, {index}] }}\n}}\n", names.join(", ")));
    text
}

/// Every vector of -1, 0 and 1.
fn combinations(n: usize) -> Vec<Vec<i64>> {
    (0..n).fold(vec![Vec::new()], |all, _| {
        all.into_iter().flat_map(|v| (-1..=1).map(move |k| v.iter().copied().chain([k]).collect())).collect()
    })
}
