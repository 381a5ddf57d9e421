//! Kernels on borrowed arrays: views of any strides against the interpreter of kernels, and what is refused.

use crease::kernel::graph::{Array, Role};
use crease::kernel::interpret::{FullArray, Inputs, full_array, interpret};
use crease::prelude::*;
use crease::{ElementType, RunError, f16};
use fastrand::Rng;
use ndarray::{Array1, Array2, ArrayD, ArrayViewD, Axis, IxDyn, Slice, s};

use crate::host::Host;

/// Two stages with a fold between them, a mask of bytes, indices that do not start at 0.
const SHARPEN: &str = "
kernel sharpen(size H, W) for H >= 3 and W >= 3 {
  scalar k: f32
  input image[y, x]: f32 for 0 <= y < H and 0 <= x < W
  input mask[y, x]: u8 for 1 <= y < H-1 and 1 <= x < W-1
  temp sums[y, x]: f32 for 0 <= y < H and 1 <= x < W-1
  output sharp[y, x]: f32 for 1 <= y < H-1 and 1 <= x < W-1
  R[y, x] for 0 <= y < H and 1 <= x < W-1 { sums[y,x] = image[y,x-1] + image[y,x] + image[y,x+1] }
  C[y, x] for 1 <= y < H-1 and 1 <= x < W-1 {
    let blurred = (sums[y-1,x] + sums[y,x] + sums[y+1,x]) / 9
    sharp[y,x] = select(mask[y,x] > 127, image[y,x], image[y,x] + k * (image[y,x] - blurred))
  }
  schedule rows { R -> [y, 0, x vector(8)]; C -> [y + 1, 1, x vector(8)] }
  schedule cells { R -> [y, x, 0]; C -> [y + 1, x + 1, 1] }
}";

/// Reads and writes that are transposed, reversed, strided, and in place of one row.
const TURN: &str = "
kernel turn(size N) for N >= 2 {
  scalar k: f64
  input a[x, y]: f64 for 0 <= x, y < N
  input row[x]: f64 for 0 <= x < 2N
  output b[y, x]: f64 for 0 <= y, x < N
  output kept[x]: f64 for 3 <= x < N + 3
  S[y, x] for 0 <= y, x < N { b[y, x] = k * a[x, y] + row[2x + 1] }
  D[x] for 0 <= x < N { kept[N + 2 - x] = a[x, x] }
  schedule rows { S -> [y, x vector(8)]; D -> [N, x vector(8)] }
  schedule parallel { S -> [y parallel, x vector(8)]; D -> [N, x vector(8)] }
}";

/// Three indices, a triangle, a sum along one of them.
const SUMS: &str = "
kernel sums(size N) for N >= 1 {
  scalar k: f64
  input a[z, y, x]: f64 for 0 <= z, y < N and 0 <= x <= y
  output s[z, y, x]: f64 for 0 <= z, y < N and 0 <= x <= y
  F[z, y, x] for z = 0 and 0 <= y < N and 0 <= x <= y { s[z, y, x] = a[z, y, x] }
  S[z, y, x] for 1 <= z < N and 0 <= y < N and 0 <= x <= y { s[z, y, x] = k * s[z-1, y, x] + a[z, y, x] }
  schedule planes { F, S -> [z, y, x vector(8)] }
  schedule columns { F, S -> [y parallel, x, z] }
}";

/// Lookups in tables along one coordinate or two, whose indices do not begin at 0.
const CURVES: &str = "
kernel curves(size N) for N >= 2 {
  scalar k: f64
  input a[x, y]: f64 for 0 <= x, y < N
  input bytes[x]: u8 for 0 <= x < N
  input lut[i, c]: f64 for -3 <= i < N and 0 <= c < 2
  input grid[i, j]: f64 for 1 <= i <= N and -2 <= j <= 2
  output b[y, x]: f64 for 0 <= y, x < N
  S[y, x] for 0 <= y, x < N {
    b[y, x] = k * lut[clamp(i32(a[x, y] * 0.1 - 9)), y mod 2] + grid[clamp(shift_right(bytes[x], 4)), clamp(i16(a[y, x] - 100))]
  }
  schedule rows { S -> [y, x vector(8)] }
  schedule parallel { S -> [y parallel, x vector(8)] }
}";

