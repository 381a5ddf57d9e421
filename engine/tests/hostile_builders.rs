//! Kernels that random calls of the builder make: each is refused with a message, or prints, reads back and is planned
//! or refused. No call panics, and nothing is nested so deeply that walking or dropping it overflows a stack.
//!
//! `CREASE_HOSTILE_BUILDERS` sets the number of kernels, `CREASE_RANDOM_SEED` the first seed.

use crease::Error;
use crease::kernel::builder::{ArrayRef, Domain, Index, KernelBuilder, StmtRef, Time, Value};
use crease::kernel::graph::{Element, Function, Kernel, Role};
use fastrand::Rng;

use crate::is_thorough;

/// Kernels in one run of the tests.
const DEFAULT_KERNELS: u64 = 400;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

/// Numbers at the borders of what is sensible, and small ones.
fn integer(random: &mut Rng) -> i64 {
    const BORDERS: [i64; 8] = [i64::MIN, i64::MAX, i64::MIN + 1, 1 << 62, -(1 << 62), 1 << 32, 65_536, 0];
    if random.u8(0..8) == 0 { *random.choice(&BORDERS).expect("there are some") } else { random.i64(-3..10) }
}

fn name(random: &mut Rng) -> String {
    const NAMES: [&str; 16] =
        ["a", "b", "t", "x", "N", "T", "S", "f", "", "for", "_x", "é", "opaque", "f16", "rat", "a b"];
    let sane = &NAMES[..8];
    let names = if random.u8(0..12) == 0 { &NAMES[..] } else { sane };
    let name = *random.choice(names).expect("there are some");
    if random.bool() { format!("{name}{}", random.u8(0..4)) } else { name.to_string() }
}

/// What calls have made so far, of this kernel and of another one.
struct Made<'k> {
    b: &'k KernelBuilder,
    params: Vec<Index<'k>>,
    iters: [Index<'k>; 3],
    arrays: Vec<ArrayRef<'k>>,
    stmts: Vec<StmtRef<'k>>,
    foreign: (Index<'k>, ArrayRef<'k>, StmtRef<'k>),
}

fn index<'k>(random: &mut Rng, made: &Made<'k>) -> Index<'k> {
    let mut e = match random.u8(0..5) {
        0 => Index::from(integer(random)),
        1 if !made.params.is_empty() => made.params[random.usize(0..made.params.len())],
        2 => made.iters[random.usize(0..3)],
        _ if random.u8(0..40) == 0 => made.foreign.0,
        _ => made.iters[random.usize(0..2)],
    };
    for _ in 0..[0, 0, 1, 2, 3, 200][random.usize(0..6)] {
        e = match random.u8(0..6) {
            0 => e + integer(random),
            1 => e * integer(random),
            2 => e.floor_div(integer(random)),
            3 => e.modulo(integer(random)),
            4 => -e,
            _ => e - made.iters[random.usize(0..2)],
        };
    }
    e
}

fn domain<'k>(random: &mut Rng, made: &Made<'k>) -> Domain<'k> {
    let [x, y, _] = made.iters;
    let mut set = match random.u8(0..3) {
        0 => index(random, made).le(index(random, made)),
        _ => x.within(random.i64(0..2), random.i64(2..8)),
    };
    for _ in 0..[0, 0, 0, 1, 2, 5, 3000][random.usize(0..7)] {
        set = match random.u8(0..6) {
            0 => !set,
            1 => set | y.equals(integer(random)),
            2 => x.differs(integer(random)) & set,
            _ => set & y.within(0, 4),
        };
    }
    set
}

