//! The flow of `cavity.c` from Rust: the same lines, the same bits. `capi/languages.sh` compares their speed.
//!
//! `cargo run --release -p crease-capi --example cavity -- capi/examples/cavity.crk [CELLS [STEPS]]`

use std::ops::ControlFlow;

use crease::prelude::*;
use ndarray::Array2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("usage: cavity KERNEL-FILE [CELLS [STEPS]]")?;
    let n: usize = words.next().map_or(Ok(64), |word| word.parse())?;
    let steps: u64 = words.next().map_or(Ok(1000), |word| word.parse())?;
    let kernel = Kernel::parse(&std::fs::read_to_string(path)?)?;
    let plan = kernel.plan().size("N", n as i64).build()?;
    println!("folded {} bytes, two lattices {} bytes", plan.folded_bytes(), 2 * 9 * 8 * n * n);
    let mut run = plan.compile()?.instantiate()?;
    run.set("omega", 1.7)?;
    run.set("u_lid", 0.1)?;
    for (q, weight) in
        [4.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0].iter().zip([1, 4, 4]).flat_map(|(w, n)| vec![*w; n]).enumerate()
    {
        run.fill(&format!("f{q}"), weight)?; // at rest
    }
    let progress = run.advance_with(steps, steps / 2 + 1, |_, progress| {
        println!("step {} of {}", progress.step, progress.end);
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    println!("{:.1} million cells a second", 1e-6 * (n * n) as f64 * progress.steps_per_second());

    let add = |sum, cells: &Array2<f64>| cells.iter().fold(sum, |sum: u64, cell| sum.rotate_left(7) ^ cell.to_bits());
    let (mut checksum, mut f) = (0_u64, Array2::<f64>::zeros((n, n)));
    for q in 0..9 {
        run.read(&format!("f{q}"), f.view_mut())?;
        checksum = add(checksum, &f);
    }
    println!("checksum {checksum:016x}");
    Ok(())
}
