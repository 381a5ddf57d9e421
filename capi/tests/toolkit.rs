//! Compilers of the system, and the libraries that programs are linked with.
//!
//! A compiler that is not there is told on the standard error output of the tests, past what they capture.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

/// Libraries of the system that the archive needs: what `--print native-static-libs` of the compiler says on Linux.
const SYSTEM: [&str; 7] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

/// The directory of this crate.
pub(crate) fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of this crate.
pub(crate) fn text(path: &str) -> String {
    std::fs::read_to_string(here().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A language, with the compiler for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp(&'static str),
    Fortran,
}

impl Language {
    /// The command that compiles it.
    pub(crate) fn compiler(self) -> String {
        let (variable, usual) = match self {
            Language::C => ("CC", "cc"),
            Language::Cpp(_) => ("CXX", "c++"),
            Language::Fortran => ("FC", "gfortran"),
        };
        std::env::var(variable).unwrap_or(usual.to_string())
    }

    fn flags(self) -> Vec<String> {
        let flags = match self {
            Language::C => "-std=c99 -Wall -Wextra -Wshadow -pedantic -Werror".to_string(),
            Language::Cpp(standard) => format!("-std={standard} -Wall -Wextra -pedantic -Werror"),
            Language::Fortran => "-std=f2018 -Wall -Wno-unused-dummy-argument -Werror".to_string(),
        };
        flags.split(' ').map(str::to_string).collect()
    }

    /// Whether its compiler is there; if not, that is told.
    pub(crate) fn is_there(self) -> bool {
        let found = Command::new(self.compiler()).arg("--version").output().is_ok_and(|found| found.status.success());
        if !found {
            tell(&format!("{} for {self:?} is not installed", self.compiler()));
        }
        found
    }
}

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linkage {
    Shared,
    Static,
}

/// A directory with the shared library under its names, removed with the process's other temporary files.
static SHARED: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = TempDir::new().expect("there is room for temporary files");
    let library = directory.path().join("libcrease.so.0");
    let mut link = Command::new(here().join("link_shared.sh"));
    run(link.arg(archive()).arg(&library).args(integer_sets()).args(SYSTEM));
    std::os::unix::fs::symlink("libcrease.so.0", directory.path().join("libcrease.so")).expect("links can be made");
    directory
});

/// A directory with the Fortran module, compiled.
static MODULE: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = TempDir::new().expect("there is room for temporary files");
    let mut compile = Command::new(Language::Fortran.compiler());
    compile.current_dir(directory.path()).args(Language::Fortran.flags()).arg("-c");
    run(compile.arg(here().join("fortran/crease.f90")));
    directory
});

/// The shared library, linked as it is installed.
pub(crate) fn shared() -> PathBuf {
    SHARED.path().join("libcrease.so.0")
}

/// The archive that was built with this test. Others beside it may be of other features, but none is of newer sources:
/// what cargo finds fresh has not changed since it was built, so the newest is as good as any.
fn archive() -> PathBuf {
    let test = std::env::current_exe().expect("this program has a path");
    let beside = std::fs::read_dir(test.parent().expect("programs are in a directory")).expect("it can be listed");
    let is_ours = |name: &str| name.starts_with("libcrease_c-") && name.ends_with(".a");
    let archives = beside.flatten().filter(|entry| is_ours(&entry.file_name().to_string_lossy()));
    let built = |entry: &std::fs::DirEntry| entry.metadata().and_then(|data| data.modified()).ok();
    archives.max_by_key(built).expect("the archive is built with the library").path()
}

/// Whether a shared library can be linked; told if not.
pub(crate) fn can_share() -> bool {
    let is_shared = integer_sets().is_some();
    if !is_shared {
        tell("the shared library: isl is linked statically, which makes executables only");
    }
    is_shared
}

/// Tells what is left out, past what tests capture.
fn tell(what: &str) {
    let line = format!("SKIPPED, nothing was tested: {what}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("the standard error output takes it");
}

/// The integer set library that this process has loaded; none if it is linked statically.
fn integer_sets() -> Option<PathBuf> {
    // Names something of the engine, or nothing of it would be linked.
    assert!(!crease::integer_set_library().to_string().is_empty());
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux tells what is mapped");
    let paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).map(PathBuf::from);
    let is_isl = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libisl"));
    paths.into_iter().find(is_isl)
}

/// Runs a command and answers what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{printed}{errors}", output.status);
    printed.into_owned()
}

/// Compiles sources, which are relative to this crate, and runs the program; answers what it printed. Where there can
/// be no shared library, the archive has to do.
pub(crate) fn compile_and_run(language: Language, linkage: Linkage, sources: &[&str], arguments: &[&str]) -> String {
    let directory = TempDir::new().expect("there is room for temporary files");
    let program = directory.path().join("program");
    let mut compile = Command::new(language.compiler());
    compile.current_dir(directory.path()).args(language.flags()).arg("-I").arg(here().join("include"));
    compile.arg("-o").arg(&program).args(sources.iter().map(|source| here().join(source)));
    if language == Language::Fortran {
        compile.arg("-I").arg(MODULE.path()).arg(MODULE.path().join("crease.o"));
    }
    let is_shared = linkage == Linkage::Shared && can_share();
    match is_shared {
        true => compile.arg("-L").arg(SHARED.path()).args(["-lcrease", "-lm", "-lpthread"]),
        false => compile.arg(archive()).args(integer_sets()).args(SYSTEM),
    };
    run(&mut compile);
    let mut program = Command::new(&program);
    if is_shared {
        program.env("LD_LIBRARY_PATH", SHARED.path());
    }
    run(program.args(arguments))
}
