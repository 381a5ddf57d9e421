//! Checks that a program means something: every reference resolves, types agree, constants are in their ranges.
//!
//! In: any [`Program`].   Out: nothing, or the first [`VerifyError`] in the order of the text.
//!
//! What depends on run-time values (an address inside its buffer, the argument of a `wrap` in its range) is checked by
//! [`Program::address_ranges`] and by the interpreter, not here.
//!
//! Cost: linear in the size of the program, and quadratic in the number of names.

use super::place::{Part, Place, Step};
use super::types::*;
use super::verify_strip::strip_errors;
use std::collections::HashSet;
use std::fmt;
use thiserror::Error;

/// Variables are numbered below this: interpreter and code generators keep tables indexed by variable.
pub const MAX_VARS: u32 = 1 << 20;

/// Why a program is refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// Where.
    pub place: Place,
    /// Why.
    pub fault: Fault,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.fault)
    }
}

impl std::error::Error for VerifyError {}

/// What is wrong with one part of a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// A name is no identifier.
    #[error("the name {name:?} is not an identifier")]
    NotAnIdentifier {
        /// The name.
        name: String,
    },
    /// Two declarations of one kind share a name.
    #[error("the name `{name}` is declared twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A scalar is neither `f64` nor `f32`.
    #[error("a scalar cannot be {}", element.name())]
    ScalarElement {
        /// Its type.
        element: Element,
    },
    /// A buffer does not fit into the address space.
    #[error("{cells} cells of {element_bytes} bytes exceed the address space")]
    BufferTooLarge {
        /// Declared length.
        cells: u64,
        /// Bytes per cell.
        element_bytes: u64,
    },
    /// Copies per worker that hold nothing of their own: of unknown length, or never written; or of a caller's array.
    #[error("copies per worker need a declared length and `write`")]
    UselessCopies,
    /// Copies of a buffer would overlap.
    #[error("copies of {cells} cells overlap at a pitch of {pitch}")]
    CopiesOverlap {
        /// Declared length of one.
        cells: u64,
        /// Cells from one start to the next.
        pitch: u64,
    },
    /// A mirrored buffer has no declared length to repeat, or copies, or is a caller's array.
    #[error("a mirrored buffer is one block of a declared length")]
    UselessMirror,
    /// An array has no extents, or another number of cells than their product.
    #[error("an array of {cells:?} cells cannot have the extents {extents:?}")]
    Extents {
        /// Declared length.
        cells: Option<u64>,
        /// Declared extents.
        extents: Vec<u64>,
    },
    /// A stream addresses an array as a block, a block as an array, or an array by another number of coordinates.
    #[error("the number of coordinates in `{buffer}` is {expected}, not {found}")]
    Coordinates {
        /// The buffer's name.
        buffer: String,
        /// How many extents it has; 0 for a block.
        expected: usize,
        /// How many coordinates the stream has; 0 for an address in a block.
        found: usize,
    },
    /// An id has no declaration.
    #[error("{id} does not exist: the program has {count}")]
    NoSuchId {
        /// The id as text.
        id: String,
        /// How many there are.
        count: usize,
    },
    /// A variable's number is too large.
    #[error("{var} is numbered beyond the limit of {MAX_VARS} variables")]
    VarTooLarge {
        /// The variable.
        var: Var,
    },
    /// A variable is defined a second time.
    #[error("{var} is defined twice")]
    Redefined {
        /// The variable.
        var: Var,
    },
    /// A variable is used where it is not in scope.
    #[error("{var} is not in scope")]
    NotInScope {
        /// The variable.
        var: Var,
    },
    /// A divisor, modulus or step is not positive.
    #[error("the {what} is {value}, not positive")]
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: i64,
    },
    /// The factor of a `mulmod` is outside `0..modulus`.
    #[error("the factor {factor} of a mulmod is outside 0..{modulus}")]
    Factor {
        /// The factor.
        factor: i64,
        /// The modulus.
        modulus: i64,
    },
    /// A strip has no lanes.
    #[error("a strip needs at least one lane")]
    NoLanes,
    /// A ring is empty or too large for 64-bit positions.
    #[error("a ring of {ring} cells is outside 1..={}", i64::MAX / 2)]
    Ring {
        /// Its length in cells.
        ring: u64,
    },
    /// A stride exceeds its ring.
    #[error("the stride {stride} exceeds the ring of {ring} cells")]
    StrideBeyondRing {
        /// The stride in cells.
        stride: i64,
        /// The ring's length in cells.
        ring: u64,
    },
    /// A streaming store writes cells that the strip may read.
    #[error("the store is streaming, and {load} may read its cells: no fact says that they are disjoint")]
    StreamingLoaded {
        /// The load.
        load: ValueId,
    },
    /// An operand is not the result of an earlier operation.
    #[error("the operand {operand} is not an earlier operation with a result")]
    Operand {
        /// The operand.
        operand: ValueId,
    },
    /// An operand has the wrong type.
    #[error("the operand {operand} is {}, expected {expected}", found.name())]
    OperandType {
        /// The operand.
        operand: ValueId,
        /// Its type.
        found: ValueType,
        /// What the operation takes.
        expected: &'static str,
    },
    /// Two operands that must agree differ in type.
    #[error("the operands {a} and {b} are {} and {}", type_a.name(), type_b.name())]
    OperandsDiffer {
        /// One operand.
        a: ValueId,
        /// The other one.
        b: ValueId,
        /// Type of `a`.
        type_a: ValueType,
        /// Type of `b`.
        type_b: ValueType,
    },
    /// A result type is not possible.
    #[error("the result cannot be {}", ty.name())]
    ResultType {
        /// The type asked for.
        ty: ValueType,
    },
    /// A load or store has another type than the buffer's cells.
    #[error("buffer `{buffer}` holds {}, not {}", element.name(), ty.name())]
    ElementType {
        /// The buffer's name.
        buffer: String,
        /// What it holds.
        element: Element,
        /// What is loaded or stored.
        ty: ValueType,
    },
    /// A store to a read-only buffer.
    #[error("buffer `{buffer}` is read-only")]
    ReadOnly {
        /// The buffer's name.
        buffer: String,
    },
    /// An index operation is based on its strip's own variable.
    #[error("{var} is the strip's own variable: use `step`")]
    IndexBase {
        /// The variable.
        var: Var,
    },
    /// An alias fact does not name a load and a store.
    #[error("{value} is not a {expected} of this strip")]
    AliasOperand {
        /// What it names.
        value: ValueId,
        /// `load` or `store`.
        expected: &'static str,
    },
    /// An alias fact of distance 0, which is `same_lane`.
    #[error("a distance of 0 is same_lane")]
    AliasDistance,
    /// Two alias facts about one pair.
    #[error("{load} and {store} already have an alias fact")]
    AliasTwice {
        /// The load.
        load: ValueId,
        /// The store.
        store: ValueId,
    },
}

