//! Kernels that random calls of the builder make: each is refused with a message, or prints, reads back and is planned or
//! refused. No call panics, and nothing is nested so deeply that walking or dropping it overflows a stack.
//!
//! `CREASE_HOSTILE_BUILDERS` sets the number of kernels, `CREASE_RANDOM_SEED` the first seed.

use crease::Error;
use crease::kernel::affine::Affine;
use crease::kernel::builder::{Domain, Index, StmtBuilder, Value};
use crease::kernel::graph::{ArrayId, DimKind, Element, Kernel, Role, StmtId};
use fastrand::Rng;

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

fn index(random: &mut Rng, params: &[Index]) -> Index {
    let mut e = match random.u8(0..5) {
        0 => Index::from(integer(random)),
        1 if !params.is_empty() => params[random.usize(0..params.len())].clone(),
        2 => Index::from(Affine::iter(random.usize(0..3))),
        _ => Index::iter(if random.u8(0..20) == 0 { usize::MAX } else { random.usize(0..2) }),
    };
    for _ in 0..[0, 0, 1, 2, 3, 200][random.usize(0..6)] {
        e = match random.u8(0..6) {
            0 => e + integer(random),
            1 => e * integer(random),
            2 => e.floor_div(integer(random)),
            3 => e.modulo(integer(random)),
            4 => -e,
            _ => e - Index::iter(random.usize(0..2)),
        };
    }
    e
}

fn domain(random: &mut Rng, params: &[Index]) -> Domain {
    let plain = |random: &mut Rng| Index::iter(0).within(random.i64(0..2), random.i64(2..8));
    let mut set = if random.u8(0..3) > 0 { plain(random) } else { index(random, params).le(index(random, params)) };
    for _ in 0..[0, 0, 0, 1, 2, 5, 3000][random.usize(0..7)] {
        set = match random.u8(0..6) {
            0 => !set,
            1 => set | Index::iter(1).equals(integer(random)),
            2 => Index::iter(0).differs(integer(random)) & set,
            _ => set & Index::iter(1).within(0, 4),
        };
    }
    set
}

