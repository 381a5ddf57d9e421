//! Verification: what every kernel fulfils, however it was made.
//!
//! Names are identifiers and unique; nothing is nested beyond one limit (`depth`); accesses have as many indices as
//! their arrays; iterators and parameters exist; operands come first and have one type; opaque functions are declared;
//! inputs are not written, and no cell twice; schedules give each statement one time; state is stepped by the first
//! iterator and stops with the run parameter, as are inputs over steps. Nothing here needs integer sets: whether all
//! cells are written, bounds of accesses and legality of schedules are analyses of their own.
//!
//! The order of the checks is fixed, so the first error of a kernel is always the same one.

mod observers;
mod series;
mod state;
mod types;

use std::collections::{BTreeSet, HashSet};

use crate::kernel::affine::{Affine, Term};
use crate::kernel::depth::{MAX_DEPTH, affine_fits, formula_fits};
use crate::kernel::error::{KernelError, KernelErrorKind};
use crate::kernel::exprs::operands;
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, ArrayId, DimKind, Element, Expr, Function, Kernel, ParamKind, Role, Schedule, Stmt};
use crate::kernel::nearest;
use crate::kernel::observers::ObserverPart;
use crate::kernel::print::cell_text;
use crate::kernel::words::AUTOMATIC;
use crate::kernel::words::RESERVED;

pub(in crate::kernel) use observers::verify_observer;
pub(in crate::kernel) use state::step_offset;
pub(in crate::kernel) use types::integer_fits;
pub use types::value_types;

/// The part of a kernel that an error is about, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kernel) enum Subject {
    Kernel,
    Param(usize),
    Scalar(usize),
    Opaque(usize),
    Array(usize),
    Stmt(usize),
    /// Statement, assignment.
    Assign(usize, usize),
    /// Statement, expression.
    Expr(usize, usize),
    Schedule(usize),
    /// Observer, and which part of it.
    Observed(usize, ObserverPart),
}

/// The first thing wrong with a kernel, and where.
pub(in crate::kernel) type Verified = Result<(), (KernelErrorKind, Subject)>;

impl Kernel {
    /// Checks the kernel; parser and builder have done so already.
    ///
    /// # Errors
    /// The first thing wrong.
    pub fn verify(&self) -> Result<(), KernelError> {
        verify_places(self).map_err(|(kind, _)| KernelError::new(kind))
    }

    /// The kernel with one more schedule, where all but its schedules has been verified.
    pub(crate) fn and_schedule(mut self, schedule: Schedule) -> Result<Kernel, KernelError> {
        self.schedules.push(schedule);
        let verified = verify_names(&self).and_then(|()| verify_schedules(&self));
        verified.map_err(|(kind, _)| KernelError::new(kind))?;
        Ok(self)
    }
}

pub(in crate::kernel) fn verify_places(kernel: &Kernel) -> Verified {
    verify_places_from(kernel, 0)?;
    state::verify_last_step(kernel)
}

/// As [`verify_places`], of a kernel whose statements before that position are those of one that was verified. What states
/// depend on is not looked at: all others may name the last step.
pub(in crate::kernel) fn verify_places_from(kernel: &Kernel, first: usize) -> Verified {
    verify_names(kernel)?;
    verify_declarations(kernel)?;
    for (i, stmt) in kernel.stmts.iter().enumerate().skip(first) {
        verify_stmt(kernel, i, stmt)?;
        types::verify_types(kernel, i, stmt)?;
    }
    state::verify_state(kernel)?;
    series::verify_series(kernel)?;
    verify_schedules(kernel)?;
    (0..kernel.observers.len()).try_for_each(|i| verify_observer(kernel, i))
}

fn verify_schedules(kernel: &Kernel) -> Verified {
    let verified = |(i, schedule)| verify_schedule(kernel, schedule).map_err(|kind| (kind, Subject::Schedule(i)));
    kernel.schedules.iter().enumerate().try_for_each(verified)
}

