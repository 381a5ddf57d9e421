//! The command `run` from outside: the memory that it predicts is what it takes, and what cannot be is said before.
//!
//! Without `CREASE_THOROUGH`, some of the kernels run, on two threads. Their arrays are larger than what predictions
//! may be off by all the same.

use std::process::{Command, Output};

/// What predictions may be off by, besides a fiftieth.
const TOLERANCE_BYTES: f64 = (16 << 20) as f64;

fn crease(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crease"));
    // No directory of the user: nothing is kept, and nothing found.
    command.env("XDG_CACHE_HOME", "").env("HOME", "");
    command.args(arguments.split_whitespace()).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The size behind a word, such as `measured 12.5 MB`.
fn size_behind(word: &str, text: &str) -> Option<f64> {
    let (_, rest) = text.split_once(word)?;
    let mut words = rest.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let unit = words.next()?.trim_end_matches([',', ';']);
    let scales = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)];
    scales.iter().find(|(name, _)| *name == unit).map(|(_, scale)| number * scale)
}

#[cfg(target_os = "linux")]
#[test]
fn runs_of_the_catalogue_take_the_memory_that_was_predicted() {
    let few = [
        "heat-1d --set N=3000000 --set T=2",
        "heat-2d-5pt --set N=2000 --set T=2",
        "lbm-d2q9-periodic --set N=600 --set T=2",
        "blur-tiled",
        "heat-2d-5pt --set N=1500 --set T=2 --output u=DIR/u.npy",
        "lbm-d2q9-periodic --set N=500 --set T=2 --vtk DIR",
    ];
    let more = [
        "heat-2d-5pt --set N=2500 --set T=2",
        "lbm-d2q9-periodic --set N=900 --set T=2",
        "lbm-d2q9-cavity-f32 --set N=900 --set T=2",
        "lbm-d2q9-cylinder --set T=2",
        "lbm-d3q19-periodic --set N=70 --set T=2",
        "unsharp-mask",
        "harris",
        "blur-u8 --set N=1601 --image DIR",
        "blur-u8 --set N=1601 --png DIR",
        "lbm-d2q9-periodic --set N=500 --set T=2 --image DIR",
        "lbm-d2q9-cavity-f32 --set N=700 --set T=2 --npz DIR",
        "lbm-d3q19-periodic --set N=60 --set T=2 --png DIR",
    ];
    let is_thorough = std::env::var_os("CREASE_THOROUGH").is_some();
    let (more, threads): (&[&str], &[&str]) = if is_thorough { (&more, &["1", "2"]) } else { (&[], &["2"]) };
    for kernel in few.iter().chain(more) {
        // Files take what they take on any number of threads, and builds that are not optimised take long to write them.
        let threads = if kernel.contains("DIR") { &threads[threads.len() - 1..] } else { threads };
        for threads in threads {
            let directory = tempfile::tempdir().unwrap();
            let kernel = kernel.replace("DIR", directory.path().to_str().unwrap());
            let output = crease(&format!("run {kernel} --threads {threads}"));
            let said = text(&output.stdout) + &text(&output.stderr);
            let sizes = size_behind("predicted ", &said).zip(size_behind("measured ", &said));
            let (predicted, measured) = sizes.unwrap_or_else(|| panic!("{kernel}: {said}"));
            println!("{kernel}, {threads} threads: predicted {predicted:e}, measured {measured:e}");
            let allowed = predicted / 50.0 + TOLERANCE_BYTES;
            assert!((measured - predicted).abs() <= allowed, "{kernel}: {said}");
        }
    }
}

#[test]
fn what_no_machine_has_is_refused_at_once_with_what_would_fit() {
    let output = crease("run heat-2d-5pt --set N=4000000 --set T=1");
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("bytes to run and") && said.contains("N = "), "{said}");
}

#[test]
fn threads_that_cannot_be_used_are_said() {
    let output = crease("run heat-2d-5pt --schedule sequential --set N=20 --set T=1 --threads 2");
    let said = text(&output.stdout);
    assert!(said.contains("threads 1 of 2") && said.contains("note: 2 threads were asked for"), "{said}");
    let output = crease("run heat-1d --threads 100000");
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("is planned for 100000 threads"), "{said}");
}

#[test]
fn a_kernel_in_a_file_is_told_what_its_arrays_start_as() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("wave.crk");
    let wave = "kernel wave(size N; run T) for N >= 3 {
        input c[x]: f64 for 0 <= x < N
        state u[t, x]: f64 for 0 <= x < N
        U[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = 2 * u[t-1,x] - u[t-2,x] + c[x] }
        schedule rows { U -> [t, x] }
      }";
    std::fs::write(&file, wave).unwrap();
    let run = |more: &str| crease(&format!("run {} --set N=8 --set T=1 {more}", file.display()));
    let said = |more: &str| text(&run(more).stderr);
    assert!(said("").contains("needs the input `c`: give it with --input NAME=FILE.npy or --fill NAME=NUMBER"));
    assert!(said("--fill c=1").contains("needs the state `u`"), "{}", said("--fill c=1"));
    let older = directory.path().join("older.npy");
    ndarray_npy::write_npy(&older, &ndarray::Array1::<f64>::from_elem(8, 4.0)).unwrap();
    let newer = directory.path().join("newer.npy");
    ndarray_npy::write_npy(&newer, &ndarray::Array1::<f64>::from_elem(8, 5.0)).unwrap();
    let only = format!("--fill c=1 --input u={}", newer.display());
    assert!(said(&only).contains("needs the state `u@1`"), "{}", said(&only));
    let output = run(&format!("{only} --input u@1={}", older.display()));
    assert!(text(&output.stdout).contains("u [8]: min 7.000000e0"), "{}", text(&output.stdout));
    let output = run("--fill c=1 --fill u=0");
    assert!(text(&output.stdout).contains("u [8]: min 1.000000e0"), "{}", text(&output.stdout));
    assert!(said("--fill w=1").contains("has no input, state or live-in output `w`"));
}
