//! Checks that a program means something: every reference resolves, types agree, constants are in their ranges.
//!
//! In: any [`Program`].   Out: nothing, or the first [`VerifyError`] in the order of the text.
//!
//! What depends on run-time values (an address inside its buffer, the argument of a `wrap` in its range) is checked by
//! [`Program::address_ranges`] and by the interpreter, not here.
//!
//! Nothing is followed deeper than [`MAX_DEPTH`], so programs that were built by hand cannot exhaust the stack.
//!
//! Cost: linear in the size of the program.

use super::depth::Excess;
use super::fault::{Fault, VerifyError};
use super::limits::{MAX_DEPTH, MAX_VARS};
use super::place::{Part, Place, Step};
use super::tables::verify_axes;
use super::types::*;
use super::verify_strip::strip_errors;
use super::visible::{Visible, declared};
use rustc_hash::FxHashSet;

impl Program {
    /// Checks everything that does not depend on run-time values.
    ///
    /// # Errors
    /// The first [`VerifyError`] in the order of the text.
    pub fn verify(&self) -> Result<(), VerifyError> {
        let (defined, scope) = (FxHashSet::default(), Visible::default());
        let mut verifier = Verifier { program: self, path: Vec::new(), depth: 1, defined, scope };
        verifier.declarations()?;
        verifier.block(&self.body)
    }
}

struct Verifier<'p> {
    program: &'p Program,
    path: Vec<Step>,
    /// Blocks around what is checked now.
    depth: usize,
    /// Every variable so far, in scope or not.
    defined: FxHashSet<Var>,
    scope: Visible,
}

type Checked = Result<(), VerifyError>;

impl Verifier<'_> {
    fn at(&self, part: Part) -> impl FnOnce(Fault) -> VerifyError + use<> {
        let path = self.path.clone();
        move |fault| VerifyError { place: Place { path, part }, fault }
    }

    fn declarations(&self) -> Checked {
        let Program { name, args, scalars, buffers, .. } = self.program;
        unique_identifier(&mut FxHashSet::default(), name).map_err(self.at(Part::Program))?;
        let mut earlier = FxHashSet::default();
        for (at, name) in args.iter().enumerate() {
            unique_identifier(&mut earlier, name).map_err(self.at(Part::Arg(ArgId(at as u32))))?;
        }
        earlier.clear();
        for (at, scalar) in scalars.iter().enumerate() {
            let part = Part::Scalar(ScalarId(at as u32));
            unique_identifier(&mut earlier, &scalar.name).map_err(self.at(part))?;
            if !scalar.element.is_scalar() {
                return Err(self.at(part)(Fault::ScalarElement { element: scalar.element }));
            }
        }
        earlier.clear();
        for (at, buffer) in buffers.iter().enumerate() {
            let part = Part::Buffer(BufferId(at as u32));
            unique_identifier(&mut earlier, &buffer.name).map_err(self.at(part))?;
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
                return Err(self.at(part)(Fault::UselessDoubleMapping));
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
        let outer = self.scope.order.len();
        for (position, node) in (0..).zip(nodes) {
            self.node(position, node)?;
        }
        self.scope.truncate(outer);
        Ok(())
    }

    fn inside(&mut self, step: Step, nodes: &[Node]) -> Checked {
        if self.depth == MAX_DEPTH {
            let (Step::For { node, .. } | Step::Then { node } | Step::Else { node } | Step::Strip { node, .. }) = step;
            return Err(self.at(Part::Node(node))(Excess::Depth.into()));
        }
        self.path.push(step);
        self.depth += 1;
        self.block(nodes)?;
        self.depth -= 1;
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
            Node::For { var, lo, hi, step, kind, body } => {
                self.int(lo).and_then(|()| self.int(hi)).map_err(self.at(head))?;
                positive("step", *step).map_err(self.at(head))?;
                if let LoopKind::Fronts(Needs { open, .. }) = *kind {
                    if !(2..=MOST_OPEN_FRONTS).contains(&open) {
                        return Err(self.at(head)(Fault::OpenFronts { open }));
                    }
                    if *step != 1 || LoopKind::front_of(body).is_none() {
                        return Err(self.at(head)(Fault::NoFronts { var: *var }));
                    }
                }
                self.define(*var).map_err(self.at(head))?;
                let outer = self.scope.order.len() - 1;
                self.inside(Step::For { node, var: *var }, body)?;
                self.scope.truncate(outer);
                Ok(())
            }
            Node::If { cond, then, otherwise } => {
                cond.within_limits(self.depth).map_err(|excess| self.at(head)(excess.into()))?;
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
        let outer = self.scope.order.len();
        self.define(strip.var).map_err(self.at(head))?;
        // Addresses may not use the strip's variable; only `Op::Index` may, and it does not name it.
        self.scope.truncate(outer);
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
            _ => verify_axes(self.program, stream),
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
            Cond::Compare(_, lhs, rhs) => self.known(lhs).and_then(|()| self.known(rhs)),
            Cond::And(conds) | Cond::Or(conds) => conds.iter().try_for_each(|cond| self.cond(cond)),
            Cond::Not(cond) => self.cond(cond),
        }
    }

    fn int(&self, int: &Int) -> Result<(), Fault> {
        int.within_limits(self.depth)?;
        self.known(int)
    }

    /// Checks an expression that is small enough.
    fn known(&self, int: &Int) -> Result<(), Fault> {
        match int {
            Int::Const(_) => Ok(()),
            Int::Arg(id) => declared(id.index(), self.program.args.len(), || format!("argument {id}")),
            Int::Var(var) if self.scope.contains(*var) => Ok(()),
            Int::Var(var) => Err(Fault::NotInScope { var: *var }),
            Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) | Int::Min(a, b) | Int::Max(a, b) => {
                self.known(a).and_then(|()| self.known(b))
            }
            Int::FloorDiv(x, divisor) => positive("divisor", *divisor).and_then(|()| self.known(x)),
            Int::Mod(x, modulus) | Int::Wrap(x, modulus) => positive("modulus", *modulus).and_then(|()| self.known(x)),
            Int::MulMod(factor, x, modulus) => {
                positive("modulus", *modulus)?;
                if !(0..*modulus).contains(factor) {
                    return Err(Fault::Factor { factor: *factor, modulus: *modulus });
                }
                self.known(x)
            }
        }
    }
}

fn positive(what: &'static str, value: i64) -> Result<(), Fault> {
    if value > 0 { Ok(()) } else { Err(Fault::NotPositive { what, value }) }
}

/// Checks a name and adds it to the earlier ones.
fn unique_identifier<'p>(earlier: &mut FxHashSet<&'p str>, name: &'p str) -> Result<(), Fault> {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let identifier = name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit());
    if !identifier {
        return Err(Fault::NotAnIdentifier { name: name.to_string() });
    }
    if !earlier.insert(name) {
        return Err(Fault::DuplicateName { name: name.to_string() });
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
