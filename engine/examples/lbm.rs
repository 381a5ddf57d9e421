//! Vortices behind a cylinder: a lattice Boltzmann flow with a mask of solid cells, in the memory of one lattice.
//!
//! `cargo run --release -p crease --example lbm -- [DIRECTORY] [STEPS]` prints what the populations take compared with
//! two lattices, writes pictures of the flow's speed into DIRECTORY (`target/lbm`), and checks that the cylinder sheds
//! vortices at the frequency that is known for its Reynolds number.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::{Duration, Instant};

use crease::prelude::*;
use ndarray::Array2;

/// Velocity along `y` and `x`, and weight, of the populations `f0` to `f8`.
const D2Q9: [(i64, i64, f64); 9] = [
    (0, 0, 4.0 / 9.0),
    (0, 1, 1.0 / 9.0),
    (0, -1, 1.0 / 9.0),
    (1, 0, 1.0 / 9.0),
    (-1, 0, 1.0 / 9.0),
    (1, 1, 1.0 / 36.0),
    (-1, -1, 1.0 / 36.0),
    (1, -1, 1.0 / 36.0),
    (-1, 1, 1.0 / 36.0),
];
/// Cells of the tunnel.
const SIZE: (usize, usize) = (100, 240);
/// Diameter of the cylinder, in cells.
const DIAMETER: f64 = 12.0;
/// Speed of the wind, cells per step.
const SPEED: f64 = 0.1;
/// `SPEED * DIAMETER / viscosity`.
const REYNOLDS: f64 = 120.0;
/// Steps between two looks at the flow.
const LOOK: u64 = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or("target/lbm".to_string());
    let steps: u64 = arguments.next().map_or(Ok(8_000), |word| word.parse())?;
    std::fs::create_dir_all(&directory)?;

    let plan = Kernel::parse(&kernel())?.plan().size("NY", SIZE.0 as i64).size("NX", SIZE.1 as i64).build()?;
    let two_lattices_bytes = 2 * 9 * 8 * SIZE.0 * SIZE.1;
    println!("folded {} bytes, two lattices {two_lattices_bytes} bytes", plan.folded_bytes());

    let mut run = plan.compile()?.instantiate()?;
    let viscosity = SPEED * DIAMETER / REYNOLDS;
    run.set("omega", 1.0 / (3.0 * viscosity + 0.5))?;
    run.set("wind", SPEED)?;
    let solid = cylinder();
    run.write("solid", solid.view())?; // the run keeps it: nothing is copied from step to step
    start(&mut run)?;

    let (mut sideways, mut busy) = (Vec::new(), Duration::ZERO);
    let picture_every = (steps / 4).next_multiple_of(LOOK).max(LOOK) as i64;
    while run.step() < steps as i64 {
        let clock = Instant::now();
        run.advance(LOOK)?;
        busy += clock.elapsed();
        let (v, u) = velocity(&run)?;
        sideways.push(v[[SIZE.0 / 2, SIZE.1 / 2]]);
        if run.step() % picture_every == 0 {
            let path = Path::new(&directory).join(format!("speed-{:06}.png", run.step()));
            draw(&path, &v, &u, &solid)?;
            println!("{}", path.display());
        }
    }
    let updates = run.step() as f64 * (SIZE.0 * SIZE.1) as f64;
    println!("{} steps in {busy:.1?}, {:.0} million cells a second", run.step(), 1e-6 * updates / busy.as_secs_f64());
    verify_frequency(&sideways)
}

/// The kernel's text. In one step, an inside cell takes in what its neighbours sent (`g`) and relaxes it towards the
/// equilibrium of its density and velocity; a solid one sends everything back. The border blows steadily.
fn kernel() -> String {
    let (mut arrays, mut loads, mut inside, mut border) = (String::new(), String::new(), String::new(), String::new());
    for (q, (cy, cx, weight)) in D2Q9.into_iter().enumerate() {
        let opposite = D2Q9.iter().position(|c| (c.0, c.1) == (-cy, -cx)).expect("the set is symmetric");
        let along = sum([(cy, "v".to_string()), (cx, "u".to_string())]);
        let equilibrium = format!("{weight:?} * rho * (1 + ({along}) * (3 + 4.5 * ({along})) - 1.5 * (v * v + u * u))");
        arrays += &format!("  state f{q}[t, y, x]: f64 for 0 <= y < NY and 0 <= x < NX\n");
        loads += &format!("    let g{q} = f{q}[t-1, y{:+}, x{:+}]\n", -cy, -cx);
        inside += &format!("    f{q}[t,y,x] = select(wall, g{opposite}, g{q} + omega * ({equilibrium} - g{q}))\n");
        border += &format!("    f{q}[t,y,x] = {equilibrium}\n");
    }
    let moment = |sign: fn((i64, i64, f64)) -> i64| sum((0..9).map(|q| (sign(D2Q9[q]), format!("g{q}"))));
    let (rho, along_y, along_x) = (moment(|_| 1), moment(|c| c.0), moment(|c| c.1));
    format!(
        "kernel tunnel(size NY, NX; run T) for NY >= 3 and NX >= 3 {{
  scalar omega: f64
  scalar wind: f64
  input solid[y, x]: u8 for 0 <= y < NY and 0 <= x < NX
{arrays}  Inside[t, y, x] for 1 <= t <= T and 1 <= y < NY-1 and 1 <= x < NX-1 {{
    let wall = solid[y,x] != 0
{loads}    let rho = {rho}
    let v = ({along_y}) / rho
    let u = ({along_x}) / rho
{inside}  }}
  Border[t, y, x] for 1 <= t <= T and 0 <= y < NY and 0 <= x < NX and (y = 0 or y = NY-1 or x = 0 or x = NX-1) {{
    let rho = 1
    let v = 0
    let u = wind
{border}  }}
  schedule rows {{ Inside, Border -> [t, y, x vector(8)] }}
}}"
    )
}

