//! Observers of random programs: what they say of the states is what a run gives back, behind the steps and in the last
//! of them.

use crease::kernel::graph::{Array, ArrayId, Element, Kernel, Role};
use crease::{ElementType, ObserverForm, Output, Run};
use ndarray::{Array as Cells, ArrayD, IxDyn};

/// The name of an observer with reductions.
const SEEN: &str = "seen";
/// The name of an observer without.
const COPIED: &str = "copied";

/// The kernel with two observers of all its states: one copies each, counts it, and searches it for its extremes, the
/// other copies all levels of it that there are between steps.
pub(crate) fn with_observer(kernel: &Kernel) -> Kernel {
    let text = kernel.to_string();
    let (mut outputs, mut stmts, mut copies) = (String::new(), String::new(), String::new());
    for array in states(kernel).map(|id| kernel.array(id)) {
        let Array { name, index, element, .. } = array;
        let declared = format!("  state {name}[{}]: {}", index.join(", "), element.name());
        let line = text.lines().find_map(|line| line.strip_prefix(&declared)).expect("arrays are printed");
        let domain = line.split(" live ").next().expect("there is a first part").trim();
        let (space, number) = (index[1..].join(", "), number(*element).name());
        outputs += &format!(
            "output c{name}[{space}]: {} {domain}\nreduce sum n{name}: f64\nreduce min l{name}: {number}\n\
             reduce max h{name}: {number}\n",
            element.name()
        );
        stmts += &format!(
            "O{name}[{}] {domain} {{ let v = {name}[{}] c{name}[{space}] = v n{name} = 1 \
             l{name} = {number}(v) h{name} = {number}(v) }}\n",
            index.join(", "),
            index.join(", ")
        );
        let newest = kernel.state_write_offset();
        for back in 0..kernel.state_depth(kernel.array_id(name).expect("it is there")) {
            let at = |first: &str, index: &[String]| {
                std::iter::once(first.to_string()).chain(index.iter().cloned()).collect::<Vec<_>>().join(", ")
            };
            let read = at(&format!("{} + {}", index[0], newest - i64::from(back)), &index[1..]);
            let read = read.replace("+ -", "- ");
            copies += &format!(
                "output k{back}{name}[{space}]: {} {domain}\nC{back}{name}[{}] {domain} {{ k{back}{name}[{space}] = {name}[{read}] }}\n",
                element.name(),
                index.join(", "),
            );
        }
    }
    [format!("observe {SEEN} {{ {outputs}{stmts} }}"), format!("observe {COPIED} {{ {copies} }}")]
        .iter()
        .fold(kernel.clone(), |kernel, observer| {
            kernel.with_observer(observer).unwrap_or_else(|error| panic!("{error}\n{observer}"))
        })
}

