//! Compiled code against the interpreter, bit for bit: every shape, block size, unroll and thread count.
//!
//! `native/harness.rs` runs a program both ways in fields between guard pages; `native/random.rs` makes random strips;
//! `native/sharing.rs` has strips that run the same code; `native/load_sharing.rs` loads that share vectors;
//! `native/rows.rs` short rows; `native/non_temporal.rs` looks at non-temporal stores, `native/prefetch.rs` at cells
//! that are prefetched, `native/half.rs` at cells of half precision; `native/views.rs` binds views of any strides;
//! `native/double_mapped.rs` has rings that are mapped twice; `native/live.rs` strips with thousands of values alive,
//! on small stacks; `native/integers.rs` makes random strips of integers, and `native/integer_vectors.rs` takes every
//! operation to the ends of their types.

mod continued;
mod denormals;
mod double_mapped;
mod half;
pub(crate) mod harness;
mod integer_vectors;
mod integers;
mod joined;
mod live;
mod load_sharing;
mod made;
mod mixed_vectors;
mod non_temporal;
mod pipelining;
mod prefetch;
mod random;
mod rows;
mod sharing;
mod short_rows;
mod short_strips;
mod views;

use crease_jit::*;
use crease_program::{AliasFact, Fault, Node, Program, Verified};
use harness::{agree, bits, run_native, verified};

/// Three rings that wrap at different places, against each other, and more than once.
#[test]
fn strips_are_cut_where_any_ring_wraps() {
    for length in [0, 1, 2, 5, 7, 13, 40] {
        // A strip that is longer than the ring comes back to its cells.
        let fact = if length <= 7 { "alias %4, %6: same_lane" } else { "" };
        let text = format!(
            "program rings(start) {{
               buffer a: f64[16] read
               buffer b: f64[11] read
               buffer c: f64[64] write
               buffer d: f64[7] write
               let v9 = mod($start, 7)
               strip v0 in $start .. $start + {length} lanes 8 {{
                 m0 = a[base 3, pos 5, ring 13, stride 1]
                 m1 = b[pos 10, ring 11, stride -1]
                 m2 = c[base 2, pos 50, ring 61, stride 1]
                 m3 = d[pos v9, ring 7, stride 1]
                 m4 = d[pos v9, ring 7, stride 1]
                 %0 = load m0: f64
                 %1 = load m1: f64
                 %2 = fma %0, %1, %0
                 %3: store m2, %2
                 %4 = load m3: f64
                 %5 = add %4, %2
                 %6: store m4, %5
                 {fact}
               }}
             }}"
        );
        for start in [0, 1, 4, 6] {
            // The ring `d` is shorter than some strips: more than 7 cells in lock-step would meet themselves.
            agree(&text, &[start], &[], &[1, 2, 4]);
        }
    }
}

#[test]
fn long_strides_wrap_too() {
    for stride in [-11, -4, -3, -2, 2, 3, 5, 10, 11] {
        let text = format!(
            "program strides(start) {{
               buffer a: f64[12] read
               buffer b: f32[40] read
               buffer c: f64[30] write
               strip v0 in 0 .. 30 lanes 8 {{
                 m0 = a[base 1, pos $start, ring 11, stride {stride}]
                 m1 = b[pos 39, stride -1]
                 m2 = c[pos 0, stride 1]
                 %0 = load m0: f64
                 %1 = load m1: f32
                 %2 = convert %1: f64
                 %3 = sub %0, %2
                 %4: store m2, %3
               }}
             }}"
        );
        for start in [0, 3, 10] {
            agree(&text, &[start], &[], &[1, 8]);
        }
    }
}