/// The scalar `k`.
const K: f64 = 0.75;
/// What cells hold that no kernel writes.
const OTHER: f64 = -7.0;

/// Conversions, exact where they are used.
trait Number: ElementType + PartialEq {
    fn from_double(value: f64) -> Self;
    fn to_double(self) -> f64;
}

macro_rules! number {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            fn from_double(value: f64) -> $ty {
                value as $ty
            }
            fn to_double(self) -> f64 {
                self.into()
            }
        }
    )*};
}

number!(f64, f32, u8);

/// A kernel at one size, under one of its schedules.
struct Case {
    kernel: Kernel,
    params: Vec<i64>,
    code: Code,
    schedule: usize,
}

/// An input lying somehow in its host; along some axis all cells may be one.
struct Lying<T> {
    name: String,
    host: Host<T>,
    repeats: Option<usize>,
}

impl<T: Number> Lying<T> {
    fn new(random: &mut Rng, name: &str, shape: &[usize]) -> Lying<T> {
        let values = ArrayD::from_shape_simple_fn(IxDyn(shape), || T::from_double(random.f64() * 200.0));
        let repeats = (random.u8(0..3) == 0).then(|| random.usize(0..shape.len()));
        Lying { name: name.to_string(), host: Host::holding(random, &values, T::from_double(OTHER)), repeats }
    }

    /// The cells that differ.
    fn cut(&self) -> ArrayViewD<'_, T> {
        let mut view = self.host.view();
        if let Some(axis) = self.repeats {
            view.slice_axis_inplace(Axis(axis), Slice::from(0..1));
        }
        view
    }
}

impl Case {
    fn new(text: &str, params: &[i64], schedule: usize) -> Case {
        let kernel = Kernel::parse(text).unwrap();
        let plan = kernel.plan().schedule(&kernel.schedules()[schedule].name);
        let sizes = kernel.params().iter().zip(params);
        let plan = sizes.fold(plan, |plan, (param, value)| plan.size(&param.name, *value));
        let code = plan.build().unwrap().compile().unwrap();
        Case { params: params.to_vec(), code, schedule, kernel }
    }

    fn shape(&self, name: &str) -> Vec<usize> {
        self.code.instantiate().unwrap().shape(name).unwrap()
    }

    /// Inputs of one element type, lying somehow.
    fn inputs<T: Number>(&self, random: &mut Rng) -> Vec<Lying<T>> {
        let arrays = self.kernel.arrays().iter().filter(|a| a.role == Role::Input && a.element == T::ELEMENT);
        arrays.map(|array| Lying::new(random, &array.name, &self.shape(&array.name))).collect()
    }

    /// A view's values as the interpreter wants them.
    fn full<T: Number>(&self, name: &str, view: &ArrayViewD<'_, T>) -> FullArray {
        let id = self.kernel.array_id(name).unwrap();
        let mut full = full_array(&self.kernel, id, &self.params, 1 << 16).unwrap();
        let lower = full.lower().to_vec();
        for (at, value) in view.indexed_iter() {
            let index: Vec<i64> = lower.iter().enumerate().map(|(k, low)| low + at[k] as i64).collect();
            full.set(&index, value.to_double());
        }
        full
    }

