//! Mutants: programs that engines have lowered, with one thing changed, are refused where they claim too much.
//!
//! `lowered/` holds programs as `crease explain KERNEL --dump program` prints them. A mutant has another alias fact,
//! bound, parallel mark, number of lanes, ring, modulus, stride, sign, place or order. Two judges that share no more
//! than the addresses are compared: the proof (`Verified::new`, and address ranges for bounds) and the oracle that
//! looks at every cell of some runs (`verify_exactly`). What the oracle refuses the proof has to refuse, all of
//! them; what the oracle accepts has to give the same bits in any order and at any number of lanes.

use crate::is_thorough;
use crease_program::*;
use std::fs;
use std::path::Path;

/// Mutants that the oracle refuses, a few and with `CREASE_THOROUGH`.
const WRONG: [usize; 2] = [400, 1_000];
/// Steps of the oracle; a mutant that runs much longer than the program is not looked at.
const BUDGET: u64 = 2_000_000;

fn lowered() -> Vec<(String, Program)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lowered");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, Program::parse(&fs::read_to_string(path).unwrap()).unwrap())
    };
    paths.iter().map(read).collect()
}

/// First and last steps: one step, some, none, and a later start.
fn calls(program: &Program) -> Vec<Vec<i64>> {
    match program.args.len() {
        0 => vec![vec![]],
        1 => (0..4).map(|steps| vec![steps]).collect(),
        _ => [[0, 1], [0, 3], [2, 2], [5, 9]].map(|call| call.to_vec()).to_vec(),
    }
}

fn lengths(program: &Program) -> Vec<u64> {
    program.buffers.iter().map(|buffer| buffer.cells.expect("lowered buffers have lengths")).collect()
}