fn verify_names(kernel: &Kernel) -> Verified {
    identifier(&kernel.name).map_err(|kind| (kind, Subject::Kernel))?;
    let mut taken = HashSet::new();
    let mut unique = |what, name: &str, place| {
        identifier(name).map_err(|kind| (kind, place))?;
        if taken.insert(name.to_string()) {
            return Ok(());
        }
        Err((KernelErrorKind::Duplicate { what, name: name.into() }, place))
    };
    for (i, param) in kernel.params.iter().enumerate() {
        notation_name(&param.name).map_err(|kind| (kind, Subject::Param(i)))?;
        unique("parameter", &param.name, Subject::Param(i))?;
    }
    for (i, scalar) in kernel.scalars.iter().enumerate() {
        unique("scalar", &scalar.name, Subject::Scalar(i))?;
    }
    verify_opaques(kernel)?;
    for (i, array) in kernel.arrays.iter().enumerate() {
        notation_name(&array.name).map_err(|kind| (kind, Subject::Array(i)))?;
        unique("array", &array.name, Subject::Array(i))?;
    }
    for (i, array) in kernel.arrays.iter().enumerate() {
        verify_tuple(kernel, "index", &array.index).map_err(|kind| (kind, Subject::Array(i)))?;
    }
    let mut taken = HashSet::new();
    for (i, stmt) in kernel.stmts.iter().enumerate() {
        notation_name(&stmt.name).map_err(|kind| (kind, Subject::Stmt(i)))?;
        verify_tuple(kernel, "iterator", &stmt.iters).map_err(|kind| (kind, Subject::Stmt(i)))?;
        if !taken.insert(&stmt.name) {
            let kind = KernelErrorKind::Duplicate { what: "statement", name: stmt.name.clone() };
            return Err((kind, Subject::Stmt(i)));
        }
    }
    // One that is to be found will have this name.
    let found = AUTOMATIC.to_string();
    let mut taken: HashSet<&String> = kernel.finds_schedule.then_some(&found).into_iter().collect();
    for (i, schedule) in kernel.schedules.iter().enumerate() {
        identifier(&schedule.name).map_err(|kind| (kind, Subject::Schedule(i)))?;
        if !taken.insert(&schedule.name) {
            let kind = KernelErrorKind::Duplicate { what: "schedule", name: schedule.name.clone() };
            return Err((kind, Subject::Schedule(i)));
        }
    }
    for rewriting in &kernel.rewritings {
        identifier(&rewriting.name).map_err(|kind| (kind, Subject::Kernel))?;
        if !taken.insert(&rewriting.name) {
            let kind = KernelErrorKind::Duplicate { what: "schedule", name: rewriting.name.clone() };
            return Err((kind, Subject::Kernel));
        }
    }
    Ok(())
}

/// Names of opaque functions are those of nothing that has a value; one may be declared with several numbers of
/// arguments.
fn verify_opaques(kernel: &Kernel) -> Verified {
    for (i, opaque) in kernel.opaques.iter().enumerate() {
        let here = |kind| (kind, Subject::Opaque(i));
        let name = &opaque.name;
        identifier(name).map_err(here)?;
        if name == "f16" {
            let reason = "it is a type of cells";
            return Err(here(KernelErrorKind::BadName { name: name.clone(), reason }));
        }
        if is_function(name) {
            let reason = "it is a function of the language";
            return Err(here(KernelErrorKind::BadName { name: name.clone(), reason }));
        }
        let is_value = kernel.params.iter().any(|p| p.name == *name)
            || kernel.scalars.iter().any(|s| s.name == *name)
            || kernel.arrays.iter().any(|a| a.name == *name);
        if is_value || kernel.opaques[..i].contains(opaque) {
            return Err(here(KernelErrorKind::Duplicate { what: "opaque function", name: name.clone() }));
        }
    }
    Ok(())
}

/// Names of a tuple are unique, and neither parameters nor scalars.
fn verify_tuple(kernel: &Kernel, what: &'static str, names: &[String]) -> Result<(), KernelErrorKind> {
    for (i, name) in names.iter().enumerate() {
        notation_name(name)?;
        let is_param = kernel.params.iter().any(|p| p.name == *name);
        let is_scalar = kernel.scalars.iter().any(|s| s.name == *name);
        if is_param || is_scalar || names[..i].contains(name) {
            return Err(KernelErrorKind::Duplicate { what, name: name.clone() });
        }
    }
    Ok(())
}

/// Words of isl, in lower case, beyond those of the language. isl reads them in any case.
const ISL_WORDS: [&str; 7] = ["implies", "infty", "infinity", "nan", "rat", "ceil", "ceild"];

