//! The command keeps plans and code unless it is told not to, and says so where it is asked.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The command, for a user with this home.
fn crease(arguments: &str, home: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crease"));
    command.env_remove("XDG_CACHE_HOME").env("HOME", home).current_dir(home).args(arguments.split_whitespace());
    let output = command.output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn logged(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// How many files are kept in a directory.
fn count(directory: &Path) -> usize {
    fs::read_dir(directory).map_or(0, Iterator::count)
}

const RUN: &str = "run heat-1d --set N=50 --set T=9 --threads 1";

#[test]
fn plans_and_code_are_kept_in_the_users_directory() {
    let home = tempfile::tempdir().unwrap();
    let plans = home.path().join(".cache/crease/plans");
    let first = crease(&format!("{RUN} --output u=first.npy --log debug"), home.path());
    assert!(logged(&first).contains("plan of `heat_1d`: kept in the cache"), "{}", logged(&first));
    assert_eq!(count(&plans), 2, "a plan and its code");
    let again = crease(&format!("{RUN} --output u=again.npy --log debug"), home.path());
    for what in ["plan of `heat_1d`: found", "code of `heat_1d`: found", plans.to_str().unwrap()] {
        assert!(logged(&again).contains(what), "no {what} in {}", logged(&again));
    }
    let bytes = |name: &str| fs::read(home.path().join(name)).unwrap();
    assert_eq!(bytes("first.npy"), bytes("again.npy"));
    let explained = "explain heat-1d --set N=50 --threads 1";
    let (found, anew) = (crease(explained, home.path()), crease(&format!("{explained} --no-cache"), home.path()));
    assert!(said(&found).contains("this plan was found in the cache"), "{}", said(&found));
    assert!(!said(&anew).contains("this plan was"), "{}", said(&anew));
    // But for how the plan came about, the same is said.
    let until_stages = |output: &Output| -> Vec<String> {
        let text = said(output);
        let lines = text.split("\nstages").next().unwrap().lines();
        lines.filter(|line| !line.contains("this process then has")).map(str::to_owned).collect()
    };
    assert_eq!(until_stages(&found), until_stages(&anew));
    for form in ["--dump mapping", "--dump program", "--json"] {
        let [found, anew] =
            ["", " --no-cache"].map(|how| said(&crease(&format!("{explained} {form}{how}"), home.path())));
        let stable = |text: &str| text.lines().filter(|line| !line.contains("\"seconds\"")).count();
        assert!(form == "--json" && stable(&found) > 50 || found == anew, "{form}");
    }
}

#[test]
fn another_directory_or_none_is_an_option() {
    let home = tempfile::tempdir().unwrap();
    crease(&format!("{RUN} --no-cache"), home.path());
    assert_eq!(count(home.path()), 0);
    crease(&format!("{RUN} --cache here"), home.path());
    assert_eq!((count(&home.path().join("here")), count(home.path())), (2, 1));
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = crease(&format!("{RUN} --cache file"), home.path());
    assert!(said(&refused).contains("note: this plan was not kept: cannot write"), "{}", said(&refused));
}
