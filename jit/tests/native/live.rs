//! Strips with thousands of values alive, or thousands of pointers: compiled code needs little stack for them, and
//! gives the interpreter's bits in every kind of vectors, on threads of 128 KiB. Without `CREASE_THOROUGH`, there are
//! at most 400 pointers, and thousands of values of one type.

use crease_jit::*;
use crease_program::Program;

use super::harness::{bits, reference, run_native, variants, verified};
use super::made::all_alive;
use crate::is_thorough;
use fastrand::Rng;
use std::fmt::Write as _;

/// What a thread of these tests has: the frames of compiled code at their largest, and as much for all else.
const SMALL_STACK: usize = 128 << 10;

/// Runs on a thread with a small stack.
fn on_small_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(SMALL_STACK).spawn_scoped(scope, work);
        thread.expect("the system has a thread").join().expect("nothing panics")
    })
}

/// Asserts that compiled code gives the interpreter's bits, run on a small stack and by workers.
fn agree_on_small_stacks(text: &str, args: &[i64], threads: &[usize]) {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let expected = bits(&reference(&program, args, &[], &[]));
    for (choice, unroll) in variants() {
        let options = CompileOptions::default().choice(choice).max_unroll(unroll).verify_code(true);
        let compiled = compile(&verified(&program), &options).unwrap_or_else(|error| panic!("{error}"));
        for threads in threads {
            let pool = Pool::new(*threads).unwrap();
            let found = on_small_stack(|| bits(&run_native(&compiled, args, &[], &[], &pool)));
            assert!(expected == found, "{choice:?}, unroll {unroll}, {threads} threads");
        }
    }
}

#[test]
fn thousands_of_values_alive_need_little_stack() {
    for ty in if is_thorough() { &["f64", "f32"][..] } else { &["f64"] } {
        agree_on_small_stacks(&all_alive(ty, 3000), &[], &[1]);
    }
}

/// Random operations on bounded numbers, whose results are all used again in a random order. In place: `y` is loaded at
/// the cell that is stored and ahead of it.
fn random_alive(seed: u64) -> String {
    let mut random = Rng::with_seed(seed);
    let ty = ["f64", "f32"][random.usize(0..2)];
    let is_double = ty == "f64";
    let (is_scalar, has_rings, rows) = (random.u8(0..4) == 0, random.bool(), 4);
    let (mut streams, mut ops) = (Vec::new(), Vec::new());
    let mut floats = Vec::new();
    fn push(list: &mut Vec<String>, text: String) -> usize {
        list.push(text);
        list.len() - 1
    }
    for _ in 0..random.usize(2..80) {
        let pos = match has_rings && random.bool() {
            true => format!("pos {}, ring {}", random.i64(0..50), random.i64(50..500)),
            false => format!("pos {}", random.i64(0..800)),
        };
        let stream = push(&mut streams, format!("x[{pos}, stride {}]", random.u8(0..8).min(1)));
        floats.push(push(&mut ops, format!("load m{stream}: {ty}")));
    }
    let mut loads = Vec::new();
    for offset in [0, 16, 20] {
        let stream = push(&mut streams, format!("y[base v9 * 200, pos {offset}, stride 1]"));
        loads.push(push(&mut ops, format!("load m{stream}: {ty}")));
    }
    floats.extend(&loads);
    let half = push(&mut ops, format!("{ty} 0.5"));
    let invariant = push(&mut ops, format!("sqrt %{half}"));
    floats.push(invariant);
    for _ in 0..random.usize(400..900) {
        let [a, b] = [0, 1].map(|_| floats[random.usize(0..floats.len())]);
        let result = match random.usize(0..9) {
            0 => format!("min %{a}, %{b}"),
            1 => format!("max %{a}, %{b}"),
            2 => format!("neg %{a}"),
            3 => format!("index v9 + {} step 0: {ty}", random.u8(0..4)),
            4 => {
                let less = push(&mut ops, format!("lt %{a}, %{b}"));
                let c = floats[random.usize(0..floats.len())];
                let other = push(&mut ops, format!("ge %{b}, %{c}"));
                let both = push(&mut ops, format!("or %{less}, %{other}"));
                format!("select %{both}, %{c}, %{a}")
            }
            5 if is_scalar && is_double => {
                let seed = push(&mut ops, format!("opaque_seed {:#x}", random.u64(..)));
                let mixed = push(&mut ops, format!("opaque_mix %{seed}, %{a}"));
                format!("opaque_finish %{mixed}")
            }
            6 if is_scalar => {
                let other = if is_double { "f32" } else { "f64" };
                let converted = push(&mut ops, format!("convert %{a}: {other}"));
                format!("convert %{converted}: {ty}")
            }
            _ => {
                let sum = push(&mut ops, format!("{} %{a}, %{b}", ["add", "sub"][random.usize(0..2)]));
                format!("mul %{sum}, %{half}")
            }
        };
        floats.push(push(&mut ops, result));
    }
    random.shuffle(&mut floats);
    let mut last = floats[0];
    for value in &floats[1..] {
        last = push(&mut ops, format!("fma %{last}, %{half}, %{value}"));
    }
    let mut facts = String::new();
    for target in ["y[base v9 * 200, pos 0, stride 1]", "out[base v9 * 200, pos 3, stride 1]"] {
        let stream = push(&mut streams, target.to_string());
        let store = push(&mut ops, format!("store m{stream}, %{last}"));
        if target.starts_with('y') {
            writeln!(facts, "alias %{}, %{store}: same_lane", loads[0]).unwrap();
        }
        last = floats[floats.len() / 2];
    }
    let streams: String = streams.iter().enumerate().map(|(at, text)| format!("m{at} = {text}\n")).collect();
    let ops: String = ops
        .iter()
        .enumerate()
        .map(
            |(at, text)| {
                if text.starts_with("store") { format!("%{at}: {text}\n") } else { format!("%{at} = {text}\n") }
            },
        )
        .collect();
    let lanes = random.u32(4..17);
    let length = random.u32(1..60);
    format!(
        "program alive{seed}() {{ buffer x: {ty}[1024] read buffer y: {ty}[1024] write buffer out: {ty}[1024] write
         parallel for v9 in 0 .. {rows} {{ strip v0 in 0 .. {length} lanes {lanes} {{\n{streams}{ops}{facts}}} }} }}"
    )
}

