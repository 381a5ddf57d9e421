//! The options that say where plans and code are kept.

use std::path::PathBuf;

use clap::Args;
use crease::PlanCache;

/// Where plans and code are kept.
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    /// Keep plans and code in this directory, and take them from there; by default in crease/plans in the user's
    /// directory for such files (XDG_CACHE_HOME, else .cache).
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,
    /// Plan and compile anew, and keep nothing.
    #[arg(long)]
    no_cache: bool,
}

impl CacheArgs {
    /// The cache that these options ask for.
    pub(crate) fn plan_cache(self) -> PlanCache {
        match self.cache {
            _ if self.no_cache => PlanCache::none(),
            Some(directory) => PlanCache::in_directory(directory),
            None => PlanCache::of_user(),
        }
    }
}
