//! Programs in C, C++ and Fortran: the examples, whose answers are those of Rust, and what callers do wrong.

use std::process::Command;
use std::sync::LazyLock;

use crease::{Kernel, Output};
use ndarray::Array2;
use tempfile::TempDir;

use crate::toolkit::{Language, Linkage, can_share, compile_and_run, here, run, shared, text};

/// Cells of the cavity along each side, and steps.
const CAVITY: (usize, u64) = (24, 100);

/// What the examples print of the cavity: checksums of all populations, and of density and velocity, computed by Rust.
static CHECKSUMS: LazyLock<[String; 2]> = LazyLock::new(|| {
    let (n, steps) = CAVITY;
    let kernel = Kernel::parse(&text("examples/cavity.crk")).unwrap();
    let mut run = kernel.plan().size("N", n as i64).build().unwrap().compile().unwrap().instantiate().unwrap();
    run.set("omega", 1.7).unwrap();
    run.set("u_lid", 0.1).unwrap();
    for q in 0..9 {
        let weight = [4.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0][usize::div_ceil(q, 4)];
        run.fill(&format!("f{q}"), weight).unwrap();
    }
    run.advance(steps).unwrap();
    let add = |sum, cells: &Array2<f64>| cells.iter().fold(sum, |sum: u64, cell| sum.rotate_left(7) ^ cell.to_bits());
    let (mut checksum, mut f) = (0_u64, Array2::<f64>::zeros((n, n)));
    for q in 0..9 {
        run.read(&format!("f{q}"), f.view_mut()).unwrap();
        checksum = add(checksum, &f);
    }
    let mut fields = ["density", "velocity_x", "velocity_y"].map(|name| (name, Array2::<f64>::zeros((n, n))));
    let mut outputs: Vec<(&str, Output<'_>)> = fields.iter_mut().map(|(name, field)| (*name, field.into())).collect();
    run.observe("moments", &mut outputs).unwrap();
    let moments = fields.iter().fold(0, |sum, (_, field)| add(sum, field));
    [format!("checksum {checksum:016x}"), format!("moments {moments:016x}")]
});

/// Whether all programs are tried, or those that the others are variations of.
fn is_thorough() -> bool {
    std::env::var_os("CREASE_THOROUGH").is_some()
}

/// Compiles and runs an example that has to print something.
fn example(language: Language, linkage: Linkage, sources: &[&str], kernel: &str, expected: &[impl AsRef<str>]) {
    if !language.is_there() {
        return;
    }
    let kernel = here().join("examples").join(kernel);
    let (n, steps) = (CAVITY.0.to_string(), CAVITY.1.to_string());
    let printed = compile_and_run(language, linkage, sources, &[kernel.to_str().unwrap(), &n, &steps]);
    for expected in expected {
        let expected = expected.as_ref();
        assert!(printed.to_lowercase().contains(expected), "{sources:?} does not print {expected}, but {printed}");
    }
}

/// What the examples of the plate print.
const AGREE: &str = "both halves agree with plain loops";

#[test]
fn the_cavity_has_the_same_bits_in_c() {
    example(Language::C, Linkage::Shared, &["examples/cavity.c"], "cavity.crk", &*CHECKSUMS);
}

#[test]
fn the_cavity_has_the_same_bits_in_c_with_the_archive() {
    if !is_thorough() {
        return;
    }
    example(Language::C, Linkage::Static, &["examples/cavity.c"], "cavity.crk", &*CHECKSUMS);
}

#[test]
fn the_cavity_has_the_same_bits_in_cpp() {
    let language = Language::Cpp("c++17");
    example(language, Linkage::Shared, &["examples/cavity.cpp"], "cavity.crk", &*CHECKSUMS);
}

#[test]
fn the_cavity_has_the_same_bits_in_fortran() {
    example(Language::Fortran, Linkage::Shared, &["examples/cavity.f90"], "cavity.crk", &*CHECKSUMS);
}

#[test]
fn halves_of_a_plate_exchange_rows_in_c() {
    example(Language::C, Linkage::Shared, &["examples/plate.c"], "plate.crk", &[AGREE]);
}

#[test]
fn halves_of_a_plate_exchange_rows_in_cpp() {
    if is_thorough() {
        example(Language::Cpp("c++17"), Linkage::Shared, &["examples/plate.cpp"], "plate.crk", &[AGREE]);
    }
}

#[test]
fn halves_of_a_plate_exchange_rows_in_fortran() {
    if is_thorough() {
        example(Language::Fortran, Linkage::Shared, &["examples/plate.f90"], "plate.crk", &[AGREE]);
    }
}

/// What the first programs of the pages in `docs/` print: a cell after 100 steps, and when the plate is still, with the
/// bits of two reductions then, computed by Rust.
static HEAT: LazyLock<[String; 3]> = LazyLock::new(|| {
    let kernel = Kernel::parse(&text("examples/heat.crk")).unwrap();
    let mut run = kernel.plan().size("N", 256).build().unwrap().compile().unwrap().instantiate().unwrap();
    run.set("k", 0.1).unwrap();
    run.fill("u", 20.0).unwrap();
    run.fill_box("u", &crease::region![128..129, 128..129], 1000.0).unwrap();
    run.advance(100).unwrap();
    let (mut heat, mut change) = (0.0_f64, f64::INFINITY);
    while change >= 0.01 {
        run.advance(50).unwrap();
        run.observe("health", &mut [("heat", (&mut heat).into()), ("change", (&mut change).into())]).unwrap();
    }
    let observed = format!("heat {:016x}, change {:016x}", heat.to_bits(), change.to_bits());
    // The tests of the Python package expect this, too.
    assert_eq!((run.step(), observed.as_str()), (300, "heat 413403d400000000, change 3f81b7a09dff6ccd"));
    ["27.819 in the middle".to_string(), format!("still after {} steps", run.step()), observed]
});

#[test]
fn first_programs_agree() {
    let languages = [(Language::C, "c"), (Language::Cpp("c++17"), "cpp"), (Language::Fortran, "f90")];
    for (language, extension) in languages {
        let source = format!("examples/heat.{extension}");
        example(language, Linkage::Shared, &[&source], "heat.crk", &*HEAT);
    }
}

/// A place for a cache of plans, which is not there yet, in a directory that is removed when it is dropped.
fn cache() -> (TempDir, String) {
    let directory = TempDir::new().unwrap();
    let cache = directory.path().join("plans").to_str().unwrap().to_string();
    (directory, cache)
}

#[test]
fn callers_in_c_may_do_what_is_wrong() {
    if Language::C.is_there() {
        let (_directory, cache) = cache();
        let printed = compile_and_run(Language::C, Linkage::Shared, &["tests/c/misuse.c"], &[&cache]);
        assert!(printed.contains(" checks"), "{printed}");
    }
}

#[test]
fn classes_and_views_of_cpp_do_what_they_say() {
    let language = Language::Cpp("c++20");
    if language.is_there() {
        let (_directory, cache) = cache();
        let printed = compile_and_run(language, Linkage::Shared, &["tests/cpp/classes.cpp"], &[&cache]);
        assert!(printed.contains(" checks"), "{printed}");
    }
}

#[test]
fn arrays_of_fortran_are_read_and_written_where_they_lie() {
    if Language::Fortran.is_there() {
        let (_directory, cache) = cache();
        let printed = compile_and_run(Language::Fortran, Linkage::Shared, &["tests/fortran/arrays.f90"], &[&cache]);
        assert!(printed.contains(" checks"), "{printed}");
    }
}

#[test]
fn the_kernel_of_the_cavity_is_that_of_the_catalogue() {
    let entry = crease_kernels::find("lbm-d2q9-cavity").unwrap();
    let kernel = entry.kernel().unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(here().join("examples/cavity.crk"), kernel.to_string()).unwrap();
    }
    assert_eq!(Kernel::parse(&text("examples/cavity.crk")).unwrap(), kernel);
}

#[test]
fn the_shared_library_has_versions_of_symbols_and_a_name() {
    if !can_share() {
        return;
    }
    let symbols = run(Command::new("readelf").arg("--wide").arg("--dyn-syms").arg("--dynamic").arg(shared()));
    assert!(symbols.contains("soname: [libcrease.so.0]"));
    let defined = symbols.lines().filter(|line| line.contains(" GLOBAL ") && !line.contains(" UND "));
    let names: Vec<&str> = defined.filter_map(|line| line.split_whitespace().last()).collect();
    let odd: Vec<&&str> =
        names.iter().filter(|name| !name.starts_with("crease_") || !name.ends_with("@@CREASE_0.1")).collect();
    assert!(names.len() > 80 && odd.iter().all(|name| **name == "CREASE_0.1"), "{odd:?}");
}
