//! How compile time grows with the values alive in a strip, for every kind of vectors of this machine.
//!
//! `cargo run --release -p crease-jit --example times_of_many_values`

use std::time::Instant;

use crease_jit::{CompileOptions, Isa, IsaChoice, compile};
use crease_program::{Program, Verified};

#[path = "../tests/native/made.rs"]
mod made;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let isa = Isa::detect();
    for count in [1000, 2000, 4000, 8000] {
        let start = Instant::now();
        let program = Verified::new(Program::parse(&made::all_alive("f64", count))?)?;
        println!("{count} values: read and verified in {:?}", start.elapsed());
        for choice in IsaChoice::ALL.into_iter().filter(|choice| isa.resolve(*choice).is_ok()) {
            let start = Instant::now();
            let compiled = compile(&program, &CompileOptions::default().choice(choice).max_unroll(1))?;
            println!("  {choice:?}: {:?}, {:?}", start.elapsed(), compiled.times());
        }
    }
    Ok(())
}
