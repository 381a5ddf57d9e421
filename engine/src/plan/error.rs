//! Why a plan was refused.

/// Why a plan was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", prefix = "plan/")]
#[non_exhaustive]
pub enum PlanError {
    /// The kernel has no schedule of that name.
    #[error("kernel `{kernel}` has no schedule `{schedule}`; it has {known}")]
    UnknownSchedule {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        schedule: String,
        /// The names there are.
        known: String,
    },
    /// No schedule could be found for a kernel that has none, or for which one was asked for.
    #[error("kernel `{kernel}`: no schedule was found: {reason}")]
    NoScheduleFound {
        /// The kernel.
        kernel: String,
        /// What stood in the way, and whether writing a schedule may help.
        reason: String,
    },
    /// The kernel has no size parameter of that name.
    #[error("kernel `{kernel}` has no size parameter `{param}`; it has {known}")]
    UnknownSize {
        /// The kernel.
        kernel: String,
        /// The name asked for.
        param: String,
        /// The names there are.
        known: String,
    },
    /// A size parameter has no value.
    #[error("kernel `{kernel}`: size parameter `{param}` has no value; give it one (`size(\"{param}\", ..)`)")]
    MissingSize {
        /// The kernel.
        kernel: String,
        /// The parameter.
        param: String,
    },
    /// The sizes contradict the kernel's own constraints.
    #[error("kernel `{kernel}` is not defined for {sizes}: it requires {context}")]
    OutsideContext {
        /// The kernel.
        kernel: String,
        /// The sizes, as `N = 3`.
        sizes: String,
        /// The kernel's constraint.
        context: String,
    },
    /// A kernel for analysis, that was to run.
    #[error(
        "kernel `{kernel}` calls {functions}, declared as opaque: such a function stands for any, and what runs in its \
         place is a hash of its arguments; allow that with `run_opaque_functions(true)`, or `--opaque` of `crease run`"
    )]
    OpaqueFunctions {
        /// The kernel.
        kernel: String,
        /// The functions that it calls.
        functions: String,
    },
    /// No pool has this many threads.
    #[error(
        "kernel `{kernel}` is planned for {threads} threads: on {cores} core(s) there can be from 1 to {most}; choose \
         another number (`threads`), or none for all cores"
    )]
    Threads {
        /// The kernel.
        kernel: String,
        /// How many were asked for.
        threads: usize,
        /// Cores that this process may use.
        cores: usize,
        /// The most threads there can be.
        most: usize,
    },
    /// The machine that is planned for has pages that no machine has.
    #[error(
        "kernel `{kernel}` is planned for a machine with pages of {page_bytes} bytes: a page is a power of two, at \
         least {least}; give another number (`MachineModel::double_map_bytes`), or none if memory is not mapped twice"
    )]
    PageBytes {
        /// The kernel.
        kernel: String,
        /// The bytes of a page that the model gives.
        page_bytes: u64,
        /// The least there can be.
        least: u64,
    },
    /// What a run keeps would exceed the cap. Both sizes are in bytes; private buffers count once for each planned
    /// thread, the inputs and outputs of a kernel with state as the copies that a run keeps.
    #[error(
        "kernel `{kernel}` needs {needed_bytes} bytes, more than the cap of {cap_bytes}{fits}; choose smaller sizes \
         or raise the cap (`memory_cap_bytes`)"
    )]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// Predicted storage.
        needed_bytes: u64,
        /// The cap.
        cap_bytes: u64,
        /// The largest sizes that would fit, as text; empty if none were found.
        fits: String,
    },
}
