//! Kernels made by code instead of text.
//!
//! ```
//! use crease::kernel::builder::Index;
//! use crease::kernel::graph::{DimKind, Element, Kernel};
//!
//! let mut b = Kernel::builder("heat_1d");
//! let (n, steps) = (b.size("N"), b.run("T"));
//! let k = b.scalar("k", Element::F64);
//! let [t, x] = Index::iters();
//! let u = b.state("u", ["t", "x"], Element::F64, x.within(0, &n));
//! let inside = t.within(1, &steps + 1) & x.within(1, &n - 1);
//! let s = b.stmt("S", ["t", "x"], inside, |s| {
//!     let old = |dx: i64| s.load(u, [&t - 1, &x + dx]);
//!     s.store(u, [&t, &x], old(0) + s.scalar(k) * (old(-1) - 2.0 * old(0) + old(1)));
//! });
//! let border = t.within(1, &steps + 1) & (x.equals(0) | x.equals(&n - 1));
//! let e = b.stmt("E", ["t", "x"], border, |s| s.store(u, [&t, &x], s.load(u, [&t - 1, &x + 0])));
//! b.schedule("rows", [DimKind::Sequential, DimKind::Vector(8)], [(s, [&t, &x]), (e, [&t, &x])]);
//! let kernel = b.build()?;
//! assert_eq!(kernel, Kernel::parse(&kernel.to_string())?);
//! # Ok::<(), crease::kernel::KernelError>(())
//! ```
//!
//! Nothing fails before [`KernelBuilder::build`], which reports the first mistake.

mod index;
mod value;

use crate::kernel::affine::Affine;
use crate::kernel::builder::value::DraftError;
use crate::kernel::error::{KernelError, KernelErrorKind};
use crate::kernel::formula::Formula;
use crate::kernel::freedom::{Arithmetic, Freedom};
use crate::kernel::graph::{
    Array, ArrayId, DimKind, Element, Kernel, Opaque, Param, ParamId, ParamKind, Role, Scalar, ScalarId, Schedule,
    SourceLine, Stmt, StmtId,
};

pub use index::{Domain, Index};
pub use value::{Operand, StmtBuilder, Value};

/// A kernel under construction.
#[derive(Debug)]
pub struct KernelBuilder {
    kernel: Kernel,
    /// The first mistake.
    error: Option<KernelErrorKind>,
}

impl Kernel {
    /// Starts an empty kernel.
    pub fn builder(name: impl Into<String>) -> KernelBuilder {
        let kernel = Kernel {
            name: name.into(),
            params: Vec::new(),
            context: Formula::everything(),
            arithmetic: Arithmetic::EXACT,
            scalars: Vec::new(),
            opaques: Vec::new(),
            arrays: Vec::new(),
            stmts: Vec::new(),
            schedules: Vec::new(),
        };
        KernelBuilder { kernel, error: None }
    }
}

impl KernelBuilder {
    /// Adds a size parameter.
    pub fn size(&mut self, name: impl Into<String>) -> Index {
        self.param(name.into(), ParamKind::Size)
    }

    /// Adds the run parameter: the number of steps.
    pub fn run(&mut self, name: impl Into<String>) -> Index {
        self.param(name.into(), ParamKind::Run)
    }

    /// Says for which parameters the kernel is meaningful.
    pub fn context(&mut self, context: Domain) {
        self.kernel.context = self.formula(context, || "the context".to_string());
    }

    /// Lets more be done to the arithmetic of all statements than what they say. Several calls add up; by default
    /// nothing is allowed.
    pub fn allow(&mut self, freedom: Freedom) {
        self.kernel.arithmetic = self.kernel.arithmetic.with(freedom);
    }

    /// Adds a run-time scalar.
    pub fn scalar(&mut self, name: impl Into<String>, element: Element) -> ScalarId {
        self.kernel.scalars.push(Scalar { name: name.into(), element });
        ScalarId(self.kernel.scalars.len() as u32 - 1)
    }

    /// Declares an uninterpreted function of `arity` doubles, for [`StmtBuilder::call`]. Kernels that call one are
    /// analysed and planned like others, but only run if the plan allows it
    /// ([`PlanBuilder::run_opaque_functions`](crate::PlanBuilder::run_opaque_functions)).
    pub fn opaque(&mut self, name: impl Into<String>, arity: usize) {
        self.kernel.opaques.push(Opaque { name: name.into(), arity });
    }

    /// Adds an array that the caller owns and the kernel reads.
    pub fn input<N: Into<String>>(
        &mut self,
        name: impl Into<String>,
        index: impl IntoIterator<Item = N>,
        element: Element,
        domain: Domain,
    ) -> ArrayId {
        self.array(Role::Input, name, index, element, domain)
    }

