//! The interpreter: what a program means, and the oracle for every code generator.
//!
//! In: a program, arguments, scalars and memory.   Out: the memory after one run.
//!
//! Everything a code generator may assume is checked here: integers stay in 64 bits, `wrap` gets an argument that one
//! correction brings into the ring, positions start inside their ring, addresses stay inside their buffers. A strip is
//! checked before it runs, so a failing strip has written nothing; earlier strips have.
//!
//! One worker runs everything, so a buffer with copies has one here. It is poisoned wherever a real worker might find
//! something else in its copy: when the run starts, when an iteration of an outermost parallel loop starts, and when
//! such a loop has ended. A value that is wrongly claimed to stay within an iteration is then read as a NaN.

use super::cells::Memory;
use super::environment::{Env, Trap};
use super::fault::VerifyError;
use super::interpret_strip::Scratch;
use super::limits::INTERPRETED_STEPS;
use super::place::{Part, Place, Step};
use super::trips::{strip_length, trips};
use super::types::*;
use num_integer::Integer;
use std::fmt;
use thiserror::Error;

/// The order in which the interpreter runs the iterations of parallel loops. All give the same result if the loops are
/// what they claim to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ParallelOrder {
    /// First iteration first.
    #[default]
    Ascending,
    /// Last iteration first.
    Descending,
    /// In an order of its own for each run of a loop, which follows from this number.
    Shuffled(u64),
}

impl ParallelOrder {
    /// Which of `count` iterations comes at each place, in a loop that runs now.
    fn of_loop(&mut self, count: i64) -> impl Fn(i64) -> i64 + use<> {
        let (first, stride) = match self {
            ParallelOrder::Ascending => (0, 1),
            ParallelOrder::Descending => (count - 1, count - 1),
            ParallelOrder::Shuffled(seed) => {
                // Weyl's sequence, mixed as by SplitMix64 (Steele, Lea and Flood 2014).
                *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let below = |number: u64| (number % count.max(1).unsigned_abs()) as i64;
                // Steps of a stride without a common divisor visit everything.
                let coprime = (below(mixed >> 32).max(1)..).find(|stride| stride.gcd(&count.max(1)) == 1);
                (below(mixed), coprime.unwrap_or(1))
            }
        };
        move |at| ((i128::from(first) + i128::from(at) * i128::from(stride)) % i128::from(count.max(1))) as i64
    }
}

/// Why a program was not run, or not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InterpretError {
    /// The program does not verify.
    #[error(transparent)]
    Invalid(#[from] VerifyError),
    /// A wrong number of arguments, scalars or buffers.
    #[error("{found} {what} given, the program has {expected}")]
    Count {
        /// `arguments`, `scalars` or `buffers`.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many the program declares.
        expected: usize,
    },
    /// A buffer holds cells of another type.
    #[error("buffer `{buffer}` holds {found}, the program needs {expected}")]
    Element {
        /// The buffer's name.
        buffer: String,
        /// What it holds.
        found: Element,
        /// What the program declares.
        expected: Element,
    },
    /// A buffer is too short.
    #[error("buffer `{buffer}` has {found} cells, the program needs {needed}")]
    TooShort {
        /// The buffer's name.
        buffer: String,
        /// Its length in cells.
        found: usize,
        /// The declared length in cells.
        needed: u64,
    },
    /// The program did what it must not do. Strips before this one have written to memory.
    #[error("{0}")]
    Trapped(Box<Trapped>),
}

/// What a program did, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trapped {
    /// Where.
    pub place: Place,
    /// The iterations of the loops around it, outermost first.
    pub iteration: Vec<(Var, i64)>,
    /// What.
    pub trap: Trap,
}

impl fmt::Display for Trapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.trap)?;
        for (at, (var, value)) in self.iteration.iter().enumerate() {
            write!(f, "{} {var} = {value}", if at == 0 { " at" } else { "," })?;
        }
        Ok(())
    }
}

/// Runs a program once. Blocks of a strip have at most `lanes` lanes and at most [`Strip::lanes`]; 1 runs cell by cell.
/// `args`, `scalars` and the buffers of `memory` are in the order of their declarations; `f32` scalars are rounded.
///
/// # Errors
/// [`InterpretError`]; the program is verified first, and nothing has been written unless it is
/// [`InterpretError::Trapped`].
pub fn interpret(
    program: &Program,
    args: &[i64],
    scalars: &[f64],
    memory: &mut Memory,
    lanes: u32,
) -> Result<(), InterpretError> {
    interpret_in_order(program, args, scalars, memory, lanes, ParallelOrder::Ascending)
}