#[test]
fn random_strips_with_many_values_alive_agree() {
    for seed in 0..8 {
        agree_on_small_stacks(&random_alive(seed), &[], &[1, 3]);
    }
}

/// Every pointer in a ring of its own, or in none, and rows that no constant tells apart.
#[test]
fn hundreds_of_pointers_need_little_stack() {
    let many = if is_thorough() { 900 } else { 400 };
    for (count, ring) in [(300, ", ring 40"), (many, ""), (many, ", ring 40")] {
        let mut text = String::from(
            "program pointers(r) { buffer a: f64[4096] read buffer b: f64[4096] write
             parallel for v9 in 0 .. 3 {\n",
        );
        for at in 0..count {
            writeln!(text, "let v{} = mod($r * {at} + v9, 39)", at + 10).unwrap();
        }
        text += "strip v1 in 0 .. 37 lanes 8 {\n";
        for at in 0..count {
            writeln!(text, "m{at} = a[base {}, pos v{}{ring}, stride 1]", at % 900, at + 10).unwrap();
        }
        writeln!(text, "m{count} = b[pos 100 * v9, stride 1]\n%0 = load m0: f64").unwrap();
        for at in 1..count {
            writeln!(text, "%{} = load m{at}: f64\n%{} = sub %{}, %{}", 2 * at - 1, 2 * at, 2 * at - 1, 2 * at - 2)
                .unwrap();
        }
        writeln!(text, "%{} = index v9 + 0 step 3: f64", 2 * count - 1).unwrap();
        writeln!(text, "%{} = add %{}, %{}", 2 * count, 2 * count - 1, 2 * count - 2).unwrap();
        writeln!(text, "%{}: store m{count}, %{}\n}} }} }}", 2 * count + 1, 2 * count).unwrap();
        agree_on_small_stacks(&text, &[17], &[1, 2]);
    }
}

/// Integer variables that are all needed once more, the last one first.
fn integers_alive(count: usize) -> String {
    let mut text = String::from("program integers(a) { buffer b: f64[64] write\n");
    for at in 0..count {
        writeln!(text, "let v{at} = mod($a * {at} + {at}, 41)").unwrap();
    }
    for at in 0..count {
        let before = if at == 0 { count - 1 } else { count + at - 1 };
        writeln!(text, "let v{} = mod(v{before} + v{}, 37)", count + at, count - 1 - at).unwrap();
    }
    let last = 2 * count - 1;
    text + &format!(
        "strip v{} in 0 .. 8 lanes 8 {{ m0 = b[pos v{last}, stride 1] %0 = index v{last} + 0 step 1: f64
         %1: store m0, %0 }} }}",
        last + 1
    )
}

#[test]
fn more_than_a_thousand_integers_in_use_are_refused() {
    agree_on_small_stacks(&integers_alive(1000), &[7], &[1]);
    let program = Program::parse(&integers_alive(6000)).unwrap();
    let error = compile(&verified(&program), &CompileOptions::default()).unwrap_err();
    assert!(matches!(error, CompileError::Variables { alive: 6001, limit: 1024, .. }), "{error}");
}

#[test]
fn too_much_work_is_refused_unless_it_is_allowed() {
    let program = Program::parse(&all_alive("f64", 200)).unwrap();
    let options = CompileOptions::default().work_limit(1000);
    let error = compile(&verified(&program), &options).unwrap_err();
    let CompileError::Work { work, most: Some((strip, part)), limit: 1000, .. } = &error else { panic!("{error}") };
    assert!(strip.to_string() == "v0" && 800 < *part && part <= work, "{error}");
    let enough = options.work_limit(*work);
    assert!(
        compile(&verified(&program), &enough).is_ok()
            && compile(&verified(&program), &enough.work_limit(work - 1)).is_err()
    );
}

/// Blocks as deep as programs may be, in the main function and in a parallel loop.
#[test]
fn deep_programs_are_compiled_and_run_on_small_stacks() {
    for outer in ["for", "parallel for"] {
        let mut text = format!("program deep(a) {{ buffer b: f64[64] write\n{outer} v0 in 0 .. 2 {{\n");
        let depth = 90;
        for at in 1..depth {
            match at % 3 {
                0 => writeln!(text, "for v{at} in 0 .. 1 {{").unwrap(),
                1 => writeln!(text, "let v{at} = min($a + v0, {at})\nif v{at} < {} {{", 2 * at).unwrap(),
                _ => writeln!(text, "if $a >= 0 {{").unwrap(),
            }
        }
        text += "strip v999 in 0 .. 7 lanes 8 { m0 = b[pos 8 * v0, stride 1] %0 = index v0 + 1 step 2: f64 %1: store m0, %0 }";
        text += &"}".repeat(depth + 1);
        agree_on_small_stacks(&text, &[3], &[1, 2]);
        let program = Program::parse(&text).unwrap();
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(2 << 20);
            let work = || compile(&verified(&program), &CompileOptions::default().verify_code(true)).map(|_| ());
            assert!(thread.spawn_scoped(scope, work).unwrap().join().unwrap().is_ok());
        });
    }
}