fn value<'k>(random: &mut Rng, made: &Made<'k>) -> Value<'k> {
    let b = made.b;
    let mut v = b.number([1.0, -0.0, f64::INFINITY, 1e300][random.usize(0..4)]);
    for _ in 0..[1, 2, 4, 8, 5000][random.usize(0..5)] {
        v = match random.u8(0..12) {
            0 if !made.arrays.is_empty() => {
                let n = random.usize(0..3);
                let cell: Vec<Index> = (0..n).map(|_| index(random, made)).collect();
                made.arrays[random.usize(0..made.arrays.len())].at(cell) + v
            }
            1 => b.index(index(random, made)) * v,
            2 => v.sqrt(),
            3 => -v,
            4 => v.min(v + 1.0),
            5 => v.lt(2.0).select(v, 0.5),
            6 => b.call(name(random), [v, v]),
            7 => v.fma(v, 2.0),
            8 if random.u8(0..20) == 0 => !v.lt(1.0),
            9 if random.u8(0..200) == 0 => v + made.foreign.1.at([0]),
            10 => {
                let function = Function::ALL[random.usize(0..Function::ALL.len())];
                // Mostly as many as it takes.
                let others = if random.u8(0..20) == 0 { random.usize(0..4) } else { function.arity() - 1 };
                v.call(function, vec![v; others]).floor() % 3.0
            }
            _ => v + 0.25,
        };
    }
    v
}

/// A kernel, or what the builder says of it.
fn kernel(random: &mut Rng) -> Result<Kernel, crease::kernel::KernelError> {
    // Most calls fit each other in half of the kernels: names are new, and everything has one index.
    let fits = random.bool();
    let mut count = 0;
    let mut name = |random: &mut Rng| {
        count += 1;
        if fits { format!("n{count}") } else { name(random) }
    };
    let (b, other) = (Kernel::builder(name(random)), Kernel::builder("other"));
    let foreign = (other.size("N"), other.output("a", [], Element::F64, Domain::everything()));
    let foreign = (foreign.0, foreign.1, other.stmt("S", [], Domain::everything()));
    let iters = b.iters([(); 3].map(|()| name(random)));
    let mut made = Made { b: &b, params: Vec::new(), iters, arrays: Vec::new(), stmts: Vec::new(), foreign };
    for _ in 0..random.usize(0..3) {
        made.params.push(if !fits && random.u8(0..4) == 0 { b.run(name(random)) } else { b.size(name(random)) });
    }
    if random.bool() {
        b.opaque(name(random), random.usize(0..3));
    }
    for _ in 0..random.usize(1..4) {
        array(random, &mut made, fits, &mut name);
    }
    for _ in 0..random.usize(usize::from(fits)..3) {
        stmt(random, &mut made, fits, &mut name);
    }
    let schedule = b.schedule(name(random));
    for &stmt in &made.stmts {
        let times: Vec<Time> = (0..2).map(|dim| time(random, &made, fits, dim)).collect();
        schedule.order([stmt], times);
    }
    if !fits && random.u8(0..20) == 0 {
        schedule.order([made.foreign.2], [0]);
    }
    b.build()
}

/// The indices of an array or a statement: mostly iterators, two at most.
fn tuple<'k>(random: &mut Rng, made: &Made<'k>, fits: bool) -> Vec<Index<'k>> {
    match random.u8(0..20) {
        _ if fits => vec![made.iters[0]],
        0 => vec![index(random, made)],
        1 => vec![made.iters[0]; 2],
        _ => made.iters[..random.usize(0..3)].to_vec(),
    }
}

fn array(random: &mut Rng, made: &mut Made<'_>, fits: bool, name: &mut dyn FnMut(&mut Rng) -> String) {
    let role =
        [Role::Output, Role::Temp, Role::Output, Role::Input, Role::State][random.usize(0..if fits { 3 } else { 5 })];
    let element = [Element::F64, Element::F64, Element::U8, Element::F32, Element::F16];
    let element = element[random.usize(0..if fits { 3 } else { 5 })];
    let space = if fits { made.iters[0].within(0, 8) } else { domain(random, made) };
    let array = made.b.array(role, name(random), tuple(random, made, fits), element, space);
    made.arrays.push(array);
    if !fits && random.u8(0..8) == 0 {
        made.arrays[random.usize(0..made.arrays.len())].live_in(domain(random, made));
    }
}

