//! Listings: the machine code of a plan's strips beside the expressions that they compute.
//!
//! In: a lowered program, what its operations come from, and how it was compiled.   Out: a [`Listing`].
//!
//! Bytes and operations are those of one iteration of a strip, which is one instance of each of its statements. Two
//! kinds of bytes are told: what its loads and stores move, wherever that lies, and what must come from memory at least
//! if nothing stays in a cache from one sweep to the next: each array's cell once for reading and once for writing.
//! Lines that a machine fetches before it overwrites them are not counted.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};

use crease_jit::{CompileOptions, Compiled, OperationNames, StripListing, compile_named};
use crease_program::{Node, Op, Strip, StripCosts, Var};

use crate::error::Error;
use crate::kernel::StmtTexts;
use crate::kernel::affine::Affine;
use crate::kernel::graph::{ArrayId, Expr, Kernel, Role};
use crate::lower::{Origin, Part};
use crate::plan::outcome::Outcome;

/// Longest name of an operation; longer ones are cut.
const LONGEST_NAME: usize = 88;

/// Machine code of a plan, for people.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct Listing {
    /// The kernel's name.
    pub kernel: String,
    /// Every strip, by its name; one over borrowed arrays may come twice, for adjacent cells and for others, and one in
    /// rings.
    pub strips: Vec<StripReport>,
    /// The functions around strips, which hold loops, conditions and addresses, and the strips without code of their
    /// own.
    pub functions: String,
}

/// One strip: what it computes, what that costs, and how.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct StripReport {
    /// Its name in the program, such as `v7`.
    pub strip: String,
    /// The strip whose code it runs, if it does the same from other addresses.
    pub runs: Option<String>,
    /// Whether this is the code for segments in which no ring ends between neighbours, beside that for all others.
    pub is_joined: bool,
    /// The statements in it, in order.
    pub statements: Vec<String>,
    /// What these say, as it is evaluated: a line for each value and each assignment.
    pub source: Vec<String>,
    /// Bits of its vectors; those of one number where it runs cell by cell.
    pub vector_bits: u32,
    /// Iterations in one vector.
    pub lanes: u32,
    /// Vectors in one iteration of its main loop.
    pub blocks: u32,
    /// Whether each of these begins while the one before it ends.
    pub is_pipelined: bool,
    /// Instructions for one vector; none where they are part of `functions`, as with all that follow.
    pub instructions: Option<u32>,
    /// Vector registers that are used.
    pub registers: Option<u32>,
    /// Vector registers that there are.
    pub registers_available: Option<u32>,
    /// Registers that keep a constant over all iterations.
    pub pinned: Option<u32>,
    /// Values stored to the stack and read again, for each vector.
    pub spills: Option<u32>,
    /// Vectors of a row that are cut out of two others instead of being read, for each vector.
    pub lane_shifts: Option<u32>,
    /// Values that an iteration takes from the one before in registers, where it would load what that one has stored.
    pub carried: u32,
    /// Bytes that an iteration loads.
    pub loaded_bytes: u64,
    /// Bytes that it stores.
    pub stored_bytes: u64,
    /// Bytes of memory that it needs at least, read or written.
    pub memory_bytes: u64,
    /// Its sums, products, quotients and roots; `fma` counts twice.
    pub flops: u64,
    /// Arithmetic intensity: `flops` over `memory_bytes`; none if it touches no memory.
    pub flops_per_byte: Option<f64>,
    /// Its instructions, each with what it computes; empty where they are part of `functions` or stand with another
    /// strip.
    pub code: String,
}

