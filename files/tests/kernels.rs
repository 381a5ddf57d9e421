//! Kernels and runs that several tests save and restore.

use std::sync::LazyLock;

use crease::prelude::*;
use crease::{CompileOptions, IsaChoice, f16};
use ndarray::{Array1, Array2, ArrayD, IxDyn};

/// A membrane: two levels of a state, the number of the step, an input, scalars, single precision, an obstacle of
/// bytes, half precision, indices that do not begin at 0, and an output that keeps what is not written.
pub(crate) const MEMBRANE: &str = "
    kernel membrane(size M, N; run T) for M >= 4 and N >= 4 {
      scalar speed: f64
      scalar shake: f64
      input mask[y, x]: u8 for 0 <= y < M and 0 <= x < N
      input push[x]: f32 for -1 <= x <= N
      state u[t, y, x]: f64 for 0 <= y < M and 0 <= x < N
      state v[t, y, x]: f32 for 0 <= y < M and 0 <= x < N
      state h[t, x]: f16 for 2 <= x < N
      output seen[x]: f64 for 0 <= x < N live in for 0 <= x < N
      U[t, y, x] for 1 <= t <= T and 1 <= y < M-1 and 1 <= x < N-1 {
        u[t,y,x] = select(mask[y,x] > 0, 0, 2 * u[t-1,y,x] - u[t-2,y,x] + speed *
          (u[t-1,y-1,x] + u[t-1,y+1,x] + u[t-1,y,x-1] + u[t-1,y,x+1] - 4 * u[t-1,y,x])) }
      E[t, y, x] for 1 <= t <= T and 0 <= y < M and 0 <= x < N and (y = 0 or y = M-1 or x = 0 or x = N-1) {
        u[t,y,x] = shake * index(t) }
      V[t, y, x] for 1 <= t <= T and 0 <= y < M and 0 <= x < N { v[t,y,x] = 0.75 * v[t-1,y,x] + push[x] }
      H[t, x] for 1 <= t <= T and 2 <= x < N { h[t,x] = h[t-1,x] + push[x] }
      S[t, x] for 1 <= t <= T and t mod 7 = 0 and 0 <= x < N { seen[x] = u[t,1,x] }
      schedule rows { U, E -> [t, 0, y, x vector(8)]; V -> [t, 1, y, x vector(8)];
                      H -> [t, 2, 0, x vector(8)]; S -> [t, 3, 0, x vector(8)] }
      schedule wide { U, E -> [t, 0, y parallel, x vector(8)]; V -> [t, 1, y parallel, x vector(8)];
                      H -> [t, 2, 0 parallel, x vector(8)]; S -> [t, 3, 0 parallel, x vector(8)] }
      schedule columns { U, E -> [t, 0, x, y]; V -> [t, 1, x, y]; H -> [t, 2, x, 0]; S -> [t, 3, x, 0] }
    }";

pub(crate) const SIZES: [(&str, i64); 2] = [("M", 6), ("N", 13)];

/// How a run computes; the answer does not depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) schedule: &'static str,
    pub(crate) strategy: StrategyChoice,
    pub(crate) threads: usize,
    pub(crate) isa: IsaChoice,
}

pub(crate) const ROWS: Way = Way { schedule: "rows", strategy: StrategyChoice::Auto, threads: 1, isa: IsaChoice::Auto };

/// Code for the membrane by rows, planned once.
pub(crate) static BY_ROWS: LazyLock<Code> = LazyLock::new(|| membrane_code(ROWS));

/// Code for the membrane.
pub(crate) fn membrane_code(way: Way) -> Code {
    let mut builder = Kernel::parse(MEMBRANE).unwrap().plan().schedule(way.schedule);
    for (name, size) in SIZES {
        builder = builder.size(name, size);
    }
    let plan = builder.strategy(way.strategy).threads(way.threads).build().unwrap();
    plan.compile_with(&CompileOptions::default().choice(way.isa)).unwrap()
}

/// A membrane with all that it starts from.
pub(crate) fn begun(code: &Code) -> Run {
    let mut run = code.instantiate().unwrap();
    run.set("speed", 0.3).unwrap();
    run.set("shake", 1.0 / 3.0).unwrap();
    run.write("mask", Array2::from_shape_fn((6, 13), |(y, x)| u8::from((2..4).contains(&y) && x == 5)).view()).unwrap();
    run.write("push", Array1::from_shape_fn(15, |x| 0.1 * x as f32 - 0.5).view()).unwrap();
    run.write("u", Array2::from_shape_fn((6, 13), |(y, x)| (y * x) as f64 / 7.0).view()).unwrap();
    run.write_back("u", 1, Array2::from_shape_fn((6, 13), |(y, x)| (y + x) as f64 / 9.0).view()).unwrap();
    run.write("v", Array2::from_shape_fn((6, 13), |(y, x)| (y as f32 - x as f32) / 3.0).view()).unwrap();
    run.write("h", Array1::from_shape_fn(11, |x| f16::from_f32(x as f32 / 3.0)).view()).unwrap();
    run.fill("seen", -0.0).unwrap();
    run
}

/// The bits of all that a run holds, by level.
pub(crate) fn bits(run: &Run) -> Vec<(String, Vec<u64>)> {
    let mut found = Vec::new();
    let kernel = run.kernel().clone();
    for id in kernel.array_ids() {
        let array = kernel.array(id);
        for back in 0..kernel.state_depth(id).max(1) {
            let shape = IxDyn(&run.shape(&array.name).unwrap());
            macro_rules! read {
                ($cell:ty, $bits:expr) => {{
                    let mut cells: ArrayD<$cell> = ArrayD::default(shape);
                    run.read_back(&array.name, back, cells.view_mut()).unwrap();
                    cells.iter().map($bits).collect()
                }};
            }
            let bits: Vec<u64> = match array.element.name() {
                "f64" => read!(f64, |cell| cell.to_bits()),
                "f32" => read!(f32, |cell| u64::from(cell.to_bits())),
                "f16" => read!(f16, |cell| u64::from(cell.to_bits())),
                _ => read!(u8, |&cell| u64::from(cell)),
            };
            found.push((format!("{}@{back}", array.name), bits));
        }
    }
    found
}