    /// Runs on views that `random` chooses; `T` is the type of the outputs.
    fn run_on_views<T: Number>(&self, random: &mut Rng) {
        let mut run = self.code.instantiate_with(RunOptions::default().threads(2).guard_pages(true)).unwrap();
        run.set("k", K).unwrap();
        let (numbers, bytes) = (self.inputs::<T>(random), self.inputs::<u8>(random));
        let (numbers_cut, bytes_cut): (Vec<_>, Vec<_>) =
            (numbers.iter().map(Lying::cut).collect(), bytes.iter().map(Lying::cut).collect());
        let (mut inputs, mut given) = (Vec::new(), self.parameters());
        for (input, cut) in numbers.iter().zip(&numbers_cut) {
            let view = cut.broadcast(IxDyn(&self.shape(&input.name))).unwrap();
            given = given.array(&input.name, self.full(&input.name, &view));
            inputs.push((input.name.as_str(), Input::from(view)));
        }
        for (input, cut) in bytes.iter().zip(&bytes_cut) {
            let view = cut.broadcast(IxDyn(&self.shape(&input.name))).unwrap();
            given = given.array(&input.name, self.full(&input.name, &view));
            inputs.push((input.name.as_str(), Input::from(view)));
        }
        let outputs = self.kernel.arrays().iter().filter(|array| array.role == Role::Output);
        let other = T::from_double(OTHER);
        let blank = |array: &Array| ArrayD::from_elem(IxDyn(&self.shape(&array.name)), other);
        let mut outputs: Vec<(&str, Host<T>)> =
            outputs.map(|array| (array.name.as_str(), Host::holding(random, &blank(array), other))).collect();
        let before = outputs.clone();
        let mut borrowed: Vec<(&str, Output<'_>)> =
            outputs.iter_mut().map(|(name, host)| (*name, Output::from(host.view_mut()))).collect();
        run.run_on(&inputs, &mut borrowed).unwrap();
        drop(borrowed);
        let expected = interpret(&self.kernel, &self.kernel.schedules()[self.schedule], &given, &Default::default());
        let expected = expected.unwrap();
        for ((name, host), (_, before)) in outputs.into_iter().zip(before) {
            self.compare(name, &host.view(), &expected[name]);
            assert!(host.around() == before.around(), "cells around `{name}` have changed");
        }
    }

    fn parameters(&self) -> Inputs {
        let params = self.kernel.params().iter().zip(&self.params);
        params.fold(Inputs::new().scalar("k", K), |given, (param, value)| given.param(&param.name, *value))
    }

    /// Compares a view with what it must hold; cells outside the index space must be as they were.
    fn compare<T: Number>(&self, name: &str, view: &ArrayViewD<'_, T>, expected: &FullArray) {
        let domain = &self.kernel.array(self.kernel.array_id(name).unwrap()).domain;
        for (at, value) in view.indexed_iter() {
            let index: Vec<i64> = expected.lower().iter().enumerate().map(|(k, low)| low + at[k] as i64).collect();
            let is_cell = domain.holds(&index, &self.params).unwrap();
            let wanted = if is_cell { expected.get(&index).unwrap() } else { OTHER };
            assert_eq!(value.to_double().to_bits(), wanted.to_bits(), "{name}{index:?}, strides {:?}", view.strides());
        }
    }
}

/// A 32-bit input and a mask, over and over, lying differently each time.
#[test]
fn images_of_any_layout_agree_with_the_interpreter() {
    let mut random = Rng::with_seed(3);
    for (schedule, sizes) in [(0, [7, 21]), (1, [3, 9]), (0, [3, 3])] {
        let case = Case::new(SHARPEN, &sizes, schedule);
        (0..25).for_each(|_| case.run_on_views::<f32>(&mut random));
    }
}

#[test]
fn references_along_any_coordinate_agree_with_the_interpreter() {
    let mut random = Rng::with_seed(4);
    for (text, schedule, size) in
        [(TURN, 0, 19), (TURN, 1, 9), (SUMS, 0, 11), (SUMS, 1, 6), (SUMS, 0, 1), (CURVES, 0, 13), (CURVES, 1, 4)]
    {
        let case = Case::new(text, &[size], schedule);
        (0..25).for_each(|_| case.run_on_views::<f64>(&mut random));
    }
}

/// Cells of the input lie between those of the output; `u8` is computed in `f32` and rounded towards zero.
#[test]
fn halves_of_one_array_can_be_borrowed_together() {
    let text = "kernel halve(size N) for N >= 1 {
      input a[i]: u8 for 0 <= i < N
      output b[i]: u8 for 0 <= i < N
      S[i] for 0 <= i < N { b[i] = u8(f32(a[i]) / 2) }
      schedule s { S -> [i vector(8)] }
    }";
    let code = Kernel::parse(text).unwrap().plan().size("N", 9).build().unwrap().compile().unwrap();
    let mut cells = Array1::from_iter(0..18_u8);
    let (even, odd) = cells.multi_slice_mut((s![..;2], s![1..;2]));
    code.run(&[("a", even.view().into())], &mut [("b", odd.into())], &[]).unwrap();
    let expected = (0..18).map(|i| if i % 2 == 0 { i } else { (i - 1) / 2 });
    assert_eq!(cells, Array1::from_iter(expected));
}