/// Like [`interpret`], with a choice of the order of parallel iterations.
///
/// # Errors
/// As [`interpret`].
pub fn interpret_in_order(
    program: &Program,
    args: &[i64],
    scalars: &[f64],
    memory: &mut Memory,
    lanes: u32,
    order: ParallelOrder,
) -> Result<(), InterpretError> {
    program.verify()?;
    verify_interface(program, args, scalars, memory)?;
    let vars = vec![0; program.variables()];
    let env = Env { args, vars };
    let scratch = Scratch::default();
    let lanes = lanes.max(1);
    let path = Vec::new();
    let (in_parallel, work) = (false, INTERPRETED_STEPS);
    let mut machine = Machine { program, env, scalars, memory, lanes, order, path, scratch, in_parallel, work };
    machine.poison_copies();
    machine.block(&program.body).map_err(InterpretError::Trapped)
}

fn verify_interface(program: &Program, args: &[i64], scalars: &[f64], memory: &Memory) -> Result<(), InterpretError> {
    let counts = [
        ("arguments", args.len(), program.args.len()),
        ("scalars", scalars.len(), program.scalars.len()),
        ("buffers", memory.buffers.len(), program.buffers.len()),
    ];
    for (what, found, expected) in counts {
        if found != expected {
            return Err(InterpretError::Count { what, found, expected });
        }
    }
    for (decl, cells) in program.buffers.iter().zip(&memory.buffers) {
        let (buffer, found) = (decl.name.clone(), cells.len());
        if decl.element != cells.element() {
            return Err(InterpretError::Element { buffer, found: cells.element(), expected: decl.element });
        }
        if let Some(needed) = decl.cells.filter(|needed| (found as u64) < *needed) {
            return Err(InterpretError::TooShort { buffer, found, needed });
        }
    }
    Ok(())
}

/// A program at work.
struct Machine<'a> {
    program: &'a Program,
    env: Env<'a>,
    scalars: &'a [f64],
    memory: &'a mut Memory,
    lanes: u32,
    order: ParallelOrder,
    path: Vec<Step>,
    scratch: Scratch,
    /// Whether an iteration of a parallel loop is running: no worker changes before it ends.
    in_parallel: bool,
    /// Steps of work that are left.
    work: u64,
}

type Run = Result<(), Box<Trapped>>;