    /// Adds an array that the caller owns and the kernel writes.
    pub fn output<N: Into<String>>(
        &mut self,
        name: impl Into<String>,
        index: impl IntoIterator<Item = N>,
        element: Element,
        domain: Domain,
    ) -> ArrayId {
        self.array(Role::Output, name, index, element, domain)
    }

    /// Adds an array that lives during the kernel only.
    pub fn temp<N: Into<String>>(
        &mut self,
        name: impl Into<String>,
        index: impl IntoIterator<Item = N>,
        element: Element,
        domain: Domain,
    ) -> ArrayId {
        self.array(Role::Temp, name, index, element, domain)
    }

    /// Adds an array that lives between calls. Its first index is the step, which `domain` leaves unbounded.
    pub fn state<N: Into<String>>(
        &mut self,
        name: impl Into<String>,
        index: impl IntoIterator<Item = N>,
        element: Element,
        domain: Domain,
    ) -> ArrayId {
        self.array(Role::State, name, index, element, domain)
    }

    /// Adds an array; `domain` is its index space, over the indices in their order.
    pub fn array<N: Into<String>>(
        &mut self,
        role: Role,
        name: impl Into<String>,
        index: impl IntoIterator<Item = N>,
        element: Element,
        domain: Domain,
    ) -> ArrayId {
        let (name, index) = (name.into(), index.into_iter().map(Into::into).collect());
        let domain = self.formula(domain, || format!("the index space of `{name}`"));
        self.kernel.arrays.push(Array { name, index, element, role, domain, live_in: None, live_out: None });
        ArrayId(self.kernel.arrays.len() as u32 - 1)
    }

    /// Says which cells hold a value before the kernel starts, besides those the array's role implies.
    pub fn live_in(&mut self, array: ArrayId, cells: Domain) {
        let cells = self.formula(cells, || "a live-in set".to_string());
        if let Some(array) = self.array_mut(array) {
            array.live_in = Some(cells);
        }
    }

    /// Says which cells' final values are needed, besides those the array's role implies.
    pub fn live_out(&mut self, array: ArrayId, cells: Domain) {
        let cells = self.formula(cells, || "a live-out set".to_string());
        if let Some(array) = self.array_mut(array) {
            array.live_out = Some(cells);
        }
    }

