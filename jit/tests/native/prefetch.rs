//! Strips that read several rows prefetch cells that come from memory; others do so where the processor does not follow
//! a single row as well.

use crease_jit::{CompileOptions, Isa, IsaChoice, NonTemporal, Prefetch, VectorUnits, compile};
use crease_program::Program;

use super::harness::agree;
use super::harness::verified;
use std::fmt::Write as _;

/// Sums cells of `rows` buffers of `cells` cells, of each those at the offsets `apart`, moved by `v9` cells.
fn sums(rows: usize, cells: usize, apart: &[usize]) -> String {
    let mut text = String::from("program sums() {\n");
    for row in 0..rows {
        writeln!(text, "buffer x{row}: f64[{cells}] read").unwrap();
    }
    writeln!(text, "buffer out: f64[{cells}] write").unwrap();
    text += "for v9 in 0 .. 2 {\nstrip v0 in 0 .. 150 lanes 8 {\n";
    let streams = rows * apart.len();
    for stream in 0..streams {
        let (row, offset) = (stream / apart.len(), apart[stream % apart.len()]);
        let (pos, modulus) = (format!("wrap(v9 + {offset}, {cells})"), cells);
        writeln!(text, "m{stream} = x{row}[pos {pos}, ring {modulus}, stride 1]").unwrap();
    }
    writeln!(text, "m{streams} = out[pos v9, stride 1]").unwrap();
    for stream in 0..streams {
        writeln!(text, "%{stream} = load m{stream}: f64").unwrap();
    }
    let (mut sum, mut next) = (0, streams);
    for stream in 1..streams {
        writeln!(text, "%{next} = add %{sum}, %{stream}").unwrap();
        (sum, next) = (next, next + 1);
    }
    writeln!(text, "%{next}: store m{streams}, %{sum}\n}}\n}}\n}}").unwrap();
    text
}

/// How many lines its wide strip prefetches in one loop iteration of one vector, on a machine whose cache keeps a hundred
/// thousand bytes; none on machines without wide code.
fn called(text: &str, prefetch: Prefetch, units: VectorUnits) -> Option<usize> {
    let is_wide = |choice| matches!(choice, IsaChoice::Avx2 | IsaChoice::Avx512);
    Isa::detect().resolve(IsaChoice::Auto).ok().filter(|choice| is_wide(*choice))?;
    let options = CompileOptions::default().prefetch(prefetch).units(units).max_unroll(1).texts(true);
    let mut program = Program::parse(text).unwrap();
    program.mark_cold(&[], 100_000);
    let compiled = compile(&verified(&program), &options).unwrap();
    // A strip in rings has two functions, and loads that share vectors a loop of their own: instructions between
    // labels.
    let loops = compiled.strips().iter().flat_map(|strip| strip.text.split(":\n"));
    loops.map(|text| text.matches("prefetch").count()).max()
}

#[test]
fn rows_from_memory_are_called_for_ahead() {
    // Whether a vector begins in the line of the one before depends on where it is: all rows begin alike here.
    for (rows, cells, apart, prefetch, expected) in [
        (20, 1 << 14, &[0][..], Prefetch::Auto, 20),
        (20, 1 << 14, &[0], Prefetch::Never, 0),
        (2, 1 << 14, &[0], Prefetch::Auto, 2),
        // A single row; neighbours in one row, prefetched once; all of it fits a cache.
        (1, 1 << 14, &[0], Prefetch::Auto, 0),
        (2, 1 << 14, &[0, 1, 2], Prefetch::Auto, 2),
        (2, 1 << 12, &[0], Prefetch::Auto, 0),
        (2, 1 << 12, &[0], Prefetch::Always, 2),
        (2, 1 << 14, &[0, 1000], Prefetch::Auto, 4),
    ] {
        let found = called(&sums(rows, cells, apart), prefetch, VectorUnits::Halves);
        assert!(found.is_none_or(|found| found == expected), "{rows} rows of {cells}, {apart:?}: {found:?}");
    }
    for (units, expected) in [(VectorUnits::Whole, 0), (VectorUnits::WholeInCaches, 1)] {
        let found = called(&sums(1, 1 << 14, &[0]), Prefetch::Auto, units);
        assert!(found.is_none_or(|found| found == expected), "a single row, {units}: {found:?}");
    }
}

#[test]
fn what_is_called_for_beyond_a_buffer_does_no_harm() {
    // Kilobytes behind the last cells lies a guard page.
    let mut program = Program::parse(&sums(20, 1 << 13, &[0, 8000])).unwrap();
    assert!(program.mark_cold(&[], 100_000) > 0);
    agree(&program.to_string(), &[], &[], &[1, 2, 8]);
}

/// Bits of the vectors of a program's strips, whose rows come from memory, where units take 512 bits in halves or whole,
/// and stores go to caches or past them; none on machines without AVX-512.
fn vector_bits(text: &str, units: VectorUnits, non_temporal: NonTemporal) -> Option<u32> {
    Isa::detect().resolve(IsaChoice::Avx512).ok()?;
    let mut program = Program::parse(text).unwrap();
    assert!(program.mark_cold(&[], 100_000) > 0);
    let options = CompileOptions::default().units(units).non_temporal(non_temporal);
    let compiled = compile(&verified(&program), &options).unwrap();
    compiled.strips().iter().map(|strip| strip.vector_bits).max()
}

/// Loads of whole lines that wait for memory hold each other up in halves, and where units take them whole in caches.
#[test]
fn rows_from_memory_run_in_vectors_that_do_not_hold_each_other_up() {
    let text = sums(6, 1 << 14, &[0, 1, 2]);
    for (units, expected) in [
        (VectorUnits::Halves, [Some(256), Some(512)]),
        (VectorUnits::Whole, [Some(512); 2]),
        (VectorUnits::WholeInCaches, [Some(256); 2]),
    ] {
        let found = [NonTemporal::Never, NonTemporal::Always].map(|stores| vector_bits(&text, units, stores));
        assert!(found == [None; 2] || found == expected, "{units}: {found:?}");
    }
}

/// So do the lines that every second cell is picked out of.
#[test]
fn windows_in_memory_are_read_in_vectors_that_do_not_hold_each_other_up() {
    let text = sums(2, 1 << 14, &[0, 1, 2]).replace(", ring 16384, stride 1", ", stride 2");
    for (units, expected) in [(VectorUnits::Whole, Some(512)), (VectorUnits::WholeInCaches, Some(256))] {
        let found = vector_bits(&text, units, NonTemporal::Never);
        assert!(found.is_none() || found == expected, "{units}: {found:?}");
    }
}
