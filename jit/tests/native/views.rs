//! Arrays bound to views of any strides: reversed, transposed, sliced, broadcast.
//!
//! The interpreter, whose arrays are dense, says what the cells of a view must be afterwards; the cells around it must
//! not have changed.

use crease_jit::*;
use crease_program::{Cells, Program};

use super::harness::{Fill, reference, variants, verified};
use fastrand::Rng;
use ndarray::{Array2, Array3, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, Slice};

/// Differences along rows and columns, a mask, and the output's own values; `TY` stands for an element type.
const DIFFERENCES: &str = "program differences() {
  array in: TY[5, 24] read
  array mask: u8[4, 21] read
  array out: TY[4, 21] write
  parallel for v0 in 0 .. 4 {
    strip v1 in 0 .. 21 lanes LANES {
      m0 = in[at v0, 0 step 1]
      m1 = in[at v0 + 1, 3 step 1]
      m2 = in[at v0, 2]
      m3 = mask[at v0, 0 step 1]
      m4 = out[at v0, 0 step 1]
      %0 = load m0: TY
      %1 = load m1: TY
      %2 = load m2: TY
      %3 = load m3: TY
      %4 = load m4: TY
      %5 = sub %1, %0
      %6 = fma %5, %2, %4
      %7 = add %6, %3
      %8: store m4, %7
      alias %4, %8: same_lane
    }
  }
}";

/// An array of three axes in which a view of two lies somehow.
#[derive(Clone)]
struct Host<T> {
    cells: Array3<T>,
    /// Which axis is fixed, and where.
    plane: (usize, usize),
    transposed: bool,
    slices: [Slice; 2],
    /// Whether the second axis of the view repeats one cell.
    repeats: bool,
}

impl<T: ElementType> Host<T> {
    fn new(random: &mut Rng, shape: [usize; 2], repeats: bool, mut value: impl FnMut() -> T) -> Host<T> {
        let mut extents = Vec::new();
        let slices = shape.map(|extent| {
            let step: isize = [1, 1, -1, 2, -3][random.usize(0..5)];
            let (first, length) = (random.usize(0..3), (extent - 1) * step.unsigned_abs() + 1);
            extents.push(first + length + random.usize(0..3));
            Slice::new(first as isize, Some((first + length) as isize), step)
        });
        let transposed = random.bool();
        if transposed {
            extents.reverse();
        }
        let plane = (random.usize(0..3), random.usize(0..2));
        extents.insert(plane.0, 2);
        let cells = Array3::from_shape_simple_fn((extents[0], extents[1], extents[2]), &mut value);
        Host { cells, plane, transposed, slices, repeats }
    }

    fn with_view<R>(&self, use_it: impl FnOnce(ArrayView2<'_, T>) -> R) -> R {
        let (axis, at) = self.plane;
        let plane = self.cells.index_axis(Axis(axis), at);
        let plane = if self.transposed { plane.reversed_axes() } else { plane };
        let view = plane.slice_axis_move(Axis(0), self.slices[0]).slice_axis_move(Axis(1), self.slices[1]);
        if !self.repeats {
            return use_it(view);
        }
        let column = view.slice_axis(Axis(1), Slice::from(0..1));
        use_it(column.broadcast(view.raw_dim()).expect("one column becomes many"))
    }

    fn view_mut(&mut self) -> ArrayViewMut2<'_, T> {
        let (axis, at) = self.plane;
        let plane = self.cells.index_axis_mut(Axis(axis), at);
        let plane = if self.transposed { plane.reversed_axes() } else { plane };
        plane.slice_axis_move(Axis(0), self.slices[0]).slice_axis_move(Axis(1), self.slices[1])
    }

    /// The view's cells in order.
    fn in_order(&self) -> Vec<f64>
    where
        T: Into<f64>,
    {
        self.with_view(|view| view.iter().map(|x| (*x).into()).collect())
    }
}

/// Runs one program on views that `random` chooses, and compares.
fn agree_on_views<T: ElementType + Into<f64> + PartialEq + std::fmt::Debug>(
    random: &mut Rng,
    code: &Compiled,
    pool: &Pool,
    from: impl Fn(f64) -> T,
) {
    let seed = random.u64(..);
    let mut values = Rng::with_seed(seed);
    let repeats = random.u8(0..4) == 0;
    let input = Host::new(random, [5, 24], repeats, || from(values.f64() - 0.5));
    let mask = Host::new(random, [4, 21], false, || values.u8(..));
    let mut out = Host::new(random, [4, 21], false, || from(values.f64()));
    // The harness makes bytes of hundredths.
    let bytes = mask.in_order().iter().map(|byte| (byte + 0.5) / 100.0).collect();
    let fill: &Fill = &[("in", input.in_order()), ("mask", bytes), ("out", out.in_order())];
    let expected = reference(code.program(), &[], &[], fill);
    let mut before = out.clone();
    input.with_view(|input| {
        mask.with_view(|mask| {
            let out = BufferRef::write_view(out.view_mut());
            let buffers = vec![BufferRef::read_view(input), BufferRef::read_view(mask), out];
            code.run(&mut Call { args: &[], scalars: &[], buffers, pool }).unwrap();
        })
    });
    let found = out.in_order();
    let expected: Vec<f64> = match &expected.buffers[2] {
        Cells::F64(cells) => cells.clone(),
        Cells::F32(cells) => cells.iter().copied().map(f64::from).collect(),
        _ => unreachable!("the output holds numbers of these two types"),
    };
    assert!(
        found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()),
        "seed {seed}: {found:?} {expected:?}"
    );
    before.view_mut().fill(from(0.0));
    out.view_mut().fill(from(0.0));
    assert!(before.cells == out.cells, "seed {seed}: cells around the view have changed");
}

