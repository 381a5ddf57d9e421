//! Runs programs interpreted and compiled on the same data.

use crease_jit::*;
use crease_program::{
    BufferAccess, BufferDecl, Cells, Copies, Element, Memory, Node, Program, Verified, f16, interpret,
};

/// Data to start from, by buffer, repeated to its length; noise for buffers without.
pub(crate) type Fill = [(&'static str, Vec<f64>)];

/// Asserts that compiled code gives the interpreter's bits with the program's strips cut to each of these lanes.
pub(crate) fn agree(text: &str, args: &[i64], scalars: &[f64], lanes: &[u32]) {
    agree_on(text, args, scalars, lanes, &[]);
}

/// Like [`agree`], on given data.
pub(crate) fn agree_on(text: &str, args: &[i64], scalars: &[f64], lanes: &[u32], fill: &Fill) {
    let mut program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let expected = reference(&program, args, scalars, fill);
    let pools: Vec<Pool> = (1..4).map(|threads| Pool::new(threads).unwrap()).collect();
    let parallel = text.contains("parallel");
    for lanes in lanes {
        limit_lanes(&mut program.body, *lanes);
        for (choice, unroll) in variants() {
            // Several copies are told from blocks that overlap.
            let pipelining = if unroll == 1 { Pipelining::Always } else { Pipelining::Never };
            let options = CompileOptions::default().choice(choice).max_unroll(unroll).pipelining(pipelining);
            let compiled = compile(&verified(&program), &options.verify_code(true));
            let compiled = compiled.unwrap_or_else(|error| panic!("{error}\n{program}"));
            for pool in &pools[..if parallel { 3 } else { 1 }] {
                let found = run_native(&compiled, args, scalars, fill, pool);
                let context = format!("{choice:?}, unroll {unroll}, {} threads, args {args:?}", pool.threads());
                assert_same(&program, &expected, &found, &context);
            }
        }
    }
}

/// Asserts the same for a random program: compiled in each way once, with lanes and copies drawn from `seed`.
pub(crate) fn agree_once(text: &str, args: &[i64], scalars: &[f64], seed: u64) {
    let lanes = [2, 4, 8, 16, 64, 64][fastrand::Rng::with_seed(seed).usize(0..6)];
    agree_once_in_lanes(text, args, scalars, lanes, seed);
}

/// The same with strips cut to this many lanes.
pub(crate) fn agree_once_in_lanes(text: &str, args: &[i64], scalars: &[f64], lanes: u32, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed.wrapping_add(1));
    let mut program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let expected = reference(&program, args, scalars, &[]);
    limit_lanes(&mut program.body, lanes);
    for (choice, _) in variants().filter(|(_, unroll)| *unroll == 1) {
        let unroll = [Unroll::AtMost, Unroll::Exactly][random.usize(0..2)](random.u32(1..9));
        let (width, non_temporal) = (VectorWidth::ALL[random.usize(0..3)], NonTemporal::ALL[random.usize(0..3)]);
        let prefetch = Prefetch::ALL[random.usize(0..3)];
        let units = VectorUnits::ALL[random.usize(0..VectorUnits::ALL.len())];
        let options = CompileOptions::default().choice(choice).width(width).unroll(unroll).non_temporal(non_temporal);
        let pipelining = Pipelining::ALL[random.usize(0..3)];
        let options = options.prefetch(prefetch).pipelining(pipelining).units(units).verify_code(true);
        let compiled = compile(&verified(&program), &options);
        let compiled = compiled.unwrap_or_else(|error| panic!("{error}\n{program}"));
        let found = run_native(&compiled, args, scalars, &[], &Pool::sequential());
        assert_same(&program, &expected, &found, &format!("{choice:?}, {:?}, args {args:?}", options.variant()));
    }
}

/// The program with the proof that it may be compiled.
pub(crate) fn verified(program: &Program) -> Verified {
    Verified::new(program.clone()).unwrap_or_else(|error| panic!("{error}\n{program}"))
}

/// Every kind of strip that this machine can run, with one copy of its body in a loop and with several.
pub(crate) fn variants() -> impl Iterator<Item = (IsaChoice, u32)> {
    let isa = Isa::detect();
    let choices = IsaChoice::ALL.into_iter().filter(move |choice| {
        // `Auto` is one of the others.
        *choice != IsaChoice::Auto && isa.resolve(*choice).is_ok()
    });
    choices.flat_map(|choice| [(choice, 1), (choice, 3)]).filter(|variant| *variant != (IsaChoice::Scalar, 3))
}

/// What the interpreter makes of the program, cell by cell.
pub(crate) fn reference(program: &Program, args: &[i64], scalars: &[f64], fill: &Fill) -> Memory {
    let mut memory = initial(program, fill);
    interpret(program, args, scalars, &mut memory, 1).unwrap_or_else(|error| panic!("{error}\n{program}"));
    memory
}

/// Runs compiled code in fields between guard pages.
pub(crate) fn run_native(compiled: &Compiled, args: &[i64], scalars: &[f64], fill: &Fill, pool: &Pool) -> Memory {
    let program = compiled.program();
    let memory = initial(program, fill);
    let guarded = FieldOptions { guard_pages: true, ..FieldOptions::default() };
    let workers = pool.threads() as u64;
    let mut fields: Vec<Field> = memory
        .buffers
        .iter()
        .zip(&program.buffers)
        .map(|(cells, decl)| to_field(cells, decl, workers, guarded))
        .collect();
    let buffers = fields.iter_mut().zip(&program.buffers).map(|(field, decl)| match decl.access {
        BufferAccess::ReadOnly => BufferRef::from(&*field),
        BufferAccess::ReadWrite => BufferRef::from(field),
    });
    let mut call = Call { args, scalars, buffers: buffers.collect(), pool };
    compiled.run(&mut call).unwrap_or_else(|error| panic!("{error}\n{program}"));
    drop(call);
    Memory { buffers: fields.iter().map(from_field).collect() }
}

/// All cells as bits; every NaN is one NaN, as processors differ in which operand's payload they pass on.
pub(crate) fn bits(memory: &Memory) -> Vec<Vec<u64>> {
    let of_f64 = |x: &f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let of_f32 = |x: &f32| if x.is_nan() { u64::MAX } else { u64::from(x.to_bits()) };
    let cells = |cells: &Cells| match cells {
        Cells::F64(cells) => cells.iter().map(of_f64).collect(),
        Cells::F32(cells) => cells.iter().map(of_f32).collect(),
        Cells::F16(cells) => cells.iter().map(|x| of_f32(&x.to_f32())).collect(),
        Cells::U8(cells) => cells.iter().map(|x| *x as u64).collect(),
        Cells::I8(cells) => cells.iter().map(|x| *x as u64).collect(),
        Cells::I16(cells) => cells.iter().map(|x| *x as u64).collect(),
        Cells::U16(cells) => cells.iter().map(|x| *x as u64).collect(),
        Cells::I32(cells) => cells.iter().map(|x| *x as u64).collect(),
        Cells::U32(cells) => cells.iter().map(|x| *x as u64).collect(),
        Cells::I64(cells) => cells.iter().map(|x| *x as u64).collect(),
    };
    memory.buffers.iter().map(cells).collect()
}

/// All cells are the same but for those that hold nothing after a run.
fn assert_same(program: &Program, expected: &Memory, found: &Memory, context: &str) {
    for (at, (expected, found)) in bits(expected).iter().zip(&bits(found)).enumerate() {
        if program.buffers[at].copies != Copies::One {
            continue;
        }
        if let Some(cell) = (0..expected.len()).find(|cell| expected[*cell] != found[*cell]) {
            let (expected, found, name) = (expected[cell], found[cell], &program.buffers[at].name);
            panic!("{context}: {name}[{cell}] is {found:#x}, should be {expected:#x}\n{program}");
        }
    }
}

fn limit_lanes(nodes: &mut [Node], lanes: u32) {
    for node in nodes {
        match node {
            Node::Let { .. } => {}
            Node::For { body, .. } => limit_lanes(body, lanes),
            Node::If { then, otherwise, .. } => {
                limit_lanes(then, lanes);
                limit_lanes(otherwise, lanes);
            }
            Node::Strip(strip) => strip.lanes = strip.lanes.min(lanes),
        }
    }
}

fn initial(program: &Program, fill: &Fill) -> Memory {
    let mut random = fastrand::Rng::with_seed(11);
    let mut memory = Memory::zeroed(program);
    for (cells, decl) in memory.buffers.iter_mut().zip(&program.buffers) {
        let given = fill.iter().find(|(name, _)| *name == decl.name).map(|(_, values)| values);
        let mut value = |at: usize| match given {
            Some(values) => values[at % values.len()],
            None => random.f64() * 4.0 - 2.0,
        };
        // Of what is given hundredths, else numbers that all bits of an integer depend on.
        let factor = if given.is_some() { 1 } else { 0x0123_4567_89ab_cdef };
        let integer = |x: f64| ((x * 100.0) as i64).wrapping_mul(factor);
        match cells {
            Cells::F64(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = value(at)),
            Cells::F32(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = value(at) as f32),
            Cells::F16(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = f16::from_f32(value(at) as f32)),
            Cells::U8(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = integer(value(at)) as u8),
            Cells::I8(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = integer(value(at)) as i8),
            Cells::I16(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = integer(value(at)) as i16),
            Cells::U16(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = integer(value(at)) as u16),
            Cells::I32(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = integer(value(at)) as i32),
            Cells::U32(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = integer(value(at)) as u32),
            Cells::I64(cells) => cells.iter_mut().enumerate().for_each(|(at, x)| *x = integer(value(at))),
        }
    }
    memory
}

/// A field with the given cells first.
pub(crate) fn to_field(cells: &Cells, decl: &BufferDecl, workers: u64, options: FieldOptions) -> Field {
    let length = decl.cells_for(workers).unwrap_or(0).max(cells.len() as u64);
    let options = FieldOptions { mapped: decl.mapped, ..options };
    let mut field = Field::new(cells.element(), length, options).unwrap();
    match cells {
        Cells::F64(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
        Cells::F32(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
        Cells::F16(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
        Cells::U8(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
        Cells::I8(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
        Cells::I16(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
        Cells::U16(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
        Cells::I32(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
        Cells::U32(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
        Cells::I64(cells) => field.as_mut_slice().unwrap()[..cells.len()].copy_from_slice(cells),
    }
    field
}

pub(crate) fn from_field(field: &Field) -> Cells {
    match field.element() {
        Element::F64 => Cells::F64(field.as_slice().unwrap().to_vec()),
        Element::F32 => Cells::F32(field.as_slice().unwrap().to_vec()),
        Element::F16 => Cells::F16(field.as_slice().unwrap().to_vec()),
        Element::U8 => Cells::U8(field.as_slice().unwrap().to_vec()),
        Element::I8 => Cells::I8(field.as_slice().unwrap().to_vec()),
        Element::I16 => Cells::I16(field.as_slice().unwrap().to_vec()),
        Element::U16 => Cells::U16(field.as_slice().unwrap().to_vec()),
        Element::I32 => Cells::I32(field.as_slice().unwrap().to_vec()),
        Element::U32 => Cells::U32(field.as_slice().unwrap().to_vec()),
        Element::I64 => Cells::I64(field.as_slice().unwrap().to_vec()),
    }
}
