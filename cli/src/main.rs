//! The command `crease`: see `crease --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    crease_cli::cli::main(std::env::args_os())
}
