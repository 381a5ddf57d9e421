//! Floors and remainders of iterators as numbers of an expression, in lanes and outside of them.

use crease::Kernel;
use ndarray::{Array1, Array2};

const N: i64 = 37;

#[test]
fn floors_of_iterators_are_numbers() {
    let text = "kernel floors(size N) for N >= 1 {
      output a[y, x]: f64 for 0 <= y, x < N
      output b[x]: f32 for 0 <= x < N
      S[y, x] for 0 <= y, x < N {
        a[y, x] = index((x - 2y) mod 3) + 10 * index(floor((x - 20)/7)) + 1000 * index(floor(y/2) - floor(y/3))
      }
      B[x] for 0 <= x < N { b[x] = f32(index(floor((floor(x/2) + x)/4) - x)) }
      schedule rows { S -> [0, y, x]; B -> [1, 0, x] }
      schedule lanes { S -> [0, y, x vector(8)]; B -> [1, 0, x vector(8)] }
      schedule columns { S -> [0, x, y]; B -> [1, 0, x] }
    }";
    let kernel = Kernel::parse(text).unwrap();
    let n = N as usize;
    let a = Array2::from_shape_fn((n, n), |(y, x)| {
        let (y, x) = (y as i64, x as i64);
        ((x - 2 * y).rem_euclid(3) + 10 * (x - 20).div_euclid(7) + 1000 * (y / 2 - y / 3)) as f64
    });
    let b = Array1::from_shape_fn(n, |x| ((x / 2 + x) / 4) as f32 - x as f32);
    for schedule in ["rows", "lanes", "columns", "auto"] {
        let plan = kernel.plan().size("N", N).schedule(schedule).build().unwrap();
        let mut run = plan.compile().unwrap().instantiate().unwrap();
        run.run_once().unwrap();
        let (mut found_a, mut found_b) = (Array2::zeros((n, n)), Array1::zeros(n));
        run.read("a", found_a.view_mut()).unwrap();
        run.read("b", found_b.view_mut()).unwrap();
        assert_eq!((found_a, found_b), (a.clone(), b.clone()), "{schedule}");
    }
}
