//! Types of expressions: every operation has operands of one type; only literals adapt.
//!
//! A number of the text takes the type of what it is used with: of the other operands, or of the cell that it is
//! written to; so does a `select` between numbers. With nothing else around it is a double. Among integers it must be
//! one of theirs.

use crease_program::ValueType;
use rustc_hash::FxHashSet;

use crate::kernel::error::{KernelError, KernelErrorKind};
use crate::kernel::graph::{Assign, BinaryOp, Element, Expr, ExprId, Function, Kernel, Stmt, UnaryOp};
use crate::kernel::verify::{Subject, Verified};

/// The type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Of(ValueType),
    /// A number, or a choice between numbers.
    Literal,
}

const DOUBLE: Type = Type::Of(ValueType::F64);
const BOOL: Type = Type::Of(ValueType::Bool);

/// Which numbers an operation takes.
#[derive(Clone, Copy)]
enum Wanted {
    Numbers,
    Floats,
    Integers,
}

/// The type of every expression of a verified kernel's statement. A literal has type `F64`, as has a choice between
/// literals: as an operand beside values of another type, or as the value of a cell of another type, it is converted.
///
/// # Errors
/// The first type mismatch: none if the kernel is verified.
pub fn value_types(kernel: &Kernel, stmt: &Stmt) -> Result<Vec<ValueType>, KernelError> {
    let types = types(kernel, stmt).map_err(|(kind, _)| KernelError::new(kind))?;
    let value_type = |ty| if let Type::Of(ty) = ty { ty } else { ValueType::F64 };
    Ok(types.into_iter().map(value_type).collect())
}

pub(super) fn verify_types(kernel: &Kernel, position: usize, stmt: &Stmt) -> Verified {
    let types = types(kernel, stmt).map_err(|(kind, expr)| (kind, Subject::Expr(position, expr)))?;
    for (i, assign) in stmt.assigns.iter().enumerate() {
        verify_assign(kernel, stmt, assign, types[assign.value.index()])
            .map_err(|kind| (kind, Subject::Assign(position, i)))?;
    }
    Ok(())
}

fn verify_assign(kernel: &Kernel, stmt: &Stmt, assign: &Assign, value: Type) -> Result<(), KernelErrorKind> {
    let array = kernel.array(assign.array);
    let place = || format!("the assignment of statement `{}` to `{}`", stmt.name, array.name);
    match value {
        Type::Literal => literal_fits(&stmt.exprs, assign.value, array.element.value_type(), &place),
        Type::Of(found) if found == array.element.value_type() => Ok(()),
        DOUBLE if is_of_literals(&stmt.exprs, assign.value) => {
            let (expected, found, hint) = (array.element.name(), name(value), OF_LITERALS);
            Err(KernelErrorKind::TypeMismatch { place: place(), expected, found, hint })
        }
        Type::Of(_) => Err(mismatch(place(), array.element.name(), value)),
    }
}

/// What to write instead of arithmetic of numbers and choices between them.
const OF_LITERALS: &str = "; what is computed of numbers alone, or of choices between them, is a double: convert it, or \
                           give one of the numbers a type, as in `u8(1)`";

/// Whether a value is computed of numbers of the text alone, and of choices between them.
fn is_of_literals(exprs: &[Expr], id: ExprId) -> bool {
    let (mut left, mut seen) = (vec![id], FxHashSet::default());
    while let Some(id) = left.pop() {
        match &exprs[id.index()] {
            _ if !seen.insert(id) => {}
            Expr::Const(_) => {}
            Expr::Unary(_, a) => left.push(*a),
            Expr::Binary(_, a, b) | Expr::Select(_, a, b) => left.extend([*a, *b]),
            _ => return false,
        }
    }
    true
}

/// Checks that numbers among integers are some of theirs.
fn literal_fits(exprs: &[Expr], id: ExprId, ty: ValueType, place: &dyn Fn() -> String) -> Result<(), KernelErrorKind> {
    if !ty.is_integer() {
        return Ok(());
    }
    // Choices between choices may be deep, and share parts.
    let (mut left, mut seen) = (vec![id], FxHashSet::default());
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        match &exprs[id.index()] {
            Expr::Const(number) => integer_fits(*number, ty, place)?,
            Expr::Select(_, a, b) => left.extend([*a, *b]),
            _ => {}
        }
    }
    Ok(())
}

