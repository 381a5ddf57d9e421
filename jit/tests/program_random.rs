//! Random programs: the text form loses nothing, and what `address_ranges` accepts neither traps nor writes elsewhere.

use crease_program::*;

/// Makes small programs that verify. Few of them make sense; that is the point.
struct Maker {
    random: fastrand::Rng,
    next_var: u32,
    scope: Vec<Var>,
}

const ARGS: u32 = 2;
const CELLS: u64 = 60;
/// Of the second buffer, an array.
const EXTENTS: [u64; 2] = [6, 10];

impl Maker {
    fn program(&mut self) -> Program {
        let decl = |name: &str| BufferDecl {
            name: name.to_string(),
            element: Element::F64,
            cells: Some(CELLS),
            extents: None,
            access: BufferAccess::ReadWrite,
            copies: Copies::One,
            mapped: Mapped::Once,
        };
        let array = BufferDecl { extents: Some(EXTENTS.to_vec()), ..decl("w") };
        Program {
            name: "random".to_string(),
            args: (0..ARGS).map(|arg| format!("a{arg}")).collect(),
            scalars: vec![],
            buffers: vec![decl("u"), array],
            body: self.block(3),
        }
    }

    fn fresh(&mut self) -> Var {
        self.next_var += 1;
        Var(self.next_var - 1)
    }

    fn block(&mut self, depth: u32) -> Vec<Node> {
        let outer = self.scope.len();
        let nodes = (0..self.random.usize(1..4)).map(|_| self.node(depth)).collect();
        self.scope.truncate(outer);
        nodes
    }

    fn node(&mut self, depth: u32) -> Node {
        match self.random.u8(..if depth == 0 { 2 } else { 6 }) {
            0 => {
                let value = self.int(2);
                let var = self.fresh();
                self.scope.push(var);
                Node::Let { var, value }
            }
            1 | 2 => Node::Strip(self.strip()),
            3 => Node::If { cond: self.cond(2), then: self.block(depth - 1), otherwise: self.block(depth - 1) },
            _ => {
                let lo = self.int(1);
                let extent = Int::Const(self.random.i64(0..5));
                let hi =
                    if self.random.bool() { self.int(1) } else { Int::Add(Box::new(lo.clone()), Box::new(extent)) };
                let var = self.fresh();
                self.scope.push(var);
                let body = self.block(depth - 1);
                self.scope.pop();
                Node::For { var, lo, hi, step: self.random.i64(1..4), kind: LoopKind::Sequential, body }
            }
        }
    }

    fn strip(&mut self) -> Strip {
        let lo = self.int(1);
        let hi = if self.random.bool() {
            self.int(1)
        } else {
            Int::Add(Box::new(lo.clone()), Box::new(Int::Const(self.random.i64(0..6))))
        };
        let streams = (0..self.random.usize(1..4)).map(|_| self.stream(&lo)).collect::<Vec<_>>();
        let mut ops = Vec::new();
        for stream in (0..streams.len() as u32).map(StreamId) {
            let value = ValueId(ops.len() as u32);
            let base = self.random.choice(&self.scope).copied();
            match self.random.u8(..3) {
                0 => ops.push(Op::Load { stream, ty: ValueType::F64 }),
                1 => ops.push(Op::Index { base, offset: self.random.i64(-5..5), step: 2, ty: ValueType::F64 }),
                _ => ops.push(Op::F64(self.random.u64(..))),
            }
            ops.push(Op::Store { stream, value, hint: StoreHint::Cached });
        }
        Strip { var: self.fresh(), lo, hi, lanes: self.random.u32(1..9), streams, ops, alias: vec![] }
    }

    fn cold(&mut self) -> Option<Cold> {
        let next_row = self.random.bool().then(|| Cold::NextRow(self.random.i64(-10_000..10_000)));
        self.random.bool().then_some(next_row.unwrap_or(Cold::SameRow))
    }

    fn stream(&mut self, lo: &Int) -> Stream {
        if self.random.bool() {
            let coordinates = EXTENTS.map(|extent| self.coordinate(lo, extent as i64));
            return Stream {
                buffer: BufferId(1),
                address: Address::Array(coordinates.to_vec()),
                cold: self.cold(),
                table: Vec::new(),
            };
        }
        let ring = self.random.bool().then(|| self.random.u64(1..20));
        let stride = self.random.i64(-1..=1);
        let pos = match (ring, self.random.u8(..3)) {
            (Some(ring), _) => Int::Mod(Box::new(self.int(2)), ring as i64),
            (None, 0) => lo.clone(),
            (None, _) => self.int(2),
        };
        let base = Int::Const(self.random.i64(0..30));
        let address = Address::Block { base, pos, ring, stride };
        Stream { buffer: BufferId(0), address, cold: self.cold(), table: Vec::new() }
    }

