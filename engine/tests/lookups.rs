//! Lookups in tables: the same cells by interpreter, compiled code of every kind and plain loops, kept and borrowed,
//! for every type of index and every number; what is no table is refused.

use crease::kernel::builder::TableIndex;
use crease::kernel::graph::Element;
use crease::kernel::interpret::{FullArray, Inputs, full_array, interpret};
use crease::prelude::*;
use crease::{CompileOptions, Isa, IsaChoice, f16};
use ndarray::{Array1, Array2, Array3, s};

/// Indices of every type, of a table that begins below 0.
const TYPES: &str = "
kernel types(size N) for N >= 1 {
  input at[x]: f64 for 0 <= x < N
  input lut[i]: f32 for -3 <= i <= 5
  output found[k, x]: f32 for 0 <= k < 8 and 0 <= x < N
  S[x] for 0 <= x < N {
    let v = at[x]
    found[0, x] = lut[clamp(u8(v))]; found[1, x] = lut[clamp(i8(v))]; found[2, x] = lut[clamp(u16(v))]
    found[3, x] = lut[clamp(i16(v))]; found[4, x] = lut[clamp(u32(v))]; found[5, x] = lut[clamp(i32(v))]
    found[6, x] = lut[clamp(i64(v))]; found[7, x] = lut[clamp(i32(floor(v)))] + 0.5
  }
  schedule rows { S -> [x vector(16)] }
}";

/// A table of two computed indices around one that moves along the row, kept from step to step.
const STEPS: &str = "
kernel steps(size N; run T) for N >= 1 {
  input lut[i, x, k]: f64 for 0 <= i < 4 and 0 <= x < N and -1 <= k <= 1
  state u[t, x]: f64 for 0 <= x < N
  S[t, x] for 1 <= t <= T and 0 <= x < N {
    u[t, x] = u[t-1, x] + lut[clamp(i32(u[t-1, x])), x, clamp(i16(2 * u[t-1, x] - 5))]
  }
  schedule rows { S -> [t, x vector(8)] }
  observe table { output now[x]: f64 for 0 <= x < N
    V[t, x] for t = T and 0 <= x < N { now[x] = lut[clamp(i32(u[t, x])), x, 0] } }
}";

fn codes(plan: &Plan) -> Vec<Code> {
    let isa = Isa::detect();
    let choices = IsaChoice::ALL.into_iter().filter(|choice| isa.resolve(*choice).is_ok());
    choices.map(|choice| plan.compile_with(&CompileOptions::default().choice(choice)).unwrap()).collect()
}

fn special() -> Array1<f64> {
    let numbers = [0.0, -0.0, 1.9, -1.9, -2.5, 4.0, 5.0, 5.1, 6.0, -3.0, -4.0, 127.0, 128.0, 200.0, 255.0, 256.0];
    let large =
        [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e30, -1e30, 4294967297.0, -4294967297.0, 65536.0];
    numbers.into_iter().chain(large).chain((-20..20).map(|i| f64::from(i) * 0.7)).collect()
}

fn full<T: Copy + Into<f64>>(kernel: &Kernel, name: &str, params: &[i64], values: &Array1<T>) -> FullArray {
    let mut full = full_array(kernel, kernel.array_id(name).unwrap(), params, 1 << 16).unwrap();
    let low = full.lower()[0];
    values.iter().zip(low..).for_each(|(value, i)| assert!(full.set(&[i], (*value).into())));
    full
}

