//! From isl's tree to [`AstNode`].

#![allow(unsafe_code)] // Calls isl.

use std::ffi::c_int;

use crate::ast::tree::{AstExpr, AstNode, AstOp};
use crate::error::IslError;
use crate::handle::{Owned, copy_name};
use crate::sys;

/// The operators, in the order of `enum isl_ast_expr_op_type`.
const OPERATORS: [AstOp; sys::OP_CALL as usize] = [
    AstOp::And,
    AstOp::AndThen,
    AstOp::Or,
    AstOp::OrElse,
    AstOp::Max,
    AstOp::Min,
    AstOp::Minus,
    AstOp::Add,
    AstOp::Sub,
    AstOp::Mul,
    AstOp::Div,
    AstOp::FdivQ,
    AstOp::PdivQ,
    AstOp::PdivR,
    AstOp::ZdivR,
    AstOp::Cond,
    AstOp::Select,
    AstOp::Eq,
    AstOp::Le,
    AstOp::Lt,
    AstOp::Ge,
    AstOp::Gt,
];

/// Writes methods that forward to a function which borrows `self`: one that returns a new object, or a number.
macro_rules! parts {
    ($($name:ident() -> $Out:ident = $function:ident;)*) => {
        $(
            fn $name(&self) -> Result<Owned<'c, sys::$Out>, IslError> {
                // SAFETY: borrows a live object; the result is ours.
                let raw = unsafe { sys::$function(self.keep()) };
                Owned::new(self.context(), raw, stringify!($function))
            }
        )*
    };
    ($($name:ident() = $function:ident;)*) => {
        $(
            fn $name(&self) -> Result<usize, IslError> {
                // SAFETY: borrows a live object.
                let answer = unsafe { sys::$function(self.keep()) };
                self.context().check(answer, stringify!($function))
            }
        )*
    };
}

impl<'c> Owned<'c, sys::isl_ast_node> {
    parts! {
        iterator() -> isl_ast_expr = isl_ast_node_for_get_iterator;
        init() -> isl_ast_expr = isl_ast_node_for_get_init;
        cond() -> isl_ast_expr = isl_ast_node_for_get_cond;
        inc() -> isl_ast_expr = isl_ast_node_for_get_inc;
        body() -> isl_ast_node = isl_ast_node_for_get_body;
        guard() -> isl_ast_expr = isl_ast_node_if_get_cond;
        then() -> isl_ast_node = isl_ast_node_if_get_then_node;
        otherwise() -> isl_ast_node = isl_ast_node_if_get_else_node;
        children() -> isl_ast_node_list = isl_ast_node_block_get_children;
        marked() -> isl_ast_node = isl_ast_node_mark_get_node;
        user() -> isl_ast_expr = isl_ast_node_user_get_expr;
    }

    parts! {
        kind() = isl_ast_node_get_type;
        is_degenerate() = isl_ast_node_for_is_degenerate;
        has_otherwise() = isl_ast_node_if_has_else_node;
    }

    /// The node as a tree of plain values. Marks are left out.
    pub(crate) fn to_tree(&self) -> Result<AstNode, IslError> {
        match self.kind()? as c_int {
            sys::NODE_FOR => self.to_for(),
            sys::NODE_IF => self.to_if(),
            sys::NODE_BLOCK => {
                let children = self.children()?.elements()?;
                Ok(AstNode::Block(children.iter().map(|child| child.to_tree()).collect::<Result<_, _>>()?))
            }
            sys::NODE_MARK => self.marked()?.to_tree(),
            sys::NODE_USER => self.user()?.to_call(),
            other => Err(unsupported(format!("a statement of kind {other}"))),
        }
    }

    fn to_for(&self) -> Result<AstNode, IslError> {
        Ok(AstNode::For {
            iterator: self.iterator()?.name()?,
            init: self.init()?.to_expr()?,
            cond: self.cond()?.to_expr()?,
            inc: match self.inc()?.to_expr()? {
                AstExpr::Int(inc) => inc,
                other => return Err(unsupported(format!("the increment {other}"))),
            },
            degenerate: self.is_degenerate()? != 0,
            body: Box::new(self.body()?.to_tree()?),
        })
    }

    fn to_if(&self) -> Result<AstNode, IslError> {
        let otherwise = match self.has_otherwise()? {
            0 => None,
            _ => Some(Box::new(self.otherwise()?.to_tree()?)),
        };
        Ok(AstNode::If { guard: self.guard()?.to_expr()?, then: Box::new(self.then()?.to_tree()?), otherwise })
    }
}

impl<'c> Owned<'c, sys::isl_ast_expr> {
    parts! {
        int() -> isl_val = isl_ast_expr_int_get_val;
        id() -> isl_id = isl_ast_expr_id_get_id;
    }

    parts! {
        kind() = isl_ast_expr_get_type;
        operator() = isl_ast_expr_op_get_type;
        n_args() = isl_ast_expr_op_get_n_arg;
    }

    fn to_expr(&self) -> Result<AstExpr, IslError> {
        match self.kind()? as c_int {
            sys::EXPR_INT => Ok(AstExpr::Int(self.int()?.to_i64("isl_ast_expr_int_get_val")?)),
            sys::EXPR_ID => Ok(AstExpr::Id(self.name()?)),
            sys::EXPR_OP => {
                let operator = self.operator()?;
                let known = OPERATORS.get(operator).copied();
                let op = known.ok_or_else(|| unsupported(format!("an operator of kind {operator}")))?;
                Ok(AstExpr::Op(op, self.args()?.iter().map(|arg| arg.to_expr()).collect::<Result<_, _>>()?))
            }
            other => Err(unsupported(format!("an expression of kind {other}"))),
        }
    }

    /// A statement instance, which isl writes as a call.
    fn to_call(&self) -> Result<AstNode, IslError> {
        if self.kind()? as c_int != sys::EXPR_OP || self.operator()? as c_int != sys::OP_CALL {
            return Err(unsupported("a statement that is not a call".to_owned()));
        }
        match self.args()?.split_first() {
            Some((statement, args)) => Ok(AstNode::User {
                statement: statement.name()?,
                args: args.iter().map(|arg| arg.to_expr()).collect::<Result<_, _>>()?,
            }),
            None => Err(unsupported("a call without a name".to_owned())),
        }
    }

    fn args(&self) -> Result<Vec<Self>, IslError> {
        (0..self.n_args()?).map(|position| self.arg(position as c_int)).collect()
    }

    fn arg(&self, position: c_int) -> Result<Self, IslError> {
        // SAFETY: borrows a live expression; isl checks the position; the result is ours.
        let raw = unsafe { sys::isl_ast_expr_op_get_arg(self.keep(), position) };
        Owned::new(self.context(), raw, "isl_ast_expr_op_get_arg")
    }

    fn name(&self) -> Result<String, IslError> {
        let id = self.id()?;
        // SAFETY: borrows a live identifier, which owns the name.
        let name = unsafe { sys::isl_id_get_name(id.keep()) };
        // SAFETY: `id`, which owns the name, is alive.
        unsafe { copy_name(name) }.ok_or_else(|| unsupported("a nameless identifier".to_owned()))
    }
}

fn unsupported(what: String) -> IslError {
    IslError::UnsupportedAst { what }
}
