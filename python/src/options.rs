//! Options by name, as Python keyword arguments give them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use crease::{Affinity, CompileOptions, Denormals, MemoryCheck, PlanBuilder, PlanCache, RunOptions};
use pyo3::prelude::*;

use crate::error::{Answer, Failure};

/// What a plan is made with; none for what the library chooses. `python/crease/_plan.py` documents each.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PlanOptions {
    sizes: BTreeMap<String, i64>,
    schedule: Option<String>,
    strategy: Option<String>,
    objective: Option<String>,
    rounding: Option<String>,
    rings: Option<String>,
    mapping: Option<String>,
    storage_view: Option<String>,
    horizon: Option<u64>,
    threads: Option<usize>,
    memory_cap_bytes: Option<u64>,
    cache_bytes: Option<u64>,
    operation_quota: Option<u64>,
    work_limit: Option<u64>,
    run_opaque_functions: Option<bool>,
    plan_cache: Option<Cache>,
}

/// Where plans are kept: in the user's directory for such files, if that is true, or in this one.
#[derive(Clone, Debug, FromPyObject)]
enum Cache {
    OfUser(bool),
    Directory(PathBuf),
}

impl From<Cache> for PlanCache {
    fn from(cache: Cache) -> PlanCache {
        match cache {
            Cache::OfUser(false) => PlanCache::none(),
            Cache::OfUser(true) => PlanCache::of_user(),
            Cache::Directory(directory) => PlanCache::in_directory(directory),
        }
    }
}

impl PlanOptions {
    /// The builder with all of them.
    pub(crate) fn apply(&self, mut builder: PlanBuilder) -> Answer<PlanBuilder> {
        for (name, value) in &self.sizes {
            builder = builder.size(name, *value);
        }
        if let Some(schedule) = &self.schedule {
            builder = builder.schedule(schedule);
        }
        builder = set(builder, choice("strategy", &self.strategy)?, PlanBuilder::strategy);
        builder = set(builder, choice("objective", &self.objective)?, PlanBuilder::objective);
        builder = set(builder, choice("rounding", &self.rounding)?, PlanBuilder::rounding);
        builder = set(builder, choice("rings", &self.rings)?, PlanBuilder::rings);
        builder = set(builder, choice("storage_view", &self.storage_view)?, PlanBuilder::storage_view);
        if let Some(mapping) = &self.mapping {
            builder = builder.mapping(mapping);
        }
        builder = set(builder, self.horizon, PlanBuilder::horizon);
        builder = set(builder, self.threads, PlanBuilder::threads);
        builder = set(builder, self.memory_cap_bytes, PlanBuilder::memory_cap_bytes);
        builder = set(builder, self.cache_bytes, PlanBuilder::cache_bytes);
        builder = set(builder, self.operation_quota, PlanBuilder::operation_quota);
        builder = set(builder, self.work_limit, PlanBuilder::work_limit);
        builder = set(builder, self.run_opaque_functions, PlanBuilder::run_opaque_functions);
        Ok(set(builder, self.plan_cache.clone().map(PlanCache::from), PlanBuilder::cache))
    }

    /// The same with other sizes. No cap on memory: what it was for is the sizes before.
    pub(crate) fn with_sizes(&self, sizes: impl IntoIterator<Item = (String, i64)>) -> PlanOptions {
        PlanOptions { sizes: sizes.into_iter().collect(), memory_cap_bytes: None, ..self.clone() }
    }
}

/// What became of a plan or of code in the cache: one word, or why it could not be kept.
pub(crate) fn kept_word(kept: &crease::Kept) -> String {
    match kept {
        crease::Kept::Off => "off".to_string(),
        crease::Kept::Found => "found".to_string(),
        crease::Kept::Added => "added".to_string(),
        other => other.to_string(),
    }
}

/// How code is generated; none for what the library chooses.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CodeOptions {
    instructions: Option<String>,
    vectors: Option<String>,
    unroll: Option<String>,
    non_temporal: Option<String>,
    prefetch: Option<String>,
    work_limit: Option<u64>,
}

impl CodeOptions {
    /// The library's options.
    pub(crate) fn compile_options(&self) -> Answer<CompileOptions> {
        let options = CompileOptions::default();
        let options = set(options, choice("instructions", &self.instructions)?, CompileOptions::choice);
        let options = set(options, choice("vectors", &self.vectors)?, CompileOptions::width);
        let options = set(options, choice("unroll", &self.unroll)?, CompileOptions::unroll);
        let options = set(options, choice("non_temporal", &self.non_temporal)?, CompileOptions::non_temporal);
        let options = set(options, choice("prefetch", &self.prefetch)?, CompileOptions::prefetch);
        Ok(set(options, self.work_limit, CompileOptions::work_limit))
    }
}

/// How a run is set up; none for what the library chooses.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SetUp {
    pub(crate) threads: Option<usize>,
    guard_pages: bool,
    flush_denormals: bool,
    pin_threads: bool,
    memory_limit_bytes: Option<u64>,
    check_memory: bool,
}

impl SetUp {
    /// The library's options, on this many threads if nothing else is asked for.
    pub(crate) fn run_options(&self, planned: usize) -> RunOptions {
        let memory = match (self.check_memory, self.memory_limit_bytes) {
            (false, _) => MemoryCheck::Unchecked,
            (true, Some(bytes)) => MemoryCheck::Limit(bytes),
            (true, None) => MemoryCheck::Available,
        };
        let denormals = if self.flush_denormals { Denormals::Flush } else { Denormals::AsFound };
        let options = RunOptions::default().threads(self.threads.unwrap_or(planned)).memory(memory);
        let affinity = if self.pin_threads { Affinity::Cores } else { Affinity::AsFound };
        options.guard_pages(self.guard_pages).denormals(denormals).affinity(affinity)
    }
}

/// The choice of that name.
fn choice<T: FromStr<Err: Display>>(option: &str, name: &Option<String>) -> Answer<Option<T>> {
    let read = |name: &String| {
        name.parse().map_err(|error| Failure::refused("py/unknown-choice", format!("{option}: {error}")))
    };
    name.as_ref().map(read).transpose()
}

fn set<B, T>(builder: B, value: Option<T>, with: impl FnOnce(B, T) -> B) -> B {
    match value {
        Some(value) => with(builder, value),
        None => builder,
    }
}
