//! Kernels of Table I of the SMO paper: pipelines, one tile of an image or of a stencil on a line, lattice nodes.
//!
//! Values are opaque: these kernels are analysed, and run only in tests.

use crease::Kernel;
use crease::kernel::KernelError;
use crease::kernel::builder::{ArrayRef, Domain, Index, KernelBuilder, StmtRef, Value};
use crease::kernel::graph::Element;

/// Declares the opaque function `f` of up to `most` arguments.
fn declare_opaque(b: &KernelBuilder, most: usize) {
    (1..=most).for_each(|arguments| b.opaque("f", arguments));
}

/// Writes `target` where `domain` says, from those of the `reads` whose condition holds there: one statement per
/// combination, each of which reads the same everywhere, named `S` and a number. Some may have no instance.
fn split<'k>(
    b: &'k KernelBuilder,
    target: ArrayRef<'k>,
    iters: &[Index<'k>],
    domain: &Domain<'k>,
    reads: &[(Value<'k>, Domain<'k>)],
) -> Vec<StmtRef<'k>> {
    let stmt = |choice: usize| {
        let happens = |k: usize| choice >> k & 1 == 1;
        let place = |(k, (_, condition)): (usize, &(Value<'k>, Domain<'k>))| match happens(k) {
            true => condition.clone(),
            false => !condition.clone(),
        };
        let domain = reads.iter().enumerate().map(place).fold(domain.clone(), |all, next| all & next);
        let mut read: Vec<Value> = reads.iter().enumerate().filter(|(k, _)| happens(*k)).map(|(_, r)| r.0).collect();
        if read.is_empty() {
            read.extend(iters.iter().map(|&iter| b.index(iter)));
        }
        let stmt = b.stmt(format!("S{choice}"), iters.iter().copied(), domain);
        stmt.store(target, iters.iter().copied(), b.call("f", read))
    };
    (0..1_usize << reads.len()).rev().map(stmt).collect()
}

/// Each value is made of its predecessors along both dimensions; the last row and column are needed afterwards.
pub(super) fn produce_consume() -> Result<Kernel, KernelError> {
    let b = Kernel::builder("produce_consume");
    let n = b.size("N");
    b.context(n.ge(3));
    declare_opaque(&b, 2);
    let [t, i] = b.iters(["t", "i"]);
    let space = Domain::within([t, i], 0, n);
    let a = b.temp("A", [t, i], Element::F64, space.clone()).live_out(t.equals(n - 1) | i.equals(n - 1));
    let reads = [(a.at([t - 1, i]), t.ge(1)), (a.at([t, i - 1]), i.ge(1))];
    let stmts = split(&b, a, &[t, i], &space, &reads);
    b.schedule("order").order(stmts, (t, i));
    b.build()
}

/// Two stages of a blur, point by point: rows `y - 2 ..= y` of the first are read.
pub(super) fn blur_interleaved() -> Result<Kernel, KernelError> {
    Kernel::parse(
        "\
kernel blur_interleaved(size N) for N >= 4 {
  opaque f(2), f(3)
  temp blurx[y, x]: f64 for 0 <= y, x < N
  output out[y, x]: f64 for 2 <= y < N and 0 <= x < N
  S[y, x] for 0 <= y, x < N { blurx[y, x] = f(y, x) }
  T[y, x] for 2 <= y < N and 0 <= x < N { out[y, x] = f(blurx[y-2, x], blurx[y-1, x], blurx[y, x]) }
  schedule order { S -> [y, x, 0]; T -> [y, x, 1] }
}
",
    )
}

/// Two stages inside a tile of side B, row by row: the second reads a window of `width` values, and the tile to the
/// right needs the last of them.
pub(super) fn window(name: &str, array: &str, width: i64) -> Result<Kernel, KernelError> {
    let reach = width - 1;
    let b = Kernel::builder(name);
    let side = b.size("B");
    b.context(side.ge(2 * width - 1));
    declare_opaque(&b, width as usize);
    let [x, y] = b.iters(["x", "y"]);
    let space = Domain::within([x, y], 0, side);
    let first = b.temp(array, [x, y], Element::F64, space.clone()).live_out(y.ge(side - reach));
    let out = b.output("out", [x, y], Element::F64, space.clone());
    let made = b.stmt("P", [x, y], space).store(first, [x, y], b.call("f", [b.index(x), b.index(y)]));
    let read = |known: i64| {
        let rows = if known == reach { y.within(reach, side) } else { y.equals(known) };
        let cells = (0..=known).map(|k| first.at([x, y - k]));
        b.stmt(format!("Q{known}"), [x, y], x.within(0, side) & rows).store(out, [x, y], b.call("f", cells))
    };
    let read: Vec<StmtRef> = (0..=reach).rev().map(read).collect();
    b.schedule("order").order([made], (x, 0, y)).order(read, (x, 1, y));
    b.build()
}