/// An identifier that can stand in isl's notation.
fn notation_name(name: &str) -> Result<(), KernelErrorKind> {
    identifier(name)?;
    let lower = name.to_ascii_lowercase();
    if ISL_WORDS.contains(&lower.as_str()) || RESERVED.contains(&lower.as_str()) {
        let reason = "it is a word of isl, which reads it in upper and lower case alike";
        return Err(KernelErrorKind::BadName { name: name.into(), reason });
    }
    Ok(())
}

fn identifier(name: &str) -> Result<(), KernelErrorKind> {
    let bad = |reason| Err(KernelErrorKind::BadName { name: name.into(), reason });
    // The engine begins names of its own with `_`.
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if !starts || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return bad("names are a letter, then letters, digits and `_`");
    }
    if RESERVED.contains(&name) { bad("it is a word of the language") } else { Ok(()) }
}

fn verify_declarations(kernel: &Kernel) -> Verified {
    let mut runs = kernel.params.iter().enumerate().filter(|(_, p)| p.kind == ParamKind::Run).skip(1);
    if let Some((i, second)) = runs.next() {
        return Err((KernelErrorKind::SecondRunParameter { name: second.name.clone() }, Subject::Param(i)));
    }
    verify_formula(kernel, &kernel.context, 0, "the context").map_err(|kind| (kind, Subject::Kernel))?;
    for (i, scalar) in kernel.scalars.iter().enumerate() {
        if !scalar.element.is_scalar() {
            let (place, element) = (format!("scalar `{}`", scalar.name), scalar.element.name());
            return Err((KernelErrorKind::StorageType { place, element, wanted: FLOATS_ONLY }, Subject::Scalar(i)));
        }
    }
    for (i, array) in kernel.arrays.iter().enumerate() {
        let owner = format!("array `{}`", array.name);
        for formula in [Some(&array.domain), array.live_in.as_ref(), array.live_out.as_ref()].into_iter().flatten() {
            verify_formula(kernel, formula, array.index.len(), &owner).map_err(|kind| (kind, Subject::Array(i)))?;
        }
        verify_live(array).map_err(|kind| (kind, Subject::Array(i)))?;
    }
    if kernel.stmts.is_empty() {
        return Err((KernelErrorKind::NoStatements { kernel: kernel.name.clone() }, Subject::Kernel));
    }
    Ok(())
}

/// What is live of states and inputs, their role says.
fn verify_live(array: &Array) -> Result<(), KernelErrorKind> {
    let (role, why) = match array.role {
        Role::State => ("state", "whose latest steps are there before each call and after it"),
        Role::Input => ("an input", "all of whose cells are there, and stay as they are"),
        Role::Output | Role::Temp => return Ok(()),
    };
    let way = match (&array.live_in, &array.live_out) {
        (Some(_), _) => "in",
        (None, Some(_)) => "out",
        (None, None) => return Ok(()),
    };
    Err(KernelErrorKind::LiveByRole { array: array.name.clone(), role, why, way })
}

fn verify_formula(kernel: &Kernel, formula: &Formula, iters: usize, owner: &str) -> Result<(), KernelErrorKind> {
    if !formula_fits(formula) {
        return Err(KernelErrorKind::TooDeep { limit: MAX_DEPTH });
    }
    verify_part(kernel, formula, iters, owner)
}

fn verify_part(kernel: &Kernel, formula: &Formula, iters: usize, owner: &str) -> Result<(), KernelErrorKind> {
    match formula {
        Formula::NonNegative(e) | Formula::Zero(e) => verify_terms(kernel, e, iters, owner),
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter().try_for_each(|part| verify_part(kernel, part, iters, owner))
        }
        Formula::Not(part) => verify_part(kernel, part, iters, owner),
    }
}

fn verify_affine(kernel: &Kernel, e: &Affine, iters: usize, owner: &str) -> Result<(), KernelErrorKind> {
    if !affine_fits(e) {
        return Err(KernelErrorKind::TooDeep { limit: MAX_DEPTH });
    }
    verify_terms(kernel, e, iters, owner)
}