    fn coordinate(&mut self, lo: &Int, extent: i64) -> Coordinate {
        let start = match self.random.u8(..4) {
            0 => lo.clone(),
            1 => self.int(2),
            _ => Int::Mod(Box::new(self.int(2)), extent),
        };
        Coordinate { start, step: self.random.i64(-1..=1) }
    }

    fn cond(&mut self, depth: u32) -> Cond {
        let ops = [CompareOp::Lt, CompareOp::Le, CompareOp::Gt, CompareOp::Ge, CompareOp::Eq, CompareOp::Ne];
        match self.random.u8(..if depth == 0 { 1 } else { 6 }) {
            3 => Cond::And((0..self.random.usize(..3)).map(|_| self.cond(depth - 1)).collect()),
            4 => Cond::Or((0..self.random.usize(..3)).map(|_| self.cond(depth - 1)).collect()),
            5 => Cond::Not(Box::new(self.cond(depth - 1))),
            _ => Cond::Compare(*self.random.choice(&ops).expect("not empty"), self.int(1), self.int(1)),
        }
    }

    fn int(&mut self, depth: u32) -> Int {
        let leaf = depth == 0 || self.random.u8(..3) == 0;
        if leaf {
            return match (self.random.u8(..4), self.random.choice(&self.scope)) {
                (0, _) => Int::Const(self.random.i64(-3..12)),
                (1, _) | (_, None) => Int::Arg(ArgId(self.random.u32(..ARGS))),
                (_, Some(var)) => Int::Var(*var),
            };
        }
        let a = Box::new(self.int(depth - 1));
        let modulus = self.random.i64(1..9);
        match self.random.u8(..10) {
            0 => Int::Mul(a, Box::new(Int::Const(self.random.i64(-3..4)))),
            1 => Int::FloorDiv(a, modulus),
            2 => Int::Mod(a, modulus),
            3 => Int::Wrap(a, modulus),
            4 => Int::MulMod(self.random.i64(0..modulus), a, modulus),
            5 => Int::Min(a, Box::new(self.int(depth - 1))),
            6 => Int::Max(a, Box::new(self.int(depth - 1))),
            7 | 8 => Int::Sub(a, Box::new(self.int(depth - 1))),
            _ => Int::Add(a, Box::new(self.int(depth - 1))),
        }
    }
}

fn programs(seed: u64, count: usize) -> impl Iterator<Item = Program> {
    let mut maker = Maker { random: fastrand::Rng::with_seed(seed), next_var: 0, scope: vec![] };
    (0..count).map(move |_| {
        maker.next_var = 0;
        maker.program()
    })
}

#[test]
fn printing_and_reading_back_changes_nothing() {
    for program in programs(1, 1000) {
        assert_eq!(program.verify(), Ok(()), "{program}");
        let text = program.to_string();
        assert_eq!(Program::parse(&text), Ok(program), "{text}");
    }
}

#[test]
fn accepted_programs_do_not_trap_and_touch_nothing_else() {
    let (mut accepted, mut refused_in_vain) = (0, 0);
    for program in programs(2, 3000) {
        let ranges = program.address_ranges(&[0..=4, 2..=6]).expect("the program verifies");
        let fits = ranges.verify(&[CELLS; 2]).is_ok();
        let mut trapped = false;
        for args in (0..=4).flat_map(|a| (2..=6).map(move |b| [a, b])) {
            let memory = || Memory { buffers: vec![Cells::F64(vec![f64::MAX; CELLS as usize]); 2] };
            let mut after = memory();
            let run = interpret(&program, &args, &[], &mut after, 1);
            trapped |= run.is_err();
            if !fits {
                continue;
            }
            assert_eq!(run, Ok(()), "accepted, but traps for {args:?}\n{program}");
            for (touched, cells) in ranges.buffers.iter().zip(&after.buffers) {
                let Cells::F64(cells) = cells else { unreachable!("all buffers hold doubles") };
                for cell in (0..cells.len()).filter(|cell| cells[*cell].to_bits() != f64::MAX.to_bits()) {
                    let inside = touched
                        .as_ref()
                        .is_some_and(|touched| touched.cells.min <= cell as i128 && cell as i128 <= touched.cells.max);
                    assert!(inside, "cell {cell} was written for {args:?}, not within {touched:?}\n{program}");
                }
            }
        }
        accepted += usize::from(fits);
        refused_in_vain += usize::from(!fits && !trapped);
    }
    assert!(accepted > 500, "only {accepted} accepted: the test shows little");
    assert!(refused_in_vain < accepted / 4, "{refused_in_vain} refused in vain, {accepted} accepted");
}