impl ValueType {
    /// The name in the text form: `f64`, `f32`, `bool`.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::F64 => "f64",
            ValueType::F32 => "f32",
            ValueType::Bool => "bool",
        }
    }
}

impl Program {
    /// Checks everything that does not depend on run-time values.
    ///
    /// # Errors
    /// The first [`VerifyError`] in the order of the text.
    pub fn verify(&self) -> Result<(), VerifyError> {
        let mut verifier = Verifier { program: self, path: Vec::new(), defined: HashSet::new(), scope: Vec::new() };
        verifier.declarations()?;
        verifier.block(&self.body)
    }
}

struct Verifier<'p> {
    program: &'p Program,
    path: Vec<Step>,
    /// Every variable so far, in scope or not.
    defined: HashSet<Var>,
    scope: Vec<Var>,
}

type Checked = Result<(), VerifyError>;

impl Verifier<'_> {
    fn at(&self, part: Part) -> impl FnOnce(Fault) -> VerifyError + use<> {
        let path = self.path.clone();
        move |fault| VerifyError { place: Place { path, part }, fault }
    }

    fn declarations(&self) -> Checked {
        let Program { name, args, scalars, buffers, .. } = self.program;
        unique_identifier(&[], name).map_err(self.at(Part::Program))?;
        for (at, name) in args.iter().enumerate() {
            let earlier: Vec<_> = args[..at].iter().collect();
            unique_identifier(&earlier, name).map_err(self.at(Part::Arg(ArgId(at as u32))))?;
        }
        for (at, scalar) in scalars.iter().enumerate() {
            let earlier: Vec<_> = scalars[..at].iter().map(|scalar| &scalar.name).collect();
            let part = Part::Scalar(ScalarId(at as u32));
            unique_identifier(&earlier, &scalar.name).map_err(self.at(part))?;
            if !scalar.element.is_computed() {
                return Err(self.at(part)(Fault::ScalarElement { element: scalar.element }));
            }
        }
        for (at, buffer) in buffers.iter().enumerate() {
            let earlier: Vec<_> = buffers[..at].iter().map(|buffer| &buffer.name).collect();
            let part = Part::Buffer(BufferId(at as u32));
            unique_identifier(&earlier, &buffer.name).map_err(self.at(part))?;
            let (cells, element_bytes) = (buffer.cells.unwrap_or(0), buffer.element.bytes());
            if let Copies::PerWorker { pitch } = buffer.copies {
                if buffer.cells.is_none() || buffer.extents.is_some() || buffer.access == BufferAccess::ReadOnly {
                    return Err(self.at(part)(Fault::UselessCopies));
                }
                if pitch < cells {
                    return Err(self.at(part)(Fault::CopiesOverlap { cells, pitch }));
                }
            }
            let is_one_block = buffer.cells.is_some_and(|cells| cells > 0) && buffer.copies == Copies::One;
            if buffer.mapped == Mapped::Twice && !(is_one_block && buffer.extents.is_none()) {
                return Err(self.at(part)(Fault::UselessMirror));
            }
            let reach = match buffer.copies {
                Copies::One => cells,
                Copies::PerWorker { pitch } => pitch,
            };
            if reach > i64::MAX as u64 / element_bytes {
                return Err(self.at(part)(Fault::BufferTooLarge { cells: reach, element_bytes }));
            }
            if let Some(extents) = &buffer.extents {
                let product = extents.iter().try_fold(1_u64, |cells, extent| cells.checked_mul(*extent));
                if extents.is_empty() || product.is_none() || product != buffer.cells {
                    return Err(self.at(part)(Fault::Extents { cells: buffer.cells, extents: extents.clone() }));
                }
            }
        }
        Ok(())
    }

    fn block(&mut self, nodes: &[Node]) -> Checked {
        let outer = self.scope.len();
        for (position, node) in (0..).zip(nodes) {
            self.node(position, node)?;
        }
        self.scope.truncate(outer);
        Ok(())
    }

    fn inside(&mut self, step: Step, nodes: &[Node]) -> Checked {
        self.path.push(step);
        self.block(nodes)?;
        self.path.pop();
        Ok(())
    }

    fn node(&mut self, node: u32, content: &Node) -> Checked {
        let head = Part::Node(node);
        match content {
            Node::Let { var, value } => {
                self.int(value).map_err(self.at(head))?;
                self.define(*var).map_err(self.at(head))
            }
            Node::For { var, lo, hi, step, body, .. } => {
                self.int(lo).and_then(|()| self.int(hi)).map_err(self.at(head))?;
                positive("step", *step).map_err(self.at(head))?;
                self.define(*var).map_err(self.at(head))?;
                self.inside(Step::For { node, var: *var }, body)?;
                self.scope.pop();
                Ok(())
            }
            Node::If { cond, then, otherwise } => {
                self.cond(cond).map_err(self.at(head))?;
                self.inside(Step::Then { node }, then)?;
                self.inside(Step::Else { node }, otherwise)
            }
            Node::Strip(strip) => self.strip(node, strip),
        }
    }

    fn strip(&mut self, node: u32, strip: &Strip) -> Checked {
        let head = Part::Node(node);
        self.int(&strip.lo).and_then(|()| self.int(&strip.hi)).map_err(self.at(head))?;
        if strip.lanes == 0 {
            return Err(self.at(head)(Fault::NoLanes));
        }
        self.define(strip.var).map_err(self.at(head))?;
        // Addresses may not use the strip's variable; only `Op::Index` may, and it does not name it.
        self.scope.pop();
        self.path.push(Step::Strip { node, var: strip.var });
        for (id, stream) in (0..).map(StreamId).zip(&strip.streams) {
            self.stream(stream).map_err(self.at(Part::Stream(id)))?;
        }
        strip_errors(self.program, strip, &self.scope).map_err(|(part, fault)| self.at(part)(fault))?;
        self.path.pop();
        Ok(())
    }

    fn stream(&self, stream: &Stream) -> Result<(), Fault> {
        declared(stream.buffer.index(), self.program.buffers.len(), || format!("buffer {}", stream.buffer))?;
        stream.ints().try_for_each(|int| self.int(int))?;
        let buffer = &self.program.buffers[stream.buffer.index()];
        let expected = buffer.extents.as_ref().map_or(0, Vec::len);
        let (ring, stride, found) = match &stream.address {
            Address::Block { ring, stride, .. } => (*ring, *stride, 0),
            Address::Array(coordinates) => (None, 0, coordinates.len()),
        };
        if expected != found {
            return Err(Fault::Coordinates { buffer: buffer.name.clone(), expected, found });
        }
        match ring {
            Some(ring) if ring == 0 || ring > i64::MAX as u64 / 2 => Err(Fault::Ring { ring }),
            Some(ring) if stride.unsigned_abs() > ring => Err(Fault::StrideBeyondRing { stride, ring }),
            _ => Ok(()),
        }
    }

    fn define(&mut self, var: Var) -> Result<(), Fault> {
        if var.0 >= MAX_VARS {
            return Err(Fault::VarTooLarge { var });
        }
        if !self.defined.insert(var) {
            return Err(Fault::Redefined { var });
        }
        self.scope.push(var);
        Ok(())
    }

    fn cond(&self, cond: &Cond) -> Result<(), Fault> {
        match cond {
            Cond::Compare(_, lhs, rhs) => self.int(lhs).and_then(|()| self.int(rhs)),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().try_for_each(|cond| self.cond(cond)),
            Cond::Not(cond) => self.cond(cond),
        }
    }

    fn int(&self, int: &Int) -> Result<(), Fault> {
        match int {
            Int::Const(_) => Ok(()),
            Int::Arg(id) => declared(id.index(), self.program.args.len(), || format!("argument {id}")),
            Int::Var(var) if self.scope.contains(var) => Ok(()),
            Int::Var(var) => Err(Fault::NotInScope { var: *var }),
            Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => {
                self.int(a).and_then(|()| self.int(b))
            }
            Int::FloorDiv(x, divisor) => positive("divisor", *divisor).and_then(|()| self.int(x)),
            Int::Mod(x, modulus) | Int::Wrap(x, modulus) => positive("modulus", *modulus).and_then(|()| self.int(x)),
            Int::MulMod(factor, x, modulus) => {
                positive("modulus", *modulus)?;
                if !(0..*modulus).contains(factor) {
                    return Err(Fault::Factor { factor: *factor, modulus: *modulus });
                }
                self.int(x)
            }
        }
    }
}