/// Checks that a number beside integers of a type is one of theirs; beside other types any number is.
pub(in crate::kernel) fn integer_fits(
    number: f64,
    ty: ValueType,
    place: &dyn Fn() -> String,
) -> Result<(), KernelErrorKind> {
    if !ty.is_integer() {
        return Ok(());
    }
    let (low, high) = ty.range();
    let is_whole = number.fract() == 0.0 && number.abs() < LITERALS_END;
    if is_whole && number >= low as f64 && number <= high as f64 {
        return Ok(());
    }
    let number = format!("{number:?}").trim_end_matches(".0").to_string();
    Err(KernelErrorKind::IntegerLiteral { place: place(), number, ty: ty.name() })
}

/// The first integer that a text cannot say among integers: numbers are doubles, of which this one may be the next one,
/// rounded.
const LITERALS_END: f64 = (1_u64 << 53) as f64;

fn types(kernel: &Kernel, stmt: &Stmt) -> Result<Vec<Type>, (KernelErrorKind, usize)> {
    let mut types = Vec::with_capacity(stmt.exprs.len());
    for (i, expr) in stmt.exprs.iter().enumerate() {
        types.push(type_of(kernel, stmt, expr, &types).map_err(|kind| (kind, i))?);
    }
    Ok(types)
}

fn type_of(kernel: &Kernel, stmt: &Stmt, expr: &Expr, types: &[Type]) -> Result<Type, KernelErrorKind> {
    let of = |id: &ExprId| types[id.index()];
    let place = || format!("{} of statement `{}`", operation(expr), stmt.name);
    let truth = |id: &ExprId| match of(id) {
        BOOL => Ok(()),
        other => Err(mismatch(place(), "bool", other)),
    };
    let numbers = |ids: &[ExprId], wanted: Wanted| {
        let operands: Vec<Type> = ids.iter().map(of).collect();
        let common = common(&operands, wanted).map_err(|(expected, found)| mismatch(place(), expected, found))?;
        if let Type::Of(ty) = common {
            let literals = ids.iter().filter(|id| of(id) == Type::Literal);
            literals.into_iter().try_for_each(|id| literal_fits(&stmt.exprs, *id, ty, &place))?;
        }
        Ok(common)
    };
    let computed = |ids: &[ExprId], wanted| numbers(ids, wanted).map(or_double);
    match expr {
        Expr::Const(_) => Ok(Type::Literal),
        Expr::Index(_) => Ok(DOUBLE),
        Expr::Scalar(k) => Ok(of_element(kernel.scalars[k.index()].element)),
        Expr::Load(array, _) => Ok(of_element(kernel.array(*array).element)),
        Expr::Lookup(lookup) => {
            // Each index has a type of its own.
            lookup.clamped.iter().try_for_each(|index| numbers(&[index.value], Wanted::Integers).map(drop))?;
            Ok(of_element(kernel.array(lookup.array).element))
        }
        Expr::Unary(op, a) => computed(&[*a], unary_operands(*op)),
        Expr::Binary(op, a, b) => computed(&[*a, *b], binary_operands(*op)),
        Expr::Bits(_, a, b) => computed(&[*a, *b], Wanted::Integers),
        Expr::Shift(_, a, places) => match computed(&[*a], Wanted::Integers)? {
            Type::Of(ty) if u32::from(*places) >= ty.bits() => {
                let (ty, bits) = (ty.name(), ty.bits());
                Err(KernelErrorKind::ShiftTooFar { place: place(), places: *places, ty, bits })
            }
            ty => Ok(ty),
        },
        Expr::Fma(a, b, c) => computed(&[*a, *b, *c], Wanted::Floats),
        Expr::Call(Function::Clamp, args) => computed(args, Wanted::Numbers),
        Expr::Call(_, args) => computed(args, Wanted::Floats),
        Expr::Compare(_, a, b) => numbers(&[*a, *b], Wanted::Numbers).map(|_| BOOL),
        Expr::And(a, b) | Expr::Or(a, b) => truth(a).and_then(|()| truth(b)).map(|()| BOOL),
        Expr::Not(a) => truth(a).map(|()| BOOL),
        Expr::Select(cond, a, b) if of(a) == BOOL && of(b) == BOOL => truth(cond).map(|()| BOOL),
        Expr::Select(cond, a, b) => truth(cond).and_then(|()| numbers(&[*a, *b], Wanted::Numbers)),
        Expr::Convert(to, a) | Expr::Saturate(to, a) => numbers(&[*a], Wanted::Numbers).map(|_| of_element(*to)),
        Expr::Opaque(_, args) => {
            for arg in args {
                if !matches!(of(arg), DOUBLE | Type::Literal) {
                    return Err(mismatch(place(), "f64", of(arg)));
                }
            }
            Ok(DOUBLE)
        }
    }
}