fn stmt(random: &mut Rng, made: &mut Made<'_>, fits: bool, name: &mut dyn FnMut(&mut Rng) -> String) {
    let (b, x) = (made.b, made.iters[0]);
    let domain = if fits { x.within(0, random.i64(6..10)) } else { domain(random, made) };
    let stmt = b.stmt(name(random), tuple(random, made, fits), domain);
    made.stmts.push(stmt);
    if fits {
        made.arrays.iter().for_each(|&array| _ = stmt.store(array, [x], b.index(x * 2) + 1.0));
        return;
    }
    for _ in 0..random.usize(0..3) {
        let n = random.usize(0..3);
        let cell: Vec<Index> = (0..n).map(|_| index(random, made)).collect();
        let of_other = random.u8(0..40) == 0;
        let array = if of_other { made.foreign.1 } else { made.arrays[random.usize(0..made.arrays.len())] };
        stmt.store(array, cell, value(random, made));
    }
}

fn time<'k>(random: &mut Rng, made: &Made<'k>, fits: bool, dim: u32) -> Time<'k> {
    let e = match fits {
        true => made.iters[0] * random.i64(-2..4) + random.i64(-4..4),
        false => index(random, made),
    };
    match random.u8(0..6) {
        0 => e.sequential(),
        1 if !fits => e.parallel(),
        2 if !fits => e.vector(random.u32(..)),
        _ if fits && dim == 1 => e.vector(4),
        _ => e.into(),
    }
}

/// Whether the kernel was planned.
fn check(kernel: &Kernel) -> bool {
    let text = kernel.to_string();
    assert_eq!(Kernel::parse(&text).as_ref(), Ok(kernel), "printing and reading back:\n{text}");
    let mut builder = kernel.plan().operation_quota(100_000).memory_cap_bytes(1 << 22);
    for param in kernel.params().iter().filter(|p| p.kind == crease::kernel::graph::ParamKind::Size) {
        builder = builder.size(&param.name, 5);
    }
    match builder.build() {
        Ok(_) => true,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error without a message");
            assert!(!matches!(error, Error::Kernel(_)), "a verified kernel is refused as one: {error}\n{text}");
            false
        }
    }
}

#[test]
fn random_calls_make_kernels_or_errors() {
    let first = number("CREASE_RANDOM_SEED", 1);
    let (mut made, mut planned) = (0, 0);
    for seed in first..first + number("CREASE_HOSTILE_BUILDERS", DEFAULT_KERNELS) {
        let random = &mut Rng::with_seed(seed);
        match kernel(random) {
            Ok(kernel) => {
                made += 1;
                planned += usize::from(check(&kernel));
            }
            Err(error) => assert!(!error.to_string().is_empty(), "seed {seed}: an error without a message"),
        }
    }
    println!("{made} kernels, {planned} plans");
    assert!(made > 20, "{made} kernels: the calls are too wild");
}

/// Values of a million levels: growing them stops at the limit, and dropping what there is does not overflow.
#[test]
fn endless_nesting_is_refused() {
    let sets: [for<'k> fn(Index<'k>) -> Domain<'k>; 3] = [
        |x| (0..1_000_000).fold(x, |e, _| (e + 1).floor_div(2)).ge(0),
        |x| (0..1_000_000).fold(x.ge(0), |set, _| !set),
        |x| (0..1_000_000).fold(x.ge(0), |set, k| if k % 2 == 0 { set & x.ge(k) } else { set | x.le(k) }),
    ];
    for set in sets {
        let b = Kernel::builder("deep");
        let x = b.iter("x");
        let a = b.output("a", [x], Element::F64, x.within(0, 8));
        b.stmt("S", [x], set(x)).store(a, [x], 1.0);
        assert_eq!(b.build().unwrap_err().to_string(), "nested more than 100 levels deep");
    }
}

