//! Code with what it was made of, which all its runs share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crease_jit::{CompileOptions, Compiled, ElementType, Kept, Pool, compile_cached, verify_threads};
use crease_program::BufferId;

use crate::error::Error;
use crate::kernel::graph::{ArrayId, Kernel, Observer, Role};
use crate::pipeline::beside;
use crate::plan::layout::BufferLayout;
use crate::plan::outcome::Outcome;
use crate::plan::request::Request;
use crate::run::RunError;
use crate::run::given::At;
use crate::run::kept_levels::KeptLevels;
use crate::run::level::{Level, LevelConditions};
use crate::run::observed::{Fused, Observed};
use crate::run::options::RunOptions;
use crate::run::region::{Axis, Region, shape};
use crate::run::smaller_bands::SmallerBands;
use crate::schedule::by_step::StepsAtOnce;
use crate::schedule::tile_of_steps::TileOfSteps;
use crate::storage::placement::rows::{cells_of_line, line_offset_bytes};

/// What code and its runs share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) request: Request,
    pub(super) outcome: Outcome,
    pub(super) levels: KeptLevels,
    /// Per array, where its cells are kept.
    pub(super) conditions: Vec<LevelConditions>,
    pub(super) compiled: Compiled,
    /// What became of it in the cache.
    pub(super) kept: Kept,
    /// How it was compiled.
    pub(super) options: CompileOptions,
    /// Observers that were asked for, by name.
    pub(super) observers: Mutex<BTreeMap<String, Arc<Observed>>>,
    /// Code of steps with observers among them, by the observers' names, once it was wanted; none if there is none.
    pub(super) fused: Mutex<BTreeMap<Vec<String>, Option<Arc<Fused>>>>,
    /// How tiles run their steps at once, if they do.
    pub(super) steps_at_once: Option<StepsAtOnce>,
    /// What runs calls of few steps then, once it was wanted; none if nothing else can.
    pub(super) by_step: OnceLock<Option<Compiled>>,
    /// Its bands, where some of them run at once.
    pub(super) bands: Option<Arc<SmallerBands>>,
    /// Tiles of time that are run one after the other.
    pub(super) tile_of_steps: Option<TileOfSteps>,
}

impl Shared {
    pub(super) fn kernel(&self) -> &Kernel {
        self.request.kernel()
    }

    /// Where the last tile of time ends of those that end in a call from one step to another; the latter if none does.
    pub(super) fn end_of_tiles(&self, from: i64, to: i64) -> i64 {
        let end = self.tile_of_steps.map(|tile| tile.step_before(from, to.saturating_add(1)));
        end.filter(|&end| end > from).unwrap_or(to)
    }

    /// Bytes from a cache line's start to the first cell of a buffer, so that most rows of it are stored in whole
    /// lines.
    pub(super) fn line_offset_bytes(&self, buffer: &BufferLayout) -> usize {
        let phase = self.outcome.program.store_phase(BufferId(buffer.id), cells_of_line(buffer.element));
        line_offset_bytes(phase.unwrap_or(0), buffer.element)
    }

    /// The threads of a run.
    pub(super) fn pool(&self, options: &RunOptions) -> Result<Pool, RunError> {
        let pool = match &options.pool {
            // Threads that cannot be had are an error also where they would have nothing to do.
            None => {
                verify_threads(options.threads)?;
                Pool::new(self.outcome.threads_used(options.threads))?
            }
            Some(pool) if self.outcome.program.is_parallel() => Pool::of(pool),
            Some(_) => Pool::sequential(),
        };
        let pool = pool.with_denormals(options.denormals)?.with_affinity(options.affinity)?;
        Ok(if options.records_load { pool.recording() } else { pool })
    }

    /// Checks that every array with values from before a run can be given them.
    pub(super) fn check_live_in(&self) -> Result<(), RunError> {
        let mut arrays = self.kernel().arrays().iter();
        match arrays.find(|array| array.role == Role::Temp && array.live_in.is_some()) {
            Some(array) => {
                let (kernel, array) = (self.kernel().name().to_string(), array.name.clone());
                Err(RunError::LiveInTemporary { kernel, array })
            }
            None => Ok(()),
        }
    }

    /// Checks that a call needs to know of no steps.
    pub(super) fn check_stateless(&self) -> Result<(), RunError> {
        let kernel = || self.kernel().name().to_string();
        if self.kernel().has_state() {
            return Err(RunError::HasState { kernel: kernel() });
        }
        self.check_live_in()?;
        match self.outcome.program.args.last() {
            Some(param) => Err(RunError::UnboundRun { kernel: kernel(), param: param.clone() }),
            None => Ok(()),
        }
    }

    pub(super) fn array_id(&self, array: &str) -> Result<ArrayId, RunError> {
        let unknown = || RunError::unknown_array(self.kernel(), array);
        self.kernel().array_id(array).ok_or_else(unknown)
    }

