//! A kernel whose sizes are bound: what the stages of a plan work on.
//!
//! In: a kernel, one of its schedules, a value for each of its sizes.   Out: [`BoundKernel`].
//!
//! Sizes are bound here and nowhere else: [`BoundKernel::kernel`] has numbers in their place, so what comes after never
//! meets a size, let alone one without a value. What a call binds stays a parameter.

use std::sync::{Arc, OnceLock};

use crate::kernel::affine::{Affine, AffineOverflow};
use crate::kernel::formula::Formula;
use crate::kernel::graph::{Array, Assign, Expr, Kernel, ParamId, ParamKind, Schedule, Stmt, Whole};

/// A kernel at given sizes, under one of its schedules.
#[derive(Debug)]
pub(crate) struct BoundKernel {
    written: Arc<Kernel>,
    schedule: usize,
    /// In the order in which the size parameters are declared.
    sizes: Vec<i64>,
    /// What stands for each parameter of the kernel as it was written.
    values: Vec<Affine>,
    kernel: Kernel,
    /// The next one of those at other sizes that were asked for.
    elsewhere: OnceLock<Box<BoundKernel>>,
}

/// Why a kernel has no such sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unbound {
    /// Its constraints on parameters do not hold.
    OutsideContext,
    /// Some number leaves 64 bits.
    Overflow(AffineOverflow),
}

impl From<AffineOverflow> for Unbound {
    fn from(overflow: AffineOverflow) -> Unbound {
        Unbound::Overflow(overflow)
    }
}

impl BoundKernel {
    /// Binds the size parameters, in the order of their declarations, under the schedule at this position.
    ///
    /// # Errors
    /// [`Unbound`] if the kernel is not defined at these sizes.
    pub(crate) fn new(written: Arc<Kernel>, schedule: usize, sizes: Vec<i64>) -> Result<BoundKernel, Unbound> {
        debug_assert_eq!(size_params(&written).count(), sizes.len(), "every size has a value");
        if !is_defined(&written, &sizes) {
            return Err(Unbound::OutsideContext);
        }
        let values = values(&written, &sizes);
        let kernel = bind(&written, schedule, &values)?;
        Ok(BoundKernel { written, schedule, sizes, values, kernel, elsewhere: OnceLock::new() })
    }

    /// The kernel with numbers in place of its sizes: its parameters are those that calls bind, its one schedule is the
    /// one that was chosen. Arrays, statements and expressions have the numbers that they have in the kernel as it was
    /// written.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The schedule, of [`Self::kernel`].
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.kernel.schedules[0]
    }

    /// The kernel as it was written, sizes being parameters.
    pub(crate) fn written(&self) -> &Arc<Kernel> {
        &self.written
    }

    /// Which schedule of the kernel as it was written it is.
    pub(crate) fn position(&self) -> usize {
        self.schedule
    }

    /// The schedule as it was written.
    pub(crate) fn written_schedule(&self) -> &Schedule {
        &self.written.schedules[self.schedule]
    }

    /// Each size parameter of the kernel as it was written, with its value.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (ParamId, i64)> {
        size_params(&self.written).zip(self.sizes.iter().copied())
    }

    /// Whether the kernel is defined at other sizes.
    pub(crate) fn is_defined_at(&self, sizes: &[i64]) -> bool {
        is_defined(&self.written, sizes)
    }

    /// Sizes as text: `N = 3, M = 4`.
    pub(crate) fn text_of(&self, sizes: &[i64]) -> String {
        sizes_text(&self.written, sizes)
    }

    /// Values of all parameters of the kernel as it was written, in a run of this many steps.
    pub(crate) fn params_at(&self, steps: i64) -> Vec<i64> {
        params_at(&self.written, &self.sizes, steps)
    }

    /// A formula of the kernel as it was written, with numbers in place of sizes.
    ///
    /// # Errors
    /// [`AffineOverflow`] if a number leaves 64 bits.
    pub(crate) fn bind(&self, formula: &Formula) -> Result<Formula, AffineOverflow> {
        formula.map(&|e| e.substitute_params(&self.values))
    }

    /// The same kernel at other sizes, kept as long as this one.
    ///
    /// # Errors
    /// [`Unbound`] if it is not defined there.
    pub(crate) fn at(&self, sizes: &[i64]) -> Result<&BoundKernel, Unbound> {
        let mut here = self;
        while here.sizes != sizes {
            if here.elsewhere.get().is_none() {
                let other = BoundKernel::new(Arc::clone(&self.written), self.schedule, sizes.to_vec())?;
                // Where another thread was faster, its sizes are looked at next.
                let _ = here.elsewhere.set(Box::new(other));
            }
            here = here.elsewhere.get().expect("it was just set");
        }
        Ok(here)
    }
}

fn size_params(kernel: &Kernel) -> impl Iterator<Item = ParamId> {
    let sizes = kernel.params.iter().enumerate().filter(|(_, param)| param.kind == ParamKind::Size);
    sizes.map(|(position, _)| ParamId(position as u32))
}

/// Sizes as text: `N = 3, M = 4`.
pub(crate) fn sizes_text(kernel: &Kernel, sizes: &[i64]) -> String {
    let name = |param: ParamId| &kernel.params[param.index()].name;
    let one = |(param, size): (ParamId, &i64)| format!("{} = {size}", name(param));
    size_params(kernel).zip(sizes).map(one).collect::<Vec<_>>().join(", ")
}

/// Whether the constraints on parameters hold in a run of one step.
fn is_defined(kernel: &Kernel, sizes: &[i64]) -> bool {
    kernel.context().holds(&[], &params_at(kernel, sizes, 1)).unwrap_or(false)
}

