//! Generated loops as text, in the manner of C.

use std::fmt;

use crate::ast::tree::{AstExpr, AstNode, AstOp};

impl fmt::Display for AstNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_node(self, 0, f)
    }
}

/// Prints one statement to a line, two spaces deeper for each loop or guard around it.
fn print_node(node: &AstNode, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let indent = "  ".repeat(depth);
    match node {
        AstNode::For { iterator, init, body, degenerate: true, .. } => {
            writeln!(f, "{indent}let ({iterator} = {init})")?;
            print_node(body, depth + 1, f)
        }
        AstNode::For { iterator, init, cond, inc, degenerate: false, body } => {
            writeln!(f, "{indent}for ({iterator} = {init}; {cond}; {iterator} += {inc})")?;
            print_node(body, depth + 1, f)
        }
        AstNode::If { guard, then, otherwise } => {
            writeln!(f, "{indent}if ({guard})")?;
            print_node(then, depth + 1, f)?;
            let Some(otherwise) = otherwise else { return Ok(()) };
            writeln!(f, "{indent}else")?;
            print_node(otherwise, depth + 1, f)
        }
        AstNode::Block(nodes) => nodes.iter().try_for_each(|node| print_node(node, depth, f)),
        AstNode::User { statement, args } => {
            write!(f, "{indent}{statement}(")?;
            print_list(args, f)?;
            writeln!(f, ");")
        }
    }
}

impl fmt::Display for AstExpr {
    /// Operands that are operations themselves stand in parentheses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AstExpr::Int(value) => write!(f, "{value}"),
            AstExpr::Id(name) => f.write_str(name),
            AstExpr::Op(AstOp::Minus, args) if args.len() == 1 => write!(f, "-{}", Operand(&args[0])),
            AstExpr::Op(AstOp::Cond | AstOp::Select, args) if args.len() == 3 => {
                write!(f, "{} ? {} : {}", Operand(&args[0]), Operand(&args[1]), Operand(&args[2]))
            }
            AstExpr::Op(op, args) => match (op.infix(), &args[..]) {
                (Some(infix), [left, right]) => write!(f, "{} {infix} {}", Operand(left), Operand(right)),
                _ => {
                    write!(f, "{}(", op.name())?;
                    print_list(args, f)?;
                    f.write_str(")")
                }
            },
        }
    }
}

/// An operand of a prefix or infix operator.
struct Operand<'a>(&'a AstExpr);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AstExpr::Op(op, _) if op.infix().is_some() || matches!(op, AstOp::Minus | AstOp::Cond | AstOp::Select) => {
                write!(f, "({})", self.0)
            }
            AstExpr::Int(value) if *value < 0 => write!(f, "({value})"),
            other => write!(f, "{other}"),
        }
    }
}

fn print_list(args: &[AstExpr], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (position, arg) in args.iter().enumerate() {
        let separator = if position == 0 { "" } else { ", " };
        write!(f, "{separator}{arg}")?;
    }
    Ok(())
}

impl AstOp {
    /// The sign between two operands, for operators that have one.
    fn infix(self) -> Option<&'static str> {
        Some(match self {
            AstOp::And | AstOp::AndThen => "&&",
            AstOp::Or | AstOp::OrElse => "||",
            AstOp::Add => "+",
            AstOp::Sub => "-",
            AstOp::Mul => "*",
            AstOp::Div => "/",
            AstOp::Eq => "==",
            AstOp::Le => "<=",
            AstOp::Lt => "<",
            AstOp::Ge => ">=",
            AstOp::Gt => ">",
            _ => return None,
        })
    }

    /// The name before operands in parentheses.
    fn name(self) -> &'static str {
        match self {
            AstOp::And => "and",
            AstOp::AndThen => "and_then",
            AstOp::Or => "or",
            AstOp::OrElse => "or_else",
            AstOp::Max => "max",
            AstOp::Min => "min",
            AstOp::Minus => "minus",
            AstOp::Add => "add",
            AstOp::Sub => "sub",
            AstOp::Mul => "mul",
            AstOp::Div => "div",
            AstOp::FdivQ => "floord",
            AstOp::PdivQ => "pdiv_q",
            AstOp::PdivR => "pdiv_r",
            AstOp::ZdivR => "zdiv_r",
            AstOp::Cond => "cond",
            AstOp::Select => "select",
            AstOp::Eq => "eq",
            AstOp::Le => "le",
            AstOp::Lt => "lt",
            AstOp::Ge => "ge",
            AstOp::Gt => "gt",
        }
    }
}