/// In place: a stencil whose reads are ahead of its writes in one ring, for many steps.
#[test]
fn heat_in_one_ring_agrees_for_many_steps() {
    let text = "program heat(T) {
      scalar k: f64
      buffer u: f64[33] write
      for v0 in 1 .. $T + 1 {
        let v1 = mulmod(32, v0, 33)
        let v2 = wrap(v1 + 1, 33)
        strip v3 in 1 .. 31 lanes 8 {
          m0 = u[pos wrap(v2 + 0, 33), ring 33, stride 1]
          m1 = u[pos wrap(v2 + 1, 33), ring 33, stride 1]
          m2 = u[pos wrap(v2 + 2, 33), ring 33, stride 1]
          m3 = u[pos wrap(v1 + 1, 33), ring 33, stride 1]
          %0 = load m0: f64
          %1 = load m1: f64
          %2 = load m2: f64
          %3 = scalar k
          %4 = f64 -2.0
          %5 = fma %4, %1, %0
          %6 = add %5, %2
          %7 = fma %3, %6, %1
          %8: store m3, %7
          alias %0, %8: same_lane
          alias %1, %8: distance -1
          alias %2, %8: distance -2
        }
      }
    }";
    agree(text, &[100], &[0.25], &[1, 2, 4, 8]);
}

/// Minimum, maximum, comparisons and select on NaN, infinities and both zeros; every pair of them.
#[test]
fn special_values_choose_as_the_interpreter_does() {
    let special = [f64::NAN, -f64::NAN, 0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, 1e-310, f64::MAX];
    for (ty, outs) in [("f64", 10), ("f32", 10)] {
        let ops =
            ["min %0, %1", "max %0, %1", "lt %0, %1", "le %0, %1", "gt %0, %1", "ge %0, %1", "eq %0, %1", "ne %0, %1"];
        let n = special.len() * special.len();
        let mut streams = String::new();
        let mut body = format!("%0 = load m0: {ty}\n%1 = load m1: {ty}\n%2 = {ty} 2.5\n");
        let mut next = 3;
        for (at, op) in ops.iter().enumerate() {
            streams += &format!("m{} = out[pos {}, stride 1]\n", at + 2, at * n);
            body += &format!("%{next} = {op}\n");
            let mut value = next;
            if at >= 2 {
                body += &format!("%{} = not %{next}\n%{} = select %{next}, %0, %2\n", next + 1, next + 2);
                body +=
                    &format!("%{} = or %{next}, %{}\n%{} = and %{next}, %{}\n", next + 3, next + 1, next + 4, next + 3);
                body += &format!("%{} = select %{}, %{}, %1\n", next + 5, next + 4, next + 2);
                value = next + 5;
            }
            next = value + 1;
            body += &format!("%{next}: store m{}, %{value}\n", at + 2);
            next += 1;
        }
        for (at, op) in ["neg", "abs"].iter().enumerate() {
            streams += &format!("m{} = out[pos {}, stride 1]\n", at + 10, (at + 8) * n);
            body += &format!("%{next} = {op} %0\n%{}: store m{}, %{next}\n", next + 1, at + 10);
            next += 2;
        }
        let text = format!(
            "program special() {{
               buffer x: {ty}[{n}] read
               buffer y: {ty}[{n}] read
               buffer out: {ty}[{}] write
               strip v0 in 0 .. {n} lanes 8 {{
                 m0 = x[pos 0, stride 1]
                 m1 = y[pos 0, stride 1]
                 {streams}{body}
               }}
             }}",
            outs * n
        );
        let pairs = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
            special.iter().flat_map(|a| special.iter().map(move |b| pick(*a, *b))).collect()
        };
        harness::agree_on(&text, &[], &[], &[1, 2, 4], &[("x", pairs(|a, _| a)), ("y", pairs(|_, b| b))]);
    }
}