/// Fails unless `position` is below `count`.
pub(super) fn declared(position: usize, count: usize, id: impl FnOnce() -> String) -> Result<(), Fault> {
    if position < count { Ok(()) } else { Err(Fault::NoSuchId { id: id(), count }) }
}

fn positive(what: &'static str, value: i64) -> Result<(), Fault> {
    if value > 0 { Ok(()) } else { Err(Fault::NotPositive { what, value }) }
}

fn unique_identifier(earlier: &[&String], name: &String) -> Result<(), Fault> {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let identifier = name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit());
    if !identifier {
        return Err(Fault::NotAnIdentifier { name: name.clone() });
    }
    if earlier.contains(&name) {
        return Err(Fault::DuplicateName { name: name.clone() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers() {
        // The text form cannot hold these names, so no filetest can show it.
        for name in ["", "3d", "a b", "é", "x-y"] {
            let mut program = Program::parse("program p(a) { }").unwrap();
            program.args[0] = name.to_string();
            let fault = Fault::NotAnIdentifier { name: name.to_string() };
            let place = Place { path: vec![], part: Part::Arg(ArgId(0)) };
            assert_eq!(program.verify(), Err(VerifyError { place, fault }));
        }
    }

    #[test]
    fn buffer_of_a_stream_exists() {
        let text = "program p() { strip v0 in 0 .. 1 lanes 1 { m0 = #2[pos 0, stride 1] } }";
        let error = Program::parse(text).unwrap().verify().unwrap_err();
        assert_eq!(error.fault, Fault::NoSuchId { id: "buffer b2".to_string(), count: 0 });
    }
}