fn value<'s>(random: &mut Rng, s: &'s StmtBuilder, arrays: &[ArrayId], params: &[Index]) -> Value<'s> {
    let mut v = s.constant([1.0, -0.0, f64::INFINITY, 1e300][random.usize(0..4)]);
    for _ in 0..[1, 2, 4, 8, 5000][random.usize(0..5)] {
        v = match random.u8(0..12) {
            0 if !arrays.is_empty() => {
                let n = random.usize(0..3);
                let cell: Vec<Index> = (0..n).map(|_| index(random, params)).collect();
                s.load(arrays[random.usize(0..arrays.len())], cell) + v
            }
            1 => s.index(index(random, params)) * v,
            2 => v.sqrt(),
            3 => -v,
            4 => v.min(v + 1.0),
            5 => v.lt(2.0).select(v, 0.5),
            6 => s.call(name(random), [v, v]),
            7 => v.fma(v, 2.0),
            8 if random.u8(0..20) == 0 => !v.lt(1.0),
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
    let mut b = Kernel::builder(name(random));
    let mut params = Vec::new();
    for _ in 0..random.usize(0..3) {
        params.push(if !fits && random.u8(0..4) == 0 { b.run(name(random)) } else { b.size(name(random)) });
    }
    if random.bool() {
        b.opaque(name(random), random.usize(0..3));
    }
    let mut arrays = Vec::new();
    for _ in 0..random.usize(1..4) {
        let role = [Role::Output, Role::Temp, Role::Output, Role::Input, Role::State]
            [random.usize(0..if fits { 3 } else { 5 })];
        let names: Vec<String> = (0..if fits { 1 } else { random.usize(0..3) }).map(|_| name(random)).collect();
        let element = [Element::F64, Element::F64, Element::U8, Element::F32, Element::F16];
        let element = element[random.usize(0..if fits { 3 } else { 5 })];
        let space = if fits { Index::iter(0).within(0, 8) } else { domain(random, &params) };
        arrays.push(b.array(role, name(random), names, element, space));
        if !fits && random.u8(0..8) == 0 {
            b.live_in(arrays[random.usize(0..arrays.len())], domain(random, &params));
        }
    }
    let mut stmts: Vec<StmtId> = Vec::new();
    for _ in 0..random.usize(usize::from(fits)..3) {
        let iters: Vec<String> = (0..if fits { 1 } else { random.usize(0..3) }).map(|_| name(random)).collect();
        let domain = if fits { Index::iter(0).within(0, random.i64(6..10)) } else { domain(random, &params) };
        stmts.push(b.stmt(name(random), iters, domain, |s| {
            if fits {
                let x = || [Index::iter(0)];
                for &array in &arrays {
                    s.store(array, x(), s.index(&Index::iter(0) * 2) + 1.0);
                }
                return;
            }
            for _ in 0..random.usize(0..3) {
                let n = random.usize(0..3);
                let cell: Vec<Index> = (0..n).map(|_| index(random, &params)).collect();
                let value = value(random, s, &arrays, &params);
                s.store(arrays[random.usize(0..arrays.len())], cell, value);
            }
        }));
    }
    let kind = |random: &mut Rng| [DimKind::Sequential, DimKind::Parallel, DimKind::Vector(random.u32(..))];
    let dims: Vec<DimKind> = (0..random.usize(0..3)).map(|_| kind(random)[random.usize(0..3)]).collect();
    let time = |random: &mut Rng| match fits {
        true => Index::iter(0) * random.i64(-2..4) + random.i64(-4..4),
        false => index(random, &params),
    };
    let times = stmts.iter().map(|&s| (s, (0..2).map(|_| time(random)).collect::<Vec<_>>()));
    let times: Vec<_> = times.collect();
    b.schedule(name(random), dims, times);
    b.build()
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
    let x = || Index::iter(0);
    let floors = (0..1_000_000).fold(x(), |e, _| (e + 1).floor_div(2));
    let negated = (0..1_000_000).fold(x().ge(0), |set, _| !set);
    let mixed = (0..1_000_000).fold(x().ge(0), |set, k| if k % 2 == 0 { set & x().ge(k) } else { set | x().le(k) });
    for set in [floors.ge(0), negated, mixed] {
        let mut b = Kernel::builder("deep");
        let a = b.output("a", ["x"], Element::F64, x().within(0, 8));
        b.stmt("S", ["x"], set, |s| s.store(a, [x()], 1.0));
        assert_eq!(b.build().unwrap_err().to_string(), "nested more than 100 levels deep");
    }
}

/// What is just within the limit is printed and read back.
#[test]
fn the_deepest_values_have_texts() {
    let x = || Index::iter(0);
    let build = |set: Domain, cell: Index| {
        let mut b = Kernel::builder("deep");
        let a = b.output("a", ["x"], Element::F64, Domain::everything());
        b.stmt("S", ["x"], set, |s| {
            // As deep as expressions are printed in one piece, with the cell inside.
            let inner = s.load(a, [cell.clone()]);
            s.store(a, [x()], (0..15).fold(inner, |v, _| -(1.0 - v)));
        });
        b.build()
    };
    let (mut deepest, mut refused) = (0, 0);
    for depth in 1..120 {
        let negated = (0..depth).fold(x().ge(0), |set, _| !set);
        let mixed = (0..depth).fold(x().ge(0), |set, k| if k % 2 == 0 { set & x().ge(k) } else { set | x().le(k) });
        let floors = (0..depth).fold(x(), |e, _| (e + 1).floor_div(2));
        let rests = (0..depth).fold(x(), |e, k| (e * 3 + 1).modulo(k + 7));
        for kernel in [
            build(negated, x()),
            build(mixed, x()),
            build(floors.ge(0), x()),
            build(rests.ge(0), x()),
            build(x().ge(0), floors),
            build(x().ge(0), rests),
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
    let x = Index::iter(0);
    let set = (0..50_000).fold(x.within(0, 8), |set, k| set & x.le(k + 8));
    let mut b = Kernel::builder("long");
    let a = b.output("a", ["x"], Element::F64, x.within(0, 8));
    b.stmt("S", ["x"], set, |s| s.store(a, [&x], 1.0));
    assert!(b.build().is_ok());
}