#[test]
fn every_type_of_index_is_brought_into_the_table() {
    let kernel = Kernel::parse(TYPES).unwrap();
    let (at, lut) = (special(), Array1::from_shape_fn(9, |i| 100.0 + i as f32));
    let n = at.len() as i64;
    // A table of the caller's whose cells are apart, and go backwards.
    let mut host = Array2::<f32>::from_elem((9, 3), f32::NAN);
    host.slice_mut(s![..;-1, 1]).assign(&lut);
    let cell = |i: i64| 100.0 + (i.clamp(-3, 5) + 3) as f32;
    let mut expected = Array2::<f32>::zeros((8, at.len()));
    for (x, &v) in at.iter().enumerate() {
        let found = [
            cell((v as u8).into()),
            cell((v as i8).into()),
            cell((v as u16).into()),
            cell((v as i16).into()),
            cell((v as u32).into()),
            cell((v as i32).into()),
            cell(v as i64),
            cell((v.floor() as i32).into()) + 0.5,
        ];
        found.into_iter().enumerate().for_each(|(k, value)| expected[[k, x]] = value);
    }
    let given = Inputs::new().param("N", n);
    let given = given.array("at", full(&kernel, "at", &[n], &at)).array("lut", full(&kernel, "lut", &[n], &lut));
    let interpreted = interpret(&kernel, &kernel.schedules()[0], &given, &Default::default()).unwrap();
    for ((k, x), value) in expected.indexed_iter() {
        assert_eq!(interpreted["found"].get(&[k as i64, x as i64]), Some(f64::from(*value)), "{k} of {}", at[x]);
    }
    let plan = kernel.plan().size("N", n).build().unwrap();
    for code in codes(&plan) {
        let mut found = Array2::<f32>::zeros((8, at.len()));
        let inputs = [("at", (&at).into()), ("lut", host.slice(s![..;-1, 1]).into())];
        let mut run = code.instantiate_with(RunOptions::default().guard_pages(true)).unwrap();
        run.run_on(&inputs, &mut [("found", (&mut found).into())]).unwrap();
        assert_eq!(found, expected, "borrowed");
        run.write("at", at.view()).unwrap();
        run.write("lut", lut.view()).unwrap();
        run.run_once().unwrap();
        run.read("found", found.view_mut()).unwrap();
        assert_eq!(found, expected, "kept");
    }
}

#[test]
fn tables_beside_a_state_are_kept_and_observed() {
    let kernel = Kernel::parse(STEPS).unwrap();
    let n = 21;
    let lut = Array3::from_shape_fn((4, n, 3), |(i, x, k)| (i * 7 + x * 3 + k * 5) as f64 % 1.9 - 0.4);
    let start = Array1::from_shape_fn(n, |x| (x as f64 * 0.37) % 5.0 - 1.0);
    let at = |u: f64, x: usize, k: i64| lut[[(u as i32).clamp(0, 3) as usize, x, (k + 1) as usize]];
    let mut expected = start.clone();
    for _ in 0..6 {
        for (x, u) in expected.iter_mut().enumerate() {
            *u += at(*u, x, i64::from((2.0 * *u - 5.0) as i16).clamp(-1, 1));
        }
    }
    let plan = kernel.plan().size("N", n as i64).build().unwrap();
    for code in codes(&plan) {
        let mut run = code.instantiate_with(RunOptions::default().guard_pages(true)).unwrap();
        run.write("lut", lut.view()).unwrap();
        run.write("u", start.view()).unwrap();
        run.advance(2).unwrap();
        run.advance(4).unwrap();
        let (mut u, mut now) = (Array1::<f64>::zeros(n), Array1::<f64>::zeros(n));
        run.read("u", u.view_mut()).unwrap();
        assert_eq!(u, expected);
        run.observe("table", &mut [("now", (&mut now).into())]).unwrap();
        assert_eq!(now, Array1::from_shape_fn(n, |x| at(expected[x], x, 0)));
    }
}

#[test]
fn a_cube_of_half_precision_has_three_computed_indices() {
    let text = "kernel grade(size H, W) for H >= 1 and W >= 1 {
      input image[y, x, c]: u8 for 0 <= y < H and 0 <= x < W and 0 <= c < 3
      input cube[c, r, g, b]: f16 for 0 <= c < 3 and 0 <= r, g, b < 17
      output graded[y, x, c]: u8 for 0 <= y < H and 0 <= x < W and 0 <= c < 3
      S[y, x, c] for 0 <= y < H and 0 <= x < W and 0 <= c < 3 {
        let p[k in 0..3] = shift_right(image[y, x, k] , 4)
        graded[y, x, c] = u8(cube[c, clamp(p[0]), clamp(p[1]), clamp(p[2])] * 255)
      }
      schedule rows { S -> [y parallel, x, c] }
    }";
    let text = text.replace("image[y, x, k]", "image[y, x, 0 + k]");
    let plan = Kernel::parse(&text).unwrap().plan().size("H", 5).size("W", 7).build().unwrap();
    let image = Array3::from_shape_fn((5, 7, 3), |(y, x, c)| (y * 91 + x * 57 + c * 33) as u8);
    let cube = ndarray::Array4::from_shape_fn((3, 17, 17, 17), |(c, r, g, b)| {
        f16::from_f32(((c * 31 + r * 7 + g * 3 + b) % 101) as f32 / 101.0)
    });
    let expected = Array3::from_shape_fn((5, 7, 3), |(y, x, c)| {
        let p = [0, 1, 2].map(|k| usize::from(image[[y, x, k]] >> 4));
        (cube[[c, p[0], p[1], p[2]]].to_f32() * 255.0) as u8
    });
    for code in codes(&plan) {
        let mut graded = Array3::<u8>::zeros((5, 7, 3));
        let inputs = [("image", (&image).into()), ("cube", (&cube).into())];
        code.run(&inputs, &mut [("graded", (&mut graded).into())], &[]).unwrap();
        assert_eq!(graded, expected);
    }
}