/// Compiles a plan and lists what became of it.
pub(crate) fn listing(kernel: &Kernel, outcome: &Outcome, options: &CompileOptions) -> Result<Listing, Error> {
    let texts: Vec<StmtTexts> = kernel.stmts().iter().map(|stmt| StmtTexts::new(kernel, stmt)).collect();
    let names: OperationNames = outcome
        .origins
        .iter()
        .map(|(var, origins)| (*var, origins.iter().map(|origin| name(kernel, &texts, *origin)).collect()))
        .collect();
    let compiled = compile_named(&outcome.program, &options.texts(true), &names)?;
    let report = |listing: &StripListing| report(kernel, &texts, outcome, &compiled, listing);
    let strips = compiled.strips().iter().map(report).collect();
    Ok(Listing { kernel: kernel.name().to_string(), strips, functions: compiled.functions_text().to_string() })
}

/// What an operation computes, in the words of its statement.
fn name(kernel: &Kernel, texts: &[StmtTexts], Origin { stmt, part }: Origin) -> String {
    let texts = &texts[stmt.index()];
    let text = match part {
        Part::Expr(id) => &texts.exprs[id.index()],
        Part::Assign(at) => &texts.assigns[at],
    };
    let cut: String = text.chars().take(LONGEST_NAME).collect();
    let rest = if cut.len() < text.len() { ".." } else { "" };
    format!("{}: {cut}{rest}", kernel.stmt(stmt).name)
}

fn report(
    kernel: &Kernel,
    texts: &[StmtTexts],
    outcome: &Outcome,
    compiled: &Compiled,
    listing: &StripListing,
) -> StripReport {
    let strip =
        find_strip(&compiled.program().body, listing.strip).expect("listings are those of the program's strips");
    let origins = outcome.origins.get(&listing.strip).map_or(&[][..], Vec::as_slice);
    let mut stmts = Vec::new();
    origins.iter().filter(|origin| matches!(origin.part, Part::Assign(_))).for_each(|origin| {
        if !stmts.contains(&origin.stmt) {
            stmts.push(origin.stmt);
        }
    });
    let StripCosts { loaded_bytes, stored_bytes, flops } = strip.costs(compiled.program());
    let memory_bytes = memory_bytes(kernel, strip, origins);
    let lane_shifts = listing.registers.map(|registers| registers.lane_shifts);
    let carried_bytes = |load: &u32| match strip.ops[*load as usize] {
        Op::Load { stream, .. } => {
            compiled.program().buffers[strip.streams[stream.index()].buffer.index()].element.bytes()
        }
        _ => 0,
    };
    let carried: u64 = listing.carried.iter().map(carried_bytes).sum();
    let not_loaded = carried + u64::from(lane_shifts.unwrap_or(0)) * u64::from(listing.vector_bits / listing.lanes / 8);
    StripReport {
        strip: listing.strip.to_string(),
        runs: listing.runs.map(|other| other.to_string()),
        is_joined: listing.is_joined,
        statements: stmts.iter().map(|id| kernel.stmt(*id).name.clone()).collect(),
        source: stmts.iter().flat_map(|id| texts[id.index()].lines()).collect(),
        vector_bits: listing.vector_bits,
        lanes: listing.lanes,
        blocks: listing.blocks,
        is_pipelined: listing.is_pipelined,
        instructions: listing.registers.map(|registers| registers.instructions),
        registers: listing.registers.map(|registers| registers.vectors),
        registers_available: listing.registers.map(|registers| registers.available),
        pinned: listing.registers.map(|registers| registers.pinned),
        spills: listing.registers.map(|registers| registers.spills),
        lane_shifts,
        carried: listing.carried.len() as u32,
        loaded_bytes: loaded_bytes.saturating_sub(not_loaded),
        stored_bytes,
        memory_bytes,
        flops,
        flops_per_byte: (memory_bytes > 0).then(|| flops as f64 / memory_bytes as f64),
        code: listing.text.clone(),
    }
}

fn find_strip(nodes: &[Node], var: Var) -> Option<&Strip> {
    nodes.iter().find_map(|node| match node {
        Node::Strip(strip) => (strip.var == var).then_some(strip),
        Node::For { body, .. } => find_strip(body, var),
        Node::If { then, otherwise, .. } => find_strip(then, var).or_else(|| find_strip(otherwise, var)),
        Node::Let { .. } => None,
    })
}