/// Coefficients that grow by powers stop at 64 bits, whatever becomes of them.
#[test]
fn huge_powers_are_refused() {
    let grow: [for<'k> fn(Index<'k>) -> Index<'k>; 3] = [
        |x| (0..1_000).fold(x, |e, _| e * 2),
        |x| x - (0..1_000).fold(x, |e, _| e + e),
        |x| (0..1_000).fold(x, |e, _| -(e * 3)).modulo(7),
    ];
    for grow in grow {
        let b = Kernel::builder("huge");
        let x = b.iter("x");
        let a = b.output("a", [x], Element::F64, x.within(0, 8));
        b.stmt("S", [x], x.within(0, 8)).store(a, [grow(x)], 1.0);
        assert_eq!(b.build().unwrap_err().to_string(), "a coefficient of an index of array `a` overflows 64 bits");
    }
}

/// What is just within the limit is printed and read back.
#[test]
fn the_deepest_values_have_texts() {
    type Cell = for<'k> fn(Index<'k>, i64) -> Index<'k>;
    type Set = for<'k> fn(Index<'k>, i64) -> Domain<'k>;
    let build = |depth: i64, set: Set, cell: Cell| {
        let b = Kernel::builder("deep");
        let x = b.iter("x");
        let a = b.output("a", [x], Element::F64, Domain::everything());
        // As deep as expressions are printed in one piece, with the cell inside.
        let inner = a.at([cell(x, depth)]);
        b.stmt("S", [x], set(x, depth)).store(a, [x], (0..15).fold(inner, |v, _| -(1.0 - v)));
        b.build()
    };
    let floors: Cell = |x, depth| (0..depth).fold(x, |e, _| (e + 1).floor_div(2));
    let rests: Cell = |x, depth| (0..depth).fold(x, |e, k| (e * 3 + 1).modulo(k + 7));
    let negated: Set = |x, depth| (0..depth).fold(x.ge(0), |set, _| !set);
    let mixed: Set =
        |x, depth| (0..depth).fold(x.ge(0), |set, k| if k % 2 == 0 { set & x.ge(k) } else { set | x.le(k) });
    let (mut deepest, mut refused) = (0, 0);
    for depth in (1..120).step_by(if is_thorough() { 1 } else { 4 }) {
        for kernel in [
            build(depth, negated, |x, _| x),
            build(depth, mixed, |x, _| x),
            build(depth, |x, depth| (0..depth).fold(x, |e, _| (e + 1).floor_div(2)).ge(0), |x, _| x),
            build(depth, |x, depth| (0..depth).fold(x, |e, k| (e * 3 + 1).modulo(k + 7)).ge(0), |x, _| x),
            build(depth, |x, _| x.ge(0), floors),
            build(depth, |x, _| x.ge(0), rests),
        ] {
            match kernel {
                Ok(kernel) => {
                    deepest = depth;
                    assert_eq!(Kernel::parse(&kernel.to_string()), Ok(kernel));
                }
                Err(error) => {
                    refused += 1;
                    let message = error.to_string();
                    assert!(message.contains("levels deep") || message.contains("overflows"), "{message}");
                }
            }
        }
    }
    assert!(deepest >= 40 && refused > 0, "{deepest} levels, {refused} refused");
}

/// A chain of conditions is flat, however long: it takes no time that grows with its square.
#[test]
fn long_conjunctions_are_flat() {
    let b = Kernel::builder("long");
    let x = b.iter("x");
    let set = (0..50_000).fold(x.within(0, 8), |set, k| set & x.le(k + 8));
    let a = b.output("a", [x], Element::F64, x.within(0, 8));
    b.stmt("S", [x], set).store(a, [x], 1.0);
    assert!(b.build().is_ok());
}