fn verify_terms(kernel: &Kernel, e: &Affine, iters: usize, owner: &str) -> Result<(), KernelErrorKind> {
    for (term, _) in e.terms() {
        let (what, index, len) = match term {
            Term::Iter(i) => ("iterator", *i as usize, iters),
            Term::Param(p) => ("parameter", p.index(), kernel.params.len()),
            Term::Floor(inner, _) => {
                verify_terms(kernel, inner, iters, owner)?;
                continue;
            }
        };
        in_range(owner, what, index, len)?;
    }
    Ok(())
}

fn in_range(owner: &str, what: &'static str, index: usize, len: usize) -> Result<(), KernelErrorKind> {
    if index < len { Ok(()) } else { Err(KernelErrorKind::OutOfRange { owner: owner.into(), what, index, len }) }
}

fn verify_stmt(kernel: &Kernel, position: usize, stmt: &Stmt) -> Verified {
    let owner = format!("statement `{}`", stmt.name);
    let iters = stmt.iters.len();
    let here = |kind| (kind, Subject::Stmt(position));
    verify_formula(kernel, &stmt.domain, iters, &owner).map_err(here)?;
    if stmt.assigns.is_empty() {
        return Err(here(KernelErrorKind::NoAssignments { stmt: stmt.name.clone() }));
    }
    for (i, expr) in stmt.exprs.iter().enumerate() {
        verify_expr(kernel, stmt, i, expr, &owner).map_err(|kind| (kind, Subject::Expr(position, i)))?;
    }
    for (i, assign) in stmt.assigns.iter().enumerate() {
        let here = |kind| (kind, Subject::Assign(position, i));
        verify_access(kernel, assign.array, &assign.index, iters, &owner).map_err(here)?;
        in_range(&owner, "expression", assign.value.index(), stmt.exprs.len()).map_err(here)?;
        let array = kernel.array(assign.array);
        if array.role == Role::Input {
            let kind = KernelErrorKind::InputWritten { stmt: stmt.name.clone(), array: array.name.clone() };
            return Err(here(kind));
        }
        // Cells that are one at some instances only are found when sizes are known.
        if stmt.assigns[..i].iter().any(|other| other.array == assign.array && other.index == assign.index) {
            let cell = cell_text(kernel, stmt, assign.array, &assign.index);
            return Err(here(KernelErrorKind::AssignedTwice { stmt: stmt.name.clone(), cell }));
        }
    }
    Ok(())
}

fn verify_expr(kernel: &Kernel, stmt: &Stmt, position: usize, expr: &Expr, owner: &str) -> Result<(), KernelErrorKind> {
    if operands(expr).iter().any(|o| o.index() >= position) {
        return Err(KernelErrorKind::OperandOrder { stmt: stmt.name.clone(), expr: position });
    }
    match expr {
        Expr::Const(c) if c.is_nan() => Err(KernelErrorKind::NotANumber { stmt: stmt.name.clone() }),
        Expr::Scalar(k) => in_range(owner, "scalar", k.index(), kernel.scalars.len()),
        Expr::Index(e) => verify_affine(kernel, e, stmt.iters.len(), owner),
        Expr::Load(array, index) => verify_access(kernel, *array, index, stmt.iters.len(), owner),
        Expr::Lookup(lookup) => {
            verify_access(kernel, lookup.array, &lookup.corner, stmt.iters.len(), owner)?;
            lookup.verify(kernel)
        }
        Expr::Convert(Element::F16, _) => {
            let (place, element) = (format!("a value of {owner}"), Element::F16.name());
            Err(KernelErrorKind::StorageType { place, element, wanted: "only arrays can" })
        }
        Expr::Saturate(to, _) if !to.is_integer() => {
            let (place, element) = (format!("what saturates in {owner}"), to.name());
            Err(KernelErrorKind::StorageType { place, element, wanted: "only integers can" })
        }
        Expr::Call(function, args) if args.len() != function.arity() => Err(KernelErrorKind::ArgumentCount {
            function: function.name().into(),
            expected: function.arity().to_string(),
            found: args.len(),
        }),
        Expr::Opaque(name, args) => verify_function(kernel, stmt, name, args.len()),
        _ => Ok(()),
    }
}

/// What scalars and reductions may be.
pub(in crate::kernel) const FLOATS_ONLY: &str = "only `f64` and `f32`";