#[test]
fn bytes_convert_and_saturate() {
    for ty in ["f64", "f32"] {
        let text = format!(
            "program bytes(n) {{
               buffer mask: u8[40] read
               buffer x: {ty}[40] read
               buffer packed: u8[40] write
               buffer y: {ty}[40] write
               strip v0 in 3 .. $n lanes 16 {{
                 m0 = mask[pos 1, stride 1]
                 m1 = x[pos 2, stride 1]
                 m2 = packed[pos 0, stride 1]
                 m3 = y[pos 0, stride 1]
                 m4 = mask[pos 5, stride 0]
                 m5 = x[pos 4, stride 0]
                 %0 = load m0: {ty}
                 %1 = load m1: {ty}
                 %2 = {ty} 128.0
                 %3 = lt %0, %2
                 %4 = load m4: {ty}
                 %5 = load m5: {ty}
                 %6 = mul %4, %5
                 %7 = select %3, %1, %6
                 %8: store m3, %7
                 %9 = mul %1, %2
                 %10: store m2, %9
               }}
             }}"
        );
        for n in [3, 4, 9, 24, 38] {
            agree(&text, &[n], &[], &[1, 2, 4, 16]);
        }
        let special =
            vec![f64::NAN, -1.0, -0.0, 0.99, 1.5, 1.9921875, 1.99, 2.0, 1e30, f64::INFINITY, f64::NEG_INFINITY];
        harness::agree_on(&text, &[38], &[], &[1, 4, 8], &[("x", special)]);
    }
}

#[test]
fn opaque_functions_and_indices_agree() {
    let text = "program mixed(a) {
      scalar s: f32
      scalar d: f64
      buffer x: f64[64] read
      buffer out: f64[64] write
      buffer ind: f64[64] write
      buffer single: f32[64] write
      let v7 = $a * 3 - 1
      strip v0 in -5 .. 58 lanes 8 {
        m0 = x[pos 1, stride 1]
        m1 = out[pos 0, stride 1]
        %0 = load m0: f64
        %1 = opaque_seed 0xaf63bd4c8601b7be
        %2 = opaque_mix %1, %0
        %3 = scalar d
        %4 = opaque_mix %2, %3
        %5 = opaque_finish %4
        %6: store m1, %5
      }
      strip v1 in -5 .. 58 lanes 8 {
        m0 = ind[pos 0, stride 1]
        %0 = index v7 - 9007199254740000 step 3: f64
        %1 = index 3 step 2: f64
        %2 = sub %0, %1
        %3: store m0, %2
      }
      strip v2 in -5 .. 58 lanes 8 {
        m0 = single[pos 0, stride 1]
        %0 = index v7 + 16777210 step -1: f32
        %1 = scalar s
        %2 = fma %0, %1, %1
        %3: store m0, %2
      }
    }";
    agree(text, &[5], &[0.1, 0.7], &[1, 2, 4, 8]);
}

/// Integers: every operation, constant and not, around zero and at the ends.
#[test]
fn integer_expressions_agree() {
    let text = "program ints(x, y) {
      buffer out: f64[32] write
      let v0 = floordiv($x, 7)
      let v1 = mod($x, 7)
      let v2 = floordiv($x, 8)
      let v3 = mod($x, 8)
      let v4 = min($x, $y) + max($x, $y) * 2 - 3 * $x
      let v5 = mulmod(5, $x, 7)
      let v6 = mulmod(4000000000000, $x, 4000000000007)
      let v7 = mulmod(3000000000, $x * 1000003, 3037000499)
      let v8 = wrap(mod($x, 22) - 11, 11)
      let v9 = wrap(mod($x, 33) - 11, 11) + mulmod(0, $x, 3) + mulmod(1, $x, 3)
      if any(all($x < $y, not($x == -3)), $x >= 100, all($y <= -5, $x != $y)) {
        let v10 = floordiv(-7, 2) + mod(-7, 2) + mod(-7, 4) + floordiv(-9, 4)
        strip v11 in 0 .. 1 lanes 1 {
          m0 = out[pos 10, stride 1]
          %0 = index v10 + 0 step 1: f64
          %1: store m0, %0
        }
      } else {
        strip v12 in 0 .. 1 lanes 1 {
          m0 = out[pos 11, stride 1]
          %0 = index v4 + 0 step 1: f64
          %1: store m0, %0
        }
      }
      STRIPS
    }";
    let strips: String = (0..10)
        .map(|at| {
            format!(
                "strip v{} in 0 .. 1 lanes 1 {{
                   m0 = out[pos {at}, stride 1]
                   %0 = index v{at} + 0 step 1: f64
                   %1: store m0, %0
                 }}\n",
                20 + at
            )
        })
        .collect();
    let text = text.replace("STRIPS", &strips);
    for x in [-1_000_000_007, -100, -22, -8, -7, -3, -1, 0, 1, 6, 7, 8, 21, 99, 100, 123_456_789] {
        for y in [-6, -3, 0, 50] {
            agree(&text, &[x, y], &[], &[1]);
        }
    }
}