#[test]
fn views_of_any_strides_agree() {
    let pools = [Pool::sequential(), Pool::new(2).unwrap()];
    let mut random = Rng::with_seed(5);
    for (ty, lanes) in [("f64", 1), ("f64", 8), ("f32", 16)] {
        let program = Program::parse(&DIFFERENCES.replace("TY", ty).replace("LANES", &lanes.to_string())).unwrap();
        for (choice, unroll) in variants() {
            let options = CompileOptions::default().choice(choice).max_unroll(unroll);
            let code = compile(&verified(&program), &options).unwrap();
            for round in 0..40 {
                let pool = &pools[round % 2];
                match ty {
                    "f64" => agree_on_views::<f64>(&mut random, &code, pool, |x| x),
                    _ => agree_on_views::<f32>(&mut random, &code, pool, |x| x as f32),
                }
            }
        }
    }
}

/// Colours that lie beside each other, and a matrix that is read down its columns.
const COLOURS: &str = "program colours() {
  array image: TY[3, 43, 3] read
  array across: TY[43, 3] read
  array out: TY[3, 43, 3] write
  parallel for v0 in 0 .. 3 {
    strip v1 in 0 .. 43 lanes 64 {
      m0 = image[at v0, 0 step 1, 0]
      m1 = image[at v0, 0 step 1, 2]
      m2 = across[at 0 step 1, v0]
      m3 = out[at v0, 0 step 1, 1]
      m4 = out[at v0, 42 step -1, 2]
      %0 = load m0: TY
      %1 = load m1: TY
      %2 = load m2: TY
      %3 = add %0, %1
      %4 = add %1, %2
      %5: store m3, %3
      %6: store m4, %4
    }
  }
}";

/// A view of an array's cells, dense or, by `random`, with steps and gaps along its axes.
fn view_of(random: &mut Rng, shape: [usize; 3]) -> (Array3<u8>, [Slice; 3]) {
    let is_dense = random.bool();
    let mut extents = shape;
    let slices = [0, 1, 2].map(|axis| {
        let step: isize = if is_dense { 1 } else { [1, 1, -1, 2, -3][random.usize(0..5)] };
        let gaps = if is_dense { [0, 0] } else { [random.usize(0..3), random.usize(0..3)] };
        let length = (shape[axis] - 1) * step.unsigned_abs() + 1;
        extents[axis] = gaps[0] + length + gaps[1];
        Slice::new(gaps[0] as isize, Some((gaps[0] + length) as isize), step)
    });
    (Array3::from_shape_simple_fn(extents, || random.u8(..100)), slices)
}

#[test]
fn cells_apart_in_views_of_any_strides_agree() {
    let pools = [Pool::sequential(), Pool::new(2).unwrap()];
    let mut random = Rng::with_seed(9);
    for ty in ["f64", "f32", "i64", "i32"] {
        let program = Program::parse(&COLOURS.replace("TY", ty)).unwrap();
        for (choice, unroll) in variants() {
            let options = CompileOptions::default().choice(choice).max_unroll(unroll).verify_code(true);
            let code = compile(&verified(&program), &options).unwrap();
            for round in 0..12 {
                let pool = &pools[round % 2];
                match ty {
                    "f64" => agree_on_colours::<f64>(&mut random, &code, pool, f64::from),
                    "f32" => agree_on_colours::<f32>(&mut random, &code, pool, f32::from),
                    "i64" => agree_on_colours::<i64>(&mut random, &code, pool, i64::from),
                    _ => agree_on_colours::<i32>(&mut random, &code, pool, i32::from),
                }
            }
        }
    }
}

