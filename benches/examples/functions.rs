//! Mathematical functions beside a C compiler's vector library.
//!
//! `cargo run --release -p crease-bench --example functions`
//!
//! For each function a kernel computes it of every cell of a row in the first-level cache, again and again, and so does
//! a C loop, built with `-O3 -march=native -ffast-math` where `libmvec` and the compiler have vectors for it; both in
//! turn, the fastest of some rounds of each. The C library's errors are up to 4 ULP; for ours see docs/FUNCTIONS.md.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crease::Kernel;
use ndarray::Array1;

/// Cells of a row: with the results 32 KiB of doubles.
const CELLS: usize = 2048;
/// Rows of each measurement.
const ROWS: u64 = 2000;
/// Measurements of each.
const ROUNDS: usize = 5;

/// Functions with the range of their arguments.
const FUNCTIONS: [(&str, f64, f64); 15] = [
    ("exp", -20.0, 20.0),
    ("expm1", -2.0, 2.0),
    ("log", 0.01, 100.0),
    ("log1p", -0.5, 2.0),
    ("log2", 0.01, 100.0),
    ("sin", -10.0, 10.0),
    ("cos", -10.0, 10.0),
    ("tan", -1.5, 1.5),
    ("tanh", -3.0, 3.0),
    ("atan2", -2.0, 2.0),
    ("pow", 0.1, 10.0),
    ("hypot", -2.0, 2.0),
    ("cbrt", -8.0, 8.0),
    ("round", -100.0, 100.0),
    ("floor", -100.0, 100.0),
];

/// The other argument of functions of two.
const SECOND: &str = "1.7";

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    println!("{:>8} {:>4} {:>12} {:>12} {:>8}", "function", "", "ours ns", "C ns", "C/ours");
    for element in ["f64", "f32"] {
        for (name, least, most) in FUNCTIONS {
            let argument = |cell: usize| least + (most - least) * (cell as f64 * 0.618_033_988_75).fract();
            let (mut ours, mut c) = (f64::INFINITY, f64::INFINITY);
            let program = build(directory.path(), name, element, least, most)?;
            let mut run = ready(name, element, argument)?;
            for _ in 0..ROUNDS {
                let start = Instant::now();
                run.advance(ROWS)?;
                ours = ours.min(start.elapsed().as_secs_f64());
                c = c.min(String::from_utf8(Command::new(&program).output()?.stdout)?.trim().parse()?);
            }
            let per_cell = 1e9 / (CELLS as f64 * ROWS as f64);
            println!("{name:>8} {element:>4} {:>12.3} {:>12.3} {:>8.2}", ours * per_cell, c * per_cell, c / ours);
        }
    }
    Ok(())
}

fn call(name: &str, x: &str) -> String {
    let is_of_two = ["atan2", "pow", "hypot"].contains(&name);
    if is_of_two { format!("{name}({x}, {SECOND})") } else { format!("{name}({x})") }
}

/// A run of the kernel with its arguments.
fn ready(name: &str, element: &str, argument: impl Fn(usize) -> f64) -> Result<crease::Run, Box<dyn Error>> {
    let text = format!(
        "kernel function(size N; run T) {{
           input x[i]: {element} for 0 <= i < N
           state y[t, i]: {element} for 0 <= i < N
           S[t, i] for 1 <= t <= T and 0 <= i < N {{ y[t, i] = {} }}
           schedule rows {{ S -> [t, i vector(16)] }}
         }}",
        call(name, "x[i]")
    );
    let plan = Kernel::parse(&text)?.plan().size("N", CELLS as i64).build()?;
    let mut run = plan.compile()?.instantiate()?;
    if element == "f64" {
        run.write("x", Array1::from_shape_fn(CELLS, argument).view())?;
        run.write("y", Array1::<f64>::zeros(CELLS).view())?;
    } else {
        run.write("x", Array1::from_shape_fn(CELLS, |cell| argument(cell) as f32).view())?;
        run.write("y", Array1::<f32>::zeros(CELLS).view())?;
    }
    Ok(run)
}

/// The C program: prints the seconds that its rows took.
fn build(
    directory: &Path,
    name: &str,
    element: &str,
    least: f64,
    most: f64,
) -> Result<std::path::PathBuf, Box<dyn Error>> {
    let (ty, suffix) = if element == "f64" { ("double", "") } else { ("float", "f") };
    let call = call(name, "x[i]").replacen('(', &format!("{suffix}("), 1);
    let source = format!(
        "#include <math.h>
         #include <stdio.h>
         #include <time.h>
         {ty} x[{CELLS}], y[{CELLS}];
         int main(void) {{
           for (int i = 0; i < {CELLS}; i++) x[i] = {least} + ({most} - {least}) * fmod(i * 0.61803398875, 1.0);
           struct timespec a, b;
           clock_gettime(CLOCK_MONOTONIC, &a);
           for (int t = 0; t < {ROWS}; t++) {{
             for (int i = 0; i < {CELLS}; i++) y[i] = {call};
             __asm__ volatile(\"\" ::: \"memory\");
           }}
           clock_gettime(CLOCK_MONOTONIC, &b);
           printf(\"%.9f\\n\", b.tv_sec - a.tv_sec + 1e-9 * (b.tv_nsec - a.tv_nsec));
         }}"
    );
    let (file, program) =
        (directory.join(format!("{name}{suffix}.c")), directory.join(format!("{name}{suffix}_{element}")));
    fs::write(&file, source)?;
    let flags = ["-O3", "-march=native", "-ffast-math", "-o"];
    let status = Command::new("cc").args(flags).arg(&program).arg(&file).arg("-lm").status()?;
    if status.success() { Ok(program) } else { Err(format!("cc does not compile {name}").into()) }
}