/// A parallel loop inside a sequential one, with captured variables, a step, and a parallel loop inside.
#[test]
fn parallel_loops_agree_for_any_thread_count() {
    let text = "program rows(T, rows) {
      scalar w: f64
      buffer a: f64[1280] write
      buffer b: f64[1280] write
      let v8 = 64
      for v0 in 0 .. $T {
        let v1 = mod(v0, 3)
        parallel for v2 in v1 .. $rows step 2 {
          let v3 = v8 * v2
          parallel for v4 in 0 .. 2 {
            strip v5 in 0 .. 30 lanes 8 {
              m0 = a[base v3, pos 32 * v4, stride 1]
              m1 = b[base v3 + v1, pos 32 * v4, stride 1]
              m2 = a[base v3, pos 32 * v4, stride 1]
              %0 = load m0: f64
              %1 = scalar w
              %2 = load m1: f64
              %3 = index v4 + 0 step 1: f64
              %4 = fma %1, %0, %2
              %5 = add %4, %3
              %6: store m2, %5
              alias %0, %6: same_lane
            }
          }
        }
        parallel for v6 in 0 .. $rows {
          strip v7 in 0 .. 62 lanes 8 {
            m0 = a[pos 64 * v6, stride 1]
            m1 = b[pos 64 * v6, stride 1]
            %0 = load m0: f64
            %1 = abs %0
            %2: store m1, %1
          }
        }
      }
    }";
    for rows in [0, 1, 2, 7, 19] {
        agree(text, &[5, rows], &[0.5], &[1, 8]);
    }
}

/// Tiles of six rows work in the copy of whoever runs them; a loop inside a tile is sequential and sees the same copy;
/// code between the loops uses the first one.
#[test]
fn copies_per_worker_agree_for_any_thread_count() {
    let text = "program tiles(T, tiles) {
      scalar w: f64
      buffer a: f64[1200] write
      buffer tile: f64[96] write per_worker 130
      buffer mask: u8[16] write per_worker 64
      for v0 in 0 .. $T {
        strip v9 in 0 .. 16 lanes 8 {
          m0 = tile[pos 0, stride 1]
          m1 = a[pos 0, stride 1]
          %0 = index 0 step 2: f64
          %1: store m0, %0
          %2 = load m0: f64
          %3: store m1, %2
        }
        parallel for v1 in 0 .. $tiles {
          for v2 in 0 .. 6 {
            strip v3 in 0 .. 16 lanes 8 {
              m0 = a[base 96 * v1, pos 16 * v2, stride 1]
              m1 = tile[pos 16 * v2, stride 1]
              m2 = mask[pos 0, stride 1]
              %0 = load m0: f64
              %1: store m1, %0
              %2 = index v1 + 0 step 1: f64
              %3: store m2, %2
            }
          }
          parallel for v4 in 0 .. 6 {
            strip v5 in 0 .. 15 lanes 8 {
              m0 = tile[pos 16 * v4, stride 1]
              m1 = tile[pos 16 * v4 + 1, stride 1]
              m2 = a[base 96 * v1, pos 16 * v4, stride 1]
              m3 = mask[pos 1, stride 1]
              %0 = scalar w
              %1 = load m0: f64
              %2 = load m1: f64
              %3 = load m3: f64
              %4 = fma %0, %1, %2
              %5 = add %4, %3
              %6: store m2, %5
            }
          }
        }
      }
    }";
    for tiles in [0, 1, 2, 7, 12] {
        agree(text, &[3, tiles], &[0.25], &[1, 8]);
    }
}

