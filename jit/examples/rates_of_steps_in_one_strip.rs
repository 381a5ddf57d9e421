//! Updates a second of heat on a line, in place, where one strip runs several steps of a long row: the best of some
//! rounds.
//!
//! A step stores eight cells before those that it reads, and begins a cell before the step before it, as in a tile of
//! time. Later steps take what earlier ones have stored from registers, where vectors can be cut out of others.
//!
//! `cargo run --release -p crease-jit --example rates_of_steps_in_one_strip`

use std::fmt::Write as _;
use std::time::Instant;

use crease_jit::{BufferRef, Call, CompileOptions, Field, FieldOptions, Pool, compile};
use crease_program::{Element, Program, Verified};

/// Cells of a row: it stays in the first-level cache.
const CELLS: i64 = 2048;
/// Steps in all, and how often they are taken.
const STEPS: i64 = 64;
const TIMES: i64 = 200;

/// `STEPS` steps, `together` of them in a strip.
fn steps(together: i64) -> String {
    // Operations of a step, and its streams: what it loads, west of it, east of it, and what it stores.
    let (first, each, reads) = (3, 7, [8, 7, 9]);
    let (mut streams, mut ops, mut facts) = (String::new(), String::new(), String::new());
    for step in 0..together {
        let (stream, op) = (4 * step, first + each * step);
        for (at, ahead) in (0..).zip(reads) {
            writeln!(streams, "m{} = u[base v2, pos {}, stride 1]", stream + at, ahead - 9 * step + 99).unwrap();
            writeln!(ops, "%{} = load m{}: f64", op + at, stream + at).unwrap();
            for other in 0..together {
                let distance = 9 * (step - other) - ahead;
                let fact = if distance == 0 { "same_lane".to_string() } else { format!("distance {distance}") };
                writeln!(facts, "alias %{}, %{}: {fact}", op + at, first + each * other + 6).unwrap();
            }
        }
        writeln!(streams, "m{} = u[base v2, pos {}, stride 1]", stream + 3, 99 - 9 * step).unwrap();
        writeln!(ops, "%{} = add %{}, %{}", op + 3, op + 1, op + 2).unwrap();
        writeln!(ops, "%{} = mul %0, %{}", op + 4, op + 3).unwrap();
        writeln!(ops, "%{} = fma %2, %{op}, %{}", op + 5, op + 4).unwrap();
        writeln!(ops, "%{}: store m{}, %{}", op + 6, stream + 3, op + 5).unwrap();
    }
    format!(
        "program steps() {{ scalar k: f64 buffer u: f64[{}] write
         for v0 in 0 .. {TIMES} {{ for v1 in 0 .. {} {{ let v2 = {} - {} * v1
         strip v3 in 0 .. {CELLS} lanes 8 {{ {streams} %0 = scalar k %1 = f64 1.0 %2 = sub %1, %0 {ops} {facts} }} }} }} }}",
        CELLS + 9 * STEPS + 200,
        STEPS / together,
        9 * STEPS,
        9 * together
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = Pool::sequential();
    for together in [1, 2, 4, 8] {
        let program = Verified::new(Program::parse(&steps(together))?)?;
        let code = compile(&program, &CompileOptions::default())?;
        let cells = program.buffers[0].cells.expect("a block has a length");
        let mut field = Field::new(Element::F64, cells, FieldOptions::default())?;
        let mut seconds = f64::INFINITY;
        for _ in 0..20 {
            let buffers = vec![BufferRef::from(&mut field)];
            let start = Instant::now();
            code.run(&mut Call { args: &[], scalars: &[0.23], buffers, pool: &pool })?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        println!("{together} steps in a strip: {:.0} M updates/s", (TIMES * STEPS * CELLS) as f64 / seconds / 1e6);
    }
    Ok(())
}
