//! Reads strips: streams, operations, alias facts.

use super::cursor::{Parser, Result};
use super::lex::Kind;
use crate::types::*;

impl Parser<'_> {
    /// What follows the word `strip`.
    pub(super) fn strip(&mut self) -> Result<Strip> {
        let (var, lo, hi) = self.range()?;
        self.expect("lanes")?;
        let lanes = self.number("a number of lanes")?;
        self.expect("{")?;
        let mut strip = Strip { var, lo, hi, lanes, streams: vec![], ops: vec![], alias: vec![] };
        while self.peek().text.starts_with('m') {
            let expected = StreamId(strip.streams.len() as u32);
            let start = self.peek();
            if self.stream_id()? != expected {
                return Err(start.error(format!("expected `{expected}`, the next stream, found {}", start.describe())));
            }
            self.expect("=")?;
            strip.streams.push(self.stream()?);
        }
        while self.peek().text == "%" {
            let op = self.numbered_op(ValueId(strip.ops.len() as u32))?;
            strip.ops.push(op);
        }
        while self.accept("alias") {
            strip.alias.push(self.alias_fact()?);
        }
        if !self.accept("}") {
            return Err(self.unexpected("the next stream, then operations, then `alias`, then `}`"));
        }
        Ok(strip)
    }

    fn stream(&mut self) -> Result<Stream> {
        let buffer = self.reference("buffer", |program, name| program.buffers.iter().position(|b| b.name == name))?;
        self.expect("[")?;
        let address = if self.accept("at") { self.coordinates()? } else { self.block_address()? };
        self.expect("]")?;
        let mut table = Vec::new();
        while self.accept("axis") {
            table.push(self.axis()?);
        }
        Ok(Stream { buffer: BufferId(buffer), address, cold: self.cold()?, table })
    }

    /// `cold`, or `cold next 4096` if the next row begins 4096 bytes behind this one.
    fn cold(&mut self) -> Result<Option<Cold>> {
        if !self.accept("cold") {
            return Ok(None);
        }
        Ok(Some(if self.accept("next") { Cold::NextRow(self.signed("a number of bytes")?) } else { Cold::SameRow }))
    }

    /// `0 to 255 by 1`, in cells of a block, or `0 to 255 of 1`, along a coordinate of an array.
    fn axis(&mut self) -> Result<TableAxis> {
        let first = self.signed("the first value")?;
        self.expect("to")?;
        let last = self.signed("the last value")?;
        let along = if self.accept("by") {
            Along::Cells(self.number("a number of cells")?)
        } else {
            self.expect("of")?;
            Along::Coordinate(self.number("a coordinate")?)
        };
        Ok(TableAxis { first, last, along })
    }

    /// `m1[%0, %2]: f32`.
    fn lookup(&mut self) -> Result<Op> {
        let stream = self.stream_id()?;
        self.expect("[")?;
        let mut values = [None; MOST_AXES];
        for (at, value) in values.iter_mut().enumerate() {
            if at > 0 && !self.accept(",") {
                break;
            }
            *value = Some(self.value()?);
        }
        self.expect("]")?;
        Ok(Op::Lookup { stream, values, ty: self.type_suffix()? })
    }

    fn coordinates(&mut self) -> Result<Address> {
        let mut coordinates = Vec::new();
        loop {
            let start = self.int()?;
            let step = if self.accept("step") { self.signed("a step")? } else { 0 };
            coordinates.push(Coordinate { start, step });
            if !self.accept(",") {
                return Ok(Address::Array(coordinates));
            }
        }
    }

    fn block_address(&mut self) -> Result<Address> {
        let mut base = Int::Const(0);
        if self.accept("base") {
            base = self.int()?;
            self.expect(",")?;
        }
        self.expect("pos")?;
        let pos = self.int()?;
        self.expect(",")?;
        let mut ring = None;
        if self.accept("ring") {
            ring = Some(self.number("the ring's cells")?);
            self.expect(",")?;
        }
        self.expect("stride")?;
        let stride = self.signed("a stride")?;
        Ok(Address::Block { base, pos, ring, stride })
    }

    fn numbered_op(&mut self, expected: ValueId) -> Result<Op> {
        let start = self.peek();
        let found = self.value()?;
        if found != expected {
            return Err(start.error(format!("expected `{expected}`, the next operation, found `{found}`")));
        }
        if self.accept(":") {
            self.expect("store")?;
            let stream = self.stream_id()?;
            self.expect(",")?;
            let value = self.value()?;
            let hint = if self.accept("nontemporal") { StoreHint::NonTemporal } else { StoreHint::Cached };
            return Ok(Op::Store { stream, value, hint });
        }
        if !self.accept("=") {
            return Err(self.unexpected("`=`, or `:` before a store"));
        }
        self.op()
    }

    /// One arm per operation.
    fn op(&mut self) -> Result<Op> {
        let start = self.peek();
        self.at += usize::from(start.kind == Kind::Word);
        Ok(match start.text {
            "f64" => Op::F64(self.float(f64::to_bits)?),
            "f32" => Op::F32(self.float(f32::to_bits)?),
            "int" => {
                let value = self.signed("an integer")?;
                Op::Int(self.type_suffix()?, value)
            }
            "scalar" => {
                let find = |program: &Program, name: &str| program.scalars.iter().position(|s| s.name == name);
                Op::Scalar(ScalarId(self.reference("scalar", find)?))
            }
            "index" => self.index_op()?,
            "load" => Op::Load { stream: self.stream_id()?, ty: self.type_suffix()? },
            "lookup" => self.lookup()?,
            "fma" => self.operands().map(|[a, b, c]| Op::Fma(a, b, c))?,
            "and" => self.operands().map(|[a, b]| Op::And(a, b))?,
            "or" => self.operands().map(|[a, b]| Op::Or(a, b))?,
            "not" => Op::Not(self.value()?),
            "select" => self.operands().map(|[cond, a, b]| Op::Select(cond, a, b))?,
            "convert" => {
                let value = self.value()?;
                Op::Convert(self.type_suffix()?, value)
            }
            "opaque_seed" => Op::OpaqueSeed(self.number("a seed")?),
            "opaque_mix" => self.operands().map(|[acc, x]| Op::OpaqueMix(acc, x))?,
            "opaque_finish" => Op::OpaqueFinish(self.value()?),
            word => {
                if let Ok(op) = word.parse() {
                    Op::Unary(op, self.value()?)
                } else if let Ok(op) = word.parse() {
                    self.operands().map(|[a, b]| Op::Binary(op, a, b))?
                } else if let Ok(op) = word.parse() {
                    self.operands().map(|[a, b]| Op::Bits(op, a, b))?
                } else if let Ok(op) = word.parse() {
                    let value = self.value()?;
                    self.expect(",")?;
                    Op::Shift(op, value, self.number("a number of places")?)
                } else if let Ok(op) = word.parse() {
                    self.operands().map(|[a, b]| Op::Compare(op, a, b))?
                } else {
                    return Err(start.error(format!("expected an operation, found {}", start.describe())));
                }
            }
        })
    }

    /// `v1 + 3 step 2: f64` or `3 step 2: f64`.
    fn index_op(&mut self) -> Result<Op> {
        let mut base = None;
        let offset = if self.peek().kind == Kind::Word {
            base = Some(self.var()?);
            match self.peek().text {
                "+" => self.at += 1,
                "-" => {}
                _ => return Err(self.unexpected("`+` or `-`")),
            }
            self.signed("an offset")?
        } else {
            self.signed("a variable or an offset")?
        };
        self.expect("step")?;
        let step = self.signed("a step")?;
        Ok(Op::Index { base, offset, step, ty: self.type_suffix()? })
    }

    fn alias_fact(&mut self) -> Result<AliasFact> {
        let [load, store] = self.operands()?;
        self.expect(":")?;
        let relation = if self.accept("distance") {
            AliasRelation::Distance(self.signed("a distance")?)
        } else {
            let choices = [("disjoint", AliasRelation::Disjoint), ("same_lane", AliasRelation::SameLane)];
            self.choice(&choices, "`disjoint`, `same_lane` or `distance`")?
        };
        Ok(AliasFact { load, store, relation })
    }

    fn operands<const N: usize>(&mut self) -> Result<[ValueId; N]> {
        let mut values = [ValueId(0); N];
        for (at, value) in values.iter_mut().enumerate() {
            if at > 0 {
                self.expect(",")?;
            }
            *value = self.value()?;
        }
        Ok(values)
    }

    fn value(&mut self) -> Result<ValueId> {
        if self.peek().text != "%" {
            return Err(self.unexpected("a value such as `%0`"));
        }
        self.at += 1;
        self.number("the number of a value").map(ValueId)
    }

    fn type_suffix(&mut self) -> Result<ValueType> {
        self.expect(":")?;
        self.named("a type of values")
    }
}
