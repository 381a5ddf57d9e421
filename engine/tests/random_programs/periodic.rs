//! Random explicit schemes on periodic grids: one to three fields, any reach, some axes periodic and others not, sweeps
//! in any direction.
//!
//! Every position near an end of an axis has statements of its own, which read the far side by constants, or the end
//! itself where the axis is not periodic. As only earlier steps are read, every order of the points of a step is legal.

use fastrand::Rng;

use super::affine::ITERS;
use super::generate::Sample;

/// Where a statement runs along an axis.
#[derive(Clone, Copy)]
enum Place {
    Inside,
    Low(i64),
    High(i64),
}

/// An axis of the grid.
struct Axis {
    iter: &'static str,
    /// How far reads go back and forth along it.
    low: i64,
    high: i64,
    periodic: bool,
}

/// A read of some field, this many steps back.
struct Read {
    field: usize,
    back: i64,
    offsets: Vec<i64>,
}

impl Axis {
    fn places(&self) -> Vec<Place> {
        let (low, high) = ((0..self.low).map(Place::Low), (0..self.high).map(Place::High));
        [Place::Inside].into_iter().chain(low).chain(high).collect()
    }

    fn condition(&self, place: Place) -> String {
        match place {
            Place::Inside => format!("{} <= {} < N - {}", self.low, self.iter, self.high),
            Place::Low(at) => format!("{} = {at}", self.iter),
            Place::High(at) => format!("{} = N - {}", self.iter, at + 1),
        }
    }

    fn index(&self, place: Place, offset: i64) -> String {
        match place {
            Place::Low(at) if at + offset < 0 && self.periodic => format!("N - {}", -(at + offset)),
            Place::Low(at) if at + offset < 0 => "0".to_string(),
            Place::High(at) if offset > at && self.periodic => format!("{}", offset - at - 1),
            Place::High(at) if offset > at => "N - 1".to_string(),
            _ => format!("{} + {offset}", self.iter),
        }
    }
}

/// A kernel called `periodic`.
pub(crate) fn periodic(random: &mut Rng) -> Sample {
    let dims = *random.choice(&[1, 1, 1, 2, 2, 2, 3]).unwrap();
    let most = [2, 2, 1][dims - 1];
    let axis = |iter: &&'static str| {
        let periodic = random.u8(0..10) < 8;
        Axis { iter, low: random.i64(0..=most), high: random.i64(0..=most), periodic }
    };
    let axes: Vec<Axis> = ITERS[..dims].iter().map(axis).collect();
    let fields = random.usize(1..=[3, 2, 1][dims - 1]);
    let size = random.i64([5..=11, 5..=6, 3..=4][dims - 1].clone());
    let element = *random.choice(&["f64", "f64", "f32"]).unwrap();
    let reads: Vec<Vec<Read>> = (0..fields).map(|_| reads(random, &axes, fields)).collect();
    let iters = ITERS[..dims].join(", ");
    let cube: Vec<String> = axes.iter().map(|axis| format!("0 <= {} < N", axis.iter)).collect();
    let least = axes.iter().map(|axis| axis.low + axis.high).max().unwrap_or(0).max(3);
    let mut text = format!("kernel periodic(size N; run T) for N >= {least} {{\n  scalar c: f64\n");
    for field in 0..fields {
        text += &format!("  state u{field}[t, {iters}]: {element} for {}\n", cube.join(" and "));
    }
    let mut names = Vec::new();
    for places in combinations(&axes) {
        let name = format!("S{}", names.len());
        let conditions = axes.iter().zip(&places).map(|(axis, &place)| axis.condition(place));
        let domain = conditions.collect::<Vec<_>>().join(" and ");
        text += &format!("  {name}[t, {iters}] for 1 <= t <= T and {domain} {{\n");
        for (field, reads) in reads.iter().enumerate() {
            let terms: Vec<String> = (1..).zip(reads).map(|(n, read)| term(n, read, &axes, &places)).collect();
            text += &format!("    u{field}[t, {iters}] = {}\n", terms.join(" - "));
        }
        text += "  }\n";
        names.push(name);
    }
    for (name, times) in [("sweep", sweep(random, dims)), ("base", ITERS[..dims].join(", "))] {
        text += &format!("  schedule {name} {{ {} -> [t, {times}] }}\n", names.join(", "));
    }
    Sample { text: text + "}\n", size, least, steps: Some(random.i64(2..=4)), tiles: Vec::new() }
}

/// What a field is computed from: values of the last step, and now and then of the one before.
fn reads(random: &mut Rng, axes: &[Axis], fields: usize) -> Vec<Read> {
    let n = random.usize(2..=4);
    let mut reads: Vec<Read> = Vec::new();
    for _ in 0..n {
        let across = random.u8(0..10) < 3;
        let along = random.usize(0..axes.len());
        let offset = |(k, axis): (usize, &Axis)| match across || k == along {
            true => random.i64(-axis.low..=axis.high),
            false => 0,
        };
        let offsets = axes.iter().enumerate().map(offset).collect();
        let back = if random.u8(0..10) == 0 { 2 } else { 1 };
        reads.push(Read { field: random.usize(0..fields), back, offsets });
    }
    reads
}

/// Every combination of places.
fn combinations(axes: &[Axis]) -> Vec<Vec<Place>> {
    axes.iter().fold(vec![Vec::new()], |all, axis| {
        let extend = |place: Place| all.iter().map(move |places: &Vec<Place>| [places.as_slice(), &[place]].concat());
        axis.places().into_iter().flat_map(extend).collect()
    })
}

fn term(number: usize, read: &Read, axes: &[Axis], places: &[Place]) -> String {
    let index = axes.iter().zip(places).zip(&read.offsets).map(|((axis, &place), &offset)| axis.index(place, offset));
    let index = index.collect::<Vec<_>>().join(", ");
    format!("0.{number} * u{}[t - {}, {index}]", read.field, read.back)
}

/// The iterators in some order and direction, perhaps in lanes, seldom in parallel.
fn sweep(random: &mut Rng, dims: usize) -> String {
    let mut order: Vec<usize> = (0..dims).collect();
    if random.u8(0..10) < 3 {
        random.shuffle(&mut order);
    }
    let time = |(slot, dim): (usize, &usize)| {
        let minus = if random.u8(0..10) < 3 { "-" } else { "" };
        let kind = match random.u8(0..10) {
            0 => " parallel",
            1..7 if slot + 1 == dims => [" vector(2)", " vector(4)", " vector(8)"][random.usize(0..3)],
            _ => "",
        };
        format!("{minus}{}{kind}", ITERS[*dim])
    };
    order.iter().enumerate().map(time).collect::<Vec<_>>().join(", ")
}