/// Runs some steps that end with copies of the states, which are compared with what the run gives back; whether the
/// last step made them. If the kernel has no such observer, just the steps.
pub(crate) fn advance(kernel: &Kernel, run: &mut Run, steps: u64) -> Result<bool, crease::Error> {
    if kernel.observer(COPIED).is_none() {
        return run.advance(steps).map(|()| false);
    }
    let mut copies: Vec<(ArrayId, u32, String, Copied)> = Vec::new();
    for id in states(kernel) {
        let Array { name, element, .. } = kernel.array(id);
        let shape = run.shape(name).unwrap();
        let levels = 0..kernel.state_depth(id);
        copies.extend(levels.map(|back| (id, back, format!("k{back}{name}"), Copied::zeros(*element, &shape))));
    }
    let mut outputs: Vec<(&str, Output<'_>)> =
        copies.iter_mut().map(|(_, _, name, copy)| (name.as_str(), copy.output())).collect();
    run.advance_observing(steps, COPIED, &mut outputs)?;
    for (id, back, _, copy) in &copies {
        copy.given_back(run, &kernel.array(*id).name, *back);
    }
    Ok(run.observer_form(&[COPIED]) == Some(ObserverForm::Fused))
}

/// Compares what the observer says with what the run gives back, if the kernel has one.
pub(crate) fn verify(kernel: &Kernel, run: &mut Run) {
    if kernel.observer(SEEN).is_none() {
        return;
    }
    let mut seen: Vec<Seen> = states(kernel).map(|id| Seen::new(kernel.array(id), run)).collect();
    let mut outputs: Vec<(&str, Output<'_>)> = seen.iter_mut().flat_map(Seen::outputs).collect();
    run.observe(SEEN, &mut outputs).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    seen.iter().for_each(|seen| seen.compare(run, kernel));
}

fn states(kernel: &Kernel) -> impl Iterator<Item = ArrayId> {
    kernel.array_ids().filter(|&id| kernel.array(id).role == Role::State)
}

/// The type of a cell's value.
fn number(element: Element) -> Element {
    if matches!(element, Element::F32 | Element::F16) { Element::F32 } else { Element::F64 }
}

/// What is seen of one state.
struct Seen {
    state: String,
    names: [String; 4],
    copy: Copied,
    count: f64,
    wide: [f64; 2],
    narrow: [f32; 2],
    is_narrow: bool,
}

/// A copy of a state, as wide as it is.
enum Copied {
    F64(ArrayD<f64>),
    F32(ArrayD<f32>),
    F16(ArrayD<crease::f16>),
    U8(ArrayD<u8>),
    I8(ArrayD<i8>),
    I16(ArrayD<i16>),
    U16(ArrayD<u16>),
    I32(ArrayD<i32>),
    U32(ArrayD<u32>),
    I64(ArrayD<i64>),
}

impl Seen {
    fn new(array: &Array, run: &Run) -> Seen {
        let copy = Copied::zeros(array.element, &run.shape(&array.name).unwrap());
        let names = ["c", "n", "l", "h"].map(|letter| format!("{letter}{}", array.name));
        let is_narrow = number(array.element) == Element::F32;
        Seen { state: array.name.clone(), names, copy, count: -1.0, wide: [0.0; 2], narrow: [0.0; 2], is_narrow }
    }

    fn outputs(&mut self) -> Vec<(&str, Output<'_>)> {
        let [copy, count, least, most] = &self.names;
        let cells = self.copy.output();
        let [narrow_least, narrow_most] = &mut self.narrow;
        let [wide_least, wide_most] = &mut self.wide;
        let ends: [Output<'_>; 2] = match self.is_narrow {
            true => [narrow_least.into(), narrow_most.into()],
            false => [wide_least.into(), wide_most.into()],
        };
        let [low, high] = ends;
        vec![(most, high), (copy, cells), (count, (&mut self.count).into()), (least, low)]
    }

    /// NaN keeps no bits where it is reduced, so that it is compared as such.
    fn compare(&self, run: &Run, kernel: &Kernel) {
        let values = self.copy.given_back(run, &self.state, 0);
        let state = &self.state;
        assert!(self.count == values.len() as f64, "`{state}` has {} cells of {}\n{kernel}", self.count, values.len());
        let ends = if self.is_narrow { self.narrow.map(f64::from) } else { self.wide };
        let has_nan = values.iter().any(|value| value.is_nan());
        let end = |first: f64, of: fn(f64, f64) -> f64| {
            if has_nan { f64::NAN } else { values.iter().copied().fold(first, of) }
        };
        let expected = [end(f64::INFINITY, f64::min), end(f64::NEG_INFINITY, f64::max)];
        let same = ends.iter().zip(&expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
        assert!(same, "the ends of `{state}` are {ends:?} rather than {expected:?}\n{kernel}");
    }
}

impl Copied {
    fn zeros(element: Element, shape: &[usize]) -> Copied {
        fn zeros<T: ElementType>(shape: &[usize]) -> ArrayD<T> {
            Cells::from_elem(IxDyn(shape), T::default())
        }
        match element {
            Element::F64 => Copied::F64(zeros(shape)),
            Element::F32 => Copied::F32(zeros(shape)),
            Element::F16 => Copied::F16(zeros(shape)),
            Element::U8 => Copied::U8(zeros(shape)),
            Element::I8 => Copied::I8(zeros(shape)),
            Element::I16 => Copied::I16(zeros(shape)),
            Element::U16 => Copied::U16(zeros(shape)),
            Element::I32 => Copied::I32(zeros(shape)),
            Element::U32 => Copied::U32(zeros(shape)),
            Element::I64 => Copied::I64(zeros(shape)),
        }
    }

    fn output(&mut self) -> Output<'_> {
        match self {
            Copied::F64(cells) => cells.into(),
            Copied::F32(cells) => cells.into(),
            Copied::F16(cells) => cells.into(),
            Copied::U8(cells) => cells.into(),
            Copied::I8(cells) => cells.into(),
            Copied::I16(cells) => cells.into(),
            Copied::U16(cells) => cells.into(),
            Copied::I32(cells) => cells.into(),
            Copied::U32(cells) => cells.into(),
            Copied::I64(cells) => cells.into(),
        }
    }

    /// The state's cells, once they were compared with the copy bit for bit.
    fn given_back(&self, run: &Run, state: &str, back: u32) -> Vec<f64> {
        match self {
            Copied::F64(cells) => given_back(run, (state, back), cells),
            Copied::F32(cells) => given_back(run, (state, back), cells),
            Copied::F16(cells) => given_back(run, (state, back), cells),
            Copied::U8(cells) => given_back(run, (state, back), cells),
            Copied::I8(cells) => given_back(run, (state, back), cells),
            Copied::I16(cells) => given_back(run, (state, back), cells),
            Copied::U16(cells) => given_back(run, (state, back), cells),
            Copied::I32(cells) => given_back(run, (state, back), cells),
            Copied::U32(cells) => given_back(run, (state, back), cells),
            Copied::I64(cells) => given_back(run, (state, back), cells),
        }
    }
}

fn given_back<T: ElementType>(run: &Run, (state, back): (&str, u32), copy: &ArrayD<T>) -> Vec<f64> {
    let mut cells = Cells::from_elem(copy.raw_dim(), T::default());
    run.read_back(state, back, cells.view_mut()).unwrap();
    let numbers = |cells: &ArrayD<T>| -> Vec<f64> { cells.iter().map(|&cell| cell.to_number()).collect() };
    let bits = |cells: &ArrayD<T>| -> Vec<u64> { numbers(cells).iter().map(|cell| cell.to_bits()).collect() };
    assert!(bits(&cells) == bits(copy), "the copy of `{state}`, {back} steps back, differs");
    numbers(&cells)
}
