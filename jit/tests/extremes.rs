//! Programs at the edges: numbers near the ends of 64 bits, and nesting without end. They are refused, or mean the same
//! to the interpreter and to compiled code; nothing faults.

use crease_jit::{BufferRef, Call, CompileOptions, IsaChoice, Pool, Unroll, compile};
use crease_program::*;

const CELLS: u64 = 40;

/// Numbers at which something might end.
fn extreme(random: &mut fastrand::Rng) -> i64 {
    let near =
        [0, 0, 0, 1, 7, CELLS as i64, 1 << 31, 1 << 32, i64::MAX / 8, i64::MAX / 2, i64::MAX, i64::MIN, i64::MIN / 2];
    near[random.usize(..near.len())].wrapping_add(random.i64(-3..4))
}

fn int(random: &mut fastrand::Rng, depth: u32) -> Int {
    if depth == 0 {
        return if random.u8(..3) == 0 { Int::Arg(ArgId(0)) } else { Int::Const(extreme(random)) };
    }
    let a = Box::new(int(random, depth - 1));
    let modulus = extreme(random).max(1);
    match random.u8(..10) {
        0 => Int::Add(a, Box::new(int(random, depth - 1))),
        1 => Int::Sub(a, Box::new(int(random, depth - 1))),
        2 => Int::Mul(a, Box::new(int(random, depth - 1))),
        3 => Int::FloorDiv(a, modulus),
        4 => Int::Mod(a, modulus),
        5 => Int::Wrap(a, modulus),
        6 => Int::MulMod(random.i64(0..modulus), a, modulus),
        7 => Int::Min(a, Box::new(Int::Const(random.i64(0..20)))),
        8 => Int::Max(a, Box::new(Int::Const(random.i64(0..20)))),
        _ => *a,
    }
}

/// A number that is more often small.
fn bound(random: &mut fastrand::Rng) -> Int {
    if random.bool() { Int::Const(random.i64(0..9)) } else { int(random, random.clone().u32(..3)) }
}

fn program(random: &mut fastrand::Rng) -> Program {
    let decl = BufferDecl {
        name: "u".to_string(),
        element: Element::F64,
        cells: Some(CELLS),
        extents: None,
        access: BufferAccess::ReadWrite,
        copies: Copies::One,
        mapped: Mapped::Once,
    };
    let ring = match random.u8(..3) {
        0 => None,
        1 => Some(random.u64(1..=CELLS)),
        _ => Some(extreme(random).unsigned_abs().clamp(1, i64::MAX as u64 / 2)),
    };
    let most = ring.map_or(i64::MAX, |ring| ring as i64);
    let stride = match random.u8(..3) {
        0 => random.i64(-2..3).clamp(-most, most),
        1 => 1,
        _ => extreme(random).clamp(-most, most),
    };
    let strides = [stride, random.i64(-1..2).clamp(-most, most)];
    let stream = |random: &mut fastrand::Rng, stride| {
        let pos = if random.bool() { Int::Var(Var(0)) } else { bound(random) };
        Stream::new(BufferId(0), Address::Block { base: bound(random), pos, ring, stride })
    };
    let streams = strides.map(|stride| stream(random, stride)).to_vec();
    let step = if random.bool() { extreme(random) } else { extreme(random).unsigned_abs().clamp(1, 9) as i64 };
    let index = Op::Index { base: Some(Var(1)), offset: extreme(random), step: random.i64(-2..3), ty: ValueType::F64 };
    let ops = vec![
        Op::Load { stream: StreamId(1), ty: ValueType::F64 },
        if random.bool() { index } else { Op::F64(1.5_f64.to_bits()) },
        Op::Binary(BinaryOp::Add, ValueId(0), ValueId(1)),
        Op::Store { stream: StreamId(0), value: ValueId(2), hint: StoreHint::Cached },
    ];
    let strip = Strip { var: Var(2), lo: bound(random), hi: bound(random), lanes: 1, streams, ops, alias: vec![] };
    let kind = if random.bool() { LoopKind::Parallel } else { LoopKind::Sequential };
    let body = vec![Node::Strip(strip)];
    let (lo, hi) = (bound(random), bound(random));
    let body = vec![
        Node::Let { var: Var(0), value: bound(random) },
        Node::For { var: Var(1), lo, hi, step: step.max(1), kind, body },
    ];
    Program { name: "extreme".to_string(), args: vec!["a".to_string()], scalars: vec![], buffers: vec![decl], body }
}

#[test]
fn numbers_near_the_ends_of_64_bits_are_refused_or_agree() {
    let mut random = fastrand::Rng::with_seed(64);
    let pools = [Pool::sequential(), Pool::new(2).unwrap()];
    let (mut ran, mut refused) = (0, 0);
    for nth in 0..6_000 {
        let program = program(&mut random);
        let Ok(verified) = Verified::new(program.clone()) else { continue };
        let choice = [IsaChoice::Scalar, IsaChoice::Auto][nth % 2];
        let options = CompileOptions::default().choice(choice).unroll(Unroll::AtMost(1));
        let code = compile(&verified, &options).unwrap();
        for arg in [0, 3, extreme(&mut random)] {
            // Runs that would take long are for nobody to wait for.
            if matches!(program.verify_exactly(&[arg], &[CELLS], 20_000), Err(ExactError::Budget { .. })) {
                continue;
            }
            let start: Vec<f64> = (0..CELLS).map(|cell| cell as f64).collect();
            let mut memory = Memory { buffers: vec![Cells::F64(start.clone())] };
            let expected = interpret(&program, &[arg], &[], &mut memory, 1);
            let mut cells = start.clone();
            let buffers = vec![BufferRef::write(&mut cells)];
            let found = code.run(&mut Call { args: &[arg], scalars: &[], buffers, pool: &pools[nth % 2] });
            match (found, expected) {
                (Ok(()), Ok(())) => {
                    ran += 1;
                    assert_eq!(Cells::F64(cells), memory.buffers[0], "{program}, a = {arg}");
                }
                (Ok(()), Err(error)) => panic!("it ran, but {error}\n{program}, a = {arg}"),
                // What stays inside may be refused if ranges cannot tell and the dry run is too long.
                (Err(_), _) => {
                    refused += 1;
                    assert_eq!(cells, start, "nothing was written");
                }
            }
        }
    }
    assert!(ran > 1_000 && refused > 1_000, "{ran} ran, {refused} were refused: the test shows little");
}

