//! Random schedules as text: positions before, between or behind the iterators; permuted, shifted, skewed, reversed and
//! tiled iterators; parallel and vector dimensions; rows and steps that share a pass of the lanes. Whether they are
//! legal is left to chance.

use super::affine::{ITERS, substitute};
use super::generate::{Generator, Position};

/// What shares a pass of the lanes.
enum Jam {
    /// This many rows of the dimension before the lanes.
    Rows(i64),
    /// Two steps, the second one this many lanes behind.
    Steps { t: &'static str, lanes: i64 },
}

impl Generator<'_> {
    /// Three random schedules and one that is legal: position by position, the iterators in their order.
    pub(crate) fn schedules(&mut self, positions: &[Position], step: Option<&'static str>) {
        for number in 0..3 {
            let times = self.random_times(positions.len(), step);
            self.push_schedule(&format!("r{number}"), positions, &times);
        }
        let iters = ITERS[..self.dims].iter().map(|i| i.to_string());
        let time = |position: usize| {
            step.iter().map(|t| t.to_string()).chain([position.to_string()]).chain(iters.clone()).collect()
        };
        self.push_schedule("base", positions, &(0..positions.len()).map(time).collect::<Vec<_>>());
    }

    /// The first iterator, or blocks of it, in parallel around everything else; inside, position by position.
    pub(crate) fn task_schedule(&mut self, positions: &[Position]) {
        let (outer, inner) = match self.random.u8(0..3) {
            0 => (vec!["i parallel"], vec![]),
            1 => (vec!["0", "i parallel"], vec![]),
            _ => (vec!["floor(i/2) parallel"], vec!["i"]),
        };
        let lanes = if self.chance(50) { " vector(4)" } else { "" };
        let mut rest: Vec<String> = ITERS[1..self.dims].iter().map(|i| i.to_string()).collect();
        rest.last_mut().expect("there are at least two iterators").push_str(lanes);
        let text = |part: &[&str]| part.iter().map(|e| e.to_string()).collect::<Vec<_>>();
        let time = |position: usize| [text(&outer), vec![position.to_string()], text(&inner), rest.clone()].concat();
        self.push_schedule("tasks", positions, &(0..positions.len()).map(time).collect::<Vec<_>>());
    }

    fn push_schedule(&mut self, name: &str, positions: &[Position], times: &[Vec<String>]) {
        let mut lines = Vec::new();
        let two_phases = positions.iter().any(|position| position.first.is_some());
        for (position, time) in positions.iter().zip(times) {
            let time = time.join(", ");
            lines.extend(position.first.iter().map(|first| format!("{first} -> [{time}, 0]")));
            let phase = if two_phases { ", 1" } else { "" };
            for stmt in &position.stmts {
                lines.push(format!("{} -> [{}{phase}]", stmt.name, substitute(&time, "i", stmt.first)));
            }
        }
        self.text.push_str(&format!("  schedule {name} {{ {} }}\n", lines.join("; ")));
    }

