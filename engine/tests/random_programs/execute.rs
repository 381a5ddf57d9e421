//! Ways to run a kernel: on full storage, and through a plan natively (on arrays of its own or borrowed ones) and by
//! the interpreter of programs.
//!
//! All of them start from the same contents and return the same thing: the bits of what a caller can read afterwards.

use std::collections::BTreeMap;

use crease::kernel::graph::{ArrayId, Element, Kernel, Role, Schedule};
use crease::kernel::interpret::{FullArray, Inputs, InterpretOptions, full_array, interpret, live_in_array};
use crease::{Code, ElementType, Error, Input, ObserverForm, Output, Plan, RunOptions, f16, with_element_type};
use crease_oracle::Trace;
use crease_program::{Cells, Memory};
use fastrand::Rng;
use ndarray::ArrayD;

use super::observe;
use crate::host::Host;
use crate::oracle;

/// By array and level back from the last step, the bits of the cells in logical order.
pub(crate) type Contents = BTreeMap<(String, u32), Vec<u64>>;

/// Instances and cells of a trace or an array.
const LIMIT: usize = 1 << 16;
/// The value of the scalar `c`.
const SCALAR: f64 = 0.375;

/// A kernel with concrete parameters and contents.
pub(crate) struct Case {
    pub(crate) kernel: Kernel,
    pub(crate) params: Vec<i64>,
    steps: Option<i64>,
    inputs: Inputs,
}