/// Bytes of the arrays that an iteration reads and of those that it writes, each once: a cell and its neighbours are
/// the same memory. Two steps of a state are two arrays.
fn memory_bytes(kernel: &Kernel, strip: &Strip, origins: &[Origin]) -> u64 {
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    // A lone instance reads its cells, too, though none of its streams moves.
    let is_lone = strip.streams.iter().all(|stream| stream.is_fixed());
    let level = |array: ArrayId, index: &[Affine]| {
        let step = index.first().filter(|_| kernel.array(array).role == Role::State);
        (array, step.map(|step| format!("{step:?}")))
    };
    for (op, Origin { stmt, part }) in strip.ops.iter().zip(origins) {
        match (op, part) {
            (Op::Load { stream, .. }, Part::Expr(id)) if is_lone || !strip.streams[stream.index()].is_fixed() => {
                if let Expr::Load(array, index) = &kernel.stmt(*stmt).exprs[id.index()] {
                    read.insert(level(*array, index));
                }
            }
            (Op::Store { .. }, Part::Assign(at)) => {
                let assign = &kernel.stmt(*stmt).assigns[*at];
                written.insert(level(assign.array, &assign.index));
            }
            _ => {}
        }
    }
    read.iter().chain(&written).map(|(array, _)| kernel.array(*array).element.bytes()).sum()
}

impl Display for Listing {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for strip in &self.strips {
            write!(f, "{}{}", strip.heading(), strip.code)?;
        }
        f.write_str(&self.functions)
    }
}

impl StripReport {
    /// What is known of the strip, as lines of comment; of one that runs the code of another, no more than that.
    pub fn heading(&self) -> String {
        if let Some(other) = &self.runs {
            return format!("{}: as {other}, from other cells\n", self.title());
        }
        let mut lines = vec![format!("{}: {}", self.title(), self.vectors())];
        lines.extend(self.source.iter().map(|line| format!(";   {line}")));
        let intensity = self.flops_per_byte.map_or(String::new(), |ratio| format!(", {ratio:.3} flops a byte of that"));
        lines.push(format!(
            "; a site: {} bytes loaded, {} stored, {} flops; {} bytes of memory at least{intensity}",
            self.loaded_bytes, self.stored_bytes, self.flops, self.memory_bytes
        ));
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn title(&self) -> String {
        let segments = if self.is_joined { ", where no ring ends between neighbours" } else { "" };
        format!("; strip {} of {}{segments}", self.strip, self.statements.join(", "))
    }

    fn vectors(&self) -> String {
        if self.lanes == 1 {
            let carried = match self.carried {
                0 => String::new(),
                1 => ", 1 value handed on in a register".to_string(),
                several => format!(", {several} values handed on in registers"),
            };
            return format!("one cell of {} bits at a time{carried}; part of the functions below", self.vector_bits);
        }
        let vectors = if self.blocks == 1 { "vector" } else { "vectors" };
        let (bits, blocks) = (self.vector_bits / self.lanes, self.blocks);
        let overlap = if self.is_pipelined { ", pipelined" } else { "" };
        let lanes = format!("{} lanes of {bits} bits, {blocks} {vectors} a loop{overlap}", self.lanes);
        match (self.instructions, self.registers, self.registers_available, self.pinned, self.spills) {
            (Some(instructions), Some(used), Some(available), Some(pinned), Some(spills)) => {
                let shifts = self
                    .lane_shifts
                    .filter(|shifts| *shifts > 0)
                    .map_or(String::new(), |shifts| format!(", {shifts} lane shifts"));
                format!(
                    "{lanes}; for a vector {instructions} instructions, {used} of {available} registers ({pinned} keep \
                     constants), {spills} spills{shifts}"
                )
            }
            _ => format!("{lanes}; part of the functions below"),
        }
    }
}
