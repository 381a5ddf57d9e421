//! Types of expressions: every operation has operands of one type; only literals adapt.

use crease_program::ValueType;

use crate::kernel::error::{KernelError, KernelErrorKind};
use crate::kernel::graph::{Assign, BinaryOp, Element, Expr, ExprId, Kernel, Stmt, UnaryOp};
use crate::kernel::verify::{Subject, Verified};

/// The type of a node; a literal is `f32` among `f32`s and `f64` otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    F64,
    F32,
    Bool,
    Literal,
}

/// The type of every expression of a verified kernel's statement. A literal has type `F64`; as an operand beside an
/// `f32`, or as the value of an `f32` or `f16` cell, it is rounded to `f32`.
///
/// # Errors
/// The first type mismatch: none if the kernel is verified.
pub fn value_types(kernel: &Kernel, stmt: &Stmt) -> Result<Vec<ValueType>, KernelError> {
    let types = types(kernel, stmt).map_err(|(kind, _)| KernelError::new(kind))?;
    Ok(types
        .into_iter()
        .map(|t| match t {
            Type::F64 | Type::Literal => ValueType::F64,
            Type::F32 => ValueType::F32,
            Type::Bool => ValueType::Bool,
        })
        .collect())
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
    let fits = match array.element.value_type() {
        Some(ValueType::F64) => matches!(value, Type::F64 | Type::Literal),
        Some(_) => matches!(value, Type::F32 | Type::Literal),
        None => value != Type::Bool,
    };
    if fits {
        return Ok(());
    }
    let place = format!("the assignment of statement `{}` to `{}`", stmt.name, array.name);
    Err(mismatch(place, array.element.name(), value))
}

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
        Type::Bool => Ok(()),
        other => Err(mismatch(place(), "bool", other)),
    };
    let numbers = |ids: &[ExprId]| numbers(&ids.iter().map(of).collect::<Vec<_>>()).map_err(|e| e(place()));
    match expr {
        Expr::Const(_) => Ok(Type::Literal),
        Expr::Index(_) => Ok(Type::F64),
        Expr::Scalar(k) => Ok(of_element(kernel.scalars[k.index()].element)),
        Expr::Load(array, _) => Ok(of_element(kernel.array(*array).element)),
        Expr::Unary(_, a) => numbers(&[*a]),
        Expr::Binary(_, a, b) => numbers(&[*a, *b]),
        Expr::Fma(a, b, c) => numbers(&[*a, *b, *c]),
        Expr::Call(_, args) => numbers(args),
        Expr::Compare(_, a, b) => numbers(&[*a, *b]).map(|_| Type::Bool),
        Expr::And(a, b) | Expr::Or(a, b) => truth(a).and_then(|()| truth(b)).map(|()| Type::Bool),
        Expr::Not(a) => truth(a).map(|()| Type::Bool),
        Expr::Select(cond, a, b) if of(a) == Type::Bool && of(b) == Type::Bool => truth(cond).map(|()| Type::Bool),
        Expr::Select(cond, a, b) => truth(cond).and_then(|()| numbers(&[*a, *b])),
        Expr::Convert(to, a) => numbers(&[*a]).map(|_| of_element(*to)),
        Expr::Opaque(_, args) => {
            for arg in args {
                if !matches!(of(arg), Type::F64 | Type::Literal) {
                    return Err(mismatch(place(), "f64", of(arg)));
                }
            }
            Ok(Type::F64)
        }
    }
}

/// The common type of numeric operands; literals alone are doubles.
fn numbers(types: &[Type]) -> Result<Type, impl FnOnce(String) -> KernelErrorKind + use<>> {
    let mut common = Type::Literal;
    for &found in types {
        if found == Type::Bool || found != Type::Literal && common != Type::Literal && found != common {
            let expected = if common == Type::Literal { "a number" } else { name(common) };
            return Err(move |place| mismatch(place, expected, found));
        }
        if found != Type::Literal {
            common = found;
        }
    }
    Ok(if common == Type::Literal { Type::F64 } else { common })
}

fn mismatch(place: String, expected: &'static str, found: Type) -> KernelErrorKind {
    let hint = match (expected, found) {
        ("f32" | "f16", Type::F64) => "; convert with `f32(..)`",
        ("f64", Type::F32) => "; convert with `f64(..)`",
        _ => "",
    };
    KernelErrorKind::TypeMismatch { place, expected, found: name(found), hint }
}

fn of_element(element: Element) -> Type {
    match element {
        Element::F64 | Element::U8 => Type::F64,
        Element::F32 | Element::F16 => Type::F32,
    }
}

fn name(of: Type) -> &'static str {
    match of {
        Type::F64 => "f64",
        Type::F32 => "f32",
        Type::Bool => "bool",
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
        Expr::Compare(..) => "a comparison".into(),
        Expr::And(..) | Expr::Or(..) | Expr::Not(_) => "a condition".into(),
        Expr::Fma(..) => "`fma`".into(),
        Expr::Select(..) => "`select`".into(),
        Expr::Convert(..) => "a conversion".into(),
        Expr::Opaque(name, _) => format!("`{name}(..)`"),
        Expr::Const(_) | Expr::Scalar(_) | Expr::Index(_) | Expr::Load(..) => "a value".into(),
    }
}