/// Functions of the language, besides [`Function`].
const FUNCTIONS: [&str; 37] = [
    "abs",
    "add_sat",
    "bit_and",
    "bit_not",
    "bit_or",
    "bit_xor",
    "ceil",
    "f32",
    "f64",
    "floor",
    "fma",
    "i16",
    "i16_sat",
    "i32",
    "i32_sat",
    "i64",
    "i64_sat",
    "i8",
    "i8_sat",
    "index",
    "is_nan",
    "max",
    "min",
    "nearest",
    "rem",
    "select",
    "shift_left",
    "shift_right",
    "sqrt",
    "sub_sat",
    "trunc",
    "u16",
    "u16_sat",
    "u32",
    "u32_sat",
    "u8",
    "u8_sat",
];

/// Whether the language has a function of that name.
pub(in crate::kernel) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name) || name.parse::<Function>().is_ok()
}

/// A call of an opaque function has as many arguments as one that is declared.
pub(in crate::kernel) fn verify_declared(kernel: &Kernel, name: &str, found: usize) -> Result<(), KernelErrorKind> {
    let mut counts: Vec<usize> = kernel.opaques.iter().filter(|o| o.name == name).map(|o| o.arity).collect();
    if counts.contains(&found) {
        return Ok(());
    }
    counts.sort_unstable();
    if counts.is_empty() {
        let mut known: BTreeSet<&str> = kernel.opaques.iter().map(|opaque| opaque.name.as_str()).collect();
        known.extend(FUNCTIONS);
        known.extend(Function::ALL.map(Function::name));
        let hint = nearest::hint(name, known);
        return Err(KernelErrorKind::UnknownFunction { name: name.into(), hint, arguments: found });
    }
    let expected = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
    Err(KernelErrorKind::ArgumentCount { function: name.into(), expected, found })
}

fn verify_function(kernel: &Kernel, stmt: &Stmt, name: &str, args: usize) -> Result<(), KernelErrorKind> {
    identifier(name)?;
    let is_value = kernel.params.iter().any(|p| p.name == name)
        || kernel.scalars.iter().any(|s| s.name == name)
        || kernel.arrays.iter().any(|a| a.name == name)
        || stmt.iters.iter().any(|i| i == name);
    if is_value {
        return Err(KernelErrorKind::NotAFunction { name: name.into(), hint: "it is a value" });
    }
    verify_declared(kernel, name, args)
}

fn verify_access(
    kernel: &Kernel,
    array: ArrayId,
    index: &[Affine],
    iters: usize,
    owner: &str,
) -> Result<(), KernelErrorKind> {
    in_range(owner, "array", array.index(), kernel.arrays.len())?;
    let array = kernel.array(array);
    if index.len() != array.index.len() {
        return Err(KernelErrorKind::index_count(array, index.len()));
    }
    index.iter().try_for_each(|e| verify_affine(kernel, e, iters, owner))
}

fn verify_schedule(kernel: &Kernel, schedule: &Schedule) -> Result<(), KernelErrorKind> {
    let name = || schedule.name.clone();
    let expected = schedule.dims.len();
    for (i, stmt) in kernel.stmts.iter().enumerate() {
        let Some(time) = schedule.times.get(i) else {
            return Err(KernelErrorKind::NotScheduled { schedule: name(), stmt: stmt.name.clone() });
        };
        if time.len() != expected {
            let owner = format!("the time of statement `{}`", stmt.name);
            return Err(KernelErrorKind::TimeLength { schedule: name(), owner, expected, found: time.len() });
        }
        let owner = format!("schedule `{}`", schedule.name);
        for e in time {
            let of_first_call = e.of_first_call().map_err(|_| KernelErrorKind::Overflow { place: owner.clone() })?;
            let time = if kernel.has_state() { &of_first_call } else { e };
            verify_affine(kernel, time, stmt.iters.len(), &owner)?;
        }
    }
    in_range(&format!("schedule `{}`", schedule.name), "statement", schedule.times.len(), kernel.stmts.len() + 1)?;
    match schedule.dims.iter().position(|d| *d == DimKind::Vector(0)) {
        Some(dim) => Err(KernelErrorKind::NoLanes { schedule: name(), dim }),
        None => Ok(()),
    }
}