fn agree_on_colours<T>(random: &mut Rng, code: &Compiled, pool: &Pool, from: impl Fn(u8) -> T)
where
    T: ElementType + PartialEq + std::fmt::Debug + std::ops::Add<Output = T>,
{
    let mut host = |shape| {
        let (cells, slices) = view_of(random, shape);
        (cells.mapv(&from), slices)
    };
    let (image, across, mut out) = (host([3, 43, 3]), host([43, 3, 1]), host([3, 43, 3]));
    let mut expected = out.clone();
    let [colours, column] = [&image, &across].map(|(cells, slices)| {
        let all = cells.slice_axis(Axis(0), slices[0]).slice_axis_move(Axis(1), slices[1]);
        all.slice_axis_move(Axis(2), slices[2])
    });
    let [found, mut wanted] = [&mut out, &mut expected].map(|(cells, slices)| {
        let all = cells.slice_axis_mut(Axis(0), slices[0]).slice_axis_move(Axis(1), slices[1]);
        all.slice_axis_move(Axis(2), slices[2])
    });
    for (y, x) in (0..3).flat_map(|y| (0..43).map(move |x| (y, x))) {
        wanted[[y, x, 1]] = colours[[y, x, 0]] + colours[[y, x, 2]];
        wanted[[y, 42 - x, 2]] = colours[[y, x, 2]] + column[[x, y, 0]];
    }
    let column = BufferRef::read_view(column.index_axis_move(Axis(2), 0));
    let buffers = vec![BufferRef::read_view(colours), column, BufferRef::write_view(found)];
    code.run(&mut Call { args: &[], scalars: &[], buffers, pool }).unwrap();
    assert!(out.0 == expected.0, "cells differ, in the view or around it: {:?}, {:?}", image.1, out.1);
}

#[test]
fn an_array_takes_views_of_its_shape_and_a_block_takes_dense_ones() {
    let program = Program::parse(
        "program p() { array a: f64[2, 3] write buffer b: f64[6] read
           strip v0 in 0 .. 3 lanes 2 { m0 = a[at 1, 0 step 1] m1 = b[pos 3, stride 1]
             %0 = load m1: f64 %1: store m0, %0 } }",
    );
    let code = compile(&verified(&program.unwrap()), &CompileOptions::default()).unwrap();
    let run = |a: BufferRef<'_>, b: BufferRef<'_>| {
        code.run(&mut Call { args: &[], scalars: &[], buffers: vec![a, b], pool: &Pool::sequential() })
    };
    let (mut a, b) = (Array2::<f64>::zeros((2, 3)), Array2::from_shape_fn((3, 2), |(y, x)| (2 * y + x) as f64));
    let wrong = run(BufferRef::write_view(a.view_mut().reversed_axes()), BufferRef::read_view(b.view())).unwrap_err();
    assert_eq!(wrong.to_string(), "array `a` has shape [2, 3], the view has [3, 2]");
    let strided = run(BufferRef::write_view(a.view_mut()), BufferRef::read_view(b.t())).unwrap_err();
    assert_eq!(strided, CallError::Strided { buffer: "b".to_string() });
    run(BufferRef::write_view(a.view_mut()), BufferRef::read_view(b.view())).unwrap();
    assert_eq!(a, ndarray::array![[0.0, 0.0, 0.0], [3.0, 4.0, 5.0]]);
    a.fill(0.0);
    run(BufferRef::write(a.as_slice_mut().unwrap()), BufferRef::read_view(b.view())).unwrap();
    assert_eq!(a, ndarray::array![[0.0, 0.0, 0.0], [3.0, 4.0, 5.0]]);
}

/// Rows of a table may lie any distance apart: where that takes more than 32 bits, too, and backwards.
#[test]
fn tables_are_looked_up_however_far_apart_their_rows_are() {
    let program = Program::parse(
        "program far() { array table: u8[2, 16] read buffer x: i32[40] read buffer out: i32[40] write
           strip v0 in 0 .. 40 lanes 64 { m0 = x[pos 0, stride 1]
             m1 = table[at 0, 0] axis 0 to 1 of 0 axis -4 to 11 of 1
             m2 = out[pos 0, stride 1]
             %0 = load m0: i32 %1 = shift_right %0, 2 %2 = lookup m1[%1, %0]: i32 %3: store m2, %2 } }",
    );
    let program = verified(&program.unwrap());
    let x: Vec<i32> = (-20..20).collect();
    for (choice, _) in variants() {
        let code = compile(&program, &CompileOptions::default().choice(choice)).unwrap();
        for apart in [16_usize, 77, 1 << 31] {
            let mut cells = vec![0_u8; apart + 16];
            (0..16).for_each(|at| (cells[at], cells[apart + at]) = (at as u8 + 1, at as u8 + 101));
            let mut table = ArrayView2::from_shape((2, 16).strides((apart, 1)), &cells).unwrap();
            for is_reversed in [false, true] {
                let mut out = vec![0_i32; 40];
                let buffers =
                    vec![BufferRef::read_view(table), BufferRef::read(&x), BufferRef::write(out.as_mut_slice())];
                code.run(&mut Call { args: &[], scalars: &[], buffers, pool: &Pool::sequential() }).unwrap();
                let expected = x.iter().map(|x| {
                    let is_second = ((x >> 2) >= 1) != is_reversed;
                    (x.clamp(&-4, &11) + 4) + if is_second { 101 } else { 1 }
                });
                assert!(out.iter().copied().eq(expected), "{choice:?}, {apart}: {out:?}");
                table.invert_axis(Axis(0));
            }
        }
    }
}