impl Case {
    /// Fills inputs and states with numbers in `-1..1`, or bytes, that differ from cell to cell.
    pub(crate) fn new(kernel: Kernel, size: i64, steps: Option<i64>) -> Case {
        let params: Vec<i64> = [size].into_iter().chain(steps).collect();
        let mut inputs = Inputs::new().param("N", size).scalar("c", SCALAR);
        if let Some(steps) = steps {
            inputs = inputs.param("T", steps);
        }
        for id in kernel.array_ids() {
            let array = kernel.array(id);
            let mut state = u64::from(array.name.as_bytes()[array.name.len() - 1]);
            let mut fill = |_: &[i64]| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                match array.element {
                    // Of the longest, those that doubles have.
                    Element::I64 => ((state as i64) >> 11) as f64,
                    element if element.is_integer() => {
                        let (low, _) = element.value_type().range();
                        (state >> (64 - 8 * element.bytes())) as f64 + low as f64
                    }
                    _ => (state >> 40) as f64 / f64::from(1 << 23) - 1.0,
                }
            };
            if matches!(array.role, Role::Input | Role::State) {
                let contents = live_in_array(&kernel, id, &params, LIMIT as u64).unwrap().filled(&mut fill);
                inputs = inputs.array(&array.name, contents);
            }
        }
        Case { kernel, params, steps, inputs }
    }

    /// The brute-force trace under one schedule.
    pub(crate) fn trace(&self, schedule: &Schedule) -> Trace {
        Trace::new(&self.kernel, schedule, &self.params, LIMIT).unwrap()
    }

    /// Runs on full storage.
    pub(crate) fn expected(&self, schedule: &Schedule) -> Contents {
        let options = InterpretOptions { run_opaque_functions: true, ..InterpretOptions::default() };
        let arrays = interpret(&self.kernel, schedule, &self.inputs, &options).unwrap();
        self.contents(&|id, index| arrays[&self.kernel.array(id).name].get(index).expect("the box holds all cells"))
    }

    /// Runs compiled code, in calls of this many steps if there are steps; only a call that is refused is an error.
    /// Also how many calls computed an observer of the states in their last step.
    pub(crate) fn native(&self, code: &Code, threads: usize, pieces: &[i64]) -> Result<(Contents, usize), Error> {
        let mut fused = 0;
        let options = RunOptions::default().threads(threads).guard_pages(true).observers(ObserverForm::Fused);
        let mut run = code.instantiate_with(options).unwrap();
        run.set("c", SCALAR).unwrap();
        for (id, back) in self.levels(&[Role::Input, Role::State]) {
            with_element_type!(self.kernel.array(id).element, T => self.write::<T>(&mut run, id, back));
        }
        match self.steps {
            None => run.run_once()?,
            Some(_) => {
                for &piece in pieces {
                    fused += usize::from(observe::advance(&self.kernel, &mut run, piece as u64)?);
                }
            }
        }
        observe::verify(&self.kernel, &mut run);
        let mut contents = Contents::new();
        for (id, back) in self.levels(&[Role::Output, Role::State]) {
            let name = self.kernel.array(id).name.clone();
            let bits = with_element_type!(self.kernel.array(id).element, T => {
                read::<T>(&run, &name, back).into_iter().map(|v| v.to_number().to_bits()).collect()
            });
            contents.insert((name, back), bits);
        }
        Ok((contents, fused))
    }

    /// Runs compiled code on arrays that lie somehow in others. For kernels without state.
    pub(crate) fn borrowed(&self, code: &Code, threads: usize, random: &mut Rng) -> Result<Contents, Error> {
        let mut run = code.instantiate_with(RunOptions::default().threads(threads).guard_pages(true)).unwrap();
        run.set("c", SCALAR).unwrap();
        let f64s = self.hosts::<f64>(&run, Role::Input, random);
        let f32s = self.hosts::<f32>(&run, Role::Input, random);
        let f16s = self.hosts::<f16>(&run, Role::Input, random);
        let u8s = self.hosts::<u8>(&run, Role::Input, random);
        let i8s = self.hosts::<i8>(&run, Role::Input, random);
        let i16s = self.hosts::<i16>(&run, Role::Input, random);
        let u16s = self.hosts::<u16>(&run, Role::Input, random);
        let i32s = self.hosts::<i32>(&run, Role::Input, random);
        let u32s = self.hosts::<u32>(&run, Role::Input, random);
        let i64s = self.hosts::<i64>(&run, Role::Input, random);
        let inputs: Vec<_> = inputs(&f64s)
            .chain(inputs(&f32s))
            .chain(inputs(&f16s))
            .chain(inputs(&u8s))
            .chain(inputs(&i8s))
            .chain(inputs(&i16s))
            .chain(inputs(&u16s))
            .chain(inputs(&i32s))
            .chain(inputs(&u32s))
            .chain(inputs(&i64s))
            .collect();
        let mut f64s = self.hosts::<f64>(&run, Role::Output, random);
        let mut f32s = self.hosts::<f32>(&run, Role::Output, random);
        let mut f16s = self.hosts::<f16>(&run, Role::Output, random);
        let mut u8s = self.hosts::<u8>(&run, Role::Output, random);
        let mut i8s = self.hosts::<i8>(&run, Role::Output, random);
        let mut i16s = self.hosts::<i16>(&run, Role::Output, random);
        let mut u16s = self.hosts::<u16>(&run, Role::Output, random);
        let mut i32s = self.hosts::<i32>(&run, Role::Output, random);
        let mut u32s = self.hosts::<u32>(&run, Role::Output, random);
        let mut i64s = self.hosts::<i64>(&run, Role::Output, random);
        run.run_on(
            &inputs,
            &mut outputs(&mut f64s)
                .chain(outputs(&mut f32s))
                .chain(outputs(&mut f16s))
                .chain(outputs(&mut u8s))
                .chain(outputs(&mut i8s))
                .chain(outputs(&mut i16s))
                .chain(outputs(&mut u16s))
                .chain(outputs(&mut i32s))
                .chain(outputs(&mut u32s))
                .chain(outputs(&mut i64s))
                .collect::<Vec<_>>(),
        )?;
        Ok(bits(&f64s)
            .chain(bits(&f32s))
            .chain(bits(&f16s))
            .chain(bits(&u8s))
            .chain(bits(&i8s))
            .chain(bits(&i16s))
            .chain(bits(&u16s))
            .chain(bits(&i32s))
            .chain(bits(&u32s))
            .chain(bits(&i64s))
            .collect())
    }

    /// Arrays of one role and type: inputs with their values, outputs with zeros.
    fn hosts<T: ElementType + FromDouble>(
        &self,
        run: &crease::Run,
        role: Role,
        random: &mut Rng,
    ) -> Vec<(String, Host<T>)> {
        let ids = self.kernel.array_ids().filter(|&id| self.kernel.array(id).role == role);
        let ids = ids.filter(|&id| self.kernel.array(id).element == T::ELEMENT);
        let host = |id: ArrayId| {
            let name = self.kernel.array(id).name.clone();
            let mut values = ArrayD::from_elem(run.shape(&name).unwrap(), T::default());
            if let Some(given) = self.inputs.arrays.get(&name) {
                let cells = self.indices(id, 0).map(|index| T::from_double(given.get(&index).unwrap()));
                values.iter_mut().zip(cells).for_each(|(value, cell)| *value = cell);
            }
            (name, Host::holding(random, &values, T::from_double(SCALAR)))
        };
        ids.map(host).collect()
    }

    fn write<T: ElementType + FromDouble>(&self, run: &mut crease::Run, id: ArrayId, back: u32) {
        let array = self.kernel.array(id);
        let given = &self.inputs.arrays[&array.name];
        let shape = run.shape(&array.name).unwrap();
        let cells = self.indices(id, -i64::from(back)).map(|index| T::from_double(given.get(&index).unwrap()));
        let values = ArrayD::from_shape_vec(shape, cells.collect()).expect("the shape is that of the box");
        run.write_back(&array.name, back, values.view()).unwrap();
    }

    /// Runs the plan's program by its interpreter, in calls of this many steps if there are steps.
    pub(crate) fn interpreted(&self, plan: &Plan, lanes: u32, pieces: &[i64]) -> Contents {
        let (program, layout) = (plan.program(), plan.layout());
        let zeros = layout.buffers.iter().map(|b| Cells::zeros(b.element, b.allocated_cells as usize));
        let mut memory = Memory { buffers: zeros.collect() };
        for (id, back) in self.levels(&[Role::Input, Role::State]) {
            let given = &self.inputs.arrays[&self.kernel.array(id).name];
            for index in self.indices(id, -i64::from(back)) {
                let (buffer, cell) = oracle::stored_cell(plan, &self.params, id, &index).expect("every cell is kept");
                put(&mut memory.buffers[buffer], cell, given.get(&index).unwrap());
            }
        }
        let calls: Vec<Vec<i64>> = match self.steps {
            None => vec![vec![0; program.args.len()]],
            Some(_) => (0..pieces.len()).map(|n| vec![pieces[..n].iter().sum(), pieces[..=n].iter().sum()]).collect(),
        };
        // A run calls a program for one step at least.
        let calls = calls.into_iter().filter(|args| args.len() != 2 || args[0] < args[1]);
        for args in calls {
            crease_program::interpret(program, &args, &[SCALAR], &mut memory, lanes)
                .unwrap_or_else(|e| panic!("{e}\n{program}"));
        }
        self.contents(&|id, index| {
            let (buffer, cell) = oracle::stored_cell(plan, &self.params, id, index).expect("every cell is kept");
            match &memory.buffers[buffer] {
                Cells::F64(cells) => cells[cell],
                Cells::F32(cells) => cells[cell].into(),
                Cells::F16(cells) => cells[cell].into(),
                Cells::U8(cells) => cells[cell].to_number(),
                Cells::I8(cells) => cells[cell].to_number(),
                Cells::I16(cells) => cells[cell].to_number(),
                Cells::U16(cells) => cells[cell].to_number(),
                Cells::I32(cells) => cells[cell].to_number(),
                Cells::U32(cells) => cells[cell].to_number(),
                Cells::I64(cells) => cells[cell].to_number(),
            }
        })
    }

    /// Arrays of these roles with the levels that a caller sees: 0 alone for arrays without steps.
    fn levels(&self, roles: &[Role]) -> Vec<(ArrayId, u32)> {
        let ids = self.kernel.array_ids().filter(|&id| roles.contains(&self.kernel.array(id).role));
        ids.flat_map(|id| (0..self.kernel.state_depth(id).max(1)).map(move |back| (id, back))).collect()
    }

    fn contents(&self, value: &dyn Fn(ArrayId, &[i64]) -> f64) -> Contents {
        let mut contents = Contents::new();
        for (id, back) in self.levels(&[Role::Output, Role::State]) {
            let last = self.steps.unwrap_or(0) - i64::from(back);
            let bits = self.indices(id, last).map(|index| value(id, &index).to_bits()).collect();
            contents.insert((self.kernel.array(id).name.clone(), back), bits);
        }
        contents
    }

    /// The indices of an array in logical order; of a state array, those of one step.
    fn indices(&self, id: ArrayId, step: i64) -> impl Iterator<Item = Vec<i64>> + use<> {
        let full: FullArray = full_array(&self.kernel, id, &self.params, LIMIT as u64).unwrap();
        let is_state = self.kernel.array(id).role == Role::State;
        let (lower, shape) = (full.lower().to_vec(), full.shape().to_vec());
        (0..full.len()).filter_map(move |mut position| {
            let mut index = vec![0; shape.len()];
            for dim in (0..shape.len()).rev() {
                index[dim] = lower[dim] + (position % shape[dim]) as i64;
                position /= shape[dim];
            }
            (!is_state || index[0] == step).then_some(index)
        })
    }
}