    /// Adds a statement, whose body loads, computes and stores; `domain` is over the iterators in their order.
    pub fn stmt<N: Into<String>>(
        &mut self,
        name: impl Into<String>,
        iters: impl IntoIterator<Item = N>,
        domain: Domain,
        body: impl for<'s> FnOnce(&'s StmtBuilder),
    ) -> StmtId {
        let (name, iters) = (name.into(), iters.into_iter().map(Into::into).collect());
        let domain = self.formula(domain, || format!("the domain of `{name}`"));
        let draft = StmtBuilder::new();
        body(&draft);
        let (exprs, assigns, error) = draft.finish();
        if let Some(error) = error {
            self.record(match error {
                DraftError::Index(error) => error.kind(format!("an index of statement `{name}`")),
                DraftError::Foreign => KernelErrorKind::ForeignValue { stmt: name.clone() },
            });
        }
        self.kernel.stmts.push(Stmt { name, iters, domain, line: SourceLine::default(), exprs, assigns });
        StmtId(self.kernel.stmts.len() as u32 - 1)
    }

    /// Adds a schedule: the kind of each time dimension, and a time vector for every statement. Short vectors are
    /// continued with zeros, short kinds with [`DimKind::Sequential`].
    pub fn schedule<I: IntoIterator<Item: Into<Index>>>(
        &mut self,
        name: impl Into<String>,
        dims: impl IntoIterator<Item = DimKind>,
        times: impl IntoIterator<Item = (StmtId, I)>,
    ) {
        let name = name.into();
        let mut dims: Vec<DimKind> = dims.into_iter().collect();
        let mut given: Vec<Option<Vec<Affine>>> = vec![None; self.kernel.stmts.len()];
        for (stmt, time) in times {
            let time = time.into_iter().map(|e| self.affine(e.into(), || format!("schedule `{name}`"))).collect();
            match given.get_mut(stmt.index()) {
                None => self.out_of_range("statement", stmt.index(), self.kernel.stmts.len()),
                Some(given) if given.is_some() => {
                    let stmt = self.kernel.stmts[stmt.index()].name.clone();
                    self.record(KernelErrorKind::ScheduledTwice { schedule: name.clone(), stmt });
                }
                Some(given) => *given = Some(time),
            }
        }
        let len = given.iter().flatten().map(Vec::len).max().unwrap_or(0);
        if dims.len() > len {
            let (owner, found) = ("the list of kinds".to_string(), dims.len());
            self.record(KernelErrorKind::TimeLength { schedule: name.clone(), owner, expected: len, found });
        }
        dims.resize(len, DimKind::Sequential);
        if let Some(missing) = given.iter().position(Option::is_none) {
            let stmt = self.kernel.stmts[missing].name.clone();
            self.record(KernelErrorKind::NotScheduled { schedule: name.clone(), stmt });
        }
        let continued = |time: Option<Vec<Affine>>| {
            let mut time = time.unwrap_or_default();
            time.resize(len, Affine::default());
            time
        };
        self.kernel.schedules.push(Schedule { name, dims, times: given.into_iter().map(continued).collect() });
    }

    /// The kernel, verified.
    ///
    /// # Errors
    /// The first mistake.
    pub fn build(self) -> Result<Kernel, KernelError> {
        if let Some(kind) = self.error {
            return Err(KernelError::new(kind));
        }
        self.kernel.verify()?;
        Ok(self.kernel)
    }

    fn param(&mut self, name: String, kind: ParamKind) -> Index {
        self.kernel.params.push(Param { name, kind });
        Index::from(Affine::param(ParamId(self.kernel.params.len() as u32 - 1)))
    }

    fn array_mut(&mut self, array: ArrayId) -> Option<&mut Array> {
        let len = self.kernel.arrays.len();
        if array.index() >= len {
            self.out_of_range("array", array.index(), len);
        }
        self.kernel.arrays.get_mut(array.index())
    }

    fn formula(&mut self, domain: Domain, place: impl FnOnce() -> String) -> Formula {
        domain.into_formula().unwrap_or_else(|error| {
            self.record(error.kind(place()));
            Formula::nothing()
        })
    }

    fn affine(&mut self, index: Index, place: impl FnOnce() -> String) -> Affine {
        index.into_affine().unwrap_or_else(|error| {
            self.record(error.kind(place()));
            Affine::default()
        })
    }

    fn out_of_range(&mut self, what: &'static str, index: usize, len: usize) {
        let owner = format!("kernel `{}`", self.kernel.name);
        self.record(KernelErrorKind::OutOfRange { owner, what, index, len });
    }

    fn record(&mut self, kind: KernelErrorKind) {
        self.error.get_or_insert(kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(make: impl FnOnce(&mut KernelBuilder)) -> String {
        let mut b = Kernel::builder("k");
        make(&mut b);
        b.build().unwrap_err().to_string()
    }

    #[test]
    fn overflow_is_reported_when_the_kernel_is_built() {
        let message = refusal(|b| {
            let [i] = Index::iters();
            b.output("a", ["i"], Element::F64, (&i * i64::MAX * 2).ge(0));
        });
        assert_eq!(message, "a coefficient of the index space of `a` overflows 64 bits");
    }

    #[test]
    fn foreign_iterators_and_arrays_are_refused() {
        let [i, j] = Index::iters();
        let stray = |b: &mut KernelBuilder| {
            let a = b.output("a", ["i"], Element::F64, i.within(0, 9));
            b.stmt("S", ["i"], i.within(0, 9), |s| s.store(a, [&j], 1.0));
        };
        assert_eq!(refusal(stray), "statement `S` names iterator 1, but has 1, counted from 0");
        let foreign = |b: &mut KernelBuilder| {
            b.stmt("S", ["i"], i.within(0, 9), |s| s.store(ArrayId(3), [&i], 1.0));
        };
        assert_eq!(refusal(foreign), "statement `S` names array 3, but has 0, counted from 0");
    }

    #[test]
    fn builder_and_parser_make_the_same_graph() {
        let mut b = Kernel::builder("k");
        let n = b.size("N");
        let [i, j] = Index::iters();
        let a = b.input("a", ["i"], Element::F32, i.within(0, &n));
        let o = b.output("o", ["i", "j"], Element::F32, i.within(0, &n) & j.within(0, &n));
        let domain = i.within(0, &n) & j.within(0, &n) & !(&i + &j).modulo(2).equals(0);
        let s = b.stmt("S", ["i", "j"], domain, |s| {
            let unused_first = s.load(a, [(&i + &j).floor_div(2)]);
            let x = s.load(a, [&i]);
            let inside = x.lt(unused_first) & !x.equals(0.0);
            s.store(o, [&i, &j], inside.select(-x.sqrt() / 3.0, s.index(&i * 2).to_f32().min(unused_first)));
        });
        b.schedule("s", [DimKind::Parallel], [(s, [&i, &j])]);
        let text = "kernel k(size N) {
            input a[i]: f32 for 0 <= i < N
            output o[i, j]: f32 for 0 <= i < N and 0 <= j < N
            S[i, j] for 0 <= i < N and 0 <= j < N and not ((i + j) mod 2 = 0) {
              let half = a[floor((i + j)/2)]
              o[i, j] = select(a[i] < half and not a[i] == 0, -sqrt(a[i]) / 3, min(f32(index(2i)), half)) }
            schedule s { S -> [i parallel, j] } }";
        assert_eq!(b.build().unwrap(), Kernel::parse(text).unwrap());
    }
}