/// Columns of an array are borrowed, so that cells lie apart: all values come through, and those beside them stay.
#[test]
fn cells_of_half_precision_can_be_borrowed() {
    let text = "kernel twice(size N) for N >= 1 {
      input a[i]: f16 for 0 <= i < N
      output b[i]: f16 for 0 <= i < N
      S[i] for 0 <= i < N { b[i] = 2 * a[i] }
      schedule s { S -> [i vector(16)] }
    }";
    let code = Kernel::parse(text).unwrap().plan().size("N", 41).build().unwrap().compile().unwrap();
    let before = Array2::from_shape_fn((41, 3), |(i, j)| f16::from_f32((i + 100 * j) as f32 / 8.0));
    let mut after = before.clone();
    let (inner, mut outer) = after.view_mut().split_at(Axis(1), 1);
    code.run(&[("a", inner.column(0).into())], &mut [("b", outer.column_mut(1).into())], &[]).unwrap();
    let expected = |(i, j): (usize, usize)| if j == 2 { f16::from_f32(i as f32 / 4.0) } else { before[[i, j]] };
    assert_eq!(after, Array2::from_shape_fn((41, 3), expected));
    let rows: Vec<f16> = before.column(0).to_vec();
    let mut doubled = vec![f16::NAN; 41];
    let output = Output::from_slice(&mut doubled, &[41]).unwrap();
    code.run(&[("a", Input::from_slice(&rows, &[41]).unwrap())], &mut [("b", output)], &[]).unwrap();
    assert_eq!(doubled, after.column(2).to_vec());
}

