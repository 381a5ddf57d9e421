//! Reads programs, nodes, conditions and integer expressions: recursive descent, one function per rule, no
//! backtracking.

use super::cursor::{Parser, Result, numbered};
use super::lex::{Kind, Token};
use super::names::COMPARE_SIGN;
use crate::limits::MAX_OPERATORS;
use crate::types::*;

impl Parser<'_> {
    /// The whole text.
    pub(super) fn program(mut self) -> Result<Program> {
        self.expect("program")?;
        self.program.name = self.name("the program's name")?;
        self.expect("(")?;
        while !self.accept(")") {
            if !self.program.args.is_empty() {
                self.expect(",")?;
            }
            let name = self.name("an argument")?;
            self.program.args.push(name);
        }
        self.expect("{")?;
        loop {
            if self.accept("scalar") {
                self.scalar()?;
            } else if self.accept("buffer") {
                self.buffer()?;
            } else if self.accept("array") {
                self.array()?;
            } else {
                break;
            }
        }
        self.program.body = self.block()?;
        match self.peek().kind {
            Kind::End => Ok(self.program),
            _ => Err(self.unexpected("the end of the text")),
        }
    }

    fn scalar(&mut self) -> Result<()> {
        let name = self.name("a scalar")?;
        self.expect(":")?;
        let element = self.named("an element type")?;
        self.program.scalars.push(ScalarDecl { name, element });
        Ok(())
    }

    fn buffer(&mut self) -> Result<()> {
        let name = self.name("a buffer")?;
        self.expect(":")?;
        let element = self.named("an element type")?;
        self.expect("[")?;
        let cells = match self.peek().text {
            "]" => None,
            _ => Some(self.number("a number of cells or `]`")?),
        };
        self.expect("]")?;
        let access = self.access()?;
        let copies = match self.accept("per_worker") {
            true => Copies::PerWorker { pitch: self.number("a number of cells")? },
            false => Copies::One,
        };
        let mapped = if self.accept("double_mapped") { Mapped::Twice } else { Mapped::Once };
        self.program.buffers.push(BufferDecl { name, element, cells, extents: None, access, copies, mapped });
        Ok(())
    }

    fn array(&mut self) -> Result<()> {
        let name = self.name("an array")?;
        self.expect(":")?;
        let element = self.named("an element type")?;
        self.expect("[")?;
        let start = self.peek();
        let mut extents: Vec<u64> = vec![self.number("an extent")?];
        while self.accept(",") {
            extents.push(self.number("an extent")?);
        }
        self.expect("]")?;
        let cells = extents.iter().try_fold(1_u64, |cells, extent| cells.checked_mul(*extent));
        let cells = cells.ok_or_else(|| start.error("expected extents whose product has 64 bits".to_string()))?;
        let access = self.access()?;
        self.program.buffers.push(BufferDecl {
            name,
            element,
            cells: Some(cells),
            extents: Some(extents),
            access,
            copies: Copies::One,
            mapped: Mapped::Once,
        });
        Ok(())
    }

    fn access(&mut self) -> Result<BufferAccess> {
        let choices = [("read", BufferAccess::ReadOnly), ("write", BufferAccess::ReadWrite)];
        self.choice(&choices, "`read` or `write`")
    }

    /// Nodes up to and including `}`; the `{` has been read.
    fn block(&mut self) -> Result<Vec<Node>> {
        self.deeper(|parser| {
            let mut nodes = Vec::new();
            while !parser.accept("}") {
                nodes.push(parser.node()?);
            }
            Ok(nodes)
        })
    }

    fn node(&mut self) -> Result<Node> {
        if self.accept("let") {
            let var = self.var()?;
            self.expect("=")?;
            return Ok(Node::Let { var, value: self.int()? });
        }
        if self.accept("for") {
            return self.for_loop(LoopKind::Sequential);
        }
        if self.accept("parallel") {
            self.expect("for")?;
            return self.for_loop(LoopKind::Parallel);
        }
        if self.accept("fronts") {
            self.expect("(")?;
            let open = self.number("a number of fronts")?;
            self.expect(",")?;
            let behind = self.far()?;
            self.expect(",")?;
            let ahead = self.far()?;
            self.expect(")")?;
            self.expect("for")?;
            return self.for_loop(LoopKind::Fronts(Needs { open, behind, ahead }));
        }
        if self.accept("if") {
            let cond = self.cond()?;
            self.expect("{")?;
            let then = self.block()?;
            let mut otherwise = Vec::new();
            if self.accept("else") {
                self.expect("{")?;
                otherwise = self.block()?;
            }
            return Ok(Node::If { cond, then, otherwise });
        }
        if self.accept("strip") {
            return self.strip().map(Node::Strip);
        }
        Err(self.unexpected("`let`, `for`, `parallel`, `fronts`, `if`, `strip` or `}`"))
    }

    /// How far fronts reach to one side.
    fn far(&mut self) -> Result<Option<u32>> {
        if self.accept("all") { Ok(None) } else { self.number("a distance or `all`").map(Some) }
    }

    fn for_loop(&mut self, kind: LoopKind) -> Result<Node> {
        let (var, lo, hi) = self.range()?;
        let step = if self.accept("step") { self.signed("a step")? } else { 1 };
        self.expect("{")?;
        Ok(Node::For { var, lo, hi, step, kind, body: self.block()? })
    }

    /// A variable and its bounds.
    pub(super) fn range(&mut self) -> Result<(Var, Int, Int)> {
        let var = self.var()?;
        self.expect("in")?;
        let lo = self.int()?;
        self.expect("..")?;
        Ok((var, lo, self.int()?))
    }

    fn cond(&mut self) -> Result<Cond> {
        if self.accept("all") {
            return self.conds().map(Cond::And);
        }
        if self.accept("any") {
            return self.conds().map(Cond::Or);
        }
        if self.accept("not") {
            self.expect("(")?;
            let cond = self.deeper(Self::cond)?;
            self.expect(")")?;
            return Ok(Cond::Not(Box::new(cond)));
        }
        let lhs = self.int()?;
        let op = self.choice(&COMPARE_SIGN, "a comparison")?;
        Ok(Cond::Compare(op, lhs, self.int()?))
    }

    fn conds(&mut self) -> Result<Vec<Cond>> {
        self.expect("(")?;
        let mut conds = Vec::new();
        while !self.accept(")") {
            if !conds.is_empty() {
                self.expect(",")?;
            }
            conds.push(self.deeper(Self::cond)?);
        }
        Ok(conds)
    }

    /// An integer expression.
    pub(super) fn int(&mut self) -> Result<Int> {
        self.operators = 0;
        self.sum()
    }

    fn sum(&mut self) -> Result<Int> {
        let mut sum = self.product()?;
        loop {
            let make = match self.peek().text {
                "+" => Int::Add,
                "-" => Int::Sub,
                _ => return Ok(sum),
            };
            self.operator()?;
            sum = make(Box::new(sum), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Int> {
        let mut product = self.primary()?;
        while self.peek().text == "*" {
            self.operator()?;
            product = Int::Mul(Box::new(product), Box::new(self.primary()?));
        }
        Ok(product)
    }

    fn primary(&mut self) -> Result<Int> {
        let start = self.peek();
        match start.text {
            "(" => {
                self.operator()?;
                let inner = self.deeper(Self::sum)?;
                self.expect(")")?;
                return Ok(inner);
            }
            "$" => {
                self.at += 1;
                let find = |program: &Program, name: &str| program.args.iter().position(|arg| arg == name);
                return self.reference("argument", find).map(|arg| Int::Arg(ArgId(arg)));
            }
            _ => {}
        }
        match start.kind {
            Kind::Word if numbered("v", start.text).is_some() => self.var().map(Int::Var),
            Kind::Word => self.call(start),
            _ => self.signed("an integer expression").map(Int::Const),
        }
    }

    fn call(&mut self, start: Token<'_>) -> Result<Int> {
        if !["min", "max", "floordiv", "mod", "wrap", "mulmod"].contains(&start.text) {
            return Err(self.unexpected("an integer expression"));
        }
        self.operator()?;
        self.expect("(")?;
        let mut factor = 0;
        if start.text == "mulmod" {
            factor = self.signed("a factor")?;
            self.expect(",")?;
        }
        let x = Box::new(self.deeper(Self::sum)?);
        self.expect(",")?;
        let call = match start.text {
            "min" => Int::Min(x, Box::new(self.deeper(Self::sum)?)),
            "max" => Int::Max(x, Box::new(self.deeper(Self::sum)?)),
            "floordiv" => Int::FloorDiv(x, self.signed("a divisor")?),
            "mod" => Int::Mod(x, self.signed("a modulus")?),
            "wrap" => Int::Wrap(x, self.signed("a modulus")?),
            _ => Int::MulMod(factor, x, self.signed("a modulus")?),
        };
        self.expect(")")?;
        Ok(call)
    }

    /// Reads an operator, `(` or the name of a call, counting it.
    fn operator(&mut self) -> Result<()> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(self.peek().error(format!("expected at most {MAX_OPERATORS} operators in one expression")));
        }
        self.at += 1;
        Ok(())
    }
}