/// `a - b + c` for the signs 1, -1 and 1; names with the sign 0 are left out.
fn sum(terms: impl IntoIterator<Item = (i64, String)>) -> String {
    let signed = terms.into_iter().filter(|(sign, _)| *sign != 0);
    let text: String = signed.map(|(sign, name)| format!("{} {name} ", if sign > 0 { '+' } else { '-' })).collect();
    let text = text.trim_start_matches("+ ").trim_end();
    if text.is_empty() { "0".to_string() } else { text.to_string() }
}

/// 1 where a cell is solid; a little off the middle, so that the flow need not be pushed out of its symmetry.
fn cylinder() -> Array2<u8> {
    let (middle, from_inlet) = (SIZE.0 as f64 / 2.0 + 0.7, SIZE.1 as f64 / 5.0);
    Array2::from_shape_fn(SIZE, |(y, x)| u8::from((y as f64 - middle).hypot(x as f64 - from_inlet) < DIAMETER / 2.0))
}

/// Wind everywhere.
fn start(run: &mut Run) -> Result<(), crease::Error> {
    for (q, (_, cx, weight)) in D2Q9.iter().enumerate() {
        let along = *cx as f64 * SPEED;
        let value = weight * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * SPEED * SPEED);
        run.write(&format!("f{q}"), Array2::from_elem(SIZE, value).view())?;
    }
    Ok(())
}

/// Velocity along `y` and `x`: the mean over all populations of what they carry.
fn velocity(run: &Run) -> Result<(Array2<f64>, Array2<f64>), crease::Error> {
    let (mut rho, mut v, mut u, mut f) =
        (Array2::zeros(SIZE), Array2::zeros(SIZE), Array2::zeros(SIZE), Array2::zeros(SIZE));
    for (q, (cy, cx, _)) in D2Q9.iter().enumerate() {
        run.read(&format!("f{q}"), f.view_mut())?;
        rho += &f;
        v.scaled_add(*cy as f64, &f);
        u.scaled_add(*cx as f64, &f);
    }
    Ok((v / &rho, u / &rho))
}

/// Speed from blue over white to red, twice that of the wind; the cylinder black. `y` runs upwards.
fn draw(path: &Path, v: &Array2<f64>, u: &Array2<f64>, solid: &Array2<u8>) -> Result<(), Box<dyn Error>> {
    let mut pixels = Vec::with_capacity(3 * SIZE.0 * SIZE.1);
    for y in (0..SIZE.0).rev() {
        for x in 0..SIZE.1 {
            let share = v[[y, x]].hypot(u[[y, x]]) / (2.0 * SPEED);
            let level = |distance: f64| (255.0 * (2.0 - 2.0 * distance).clamp(0.0, 1.0)) as u8;
            let (red, blue) = (level(1.0 - share), level(share));
            let colour = if solid[[y, x]] != 0 { [0; 3] } else { [red, red.min(blue), blue] };
            pixels.extend(colour);
        }
    }
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), SIZE.1 as u32, SIZE.0 as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(())
}

/// The frequency of the flow across the tunnel behind the cylinder, times the diameter, over the speed of the wind: the
/// Strouhal number, 0.17 for this Reynolds number in an endless flow (Williamson 1996), a little more between borders.
fn verify_frequency(sideways: &[f64]) -> Result<(), Box<dyn Error>> {
    let settled = &sideways[sideways.len() / 2..];
    let turns: Vec<usize> = (1..settled.len()).filter(|&at| settled[at - 1] < 0.0 && settled[at] >= 0.0).collect();
    let [first, .., last] = turns[..] else {
        return Err("no vortices yet: give it more steps".into());
    };
    let period = (last - first) as f64 * LOOK as f64 / (turns.len() - 1) as f64;
    let strouhal = DIAMETER / (SPEED * period);
    println!("one vortex pair in {period:.0} steps: Strouhal number {strouhal:.3}");
    if (0.15..0.25).contains(&strouhal) { Ok(()) } else { Err("vortices at a frequency that is not theirs".into()) }
}
