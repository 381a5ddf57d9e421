//! `--log`: what Crease considered on the way to a decision, line by line on standard error.

use clap::Args;
use env_logger::{Builder, Env};
use log::LevelFilter;

/// The variable that says the same where no option does.
const VARIABLE: &str = "RUST_LOG";

/// What is logged.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Log decisions to standard error: debug for what was chosen and dropped and why, trace for every proposal and
    /// stage; or a filter such as crease::mapping=trace. Default: what RUST_LOG says, else nothing.
    #[arg(long = "log", value_name = "LEVEL", global = true)]
    filter: Option<String>,
}

impl LogArgs {
    /// Listens from now on.
    pub(crate) fn start(&self) {
        let mut builder = Builder::new();
        match &self.filter {
            None => builder.parse_env(Env::new().filter(VARIABLE)),
            // A level alone is that of Crease: code generation logs too, and more than anybody reads.
            Some(filter) => match filter.parse::<LevelFilter>() {
                Ok(level) => builder.filter_module("crease", level),
                Err(_) => builder.parse_filters(filter),
            },
        };
        // Whoever calls the command from a program of its own may listen already.
        let _ = builder.format_timestamp(None).try_init();
    }
}