fn refused(text: &str, cells: usize) -> String {
    let program = Verified::new(Program::parse(text).unwrap_or_else(|error| panic!("{error}"))).unwrap();
    let code = compile(&program, &CompileOptions::default()).unwrap();
    let mut cells = vec![0.0; cells];
    let (pool, buffers) = (Pool::sequential(), vec![BufferRef::write(&mut cells)]);
    code.run(&mut Call { args: &[], scalars: &[], buffers, pool: &pool }).unwrap_err().to_string()
}

#[test]
fn what_used_to_fault_is_refused() {
    let store = "%0 = f64 1.0 %1: store m0, %0 }";
    let text = |buffer: &str, nodes: &str| format!("program p() {{ buffer u: f64[{buffer}] write {nodes} }}");
    let ring = i64::MAX / 2;
    let stream = format!("m0 = u[pos 0, ring {ring}, stride {ring}] {store}");
    let error = refused(&text("1", &format!("strip v0 in 0 .. 9 lanes 1 {{ {stream}")), 1);
    assert!(error.contains("64 bits"), "{error}");
    let stream = format!("m0 = u[pos 0, stride 1] {store}");
    let error = refused(&text("8", &format!("strip v0 in 1 .. {} lanes 1 {{ {stream}", i64::MIN)), 8);
    assert!(error.contains("64 bits"), "{error}");
    let last = i64::MAX;
    let loops = format!(
        "for v0 in {} .. {last} step 7 {{ strip v1 in 0 .. 1 lanes 1 {{ m0 = u[pos {last} - v0, stride 0] {store} }}",
        last - 5
    );
    let error = refused(&text("8", &loops), 8);
    assert!(error.contains("64 bits"), "{error}");
}

#[test]
fn a_million_levels_are_an_error_and_are_dropped() {
    const LEVELS: usize = 1_000_000;
    let sum = || (0..LEVELS).fold(Int::Const(0), |sum, _| Int::Min(Box::new(sum), Box::new(Int::Const(1))));
    let not = (0..LEVELS).fold(Cond::And(vec![]), |cond, _| Cond::Not(Box::new(cond)));
    let all = (0..LEVELS).fold(Cond::And(vec![]), |cond, _| Cond::And(vec![cond]));
    let branch = |cond| Node::If { cond, then: vec![], otherwise: vec![] };
    let blocks = (0..LEVELS).fold(branch(Cond::And(vec![])), |inner, _| Node::If {
        cond: Cond::And(vec![]),
        then: vec![],
        otherwise: vec![inner],
    });
    let lets = Node::Let { var: Var(0), value: sum() };
    let strip =
        Strip { var: Var(0), lo: Int::Const(0), hi: sum(), lanes: 1, streams: vec![], ops: vec![], alias: vec![] };
    for node in [lets, branch(not), branch(all), blocks, Node::Strip(strip)] {
        let body = vec![node];
        let mut program = Program { name: "deep".to_string(), args: vec![], scalars: vec![], buffers: vec![], body };
        let fault = program.verify().unwrap_err().fault;
        assert!(matches!(fault, Fault::TooDeep { .. } | Fault::TooManyOperators { .. }), "{fault}");
        assert!(program.to_string().contains("(too deep)"));
        assert!(program.address_ranges(&[]).is_err() && !program.stays_inside(&[], &[], 1000));
        assert!(interpret(&program, &[], &[], &mut Memory::default(), 1).is_err());
        assert!(program.verify_exactly(&[], &[], 1000).is_err());
        assert_eq!(program.mark_non_temporal(&[], 1) + program.mark_cold(&[], 1), 0);
        assert!(Verified::new(program).is_err());
    }
}

#[test]
fn what_verifies_can_be_printed_and_read_back() {
    // As deep as it may be, from either way in.
    let nested = |levels: usize| (1..levels).fold(Int::Arg(ArgId(0)), |x, _| Int::FloorDiv(Box::new(x), 3));
    let program = |value| {
        let body = vec![Node::Let { var: Var(0), value }];
        Program { name: "deep".to_string(), args: vec!["a".to_string()], scalars: vec![], buffers: vec![], body }
    };
    let deepest = (1..=2 * MAX_DEPTH).rev().map(|levels| program(nested(levels))).find(|p| p.verify().is_ok()).unwrap();
    assert_eq!(Program::parse(&deepest.to_string()).as_ref(), Ok(&deepest));
    assert!(deepest.address_ranges(&[0..=9]).is_ok());
}