/// The points `(t, i)` of a tile of side B.
pub(super) type Tile = for<'k> fn(b: Index<'k>, t: Index<'k>, i: Index<'k>) -> Domain<'k>;

/// One tile of a three-point stencil on a line; values that other tiles read live on.
pub(super) fn tile(name: &str, inside: Tile) -> Result<Kernel, KernelError> {
    let b = Kernel::builder(name);
    let side = b.size("B");
    b.context(side.ge(4));
    declare_opaque(&b, 3);
    let [t, i] = b.iters(["t", "i"]);
    let readers = Domain::all((-1..=1).map(|k| inside(side, t + 1, i + k)));
    let a = b.temp("A", [t, i], Element::F64, inside(side, t, i)).live_out(!readers);
    let reads = [-1, 0, 1].map(|k| (a.at([t - 1, i + k]), inside(side, t - 1, i + k)));
    let stmts = split(&b, a, &[t, i], &inside(side, t, i), &reads);
    b.schedule("order").order(stmts, (t, i));
    b.build()
}

/// A diamond of side B.
pub(super) fn diamond<'k>(b: Index<'k>, t: Index<'k>, i: Index<'k>) -> Domain<'k> {
    (t - i).le(b - 1) & (t + i).ge(b - 1) & (i - t).le(b - 1) & (t + i).le(3 * b - 3)
}

/// A parallelogram of side B.
pub(super) fn parallelogram<'k>(b: Index<'k>, t: Index<'k>, i: Index<'k>) -> Domain<'k> {
    t.within(0, b) & (t + i).within(0, b)
}

/// A hexagon of height 2B - 1.
pub(super) fn hexagon<'k>(b: Index<'k>, t: Index<'k>, i: Index<'k>) -> Domain<'k> {
    let sides = (i - t).ge(1 - b) & (t + i).ge(b - 1) & (i - t).le(2 * b - 2) & (t + i).le(4 * b - 4);
    sides & t.between(0, 2 * b - 2)
}

/// N steps of a lattice whose nodes are kept whole: each reads its neighbours, those of `links`, of the step before.
pub(super) fn nodes(name: &str, dims: &[&str], links: fn(&[i64]) -> bool) -> Result<Kernel, KernelError> {
    let b = Kernel::builder(name);
    let n = b.size("N");
    b.context(n.ge(3));
    declare_opaque(&b, combinations(dims.len()).len());
    let t = b.iter("t");
    let site: Vec<Index> = dims.iter().map(|&dim| b.iter(dim)).collect();
    let node = || [t].into_iter().chain(site.iter().copied());
    let a = b.temp("A", node(), Element::F64, Domain::within(node(), 0, n)).live_out(t.equals(n - 1));
    let start = b.call("f", site.iter().map(|&x| b.index(x)));
    let mut stmts = vec![b.stmt("I", node(), t.equals(0) & Domain::within(site.clone(), 0, n)).store(a, node(), start)];
    for region in combinations(dims.len()) {
        let suffix: String = region.iter().map(|place| ["l", "m", "h"][(place + 1) as usize]).collect();
        // At a low or high end there is no neighbour beyond.
        let exists =
            |link: &Vec<i64>| links(link) && link.iter().zip(&region).all(|(l, place)| *place == 0 || l != place);
        let cell = |link: Vec<i64>| a.at([t - 1].into_iter().chain(site.iter().zip(link).map(|(&x, l)| x + l)));
        let cells = combinations(dims.len()).into_iter().filter(exists).map(cell);
        let domain = t.within(1, n) & Domain::all(site.iter().zip(&region).map(|(x, side)| place(*x, n, *side)));
        stmts.push(b.stmt(format!("S{suffix}"), node(), domain).store(a, node(), b.call("f", cells)));
    }
    b.schedule("order").order(stmts, node().collect::<Vec<_>>());
    b.build()
}

/// The low end of an axis, its inside or its high end.
fn place<'k>(x: Index<'k>, extent: Index<'k>, side: i64) -> Domain<'k> {
    match side {
        -1 => x.equals(0),
        0 => x.between(1, extent - 2),
        _ => x.equals(extent - 1),
    }
}

/// Every vector of -1, 0 and 1.
fn combinations(n: usize) -> Vec<Vec<i64>> {
    (0..n).fold(vec![Vec::new()], |all, _| {
        all.into_iter().flat_map(|v| (-1..=1).map(move |k| v.iter().copied().chain([k]).collect())).collect()
    })
}
