//! The command `run` with files: it goes on where it stopped, with the same bits, whatever stopped it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crease_files::checkpoint::Checkpoint;

fn command(arguments: &str, directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crease"));
    // No directory of the user: nothing is kept, and nothing found.
    command.env("XDG_CACHE_HOME", "").env("HOME", "");
    command.args(arguments.split_whitespace()).current_dir(directory);
    command
}

fn crease(arguments: &str, directory: &Path) -> Output {
    command(arguments, directory).output().expect("the command starts")
}

/// What the command says where all is well.
fn said(arguments: &str, directory: &Path) -> String {
    let output = crease(arguments, directory);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What the command says where it fails.
fn refused(arguments: &str, directory: &Path) -> String {
    let output = crease(arguments, directory);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// A string that reads two steps back, and is shaken at one end by the number of the step.
const STRING: &str = "kernel string(size N; run T) for N >= 3 {
  scalar shake: f64
  input push[x]: f64 for 0 <= x < N
  state u[t, x]: f64 for 0 <= x < N
  Inside[t, x] for 1 <= t <= T and 1 <= x < N-1 {
    u[t,x] = 2 * u[t-1,x] - u[t-2,x] + 0.25 * (u[t-1,x-1] - 2 * u[t-1,x] + u[t-1,x+1]) + push[x] }
  Shaken[t, x] for 1 <= t <= T and x = 0 { u[t,x] = shake * index(t) }
  Held[t, x] for 1 <= t <= T and x = N-1 { u[t,x] = 0 }
  schedule rows { Inside, Shaken, Held -> [t, x vector(8)] }
  schedule plain { Inside, Shaken, Held -> [t, x] }
}";

const START: &str = "run string.crk --set N=50 --fill u=0.5 --fill push=0.125 --set shake=0.1";

fn with_string() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("string.crk"), STRING).unwrap();
    directory
}

#[test]
fn a_run_in_parts_leaves_what_a_whole_one_leaves() {
    let directory = with_string();
    let at = directory.path();
    let file = |name: &str| fs::read(at.join(name)).unwrap();
    said(&format!("{START} --set T=60 --vtk whole --npy whole --every 20 --output u=whole.npy"), at);
    let text = said(&format!("{START} --set T=33 --vtk parts --npy parts --every 20 --checkpoint string.save"), at);
    assert!(text.contains("33 steps, ") && text.contains("checkpoint -> string.save"), "{text}");
    // Neither inputs nor scalars are given again; the size is. The way is another one.
    let rest = "run string.crk --set N=50 --set T=60 --schedule plain --strategy successive-modulo --isa scalar \
                --restart string.save --vtk parts --npy parts --every 20 --output u=parts.npy";
    let text = said(rest, at);
    assert!(text.contains("27 steps, ") && text.contains("vtk of 5 steps -> parts"), "{text}");
    assert_eq!(file("whole.npy"), file("parts.npy"));
    for step in [0, 20, 40, 60] {
        for name in [format!("string_{step:08}.vti"), format!("string_u_{step:08}.npy")] {
            assert_eq!(file(&format!("whole/{name}")), file(&format!("parts/{name}")), "{name}");
        }
    }
    // What the command line says counts more than the checkpoint.
    said(&format!("{rest} --set shake=0.2").replace("parts", "louder"), at);
    assert_ne!(file("whole.npy"), file("louder.npy"));
}

#[test]
fn what_does_not_fit_a_restart_is_said() {
    let directory = with_string();
    let at = directory.path();
    said(&format!("{START} --set T=9 --checkpoint s"), at);
    let restart = "run string.crk --set N=50 --restart s";
    assert!(refused(&format!("{restart} --set T=8"), at).contains("s is of step 9, and the run is to end at step 8"));
    assert!(refused("run string.crk --set N=51 --set T=10 --restart s", at).contains("at N = 50, the run at N = 51"));
    assert!(refused(&format!("{restart} --set T=10 --fill u=0"), at).contains("two options name `u`"));
    assert!(refused("run blur-tiled --checkpoint s", at).contains("there is nothing to restart"));
    said(&format!("{restart} --set T=10 --vtk out"), at);
    let there = refused(&format!("{START} --set T=3 --vtk out"), at);
    assert!(there.contains("string_00000009.vti is there already"), "{there}");
    said(&format!("{START} --set T=3 --vtk out --existing replace"), at);
    assert!(!at.join("out/string_00000009.vti").exists() && at.join("out/string_00000003.vti").exists());
    assert!(refused(&format!("{START} --set T=3 --npy out --fields w"), at).contains("no field `w`; it has u"));
}

/// Of populations, density and velocity are written; the populations themselves if they are asked for.
#[test]
fn flows_are_written_as_density_and_velocity() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    said("run lbm-d2q9-cavity --set N=16 --set T=20 --vtk flow --npy flow --every 10 --png flow", at);
    let image = fs::read(at.join("flow/lbm_d2q9_cavity_00000010.vti")).unwrap();
    let image = String::from_utf8_lossy(&image);
    for name in ["density", "velocity_x", "velocity_y", "speed", "vorticity"] {
        assert!(image.contains(&format!("Name=\"{name}\"")), "{name}");
        assert!(at.join(format!("flow/lbm_d2q9_cavity_{name}_00000020.png")).exists());
    }
    let density: ndarray::ArrayD<f64> =
        ndarray_npy::read_npy(at.join("flow/lbm_d2q9_cavity_density_00000020.npy")).unwrap();
    assert!((density.mean().unwrap() - 1.0).abs() < 1e-3 && density.shape() == [16, 16]);
    said("run lbm-d2q9-cavity --set N=16 --set T=2 --npz some --fields f1,speed", at);
    assert!(at.join("some/lbm_d2q9_cavity_00000002.npz").exists());
}

