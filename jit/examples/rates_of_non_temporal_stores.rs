//! Gigabytes a second of storing to several buffers in turn, through the caches and past them: the best of some rounds.
//!
//! `cargo run --release -p crease-jit --example rates_of_non_temporal_stores`

use std::time::Instant;

use crease_jit::{BufferRef, Call, CompileOptions, Field, FieldOptions, NonTemporal, Pool, VectorWidth, compile};
use crease_program::{Element, Program, Verified};

#[path = "../tests/native/made.rs"]
mod made;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = Pool::sequential();
    for buffers in [1, 2, 4, 6, 8, 9, 12, 19] {
        let rows = 6144 / buffers.min(8);
        let program = Verified::new(Program::parse(&made::constant_rows(buffers, rows, 1024))?)?;
        let cells = (rows * 1024 + 7) as u64;
        let skewed = |at: usize| FieldOptions { page_offset_bytes: at * 448 % 4096, ..FieldOptions::default() };
        let mut fields =
            (0..buffers).map(|at| Field::new(Element::F64, cells, skewed(at))).collect::<Result<Vec<_>, _>>()?;
        print!("{buffers:2} buffers");
        for (name, width, non_temporal) in [
            ("cached", VectorWidth::Auto, NonTemporal::Never),
            ("256 bits", VectorWidth::Bits256, NonTemporal::Auto),
            ("512 bits", VectorWidth::Bits512, NonTemporal::Auto),
        ] {
            let code = compile(&program, &CompileOptions::default().width(width).non_temporal(non_temporal))?;
            let mut seconds = f64::INFINITY;
            for _ in 0..7 {
                let buffers = fields.iter_mut().map(BufferRef::from).collect();
                let start = Instant::now();
                code.run(&mut Call { args: &[], scalars: &[], buffers, pool: &pool })?;
                seconds = seconds.min(start.elapsed().as_secs_f64());
            }
            print!(", {name} {:.1}", 8.0 * buffers as f64 * cells as f64 / seconds / 1e9);
        }
        println!(" GB/s");
    }
    Ok(())
}