/// Random strips, compiled in every way that this machine can run. `CREASE_RANDOM_STRIPS` says how many programs, from
/// `CREASE_RANDOM_SEED` on.
#[test]
fn random_strips_agree() {
    let number = |name: &str, or: u64| std::env::var(name).map_or(or, |text| text.parse().expect("a number"));
    let (first, count) = (number("CREASE_RANDOM_SEED", 0), number("CREASE_RANDOM_STRIPS", 240));
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for seed in (first + thread..first + count).step_by(threads as usize) {
                    let random::Random { text, args } = random::program(seed);
                    harness::agree_once(&text, &args, &[0.3, 1.7], seed);
                }
            });
        }
    });
}

/// The same of integers. `CREASE_RANDOM_INTEGERS` says how many programs.
#[test]
fn random_strips_of_integers_agree() {
    let count = std::env::var("CREASE_RANDOM_INTEGERS").map_or(160, |text| text.parse().expect("a number"));
    std::thread::scope(|scope| {
        for first in 0..2 {
            scope.spawn(move || {
                for seed in (first..count).step_by(2) {
                    let integers::Random { text, args } = integers::program(seed);
                    let lanes = [64, 64, 64, 32, 16, 4][seed as usize % 6];
                    harness::agree_once_in_lanes(&text, &args, &[0.3, 1.7], lanes, seed);
                }
            });
        }
    });
    integers::assert_mostly_wide(count);
}

/// Facts may let code share and move loads; without any it must still be right.
#[test]
fn dropping_all_alias_facts_changes_nothing() {
    for seed in 500..520 {
        let random::Random { text, args } = random::program(seed);
        let mut program = Program::parse(&text).unwrap();
        let with = harness::reference(&program, &args, &[0.3, 1.7], &[]);
        fn drop_facts(nodes: &mut [Node]) {
            for node in nodes {
                match node {
                    Node::For { body, .. } => drop_facts(body),
                    Node::Strip(strip) => strip.alias = Vec::<AliasFact>::new(),
                    _ => {}
                }
            }
        }
        drop_facts(&mut program.body);
        let compiled = compile(&verified(&program), &CompileOptions::default()).unwrap();
        let found = run_native(&compiled, &args, &[0.3, 1.7], &[], &Pool::sequential());
        assert_eq!(bits(&with), bits(&found), "{program}");
    }
}

/// Code for a processor without AVX or fused multiply-add: other instructions, a library call, the same bits.
#[test]
fn a_lesser_processor_gives_the_same_bits() {
    let mut plain = Isa::detect();
    (plain.has_avx, plain.has_avx2, plain.has_fma, plain.has_f16c) = (false, false, false, false);
    let mut scalar = plain;
    scalar.has_v128 = false;
    for seed in 700..720 {
        let random::Random { text, args } = random::program(seed);
        let program = Program::parse(&text).unwrap();
        let expected = harness::reference(&program, &args, &[0.3, 1.7], &[]);
        for isa in [plain, scalar] {
            let compiled = compile(&verified(&program), &CompileOptions::default().isa(isa)).unwrap();
            let found = run_native(&compiled, &args, &[0.3, 1.7], &[], &Pool::sequential());
            assert_eq!(bits(&expected), bits(&found), "{isa:?}\n{program}");
        }
    }
}

const COPY: &str = "program copy(n) {
  buffer from: f64[8] read
  buffer to: f64[8] write
  strip v0 in 0 .. $n lanes 4 {
    m0 = from[pos 0, stride 1]
    m1 = to[pos 0, stride 1]
    %0 = load m0: f64
    %1: store m1, %0
  }
}";

fn copy() -> Compiled {
    compile(&verified(&Program::parse(COPY).unwrap()), &CompileOptions::default()).unwrap()
}