impl Machine<'_> {
    fn block(&mut self, nodes: &[Node]) -> Run {
        (0..).zip(nodes).try_for_each(|(position, node)| self.node(position, node))
    }

    fn inside(&mut self, step: Step, nodes: &[Node]) -> Run {
        self.path.push(step);
        self.block(nodes)?;
        self.path.pop();
        Ok(())
    }

    /// Counts steps of work.
    fn spend(&mut self, part: Part, steps: u128) -> Run {
        match u64::try_from(steps).ok().and_then(|steps| self.work.checked_sub(steps)) {
            Some(left) => self.work = left,
            None => return Err(self.trapped(part, Trap::Work { limit: INTERPRETED_STEPS })),
        }
        Ok(())
    }

    fn node(&mut self, node: u32, content: &Node) -> Run {
        let head = Part::Node(node);
        self.spend(head, 1)?;
        match content {
            Node::Let { var, value } => {
                self.env.vars[var.index()] = self.env.int(value).map_err(|trap| self.trapped(head, trap))?;
                Ok(())
            }
            Node::For { var, lo, hi, step, kind, body } => {
                let lo = self.env.int(lo).map_err(|trap| self.trapped(head, trap))?;
                let hi = self.env.int(hi).map_err(|trap| self.trapped(head, trap))?;
                let trips = trips(lo, hi, *step).map_err(|trap| self.trapped(head, trap))?;
                self.spend(head, trips as u128)?;
                let inside = Step::For { node, var: *var };
                // The last value and the sum behind it have 64 bits.
                if *kind != LoopKind::Parallel || self.in_parallel {
                    // Inside another parallel loop it is sequential.
                    return self.iterations(inside, (0..trips).map(|at| lo + at * step), body);
                }
                let order = self.order.of_loop(trips);
                self.tasks(inside, (0..trips).map(|at| lo + order(at) * step), body)
            }
            Node::If { cond, then, otherwise } => {
                match self.env.cond(cond).map_err(|trap| self.trapped(head, trap))? {
                    true => self.inside(Step::Then { node }, then),
                    false => self.inside(Step::Else { node }, otherwise),
                }
            }
            Node::Strip(strip) => self.strip(node, strip),
        }
    }

    fn iterations(&mut self, step: Step, values: impl Iterator<Item = i64>, body: &[Node]) -> Run {
        let Step::For { var, .. } = step else { unreachable!("only loops iterate") };
        for value in values {
            self.env.vars[var.index()] = value;
            self.inside(step, body)?;
        }
        Ok(())
    }

    /// Iterations of an outermost parallel loop, which find nothing in their copies, and leave nothing.
    fn tasks(&mut self, step: Step, mut values: impl Iterator<Item = i64>, body: &[Node]) -> Run {
        self.in_parallel = true;
        values.try_for_each(|value| {
            self.poison_copies();
            self.iterations(step, std::iter::once(value), body)
        })?;
        self.in_parallel = false;
        self.poison_copies();
        Ok(())
    }

    fn poison_copies(&mut self) {
        for (decl, cells) in self.program.buffers.iter().zip(&mut self.memory.buffers) {
            if decl.copies != Copies::One {
                cells.poison();
            }
        }
    }

    fn strip(&mut self, node: u32, strip: &Strip) -> Run {
        let head = Part::Node(node);
        let lo = self.env.int(&strip.lo).map_err(|trap| self.trapped(head, trap))?;
        let hi = self.env.int(&strip.hi).map_err(|trap| self.trapped(head, trap))?;
        let length = strip_length(lo, hi).map_err(|trap| self.trapped(head, trap))?;
        if length <= 0 {
            return Ok(());
        }
        self.spend(head, length as u128 * (strip.ops.len() as u128 + 1))?;
        self.path.push(Step::Strip { node, var: strip.var });
        self.scratch
            .run(self.program, strip, lo..hi, &self.env, self.scalars, self.memory, self.lanes)
            .map_err(|(part, trap)| self.trapped(part, trap))?;
        self.path.pop();
        Ok(())
    }

    fn trapped(&self, part: Part, trap: Trap) -> Box<Trapped> {
        let iteration = self.path.iter().filter_map(|step| match step {
            Step::For { var, .. } => Some((*var, self.env.vars[var.index()])),
            _ => None,
        });
        Box::new(Trapped { place: Place { path: self.path.clone(), part }, iteration: iteration.collect(), trap })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cells;

    fn run(text: &str, args: &[i64], memory: &mut Memory) -> Result<(), InterpretError> {
        interpret(&Program::parse(text).unwrap(), args, &[], memory, 1)
    }

    #[test]
    fn interfaces_are_checked_before_anything_runs() {
        let text = "program p(a) { buffer u: f64[3] write }";
        let mut memory = Memory { buffers: vec![Cells::F64(vec![0.0; 2])] };
        let missing = InterpretError::Count { what: "arguments", found: 0, expected: 1 };
        assert_eq!(run(text, &[], &mut memory), Err(missing));
        let short = InterpretError::TooShort { buffer: "u".to_string(), found: 2, needed: 3 };
        assert_eq!(run(text, &[1], &mut memory), Err(short));
        memory.buffers[0] = Cells::U8(vec![0; 3]);
        let element = InterpretError::Element { buffer: "u".to_string(), found: Element::U8, expected: Element::F64 };
        assert_eq!(run(text, &[1], &mut memory), Err(element));
        memory.buffers.clear();
        let missing = InterpretError::Count { what: "buffers", found: 0, expected: 1 };
        assert_eq!(run(text, &[1], &mut memory), Err(missing));
    }

    #[test]
    fn integers_divide_towards_minus_infinity() {
        let env = Env { args: &[-7], vars: vec![] };
        let x = || Box::new(Int::Arg(ArgId(0)));
        assert_eq!(env.int(&Int::FloorDiv(x(), 2)), Ok(-4));
        assert_eq!(env.int(&Int::Mod(x(), 5)), Ok(3));
        assert_eq!(env.int(&Int::Wrap(x(), 7)), Ok(0));
        let huge = i64::MAX - 1;
        assert_eq!(env.int(&Int::MulMod(huge - 1, x(), huge)), Ok(7), "(-1) * (-7) without overflow");
    }

    #[test]
    fn conditions_stop_where_they_are_decided() {
        // `wrap(v0 - 100, 3)` would trap for the values that the first comparison excludes.
        let text = "program p() { for v0 in 0 .. 5 { if all(v0 > 9, wrap(v0 - 100, 3) == 0) { } } }";
        assert_eq!(run(text, &[], &mut Memory::default()), Ok(()));
    }

    #[test]
    fn loops_without_end_are_errors() {
        let limit = |text: &str| match run(text, &[], &mut Memory::default()) {
            Err(InterpretError::Trapped(trapped)) => trapped.trap,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            limit("program p() { for v0 in 0 .. 4611686018427387904 { } }"),
            Trap::Work { limit: INTERPRETED_STEPS }
        );
        assert_eq!(
            limit("program p() { strip v0 in 0 .. 4611686018427387904 lanes 1 { } }"),
            Trap::Work { limit: INTERPRETED_STEPS }
        );
    }

    #[test]
    fn every_order_has_every_iteration_once() {
        let mut orders = [ParallelOrder::Ascending, ParallelOrder::Descending, ParallelOrder::Shuffled(1)];
        for order in &mut orders {
            for count in [0, 1, 2, 3, 12, 13, 97] {
                let place = order.of_loop(count);
                let mut seen: Vec<i64> = (0..count).map(place).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..count), "{order:?}, {count}");
            }
        }
        let mut shuffled = ParallelOrder::Shuffled(1);
        let [first, second] = [(); 2].map(|()| (0..97).map(shuffled.of_loop(97)).collect::<Vec<_>>());
        assert_ne!(first, second, "each loop has an order of its own");
    }
}