/// A process that is asked to end saves its last whole step.
#[cfg(unix)]
#[test]
fn a_run_that_is_asked_to_end_is_saved_first() {
    let directory = with_string();
    let at = directory.path();
    let endless = format!("{START} --set T=1000000000000 --checkpoint s --checkpoint-every 1000");
    let mut child = command(&endless, at).stderr(Stdio::piped()).spawn().expect("the command starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !at.join("s").exists() {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "it saves nothing");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let step = Checkpoint::open(at.join("s")).unwrap().step();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("stopped at step {step}, ")) && text.contains("--restart s"), "{text}");
    let end = step + 7;
    let text = said(&format!("run string.crk --set N=50 --set T={end} --restart s"), at);
    assert!(text.contains("7 steps, "), "{text}");
}

/// A limit on the size of files stands for a disk that is full.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_checkpoint_before() {
    let directory = with_string();
    let at = directory.path();
    let start = START.replace("N=50", "N=5000");
    said(&format!("{start} --set T=4 --checkpoint s"), at);
    let before = fs::read(at.join("s")).unwrap();
    let limited = |arguments: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 16; exec {} {arguments}", env!("CARGO_BIN_EXE_crease"));
        let mut shell = Command::new("sh");
        shell.env("XDG_CACHE_HOME", "").env("HOME", "");
        let output = shell.args(["-c", &script]).current_dir(at).output().expect("there is a shell");
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let text = limited(&format!("{start} --set T=8 --checkpoint s"));
    assert!(text.contains("cannot write s: File too large"), "{text}");
    assert_eq!(fs::read(at.join("s")).unwrap(), before);
    let text = limited(&format!("{start} --set T=8 --vtk out"));
    assert!(text.contains("cannot write out/string_00000000.vti: File too large"), "{text}");
    assert_eq!(fs::read_dir(at.join("out")).unwrap().count(), 0);
}

#[test]
fn an_input_over_steps_comes_from_a_file_with_a_row_for_each_step() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let text = "kernel driven(size N; run T) {
      input inflow[t]: f32 for 1 <= t <= T
      state u[t, x]: f64 for 0 <= x < N
      S[t, x] for 1 <= t <= T and 0 <= x < N { u[t,x] = u[t-1,x] + f64(inflow[t]) }
    }";
    fs::write(at.join("driven.crk"), text).unwrap();
    ndarray_npy::write_npy(at.join("inflow.npy"), &ndarray::Array1::from_iter((1..=9).map(|t| t as f32))).unwrap();
    let run = "run driven.crk --set N=4 --fill u=0";
    let all = said(&format!("{run} --set T=9 --input inflow=inflow.npy --checkpoint at9"), at);
    assert!(all.contains("u [4]: min 4.5"), "{all}");
    said(&format!("{run} --set T=4 --input inflow=inflow.npy --checkpoint at4"), at);
    let later = said("run driven.crk --set N=4 --set T=9 --restart at4 --input inflow=inflow.npy", at);
    assert!(later.contains("u [4]: min 4.5"), "{later}");
    let same = said(&format!("{run} --set T=9 --fill inflow=0.5"), at);
    assert!(same.contains("u [4]: min 4.5"), "{same}");
    assert!(refused(&format!("{run} --set T=10 --input inflow=inflow.npy"), at).contains("step 10 was not given"));
    assert!(refused(&format!("{run} --set T=9"), at).contains("the input over steps `inflow`"));
}

#[test]
fn options_that_nothing_heeds_are_refused_by_name() {
    let directory = with_string();
    let at = directory.path();
    for (options, said) in [
        ("--every 2", "--every is for --vtk, --npy, --npz and --png, which this run does not write"),
        ("--fields u", "--fields is for"),
        ("--existing replace --checkpoint saved", "--existing is for"),
        ("--npy frames --spacing 2", "--spacing is for --vtk, which"),
        ("--npy frames --time-step 2", "--time-step is for --vtk and --npz"),
        ("--vtk frames --png-range 1,5", "--png-range is for --png"),
        ("--png frames --png-range 5,1", "`--png-range 5,1` is not of the form LEAST,MOST, of which the first is less"),
        ("--png frames --png-range 5,nan", "`--png-range 5,NaN` is not of the form"),
    ] {
        let found = refused(&format!("{START} --set T=3 {options}"), at);
        assert!(found.contains(said), "{options}: {found}");
        assert!(!at.join("frames").exists() && !at.join("saved").exists(), "{options}");
    }
    fs::write(
        at.join("copy.crk"),
        "kernel copy() { output o[x]: f64 for 0 <= x < 4 S[x] for 0 <= x < 4 { o[x] = 1 } }",
    )
    .unwrap();
    let found = refused("run copy.crk --npy frames --every 2", at);
    assert!(found.contains("--every is for steps, and kernel copy has none"), "{found}");
}

#[test]
fn a_scalar_that_is_not_set_is_told_by_its_option() {
    let directory = with_string();
    let found = refused("run string.crk --set N=50 --set T=3 --fill u=0 --fill push=0", directory.path());
    assert!(found.contains("needs a value for scalar `shake`: give it with --set NAME=VALUE"), "{found}");
}

#[test]
fn a_record_that_could_not_be_written_is_refused_before_anything_is_measured() {
    let directory = with_string();
    for options in ["--json string.crk/record.json", "--json .", "--json record.json --charts string.crk/charts"] {
        let found = refused(&format!("bench --suite check {options}"), directory.path());
        assert!(!found.contains("planning") && !directory.path().join("record.json").exists(), "{found}");
    }
    let found = refused("bench --suite check --seconds nan", directory.path());
    assert!(found.contains("it is no time that can be spent"), "{found}");
}