/// What the oracle says of all calls; none if it would take too long.
fn exact(program: &Program) -> Option<Result<(), ExactError>> {
    for args in calls(program) {
        match program.verify_exactly(&args, &lengths(program), BUDGET) {
            Ok(()) => {}
            Err(ExactError::Budget { .. }) => return None,
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(()))
}

/// What the proof says: of the claims for all arguments, of bounds for all steps.
fn proved(program: &Program) -> Result<(), String> {
    let verified = Verified::new(program.clone()).map_err(|error| error.to_string())?;
    let ranges = verified.address_ranges(&vec![ANY_STEP; program.args.len()]).map_err(|error| error.to_string())?;
    ranges.verify(&lengths(program)).map_err(|error| error.to_string())
}

#[test]
fn what_engines_lower_is_proved_and_accepted() {
    for (name, program) in lowered() {
        assert_eq!(proved(&program), Ok(()), "{name}");
        assert_eq!(exact(&program), Some(Ok(())), "{name}");
    }
}

#[test]
fn what_the_oracle_refuses_is_refused_by_the_proof() {
    let (programs, mut random) = (lowered(), fastrand::Rng::with_seed(22));
    let (mut wrong, mut others, mut kinds) = (0, 0, [0; KINDS]);
    let wanted = WRONG[usize::from(is_thorough())];
    while wrong < wanted {
        let (name, program) = &programs[random.usize(..programs.len())];
        let mut mutant = program.clone();
        let Some(kind) = mutate(&mut mutant, &mut random).filter(|_| mutant != *program) else { continue };
        let Some(found) = exact(&mutant) else { continue };
        match found {
            // What a worker's copy holds is not part of the proof.
            Err(ExactError::Contradicted(found)) if matches!(found.claim, Claim::Unwritten { .. }) => {}
            Err(error) => {
                assert!(proved(&mutant).is_err(), "{name}, {kind}: {error}, and yet it is proved\n{mutant}");
                wrong += 1;
                kinds[kind] += 1;
            }
            Ok(()) => {
                others += 1;
                assert_same_in_any_order(&mutant);
            }
        }
    }
    assert!(kinds.iter().all(|count| *count > wanted / 60), "by kind: {kinds:?}");
    println!("{wrong} wrong mutants, by kind {kinds:?}; {others} that keep to what they claim");
}

/// Runs it cell by cell and in lock-step, parallel loops in both orders.
fn assert_same_in_any_order(program: &Program) {
    for args in calls(program) {
        let run = |lanes, order| {
            let mut memory = Memory::zeroed(program);
            for (at, cells) in memory.buffers.iter_mut().enumerate() {
                match cells {
                    Cells::F64(cells) => cells.iter_mut().zip(at..).for_each(|(x, n)| *x = (n * 37 % 101) as f64),
                    Cells::F32(cells) => cells.iter_mut().zip(at..).for_each(|(x, n)| *x = (n * 37 % 101) as f32),
                    _ => {}
                }
            }
            let scalars = vec![0.75; program.scalars.len()];
            interpret_in_order(program, &args, &scalars, &mut memory, lanes, order).expect("the oracle accepts it");
            format!("{memory:?}")
        };
        let first = run(1, ParallelOrder::Ascending);
        assert_eq!(first, run(u32::MAX, ParallelOrder::Descending), "{program}");
    }
}

/// Kinds of changes.
const KINDS: usize = 9;

/// Makes one change; gives its kind, or none if the program has nothing of the kind drawn.
fn mutate(program: &mut Program, random: &mut fastrand::Rng) -> Option<usize> {
    let kind = random.usize(..KINDS);
    let mut strips = Vec::new();
    let mut loops = Vec::new();
    collect(&mut program.body, &mut strips, &mut loops);
    match kind {
        // Bounds and marks of loops.
        0 => {
            let (lo, hi, _) = pick(&mut loops, random)?;
            shift(if random.bool() { lo } else { hi }, random);
        }
        1 => *pick(&mut loops, random)?.2 = LoopKind::Parallel,
        8 => {
            drop((strips, loops));
            let mut fronts = Vec::new();
            loops_of_fronts(&mut program.body, &mut fronts);
            let far = |random: &mut fastrand::Rng| Some(random.u32(0..4)).filter(|far| *far < 3);
            **pick(&mut fronts, random)? = LoopKind::Fronts(Needs {
                open: random.u32(2..=MOST_OPEN_FRONTS),
                behind: far(random),
                ahead: far(random),
            });
        }
        _ => {
            let strip = pick(&mut strips, random)?;
            change_strip(strip, kind, random)?;
        }
    }
    Some(kind)
}

fn change_strip(strip: &mut Strip, kind: usize, random: &mut fastrand::Rng) -> Option<()> {
    match kind {
        2 => shift(if random.bool() { &mut strip.lo } else { &mut strip.hi }, random),
        3 => strip.lanes = [2, 4, 8, 64][random.usize(..4)],
        4 => claim_more(strip, random)?,
        // Streams: the place, the ring or modulus, the stride.
        5 => shift(position(&mut pick(&mut strip.streams, random)?.address, random), random),
        6 => match &mut pick(&mut strip.streams, random)?.address {
            Address::Block { ring: Some(ring), pos, .. } => {
                let changed = ring.saturating_add_signed([-2, -1, 1, 2][random.usize(..4)]).max(1);
                if let Int::Wrap(_, modulus) | Int::Mod(_, modulus) = pos {
                    *modulus = changed as i64;
                }
                *ring = changed;
            }
            Address::Block { base, pos, .. } => {
                let modulus = find_modulus(if random.bool() { base } else { pos })?;
                *modulus = (*modulus + [-1, 1][random.usize(..2)]).max(1);
            }
            Address::Array(_) => return None,
        },
        _ => match &mut pick(&mut strip.streams, random)?.address {
            Address::Block { stride, .. } => *stride = -*stride + random.i64(-1..=1),
            Address::Array(coordinates) => pick(coordinates, random)?.step += [-1, 1][random.usize(..2)],
        },
    }
    Some(())
}

/// Another fact about a load and a store, or lanes in another order: the store before the load.
fn claim_more(strip: &mut Strip, random: &mut fastrand::Rng) -> Option<()> {
    let of = |wanted: fn(&Op) -> bool| -> Vec<ValueId> {
        (0..).map(ValueId).zip(&strip.ops).filter(|(_, op)| wanted(op)).map(|(id, _)| id).collect()
    };
    let (loads, stores) = (of(|op| matches!(op, Op::Load { .. })), of(|op| matches!(op, Op::Store { .. })));
    let (load, store) = (*random.choice(&loads)?, *random.choice(&stores)?);
    let relation = match random.u8(..3) {
        0 => AliasRelation::Disjoint,
        1 => AliasRelation::SameLane,
        _ => AliasRelation::Distance([-2, -1, 1, 2][random.usize(..4)]),
    };
    strip.alias.retain(|fact| (fact.load, fact.store) != (load, store));
    strip.alias.push(AliasFact { load, store, relation });
    // Mostly the cells are disjoint, and any fact is true; a store to the load's own stream makes it a claim.
    if random.bool() {
        let Op::Load { stream: from, .. } = strip.ops[load.index()] else { return None };
        let Op::Store { stream: to, .. } = strip.ops[store.index()] else { return None };
        let distance = random.i64(-1..=1);
        let (buffer, mut address) = (strip.streams[to.index()].buffer, strip.streams[to.index()].address.clone());
        if let Address::Block { pos, ring: None, .. } = &mut address {
            *pos = Int::Add(Box::new(pos.clone()), Box::new(Int::Const(distance)));
        }
        strip.streams[from.index()].buffer = buffer;
        strip.streams[from.index()].address = address;
    }
    Some(())
}

fn position<'a>(address: &'a mut Address, random: &mut fastrand::Rng) -> &'a mut Int {
    match address {
        Address::Block { base, .. } if random.bool() => base,
        Address::Block { pos, .. } => pos,
        Address::Array(coordinates) => {
            let at = random.usize(..coordinates.len());
            &mut coordinates[at].start
        }
    }
}

