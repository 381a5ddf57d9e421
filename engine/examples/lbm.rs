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

use crease::kernel::KernelError;
use crease::kernel::builder::{KernelBuilder, Value};
use crease::kernel::graph::Element;
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

    let plan = kernel()?.plan().size("NY", SIZE.0 as i64).size("NX", SIZE.1 as i64).build()?;
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

/// In one step, an inside cell takes in what its neighbours sent (`g`) and relaxes it towards the equilibrium of its
/// density and velocity; a solid one sends everything back. The border blows steadily.
fn kernel() -> Result<Kernel, KernelError> {
    let b = Kernel::builder("tunnel");
    let (ny, nx, steps) = (b.size("NY"), b.size("NX"), b.run("T"));
    b.context(ny.ge(3) & nx.ge(3));
    let [omega, wind] = ["omega", "wind"].map(|name| b.scalar(name, Element::F64));
    let [t, y, x] = b.iters(["t", "y", "x"]);
    let (during, space) = (t.between(1, steps), y.within(0, ny) & x.within(0, nx));
    let solid = b.input("solid", [y, x], Element::U8, space.clone());
    let f: Vec<_> = (0..9).map(|q| b.state(format!("f{q}"), [t, y, x], Element::F64, space.clone())).collect();

    let g: Vec<Value> = D2Q9.iter().zip(&f).map(|((cy, cx, _), f)| f.at([t - 1, y - *cy, x - *cx])).collect();
    let moment = |sign: fn((i64, i64, f64)) -> i64| sum(&b, (0..9).map(|q| (sign(D2Q9[q]), g[q])));
    let rho = moment(|_| 1);
    let (v, u) = (moment(|c| c.0) / rho, moment(|c| c.1) / rho);
    let wall = solid.at([y, x]).differs(0.0);
    let inside = b.stmt("Inside", [t, y, x], &during & y.within(1, ny - 1) & x.within(1, nx - 1));
    let ends = y.equals(0) | y.equals(ny - 1) | x.equals(0) | x.equals(nx - 1);
    let border = b.stmt("Border", [t, y, x], during & space & ends);
    for (q, (cy, cx, _)) in D2Q9.into_iter().enumerate() {
        let opposite = D2Q9.iter().position(|c| (c.0, c.1) == (-cy, -cx)).expect("the set is symmetric");
        let relaxed = g[q] + omega * (equilibrium(&b, q, rho, v, u) - g[q]);
        inside.store(f[q], [t, y, x], wall.select(g[opposite], relaxed));
        border.store(f[q], [t, y, x], equilibrium(&b, q, b.number(1.0), b.number(0.0), wind));
    }
    b.schedule("rows").order([inside, border], (t, y, x.vector(8)));
    b.build()
}

/// The equilibrium of a population at a density and a velocity.
fn equilibrium<'k>(b: &'k KernelBuilder, q: usize, rho: Value<'k>, v: Value<'k>, u: Value<'k>) -> Value<'k> {
    let (cy, cx, weight) = D2Q9[q];
    let along = sum(b, [(cy, v), (cx, u)]);
    weight * rho * (1.0 + along * (3.0 + 4.5 * along) - 1.5 * (v * v + u * u))
}

/// `a - b + c` for the signs 1, -1 and 1; values with the sign 0 are left out.
fn sum<'k>(b: &'k KernelBuilder, terms: impl IntoIterator<Item = (i64, Value<'k>)>) -> Value<'k> {
    let signed = terms.into_iter().filter(|(sign, _)| *sign != 0);
    b.sum(signed.map(|(sign, value)| if sign > 0 { value } else { -value }))
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