    /// An array as it is at a step; `back` steps before it.
    pub(super) fn level(&self, id: ArrayId, back: u32, step: i64) -> Result<Level<'_>, RunError> {
        let kernel = self.kernel();
        let depth = self.levels.count(id);
        let array = || kernel.array(id).name.clone();
        match kernel.array(id).role {
            Role::Temp => return Err(RunError::Temporary { array: array() }),
            _ if back >= depth => return Err(RunError::NoSuchLevel { array: array(), depth, back }),
            Role::Input | Role::Output | Role::State => {}
        }
        let level = step + self.levels.newest - i64::from(back);
        Ok(Level::new(kernel, &self.outcome, &self.conditions[id.index()], id, level))
    }

    /// A region of an array whose cells are of this type.
    pub(super) fn boxed<T: ElementType>(&self, array: &str, region: &Region, step: i64) -> Result<Boxed<'_>, RunError> {
        let boxed = self.boxed_of_any(array, region, step)?;
        match boxed.level.array.element {
            expected if expected == T::ELEMENT => Ok(boxed),
            expected => Err(RunError::ElementType { array: array.to_string(), expected, found: T::ELEMENT }),
        }
    }

    /// The same for cells of any type.
    pub(super) fn boxed_of_any(&self, array: &str, region: &Region, step: i64) -> Result<Boxed<'_>, RunError> {
        let id = self.array_id(array)?;
        if self.kernel().is_series(id) {
            return Err(RunError::OverSteps { array: array.to_string() });
        }
        let back = region.steps_back();
        let level = self.level(id, back, step)?;
        let axes = region.axes(&level.extents())?;
        Ok(Boxed { axes, at: At { array: id, back, step }, is_whole: region.is_whole(), level })
    }

    /// Extents of the indices of an array, without a state's step.
    pub(super) fn shape(&self, id: ArrayId) -> Vec<usize> {
        Level::new(self.kernel(), &self.outcome, &self.conditions[id.index()], id, 0).shape()
    }
}

impl Shared {
    /// An observer of the kernel by its name.
    pub(super) fn observer(&self, name: &str) -> Result<&Observer, RunError> {
        let kernel = self.request.bound.written();
        kernel.observer(name).ok_or_else(|| RunError::unknown_observer(kernel, name))
    }

    /// The same, compiled: once for all runs.
    pub(super) fn observed(&self, name: &str) -> Result<Arc<Observed>, Error> {
        let observer = self.observer(name)?;
        self.observed_by(name, || observer.clone())
    }

    /// An observer that the kernel need not have, compiled once for all runs; `name` is its own among them.
    pub(super) fn observed_by(&self, name: &str, observer: impl FnOnce() -> Observer) -> Result<Arc<Observed>, Error> {
        let lock = || self.observers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(name).cloned();
        if let Some(observed) = known {
            return Ok(observed);
        }
        let observer = &observer();
        let (bound, layout, program) = beside::observed(&self.request, &self.outcome.layout, observer)?;
        let (compiled, _) = compile_cached(&program, &self.options, &self.request.cache)?;
        let kernel = bound.kernel().clone();
        let (first, reductions) = (self.kernel().arrays().len(), observer.reductions.clone());
        let observed = Arc::new(Observed { compiled, layout, kernel, first, reductions });
        // Another thread may have been faster: one of the two is kept.
        Ok(Arc::clone(lock().entry(name.to_string()).or_insert(observed)))
    }
}

/// A region of an array at a step: all that is known of it before memory is looked at.
#[derive(Debug)]
pub(super) struct Boxed<'a> {
    pub(super) level: Level<'a>,
    pub(super) axes: Vec<Axis>,
    pub(super) at: At,
    /// Whether it was asked for as the whole array.
    is_whole: bool,
}

impl Boxed<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.axes.iter().any(|axis| axis.count == 0)
    }

    /// The first value of each index of the array.
    pub(super) fn low(&self) -> Vec<i64> {
        self.level.extents().spans.iter().map(|(low, _)| *low).collect()
    }

    /// The axes that views of it do not have.
    pub(super) fn single_axes(&self) -> impl Iterator<Item = usize> {
        self.axes.iter().enumerate().filter(|(_, axis)| !axis.kept).map(|(axis, _)| axis)
    }

    pub(super) fn verify_shape(&self, found: &[usize]) -> Result<(), RunError> {
        let expected = shape(&self.axes);
        let (array, found) = match found {
            found if found == expected => return Ok(()),
            found => (self.level.array.name.clone(), found.to_vec()),
        };
        Err(match self.is_whole {
            true => RunError::Shape { array, expected, found },
            false => RunError::RegionShape { array, expected, found },
        })
    }
}