/// Adds a small number, or turns the sign.
fn shift(int: &mut Int, random: &mut fastrand::Rng) {
    let old = std::mem::replace(int, Int::Const(0));
    let by = [-5, -2, -1, 1, 2, 5][random.usize(..6)];
    *int = match random.u8(..8) {
        0 => Int::Sub(Box::new(Int::Const(by)), Box::new(old)),
        _ => Int::Add(Box::new(old), Box::new(Int::Const(by))),
    };
}

fn find_modulus(int: &mut Int) -> Option<&mut i64> {
    match int {
        Int::Mod(_, modulus) | Int::Wrap(_, modulus) => Some(modulus),
        Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) => match find_modulus(a) {
            Some(found) => Some(found),
            None => find_modulus(b),
        },
        _ => None,
    }
}

fn pick<'a, T>(all: &'a mut [T], random: &mut fastrand::Rng) -> Option<&'a mut T> {
    if all.is_empty() { None } else { all.get_mut(random.usize(..all.len())) }
}

/// Loops that could be loops of fronts.
fn loops_of_fronts<'n>(nodes: &'n mut [Node], found: &mut Vec<&'n mut LoopKind>) {
    for node in nodes {
        match node {
            Node::For { step: 1, kind, body, .. } if LoopKind::front_of(body).is_some() => found.push(kind),
            Node::For { body, .. } => loops_of_fronts(body, found),
            Node::If { then, otherwise, .. } => {
                loops_of_fronts(then, found);
                loops_of_fronts(otherwise, found);
            }
            Node::Let { .. } | Node::Strip(_) => {}
        }
    }
}

type Head<'n> = (&'n mut Int, &'n mut Int, &'n mut LoopKind);

fn collect<'n>(nodes: &'n mut [Node], strips: &mut Vec<&'n mut Strip>, loops: &mut Vec<Head<'n>>) {
    for node in nodes {
        match node {
            Node::Let { .. } => {}
            Node::For { lo, hi, kind, body, .. } => {
                loops.push((lo, hi, kind));
                collect(body, strips, loops);
            }
            Node::If { then, otherwise, .. } => {
                collect(then, strips, loops);
                collect(otherwise, strips, loops);
            }
            Node::Strip(strip) => strips.push(strip),
        }
    }
}
