//! Finds the system's isl: archives to link statically, else by pkg-config, else the copy that the C compiler itself
//! was built with.
//!
//! With `libisl.a` and the `libgmp.a` that it computes with, programs start on machines that have neither; `libisl-dev`
//! and `libgmp-dev` bring them along. `CREASE_ISL=dynamic` takes the shared library all the same, as distributions want
//! it, or a program that becomes a shared library itself: archives hold code for executables. `CREASE_ISL=static` fails
//! where there are no archives.
//!
//! GCC links isl for its own loop optimiser, so a shared object is on most machines even where the package with
//! headers and `isl.pc` is not. It lacks the plain name `libisl.so` that `-lisl` looks for, so a link of that name is
//! made in `OUT_DIR`. (A linker argument with the full file name would not reach the crates that depend on us.)

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// File names of shared isl, the plain one first. Versions 0.24 to 0.27 all carry interface number 23.
const SHARED: [&str; 4] = ["libisl.so", "libisl.so.23", "libisl.dylib", "libisl.23.dylib"];

/// Archives, each before what it needs.
const ARCHIVES: [(&str, &str); 2] = [("isl", "libisl.a"), ("gmp", "libgmp.a")];

/// Where libraries usually lie, should no compiler driver know.
const LIBRARY_DIRS: [&str; 6] =
    ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", "/opt/homebrew/lib", "/opt/local/lib"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CC");
    println!("cargo:rerun-if-env-changed=CREASE_ISL");
    println!("cargo:rerun-if-env-changed=LIBRARY_PATH");
    let archives = match env::var("CREASE_ISL").unwrap_or_default().as_str() {
        // Of another machine's archives the compiler drivers here know nothing.
        "" if env::var_os("HOST") != env::var_os("TARGET") => None,
        "" => archives(),
        "static" => Some(archives().ok_or(
            "CREASE_ISL=static, but libisl.a and libgmp.a were not both found: \
             install libisl-dev and libgmp-dev (Debian, Ubuntu)",
        )?),
        "dynamic" => None,
        other => return Err(format!("CREASE_ISL={other}: `static` and `dynamic` are known").into()),
    };
    println!("cargo:rustc-env=CREASE_ISL_IS_STATIC={}", archives.is_some());
    match archives {
        Some(archives) => link_archives(&archives),
        None => link_shared(),
    }
}

/// All archives, if they are there.
fn archives() -> Option<Vec<PathBuf>> {
    ARCHIVES.iter().map(|(_, file)| find(&[file])).collect()
}

fn link_archives(archives: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    for (path, (name, _)) in archives.iter().zip(ARCHIVES) {
        let folder = path.parent().ok_or("an archive is in no folder")?;
        println!("cargo:rerun-if-changed={}", path.display());
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static={name}");
    }
    Ok(())
}

fn link_shared() -> Result<(), Box<dyn Error>> {
    if pkg_config::Config::new().atleast_version("0.25").probe("isl").is_ok() {
        return Ok(());
    }
    let library = find(&SHARED).ok_or(
        "isl (the integer set library, version 0.25 or later) was not found: \
         install libisl-dev (Debian, Ubuntu), isl-devel (Fedora, openSUSE) or isl (Arch, `brew install isl`)",
    )?;
    println!("cargo:rerun-if-changed={}", library.display());
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: run by cargo only")?);
    link_by_plain_name(&library, &out_dir)?;
    println!("cargo:rustc-link-search=native={}", out_dir.display());
    println!("cargo:rustc-link-lib=dylib=isl");
    Ok(())
}

/// The first file of these names that a compiler driver or a usual folder has.
fn find(names: &[&str]) -> Option<PathBuf> {
    compilers_copy(names).or_else(|| usual_copy(names))
}

/// Asks compiler drivers, which print the bare name back when they know no such file.
fn compilers_copy(names: &[&str]) -> Option<PathBuf> {
    let drivers = env::var("CC").into_iter().chain(["gcc".to_owned(), "cc".to_owned()]);
    for driver in drivers {
        for name in names {
            let Ok(output) = Command::new(&driver).arg(format!("-print-file-name={name}")).output() else { break };
            let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
            if path.is_absolute()
                && let Ok(path) = path.canonicalize()
            {
                return Some(path);
            }
        }
    }
    None
}

/// Looks in [`LIBRARY_DIRS`] and their subdirectory for the target, as Debian lays libraries out.
fn usual_copy(names: &[&str]) -> Option<PathBuf> {
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let dirs = LIBRARY_DIRS.iter().flat_map(|dir| [PathBuf::from(dir), format!("{dir}/{arch}-linux-gnu").into()]);
    let files = dirs.flat_map(|dir| names.iter().map(move |name| dir.join(name)));
    files.into_iter().find_map(|file| file.canonicalize().ok())
}

/// Makes the name that `-lisl` looks for in `dir`, pointing to `library`.
fn link_by_plain_name(library: &Path, dir: &Path) -> Result<(), Box<dyn Error>> {
    let suffix = if env::var("CARGO_CFG_TARGET_VENDOR").as_deref() == Ok("apple") { "dylib" } else { "so" };
    let link = dir.join(format!("libisl.{suffix}"));
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link)?;
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(library, &link)?;
    #[cfg(not(unix))]
    fs::copy(library, &link)?;
    Ok(())
}
