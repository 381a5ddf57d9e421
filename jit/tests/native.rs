//! Compiled code against the interpreter, bit for bit: every shape, block size, unroll and thread count.
//!
//! `native/harness.rs` runs a program both ways in fields between guard pages; `native/random.rs` makes random strips,
//! which this file runs. `native/rings.rs` cuts strips where rings wrap, `native/operations.rs` takes operations one by
//! one, `native/parallel.rs` has parallel loops, `native/calls.rs` what calls refuse; `native/sharing.rs` has strips
//! that run the same code; `native/load_sharing.rs` loads that share vectors; `native/rows.rs` short rows;
//! `native/non_temporal.rs` looks at non-temporal stores, `native/prefetch.rs` at cells that are prefetched,
//! `native/half.rs` at cells of half precision; `native/views.rs` binds views of any strides; `native/double_mapped.rs`
//! has rings that are mapped twice; `native/live.rs` strips with thousands of values alive, on small stacks;
//! `native/integers.rs` makes random strips of integers, and `native/integer_vectors.rs` takes every operation to the
//! ends of their types; `native/carried.rs` has values that iterations hand on in registers, and
//! `native/coalesced.rs` images whose pixels have a few cells, and `native/interleaved.rs` strips of all cells of a pixel.

mod calls;
mod carried;
mod coalesced;
mod continued;
mod denormals;
mod double_mapped;
mod half;
pub(crate) mod harness;
mod index_sets;
mod integer_vectors;
mod integers;
mod interleaved;
mod joined;
mod live;
mod load_sharing;
mod made;
mod mixed_vectors;
mod non_temporal;
mod operations;
mod parallel;
mod pipelining;
mod prefetch;
mod random;
mod rings;
mod rows;
mod sharing;
mod short_rows;
mod short_strips;
mod views;

use crease_jit::*;
use crease_program::{AliasFact, Node, Program};
use harness::{bits, run_native, verified};

/// Random strips, compiled in every way that this machine can run. `CREASE_RANDOM_STRIPS` says how many programs, from
/// `CREASE_RANDOM_SEED` on.
#[test]
fn random_strips_agree() {
    let number = |name: &str, or: u64| std::env::var(name).map_or(or, |text| text.parse().expect("a number"));
    let (first, count) = (number("CREASE_RANDOM_SEED", 0), number("CREASE_RANDOM_STRIPS", 240));
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for seed in (first + thread..first + count).step_by(threads as usize) {
                    let random::Random { text, args } = random::program(seed);
                    harness::agree_once(&text, &args, &[0.3, 1.7], seed);
                }
            });
        }
    });
}

/// The same of integers. `CREASE_RANDOM_INTEGERS` says how many programs.
#[test]
fn random_strips_of_integers_agree() {
    let count = std::env::var("CREASE_RANDOM_INTEGERS").map_or(160, |text| text.parse().expect("a number"));
    std::thread::scope(|scope| {
        for first in 0..2 {
            scope.spawn(move || {
                for seed in (first..count).step_by(2) {
                    let integers::Random { text, args } = integers::program(seed);
                    let lanes = [64, 64, 64, 32, 16, 4][seed as usize % 6];
                    harness::agree_once_in_lanes(&text, &args, &[0.3, 1.7], lanes, seed);
                }
            });
        }
    });
    integers::assert_mostly_wide(count);
}

/// Facts may let code share and move loads; without any it must still be right.
#[test]
fn dropping_all_alias_facts_changes_nothing() {
    for seed in 500..520 {
        let random::Random { text, args } = random::program(seed);
        let mut program = Program::parse(&text).unwrap();
        let with = harness::reference(&program, &args, &[0.3, 1.7], &[]);
        fn drop_facts(nodes: &mut [Node]) {
            for node in nodes {
                match node {
                    Node::For { body, .. } => drop_facts(body),
                    Node::Strip(strip) => strip.alias = Vec::<AliasFact>::new(),
                    _ => {}
                }
            }
        }
        drop_facts(&mut program.body);
        let compiled = compile(&verified(&program), &CompileOptions::default()).unwrap();
        let found = run_native(&compiled, &args, &[0.3, 1.7], &[], &Pool::sequential());
        assert_eq!(bits(&with), bits(&found), "{program}");
    }
}

/// Code for a processor without AVX or fused multiply-add: other instructions, a library call, the same bits. Seed 737
/// compares what lies in memory unaligned.
#[test]
fn a_lesser_processor_gives_the_same_bits() {
    let mut plain = Isa::detect();
    (plain.has_avx, plain.has_avx2, plain.has_fma, plain.has_f16c) = (false, false, false, false);
    let mut scalar = plain;
    scalar.has_v128 = false;
    for seed in 700..740 {
        let random::Random { text, args } = random::program(seed);
        let program = Program::parse(&text).unwrap();
        let expected = harness::reference(&program, &args, &[0.3, 1.7], &[]);
        for isa in [plain, scalar] {
            let compiled = compile(&verified(&program), &CompileOptions::default().isa(isa)).unwrap();
            let found = run_native(&compiled, &args, &[0.3, 1.7], &[], &Pool::sequential());
            assert_eq!(bits(&expected), bits(&found), "{isa:?}\n{program}");
        }
    }
}