    /// A time vector for each position.
    fn random_times(&mut self, n_positions: usize, step: Option<&'static str>) -> Vec<Vec<String>> {
        if step.is_some() && self.chance(12) {
            return self.diamond_times(n_positions);
        }
        let mut order: Vec<usize> = (0..self.dims).collect();
        if self.chance(30) {
            self.random.shuffle(&mut order);
        }
        // The position stands before, between or behind the iterators.
        let position_at = if self.chance(50) { 0 } else { self.random.usize(0..=self.dims) };
        let shift = if self.chance(40) { self.random.i64(1..=2) } else { 0 };
        let skew = step.is_some() && self.chance(25);
        let reversed = self.chance(8).then(|| self.random.usize(0..self.dims));
        let tiles = self.chance(25);
        let tile_sizes: Vec<i64> = (0..self.dims).map(|_| self.random.i64(2..=3)).collect();
        let kinds: Vec<&str> = (0..self.dims).map(|d| self.kind(d + 1 == self.dims)).collect();
        let outer_parallel = tiles && self.chance(30);
        let jam = self.jam(kinds.last().copied(), step.filter(|_| !tiles));
        let mut times = Vec::new();
        for position in 0..n_positions {
            let shift = shift * position as i64;
            let point = |slot: usize| {
                let iter = ITERS[order[slot]];
                let minus = if reversed == Some(slot) { "-" } else { "" };
                let plus =
                    if position_at > 0 && slot == 0 && shift > 0 { format!(" + {shift}") } else { String::new() };
                let lean = if skew && slot == 0 { " + t" } else { "" };
                format!("{minus}{iter}{lean}{plus}")
            };
            let mut time: Vec<String> = step.map(str::to_string).into_iter().collect();
            if tiles {
                if let (Some(t), true) = (step, skew) {
                    time[0] = format!("floor({t} / 2)");
                }
                let parallel = |slot: usize| if outer_parallel && slot == 0 { " parallel" } else { "" };
                time.extend(
                    (0..self.dims).map(|s| format!("floor(({}) / {}){}", point(s), tile_sizes[s], parallel(s))),
                );
                if let (Some(t), true) = (step, skew) {
                    time.push(t.to_string());
                }
            }
            let iters = kinds.iter().enumerate().map(|(slot, kind)| format!("{}{kind}", point(slot)));
            let from = time.len();
            time.extend(iters);
            match &jam {
                Some(Jam::Rows(size)) => {
                    let row = time.len() - 2;
                    let within = time[row].trim_end_matches(" parallel").to_string();
                    time[row] = format!("floor(({within}) / {size})");
                    time.push(within);
                }
                Some(Jam::Steps { t, lanes }) => {
                    let last = time.last_mut().expect("there is an iterator");
                    let (point, _) = last.split_once(" vector").expect("the last one runs in lanes");
                    *last = format!("{point} + {lanes}*{t} - {}*floor({t} / 2) vector({lanes})", 2 * lanes);
                    time[0] = format!("floor({t} / 2)");
                    time.push(t.to_string());
                }
                None => {}
            }
            time.insert(from + position_at, position.to_string());
            times.push(time);
        }
        times
    }

    /// Whether rows, or steps, share a pass of the lanes.
    fn jam(&mut self, last: Option<&str>, step: Option<&'static str>) -> Option<Jam> {
        let lanes = last?.strip_prefix(" vector(")?.strip_suffix(')')?.parse().expect("lanes are a number");
        match (self.random.u8(0..100), step) {
            (0..25, _) if self.dims > 1 => Some(Jam::Rows(self.random.i64(2..=3))),
            (25..50, Some(t)) => Some(Jam::Steps { t, lanes }),
            _ => None,
        }
    }

    fn kind(&mut self, is_last: bool) -> &'static str {
        match self.random.u8(0..100) {
            0..20 => " parallel",
            20..60 if is_last => [" vector(2)", " vector(4)", " vector(8)"][self.random.usize(0..3)],
            _ => "",
        }
    }

    /// Diamond tiles of the step and the first iterator: wavefront, tile, then what is inside.
    fn diamond_times(&mut self, n_positions: usize) -> Vec<Vec<String>> {
        let (size, slope) = (self.random.i64(2..=4), *self.random.choice(&[1, 1, 2]).unwrap());
        let parallel = if self.chance(60) { " parallel" } else { "" };
        let tile = |sign: &str| format!("floor(({slope}*t {sign} i) / {size})");
        let wavefront = format!("{} + {}", tile("+"), tile("-"));
        let inner: Vec<String> = ITERS[..self.dims].iter().map(|i| i.to_string()).collect();
        let time = |position: usize| {
            let outer = [wavefront.clone(), format!("{}{parallel}", tile("+")), "t".to_string(), position.to_string()];
            outer.into_iter().chain(inner.clone()).collect()
        };
        (0..n_positions).map(time).collect()
    }
}