/// Literals alone are doubles where they are computed with.
fn or_double(ty: Type) -> Type {
    if ty == Type::Literal { DOUBLE } else { ty }
}

fn unary_operands(op: UnaryOp) -> Wanted {
    match op {
        UnaryOp::Neg | UnaryOp::Abs => Wanted::Numbers,
        UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::Nearest => Wanted::Floats,
        UnaryOp::BitNot => Wanted::Integers,
    }
}

fn binary_operands(op: BinaryOp) -> Wanted {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max => Wanted::Numbers,
        BinaryOp::Div | BinaryOp::Rem => Wanted::Floats,
        BinaryOp::AddSat | BinaryOp::SubSat => Wanted::Integers,
    }
}

/// The common type of operands: `Literal` if they are nothing else; what was expected and what was found if there is
/// none.
fn common(types: &[Type], wanted: Wanted) -> Result<Type, (&'static str, Type)> {
    let mut common = Type::Literal;
    for &found in types {
        let Type::Of(ty) = found else { continue };
        match wanted {
            _ if ty == ValueType::Bool => {}
            Wanted::Floats if ty.is_integer() => return Err(("f64 or f32", found)),
            Wanted::Integers if ty.is_float() => return Err(("an integer", found)),
            _ if common == Type::Literal || common == found => {
                common = found;
                continue;
            }
            _ => {}
        }
        return Err((if common == Type::Literal { "a number" } else { name(common) }, found));
    }
    match (wanted, common) {
        (Wanted::Integers, Type::Literal) => Err(("an integer", Type::Literal)),
        _ => Ok(common),
    }
}

fn mismatch(place: String, expected: &'static str, found: Type) -> KernelErrorKind {
    KernelErrorKind::TypeMismatch { place, expected, found: name(found), hint: hint(expected, found) }
}

/// What to write instead: a conversion to the type wanted.
fn hint(expected: &str, found: Type) -> &'static str {
    if found == BOOL {
        return if expected == "bool" { "" } else { "; write `select(condition, 1, 0)`" };
    }
    match expected {
        "f32" | "f16" => "; convert with `f32(..)`",
        "f64" => "; convert with `f64(..)`",
        "f64 or f32" => "; convert with `f64(..)` or `f32(..)`",
        "u8" => "; convert with `u8(..)` or `u8_sat(..)`",
        "i8" => "; convert with `i8(..)` or `i8_sat(..)`",
        "u16" => "; convert with `u16(..)` or `u16_sat(..)`",
        "i16" => "; convert with `i16(..)` or `i16_sat(..)`",
        "u32" => "; convert with `u32(..)` or `u32_sat(..)`",
        "i32" => "; convert with `i32(..)` or `i32_sat(..)`",
        "i64" => "; convert with `i64(..)` or `i64_sat(..)`",
        "an integer" if found == Type::Literal => "; give it a type, as in `i32(..)`",
        "an integer" => "; convert, as with `i32(..)`",
        "bool" => "; compare with something",
        _ => "",
    }
}

fn of_element(element: Element) -> Type {
    Type::Of(element.value_type())
}

fn name(of: Type) -> &'static str {
    match of {
        Type::Of(ty) => ty.name(),
        Type::Literal => "a literal",
    }
}

fn operation(expr: &Expr) -> String {
    match expr {
        Expr::Unary(UnaryOp::Neg, _) | Expr::Binary(BinaryOp::Sub, ..) => "`-`".into(),
        Expr::Unary(op, _) => format!("`{op}`"),
        Expr::Call(function, _) => format!("`{function}`"),
        Expr::Binary(BinaryOp::Add, ..) => "`+`".into(),
        Expr::Binary(BinaryOp::Mul, ..) => "`*`".into(),
        Expr::Binary(BinaryOp::Div, ..) => "`/`".into(),
        Expr::Binary(op, ..) => format!("`{op}`"),
        Expr::Bits(op, ..) => format!("`{op}`"),
        Expr::Shift(op, ..) => format!("`{op}`"),
        Expr::Compare(..) => "a comparison".into(),
        Expr::And(..) | Expr::Or(..) | Expr::Not(_) => "a condition".into(),
        Expr::Fma(..) => "`fma`".into(),
        Expr::Select(..) => "`select`".into(),
        Expr::Convert(to, _) => format!("`{to}`"),
        Expr::Saturate(to, _) => format!("`{to}_sat`"),
        Expr::Opaque(name, _) => format!("`{name}(..)`"),
        Expr::Lookup(_) => "an index in `clamp(..)`".into(),
        Expr::Const(_) | Expr::Scalar(_) | Expr::Index(_) | Expr::Load(..) => "a value".into(),
    }
}