fn inputs<T: ElementType>(hosts: &[(String, Host<T>)]) -> impl Iterator<Item = (&str, Input<'_>)> {
    hosts.iter().map(|(name, host)| (name.as_str(), Input::from(host.view())))
}

fn outputs<T: ElementType>(hosts: &mut [(String, Host<T>)]) -> impl Iterator<Item = (&str, Output<'_>)> {
    hosts.iter_mut().map(|(name, host)| (name.as_str(), Output::from(host.view_mut())))
}

fn bits<T: ElementType>(hosts: &[(String, Host<T>)]) -> impl Iterator<Item = ((String, u32), Vec<u64>)> {
    let bits = |host: &Host<T>| host.view().iter().map(|&value| value.to_number().to_bits()).collect();
    hosts.iter().map(move |(name, host)| ((name.clone(), 0), bits(host)))
}

trait FromDouble {
    fn from_double(value: f64) -> Self;
}

impl FromDouble for f64 {
    fn from_double(value: f64) -> f64 {
        value
    }
}

macro_rules! integers {
    ($($Type:ty),*) => {$(
        impl FromDouble for $Type {
            fn from_double(value: f64) -> $Type {
                value as $Type
            }
        }
    )*};
}

integers!(u8, i8, i16, u16, i32, u32, i64);

impl FromDouble for f32 {
    fn from_double(value: f64) -> f32 {
        value as f32
    }
}

impl FromDouble for f16 {
    fn from_double(value: f64) -> f16 {
        f16::from_f32(value as f32)
    }
}

fn put(cells: &mut Cells, cell: usize, value: f64) {
    match cells {
        Cells::F64(cells) => cells[cell] = value,
        Cells::F32(cells) => cells[cell] = value as f32,
        Cells::F16(cells) => cells[cell] = f16::from_f32(value as f32),
        Cells::U8(cells) => cells[cell] = value as u8,
        Cells::I8(cells) => cells[cell] = value as i8,
        Cells::I16(cells) => cells[cell] = value as i16,
        Cells::U16(cells) => cells[cell] = value as u16,
        Cells::I32(cells) => cells[cell] = value as i32,
        Cells::U32(cells) => cells[cell] = value as u32,
        Cells::I64(cells) => cells[cell] = value as i64,
    }
}

fn read<T: ElementType + Default + Copy>(run: &crease::Run, name: &str, back: u32) -> Vec<T> {
    let mut values = ArrayD::from_elem(run.shape(name).unwrap(), T::default());
    run.read_back(name, back, values.view_mut()).unwrap();
    values.into_iter().collect()
}