fn params_at(kernel: &Kernel, sizes: &[i64], steps: i64) -> Vec<i64> {
    let mut params = vec![steps; kernel.params.len()];
    size_params(kernel).zip(sizes).for_each(|(param, &size)| params[param.index()] = size);
    params
}

/// Sizes are numbers, the other parameters are counted anew.
fn values(kernel: &Kernel, sizes: &[i64]) -> Vec<Affine> {
    let (mut sizes, mut others) = (sizes.iter(), 0..);
    let value = |kind| match kind {
        ParamKind::Size => Affine::constant(*sizes.next().expect("every size has a value")),
        ParamKind::Run => Affine::param(ParamId(others.next().expect("there are enough numbers"))),
    };
    kernel.params.iter().map(|param| param.kind).map(value).collect()
}

fn bind(kernel: &Kernel, schedule: usize, values: &[Affine]) -> Result<Kernel, AffineOverflow> {
    let affine = |e: &Affine| e.substitute_params(values);
    let affines = |list: &[Affine]| list.iter().map(affine).collect::<Result<Vec<_>, _>>();
    let formula = |f: &Formula| f.map(&affine);
    let array = |array: &Array| {
        Ok(Array {
            domain: formula(&array.domain)?,
            live_in: array.live_in.as_ref().map(formula).transpose()?,
            live_out: array.live_out.as_ref().map(formula).transpose()?,
            ..array.clone()
        })
    };
    let expr = |expr: &Expr| {
        Ok(match expr {
            Expr::Index(e) => Expr::Index(affine(e)?),
            Expr::Load(array, index) => Expr::Load(*array, affines(index)?),
            Expr::Lookup(lookup) => Expr::Lookup(lookup.with_affines(affines(&lookup.corner)?, affine)?),
            other => other.clone(),
        })
    };
    let assign = |assign: &Assign| Ok(Assign { index: affines(&assign.index)?, ..assign.clone() });
    let stmt = |stmt: &Stmt| {
        let exprs = stmt.exprs.iter().map(expr).collect::<Result<_, AffineOverflow>>()?;
        let assigns = stmt.assigns.iter().map(assign).collect::<Result<_, AffineOverflow>>()?;
        let (name, iters) = (stmt.name.clone(), stmt.iters.clone());
        Ok(Stmt { name, iters, domain: formula(&stmt.domain)?, line: stmt.line, exprs, assigns })
    };
    let Schedule { name, dims, times } = &kernel.schedules[schedule];
    let times = times.iter().map(|time| affines(time)).collect::<Result<_, _>>()?;
    Ok(Kernel {
        name: kernel.name.clone(),
        params: kernel.params.iter().filter(|param| param.kind == ParamKind::Run).cloned().collect(),
        context: formula(&kernel.context)?,
        arithmetic: kernel.arithmetic,
        scalars: kernel.scalars.clone(),
        opaques: kernel.opaques.clone(),
        arrays: kernel.arrays.iter().map(array).collect::<Result<_, AffineOverflow>>()?,
        stmts: kernel.stmts.iter().map(stmt).collect::<Result<_, AffineOverflow>>()?,
        schedules: vec![Schedule { name: name.clone(), dims: dims.clone(), times }],
        rewritings: Vec::new(),
        finds_schedule: false,
        // They are bound when they are compiled.
        observers: Vec::new(),
        whole: Whole::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "kernel k(size N; run T; size M) for N >= 2 {
        state u[t, x]: f64 for 0 <= x < N + M
        S[t, x] for 1 <= t <= T and 0 <= x < N + M { u[t,x] = u[t-1, floor((x + N) / 2)] * M }
        schedule other { S -> [t, -x] }
        schedule skewed { S -> [t, x + N*1] }
      }";

    fn at(sizes: [i64; 2]) -> Result<BoundKernel, Unbound> {
        BoundKernel::new(Arc::new(Kernel::parse(KERNEL).unwrap()), 1, sizes.to_vec())
    }

    #[test]
    fn sizes_are_numbers_and_what_calls_bind_is_the_only_parameter() {
        let bound = at([6, 3]).unwrap();
        let text = "kernel k(run T) {
            state u[t, x]: f64 for 0 <= x < 9
            S[t, x] for 1 <= t <= T and 0 <= x < 9 { u[t,x] = u[t-1, floor((x + 6) / 2)] * 3 }
            schedule skewed { S -> [t, x + 6] }
          }";
        let expected = Kernel::parse(text).unwrap();
        assert_eq!(bound.kernel().arrays(), expected.arrays());
        assert_eq!(bound.kernel().schedules(), expected.schedules());
        assert_eq!(bound.kernel().stmts()[0].domain, expected.stmts()[0].domain);
        assert_eq!(bound.kernel().params(), expected.params());
        assert_eq!(bound.written_schedule().name, "skewed");
        assert_eq!(bound.params_at(7), [6, 7, 3]);
        assert_eq!(bound.sizes().collect::<Vec<_>>(), [(ParamId(0), 6), (ParamId(2), 3)]);
    }

    #[test]
    fn other_sizes_are_bound_once_and_only_where_the_kernel_is_defined() {
        let bound = at([6, 3]).unwrap();
        let [one, again, other] = [[4, 4], [4, 4], [8, 3]].map(|sizes| bound.at(&sizes).unwrap());
        assert!(std::ptr::eq(one, again) && !std::ptr::eq(one, other));
        assert!(std::ptr::eq(bound.at(&[6, 3]).unwrap(), &bound));
        assert_eq!(other.params_at(0), [8, 0, 3]);
        assert_eq!(bound.at(&[1, 3]).unwrap_err(), Unbound::OutsideContext);
        assert_eq!(at([i64::MAX, 3]).unwrap_err(), Unbound::Overflow(AffineOverflow));
    }
}