#[test]
fn slices_arrays_and_views_can_be_mixed() {
    let code = Case::new(SHARPEN, &[3, 4], 0).code;
    let (image, mask, mut sharp) = (vec![9.0_f32; 12], Array2::<u8>::zeros((1, 2)), [0.0_f32; 2]);
    let inputs = [("mask", (&mask).into()), ("image", Input::from_slice(&image, &[3, 4]).unwrap())];
    let mut outputs = [("sharp", Output::from_slice(&mut sharp, &[1, 2]).unwrap())];
    code.run(&inputs, &mut outputs, &[("k", 2.0)]).unwrap();
    assert_eq!(sharp, [9.0; 2]);
    let length = Input::from_slice(&image, &[3, 5]).unwrap_err();
    assert_eq!(length.to_string(), "12 cells cannot have shape [3, 5]");
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let code = Case::new(SHARPEN, &[4, 5], 0).code;
    let (image, bytes) = (Array2::<f32>::ones((4, 5)), Array2::<u8>::zeros((2, 3)));
    let doubles = Array2::<f64>::ones((4, 5));
    let mut sharp = Array2::from_elem((2, 3), -1.0_f32);
    let mut refusal = |inputs: &[(&str, Input<'_>)], output: &str, scalars: &[(&str, f64)]| {
        let refused = code.run(inputs, &mut [(output, (&mut sharp).into())], scalars).unwrap_err().to_string();
        assert!(sharp.iter().all(|value| *value == -1.0), "{refused}, but something was written");
        // What to do about it stands behind a semicolon.
        refused.split(';').next().unwrap_or_default().to_string()
    };
    let (good, mask, k) = (|| Input::from(&image), || Input::from(&bytes), &[("k", 1.0)]);
    let inputs = || [("image", good()), ("mask", mask())];
    assert_eq!(refusal(&inputs()[..1], "sharp", k), "array `mask` of kernel `sharpen` was not given");
    assert_eq!(refusal(&[("picture", good())], "sharp", k), "kernel `sharpen` has no array `picture`");
    assert_eq!(refusal(&[("image", good()), ("image", good())], "sharp", k), "array `image` was given twice");
    assert_eq!(refusal(&inputs(), "image", k), "array `image` of kernel `sharpen` is not an output");
    assert_eq!(refusal(&[("sums", good())], "sharp", k), "array `sums` of kernel `sharpen` is not an input");
    let transposed = [("image", image.t().into()), ("mask", mask())];
    assert_eq!(refusal(&transposed, "sharp", k), "array `image` has shape [4, 5], the view has [5, 4]");
    let flat = [("image", image.as_slice().unwrap().into()), ("mask", mask())];
    assert_eq!(refusal(&flat, "sharp", k), "array `image` has shape [4, 5], the view has [20]");
    assert_eq!(refusal(&[("image", (&doubles).into())], "sharp", k), "array `image` holds f32, the view holds f64");
    assert_eq!(refusal(&[("mask", good())], "sharp", k), "array `mask` holds u8, the view holds f32");
    assert_eq!(refusal(&inputs(), "sharp", &[]), "scalar `k` of kernel `sharpen` has not been set");
    assert_eq!(refusal(&inputs(), "sharp", &[("q", 1.0)]), "kernel `sharpen` has no scalar `q`");
}

/// A mask of bytes beside a state: written once, kept by the run, and not borrowed.
#[test]
fn state_beside_a_mask_of_bytes() {
    let text = "kernel holes(size N; run T) for N >= 3 {
      input solid[x]: u8 for 0 <= x < N
      state u[t, x]: f64 for 0 <= x < N
      S[t, x] for 1 <= t <= T and 0 <= x < N-1 { u[t,x] = select(solid[x] > 0, 0, u[t-1,x] + u[t-1,x+1]) }
      E[t, x] for 1 <= t <= T and x = N-1 { u[t,x] = u[t-1,x] }
      schedule rows { S, E -> [t, x vector(8)] }
    }";
    let code = Kernel::parse(text).unwrap().plan().size("N", 20).build().unwrap().compile().unwrap();
    let mut run = code.instantiate().unwrap();
    let solid = Array1::from_shape_fn(20, |x| u8::from(x % 7 == 3));
    run.write("solid", solid.view()).unwrap();
    run.write("u", Array1::<f64>::ones(20).view()).unwrap();
    run.advance(2).unwrap();
    run.advance(3).unwrap();
    let mut expected = [1.0; 20];
    for _ in 0..5 {
        for x in 0..19 {
            expected[x] = if solid[x] > 0 { 0.0 } else { expected[x] + expected[x + 1] };
        }
    }
    let (mut u, mut kept) = (Array1::<f64>::zeros(20), Array1::<u8>::zeros(20));
    run.read("u", u.view_mut()).unwrap();
    run.read("solid", kept.view_mut()).unwrap();
    assert_eq!(u.as_slice().unwrap(), expected);
    assert_eq!(kept, solid);
    let borrowed = run.run_on(&[("solid", (&solid).into())], &mut []).unwrap_err();
    assert!(matches!(borrowed, Error::Run(RunError::HasState { .. })), "{borrowed}");
    let wrong = run.write("solid", Array1::<f32>::zeros(20).view()).unwrap_err();
    assert_eq!(wrong.to_string(), "array `solid` holds u8, the view holds f32");
}