#[test]
fn the_builder_makes_what_the_text_says() {
    let text = "kernel curve(size N) for N >= 1 {
      input image[x]: u8 for 0 <= x < N
      input lut[c, i]: f32 for 0 <= c < 2 and 0 <= i < 256
      output out[x]: f32 for 0 <= x < N
      S[x] for 0 <= x < N { out[x] = lut[1, clamp(image[x])] + lut[floor(x / 2), clamp(image[x])] }
    }";
    let b = Kernel::builder("curve");
    let n = b.size("N");
    let [x, c, i] = b.iters(["x", "c", "i"]);
    let row = || x.within(0, n);
    let image = b.input("image", [x], Element::U8, row());
    let lut = b.input("lut", [c, i], Element::F32, c.within(0, 2) & i.within(0, 256));
    let out = b.output("out", [x], Element::F32, row());
    let pixel = image.at([x]);
    let one = lut.look_up([TableIndex::from(1), pixel.into()]);
    let other = lut.look_up([TableIndex::At(x.floor_div(2)), pixel.into()]);
    b.stmt("S", [x], row()).store(out, [x], one + other);
    let built = b.build().unwrap();
    let parsed = Kernel::parse(text).unwrap();
    assert_eq!(built.stmts()[0].exprs, parsed.stmts()[0].exprs);
    assert_eq!(Kernel::parse(&built.to_string()).unwrap(), built);
    let refused = |make: &dyn Fn(&crease::kernel::builder::KernelBuilder)| {
        let b = Kernel::builder("built");
        make(&b);
        b.build().unwrap_err().to_string()
    };
    let error = refused(&|b| {
        let x = b.iter("x");
        let a = b.output("a", [x], Element::U8, x.within(0, 8));
        b.stmt("S", [x], x.within(0, 8)).store(a, [x], a.look_up([a.at([x])]));
    });
    assert!(error.contains("nothing can be looked up in `a`: it is no input"), "{error}");
    let error = refused(&|b| {
        let x = b.iter("x");
        let a = b.input("a", [x], Element::F64, x.within(0, 8));
        let o = b.output("o", [x], Element::F64, x.within(0, 8));
        b.stmt("S", [x], x.within(0, 8)).store(o, [x], a.look_up([a.at([x])]));
    });
    assert!(error.contains("an integer against f64; convert, as with `i32(..)`"), "{error}");
}

#[test]
fn what_a_lookup_could_read_must_be_there() {
    let text = "kernel k(size N, M) for N >= 1 {
      input at[x]: i32 for 0 <= x < N
      input lut[c, i]: f64 for 0 <= c < 2 and 0 <= i < M
      output out[x]: f64 for 0 <= x < N
      S[x] for 0 <= x < N { out[x] = lut[1, clamp(at[x])] }
      schedule rows { S -> [x vector(8)] }
    }";
    let build = |text: &str, m: i64| Kernel::parse(text).unwrap().plan().size("N", 9).size("M", m).build();
    assert!(build(text, 1).is_ok());
    let empty = build(text, 0).unwrap_err().to_string();
    assert!(empty.contains("lut"), "{empty}");
    let outside = build(&text.replace("lut[1,", "lut[2,"), 3).unwrap_err().to_string();
    assert!(outside.contains("lut[2, "), "{outside}");
    // The shape of a table that a call brings is that of its index space.
    let code = build(text, 5).unwrap().compile().unwrap();
    let (at, short, mut out) = (Array1::<i32>::zeros(9), Array2::<f64>::zeros((2, 4)), Array1::<f64>::zeros(9));
    let inputs = [("at", (&at).into()), ("lut", (&short).into())];
    let refused = code.run(&inputs, &mut [("out", (&mut out).into())], &[]).unwrap_err().to_string();
    assert!(refused.contains("array `lut` has shape [2, 5], the view has [2, 4]"), "{refused}");
}
