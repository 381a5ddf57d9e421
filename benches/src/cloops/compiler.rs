//! Builds the C loops with the system's C compiler, for the machine the command runs on.
//!
//! Built when the command runs, not when it is built: `-march=native` must mean this machine, and a machine without a
//! C compiler must still build Crease. Nothing is cached; a source takes about a second.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::source::Source;

/// A C compiler that works, with the flags it takes.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The program and the arguments that came with it in `CC`.
    command: Vec<String>,
    /// First line of what it says of itself.
    version: String,
    flags: Vec<&'static str>,
}

/// Why there is no compiler, or a source was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompilerError {
    /// None of the usual names leads to a working compiler.
    #[error("no C compiler found (tried {tried}): rows of C loops are missing; set CC to name one")]
    Missing {
        /// The names tried, with commas.
        tried: String,
    },
    /// No directory to build in, or it is not writable.
    #[error("cannot build C loops in a temporary directory: {0}")]
    Directory(#[from] io::Error),
    /// The compiler refused a source.
    #[error("{compiler} does not compile {file}: {message}")]
    Rejected {
        /// The compiler.
        compiler: String,
        /// The source.
        file: &'static str,
        /// What it printed on its standard error.
        message: String,
    },
}

/// A shared object that was just built from one of our sources. Only [`Compiler::build`] makes one; the file goes away
/// with it.
pub(super) struct Built {
    pub(super) path: PathBuf,
    _directory: TempDir,
}

/// Always given: `cc -O3 -march=native` is the stated opponent.
const FLAGS: [&str; 5] = ["-std=gnu11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden"];

/// Given where the compiler takes them; of each group, the first that works. 512-bit vectors are 0 to 3 % faster than
/// the compiler's own choice of 256 on processors that have both.
const WISHES: [&[&str]; 3] = [&["-march=native", "-mcpu=native"], &["-fopenmp", "-fopenmp-simd"], &[VECTOR_WIDTHS[0]]];

/// The widths that compilers choose between, where there are several; the default first.
const VECTOR_WIDTHS: [&str; 2] = ["-mprefer-vector-width=512", "-mprefer-vector-width=256"];

const TRIAL: &str = "#ifdef _OPENMP\n#include <omp.h>\n#endif\n\
    int trial(void) {\n#ifdef _OPENMP\n return omp_get_num_procs();\n#else\n return 1;\n#endif\n}\n";

impl Compiler {
    /// The first of `$CC`, `cc`, `gcc` and `clang` that works.
    ///
    /// # Errors
    /// [`CompilerError::Missing`] if none does, [`CompilerError::Directory`] if there is nowhere to try.
    pub fn find() -> Result<Compiler, CompilerError> {
        let named = std::env::var("CC").ok().filter(|cc| !cc.trim().is_empty());
        let candidates: Vec<String> = named.into_iter().chain(["cc", "gcc", "clang"].map(str::to_owned)).collect();
        let directory = TempDir::new()?;
        let trial = directory.path().join("trial.c");
        fs::write(&trial, TRIAL)?;
        for candidate in &candidates {
            let mut compiler = Compiler {
                command: candidate.split_whitespace().map(str::to_owned).collect(),
                version: String::new(),
                flags: FLAGS.to_vec(),
            };
            if compiler.compiles(&trial) {
                compiler.take_wishes(&trial);
                compiler.version = compiler.ask_version();
                return Ok(compiler);
            }
        }
        Err(CompilerError::Missing { tried: candidates.join(", ") })
    }

    /// This compiler, once for each width of vectors that it can be told to prefer; alone where it takes no such flag.
    pub fn widths(&self) -> Vec<Compiler> {
        if !self.flags.contains(&VECTOR_WIDTHS[0]) {
            return vec![self.clone()];
        }
        let others = self.flags.iter().filter(|flag| **flag != VECTOR_WIDTHS[0]).copied().collect::<Vec<_>>();
        let preferring = |width| Compiler { flags: others.iter().copied().chain([width]).collect(), ..self.clone() };
        VECTOR_WIDTHS.into_iter().map(preferring).collect()
    }

    /// Name, version and flags, for the record.
    pub fn describe(&self) -> String {
        format!("{} {}", self.version, self.flags.join(" "))
    }

    /// Whether loops may use several threads.
    pub fn has_threads(&self) -> bool {
        self.flags.contains(&"-fopenmp")
    }

    /// Builds one source.
    pub(super) fn build(&self, source: &Source) -> Result<Built, CompilerError> {
        let directory = TempDir::new()?;
        let file = directory.path().join(source.file);
        for (name, text) in source.files() {
            fs::write(directory.path().join(name), text)?;
        }
        let path = directory.path().join("loop.so");
        let output = self.run(&file, &path)?;
        if output.status.success() {
            return Ok(Built { path, _directory: directory });
        }
        Err(CompilerError::Rejected {
            compiler: self.version.clone(),
            file: source.file,
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }

    fn take_wishes(&mut self, trial: &Path) {
        for wish in WISHES {
            for flag in wish {
                self.flags.push(flag);
                if self.compiles(trial) {
                    break;
                }
                self.flags.pop();
            }
        }
    }

    fn compiles(&self, file: &Path) -> bool {
        self.run(file, &file.with_extension("so")).is_ok_and(|output| output.status.success())
    }

    fn run(&self, file: &Path, target: &Path) -> io::Result<Output> {
        let (program, arguments) = self.command.split_first().expect("blank candidates were dropped");
        Command::new(program).args(arguments).args(&self.flags).arg("-o").arg(target).arg(file).arg("-lm").output()
    }

    fn ask_version(&self) -> String {
        let (program, arguments) = self.command.split_first().expect("blank candidates were dropped");
        let output = Command::new(program).args(arguments).arg("--version").output();
        let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
        text.lines().next().unwrap_or(program).trim().to_owned()
    }
}