/// Every way in which a call may not fit the program, with its message.
#[test]
fn calls_that_do_not_fit_are_refused() {
    fn refusal(code: &Compiled, args: &[i64], buffers: Vec<BufferRef<'_>>) -> CallError {
        code.run(&mut Call { args, scalars: &[], buffers, pool: &Pool::sequential() }).unwrap_err()
    }
    let code = copy();
    let (from, mut to) = ([1.0f64; 8], [0.0f64; 8]);
    let (short, single) = ([0.0f64; 7], [0.0f32; 8]);
    let message = refusal(&code, &[], vec![BufferRef::read(&from), BufferRef::write(&mut to)]).to_string();
    assert_eq!(message, "`copy` takes 1 arguments, not 0");
    let message = refusal(&code, &[8], vec![BufferRef::read(&from)]).to_string();
    assert_eq!(message, "`copy` takes 2 buffers, not 1");
    let message = refusal(&code, &[8], vec![BufferRef::read(&single), BufferRef::write(&mut to)]).to_string();
    assert_eq!(message, "buffer `from` holds f64, not f32");
    let message = refusal(&code, &[8], vec![BufferRef::read(&short), BufferRef::write(&mut to)]).to_string();
    assert_eq!(message, "buffer `from` needs 8 cells and was given 7");
    let message = refusal(&code, &[8], vec![BufferRef::read(&from), BufferRef::read(&from)]).to_string();
    assert_eq!(message, "buffer `to` is written and was bound read-only");
    let error = refusal(&code, &[9], vec![BufferRef::read(&from), BufferRef::write(&mut to)]);
    assert!(matches!(error, CallError::Bounds(_)), "{error}");
    assert_eq!(to, [0.0; 8], "nothing was written");
}

/// A buffer with copies needs one for each thread of the pool, whatever the loops.
#[test]
fn a_copy_per_thread_is_needed() {
    let text = "program p() {
      buffer tile: f64[3] write per_worker 10
      strip v0 in 0 .. 3 lanes 1 { m0 = tile[pos 0, stride 1] %0 = f64 1.0 %1: store m0, %0 }
    }";
    let code = compile(&verified(&Program::parse(text).unwrap()), &CompileOptions::default()).unwrap();
    for (threads, needed) in [(1, 3), (2, 13), (5, 43)] {
        let pool = Pool::new(threads).unwrap();
        let mut cells = vec![0.0f64; needed];
        let run = |cells: &mut [f64]| {
            code.run(&mut Call { args: &[], scalars: &[], buffers: vec![BufferRef::write(cells)], pool: &pool })
        };
        run(&mut cells).unwrap();
        let message = run(&mut cells[1..]).unwrap_err().to_string();
        assert_eq!(message, format!("buffer `tile` needs {needed} cells and was given {}", needed - 1));
    }
}

#[test]
fn a_call_runs_on_borrowed_slices_and_on_fields() {
    let (code, pool) = (copy(), Pool::sequential());
    let from: Vec<f64> = (0..8).map(f64::from).collect();
    let mut to = Field::new(crease_program::Element::F64, 8, FieldOptions::default()).unwrap();
    let buffers = vec![BufferRef::read(&from), BufferRef::from(&mut to)];
    code.run(&mut Call { args: &[5], scalars: &[], buffers, pool: &pool }).unwrap();
    assert_eq!(to.as_slice::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0]);
}

/// Compiled code may be shared by threads, each with buffers of its own.
#[test]
fn compiled_code_is_shared_by_threads() {
    let code = copy();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let code = &code;
            scope.spawn(move || {
                let (from, mut to) = ([f64::from(thread); 8], [0.0; 8]);
                let buffers = vec![BufferRef::read(&from), BufferRef::write(&mut to)];
                code.run(&mut Call { args: &[8], scalars: &[], buffers, pool: &Pool::sequential() }).unwrap();
                assert_eq!(from, to);
            });
        }
    });
}

#[test]
fn texts_are_kept_only_when_asked_for() {
    let program = Program::parse(COPY).unwrap();
    let code = compile(&verified(&program), &CompileOptions::default().texts(true)).unwrap();
    assert!(code.clif_text().contains("function") && code.disassembly().contains("block"));
    assert!(code.code_bytes() > 0 && code.times().total() > std::time::Duration::ZERO);
    assert_eq!(copy().clif_text(), "");
}

#[test]
fn an_invalid_program_is_not_compiled() {
    let mut program = Program::parse(COPY).unwrap();
    program.buffers.pop();
    // Nothing else than a verified program is taken.
    let error = Verified::new(program).unwrap_err();
    assert!(matches!(error.fault, Fault::NoSuchId { .. }), "{error}");
}
