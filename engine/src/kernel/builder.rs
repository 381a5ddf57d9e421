//! Kernels made by code instead of text.
//!
//! ```
//! use crease::kernel::graph::{Element, Kernel};
//!
//! let b = Kernel::builder("heat_1d");
//! let (n, steps) = (b.size("N"), b.run("T"));
//! let k = b.scalar("k", Element::F64);
//! let [t, x] = b.iters(["t", "x"]);
//! let u = b.state("u", [t, x], Element::F64, x.within(0, n));
//! let old = |dx: i64| u.at([t - 1, x + dx]);
//!
//! let inside = b.stmt("S", [t, x], t.between(1, steps) & x.within(1, n - 1));
//! inside.store(u, [t, x], old(0) + k * (old(-1) - 2.0 * old(0) + old(1)));
//! let border = b.stmt("E", [t, x], t.between(1, steps) & (x.equals(0) | x.equals(n - 1)));
//! border.store(u, [t, x], old(0));
//! b.schedule("rows").order([inside, border], (t, x.vector(8)));
//!
//! let kernel = b.build()?;
//! assert_eq!(kernel, Kernel::parse("kernel heat_1d(size N; run T) {
//!   scalar k: f64
//!   state u[t, x]: f64 for 0 <= x < N
//!   S[t, x] for 1 <= t <= T and 1 <= x < N-1 { u[t,x] = u[t-1,x] + k * (u[t-1,x-1] - 2*u[t-1,x] + u[t-1,x+1]) }
//!   E[t, x] for 1 <= t <= T and (x = 0 or x = N-1) { u[t,x] = u[t-1,x] }
//!   schedule rows { S, E -> [t, x vector(8)] }
//! }")?);
//! # Ok::<(), crease::kernel::KernelError>(())
//! ```
//!
//! Everything but the builder itself is a handle, which is copied: sizes, iterators and what is computed of them
//! ([`Index`]), arrays, values, statements. Iterators go by their names, as in a text: an array or a statement says
//! which it has, in its own order, and may use no others. Loops, functions and conditions are those of Rust:
//!
//! ```
//! # use crease::kernel::graph::{Element, Kernel};
//! # let b = Kernel::builder("blur");
//! # let (n, [y, x]) = (b.size("N"), b.iters(["y", "x"]));
//! let space = y.within(0, n) & x.within(0, n);
//! let image = b.input("image", [y, x], Element::F64, y.within(0, n) & x.within(0, n + 6));
//! let blurred = b.output("blurred", [y, x], Element::F64, space.clone());
//! let sum = b.sum((0..7).map(|away| image.at([y, x + away])));
//! b.stmt("S", [y, x], space).store(blurred, [y, x], sum / 7.0);
//! # assert!(b.build().is_ok());
//! ```
//!
//! Nothing fails before [`KernelBuilder::build`], which reports the first mistake:
//!
//! ```
//! # use crease::kernel::graph::{Element, Kernel};
//! let b = Kernel::builder("wrong");
//! let [x, y] = b.iters(["x", "y"]);
//! let a = b.output("a", [x], Element::F64, x.within(0, 9));
//! b.stmt("S", [x], x.within(0, 9)).store(a, [y], 1.0);
//! assert_eq!(b.build().unwrap_err().to_string(), "statement `S` uses iterator `y`, but its iterators are [x]");
//! ```
//!
//! A builder whose calls return handles is borrowed by them, so its methods take `&self`; one that only collects
//! options, such as [`PlanBuilder`](crate::PlanBuilder), is passed on from call to call. `build` consumes both.

mod draft;
mod index;
mod parts;
mod value;

use crate::kernel::affine::Affine;
use crate::kernel::builder::draft::Draft;
use crate::kernel::error::KernelError;
use crate::kernel::fast_math::FastMathFlag;
use crate::kernel::graph::{
    Array, Element, Expr, Function, Kernel, Opaque, Param, ParamId, ParamKind, Role, Scalar, ScalarId,
};

pub use index::{Domain, Index};
pub use parts::{ArrayRef, ScheduleRef, StmtRef, TableIndex, Time, TimeVector};
pub use value::{Operand, Value};

/// A kernel under construction.
#[derive(Debug)]
pub struct KernelBuilder {
    draft: Draft,
}

impl Kernel {
    /// Starts an empty kernel.
    pub fn builder(name: impl Into<String>) -> KernelBuilder {
        KernelBuilder { draft: Draft::new(name.into()) }
    }
}

impl KernelBuilder {
    /// Adds a size parameter.
    pub fn size(&self, name: impl Into<String>) -> Index<'_> {
        self.param(name.into(), ParamKind::Size)
    }

    /// Adds the run parameter: the number of steps.
    pub fn run(&self, name: impl Into<String>) -> Index<'_> {
        self.param(name.into(), ParamKind::Run)
    }

    /// Says for which parameters the kernel is meaningful.
    pub fn context(&self, context: Domain<'_>) {
        let context = context.formula(&self.draft, || "the context".to_string());
        self.draft.set_context(&context);
    }

    /// Lets more be done to the arithmetic of all statements than what they say. Several calls add up; by default
    /// nothing is allowed.
    pub fn allow(&self, flag: FastMathFlag) {
        self.draft.change(|kernel| kernel.arithmetic = kernel.arithmetic.with(flag));
    }

    /// The iterators of these names. One name is one iterator, however often it is asked for.
    pub fn iters<N: Into<String>, const D: usize>(&self, names: [N; D]) -> [Index<'_>; D] {
        names.map(|name| self.iter(name))
    }

    /// The iterator of that name.
    pub fn iter(&self, name: impl Into<String>) -> Index<'_> {
        Index::new(&self.draft, self.draft.iter(name.into()))
    }

    /// Adds a run-time scalar.
    pub fn scalar(&self, name: impl Into<String>, element: Element) -> Value<'_> {
        let name = name.into();
        let id = self.draft.change(|kernel| {
            kernel.scalars.push(Scalar { name, element });
            ScalarId(kernel.scalars.len() as u32 - 1)
        });
        Value::new(&self.draft, Expr::Scalar(id))
    }

    /// A literal: `f32` among `f32`s, otherwise `f64`. Beside a value, a number does as it is.
    pub fn number(&self, number: f64) -> Value<'_> {
        Value::number(&self.draft, number)
    }

    /// The sum of all, from the first on; 0 if there are none.
    pub fn sum<'k>(&'k self, values: impl IntoIterator<Item = Value<'k>>) -> Value<'k> {
        values.into_iter().reduce(|sum, value| sum + value).unwrap_or_else(|| self.number(0.0))
    }

    /// An affine expression as a double.
    pub fn index<'k>(&'k self, index: impl Into<Index<'k>>) -> Value<'k> {
        let e = index.into().affine(&self.draft, || "an index among values".to_string());
        Value::new(&self.draft, Expr::Index(e))
    }

    /// Declares an uninterpreted function of `arity` doubles, for [`KernelBuilder::call`]. Kernels that call one are
    /// analysed and planned like others, but only run if the plan allows it
    /// ([`PlanBuilder::run_opaque_functions`](crate::PlanBuilder::run_opaque_functions)).
    pub fn opaque(&self, name: impl Into<String>, arity: usize) {
        let name = name.into();
        self.draft.change(|kernel| kernel.opaques.push(Opaque { name, arity }));
    }

    /// What a declared opaque function gives, or the mathematical [`Function`] of that name.
    pub fn call<'k>(&'k self, function: impl Into<String>, args: impl IntoIterator<Item = Value<'k>>) -> Value<'k> {
        let args = args.into_iter().map(|arg| Operand::from(arg).id_in(&self.draft)).collect();
        let name = function.into();
        let call = match name.parse::<Function>() {
            Ok(function) => Expr::Call(function, args),
            Err(_) => Expr::Opaque(name, args),
        };
        Value::new(&self.draft, call)
    }

    /// Adds an array that the caller owns and the kernel reads.
    pub fn input<'k>(
        &'k self,
        name: impl Into<String>,
        index: impl IntoIterator<Item = Index<'k>>,
        element: Element,
        domain: Domain<'k>,
    ) -> ArrayRef<'k> {
        self.array(Role::Input, name, index, element, domain)
    }

    /// Adds an array that the caller owns and the kernel writes.
    pub fn output<'k>(
        &'k self,
        name: impl Into<String>,
        index: impl IntoIterator<Item = Index<'k>>,
        element: Element,
        domain: Domain<'k>,
    ) -> ArrayRef<'k> {
        self.array(Role::Output, name, index, element, domain)
    }

    /// Adds an array that lives during the kernel only.
    pub fn temp<'k>(
        &'k self,
        name: impl Into<String>,
        index: impl IntoIterator<Item = Index<'k>>,
        element: Element,
        domain: Domain<'k>,
    ) -> ArrayRef<'k> {
        self.array(Role::Temp, name, index, element, domain)
    }

    /// Adds an array that lives between calls. Its first index is the step, which `domain` leaves unbounded.
    pub fn state<'k>(
        &'k self,
        name: impl Into<String>,
        index: impl IntoIterator<Item = Index<'k>>,
        element: Element,
        domain: Domain<'k>,
    ) -> ArrayRef<'k> {
        self.array(Role::State, name, index, element, domain)
    }

    /// Adds an array: its indices are these iterators in their order, `domain` is its index space.
    pub fn array<'k>(
        &'k self,
        role: Role,
        name: impl Into<String>,
        index: impl IntoIterator<Item = Index<'k>>,
        element: Element,
        domain: Domain<'k>,
    ) -> ArrayRef<'k> {
        let name = name.into();
        let index = parts::names(&self.draft, &format!("array `{name}`"), index);
        let domain = domain.formula(&self.draft, || format!("the index space of `{name}`"));
        let array = Array { name, index, element, role, domain, live_in: None, live_out: None };
        ArrayRef::new(&self.draft, self.draft.add_array(array))
    }

    /// Adds a statement: it has these iterators in their order, and an instance for each point of `domain`.
    /// [`StmtRef::store`] says what an instance does.
    pub fn stmt<'k>(
        &'k self,
        name: impl Into<String>,
        iters: impl IntoIterator<Item = Index<'k>>,
        domain: Domain<'k>,
    ) -> StmtRef<'k> {
        let name = name.into();
        let iters = parts::names(&self.draft, &format!("statement `{name}`"), iters);
        let domain = domain.formula(&self.draft, || format!("the domain of `{name}`"));
        StmtRef::new(&self.draft, self.draft.add_stmt(name, iters, &domain))
    }

    /// Adds a schedule. [`ScheduleRef::order`] gives statements their times, and each must have one in the end.
    pub fn schedule(&self, name: impl Into<String>) -> ScheduleRef<'_> {
        ScheduleRef::new(&self.draft, self.draft.add_schedule(name.into()))
    }

    /// The kernel, verified.
    ///
    /// # Errors
    /// The first mistake.
    pub fn build(self) -> Result<Kernel, KernelError> {
        let kernel = self.draft.finish().map_err(KernelError::new)?;
        kernel.verify()?;
        Ok(kernel)
    }

    fn param(&self, name: String, kind: ParamKind) -> Index<'_> {
        let id = self.draft.change(|kernel| {
            kernel.params.push(Param { name, kind });
            ParamId(kernel.params.len() as u32 - 1)
        });
        Index::new(&self.draft, Affine::param(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of a builder.
    type Use<'u> = &'u dyn Fn(&KernelBuilder);

    fn refusal(make: impl FnOnce(&KernelBuilder)) -> String {
        let b = Kernel::builder("k");
        make(&b);
        b.build().unwrap_err().to_string()
    }

    #[test]
    fn overflow_is_reported_when_the_kernel_is_built() {
        let message = refusal(|b| {
            let i = b.iter("i");
            b.output("a", [i], Element::F64, (i * i64::MAX * 2).ge(0));
        });
        assert_eq!(message, "a coefficient of the index space of `a` overflows 64 bits");
        let message = refusal(|b| {
            let i = b.iter("i");
            let a = b.output("a", [i], Element::F64, i.within(0, 9));
            b.stmt("S", [i], i.within(0, 9)).store(a, [i + i64::MAX + 1], 1.0);
        });
        assert_eq!(message, "a coefficient of an index of array `a` overflows 64 bits");
    }

    #[test]
    fn iterators_that_a_tuple_lacks_are_refused() {
        let of = |wrong: fn(&KernelBuilder)| refusal(wrong);
        let message = of(|b| {
            let [i, j] = b.iters(["i", "j"]);
            b.output("a", [i], Element::F64, j.within(0, 9));
        });
        assert_eq!(message, "array `a` uses iterator `j`, but its iterators are [i]");
        let message = of(|b| {
            let [i, j] = b.iters(["i", "j"]);
            let a = b.output("a", [i], Element::F64, i.within(0, 9));
            b.stmt("S", [i], i.within(0, 9)).store(a, [i], a.at([(i + j).floor_div(2)]));
        });
        assert_eq!(message, "statement `S` uses iterator `j`, but its iterators are [i]");
        let message = of(|b| {
            let [i, j] = b.iters(["i", "j"]);
            let a = b.output("a", [i], Element::F64, i.within(0, 9));
            let s = b.stmt("S", [i], i.within(0, 9)).store(a, [i], 1.0);
            b.schedule("rows").order([s], (i, j.vector(8)));
        });
        assert_eq!(message, "the time of statement `S` uses iterator `j`, but its iterators are [i]");
        let message = of(|b| b.context(b.iter("i").ge(3)));
        assert_eq!(message, "the context uses iterator `i`, but its iterators are []");
        let message = of(|b| {
            let i = b.iter("i");
            b.output("a", [i + 1], Element::F64, i.within(0, 9));
        });
        assert_eq!(message, "array `a` is given `i + 1` as an iterator; iterators are made by `KernelBuilder::iters`");
    }

    #[test]
    fn what_another_builder_made_is_refused() {
        let other = Kernel::builder("other");
        let (n, i) = (other.size("N"), other.iter("i"));
        let a = other.output("a", [i], Element::F64, i.within(0, n));
        let s = other.stmt("S", [i], i.within(0, n)).store(a, [i], 1.0);
        let uses: [(&str, Use<'_>); 6] = [
            ("an index", &|b| b.context(n.ge(3))),
            ("an index", &|b| _ = b.stmt("S", [i], Domain::everything())),
            ("an index", &|b| _ = b.index(b.size("M") + n)),
            ("an array", &|b| _ = b.stmt("S", [], Domain::everything()).store(a, [0], 1.0)),
            ("a value", &|b| _ = b.number(1.0) + a.at([0])),
            ("a statement", &|b| _ = b.schedule("s").order([s], [0])),
        ];
        for (what, make) in uses {
            let b = Kernel::builder("k");
            make(&b);
            let expected = format!("kernel `k` is given {what} of another kernel's builder");
            assert_eq!(b.build().unwrap_err().to_string(), expected);
        }
        assert!(other.build().is_ok());
    }

    #[test]
    fn builder_and_parser_make_the_same_graph() {
        let b = Kernel::builder("k");
        let n = b.size("N");
        let [j, i] = b.iters(["j", "i"]);
        let a = b.input("a", [i], Element::F32, i.within(0, n));
        let o = b.output("o", [i, j], Element::F32, i.within(0, n) & j.within(0, n));
        let domain = i.within(0, n) & j.within(0, n) & !(i + j).modulo(2).equals(0);
        let unused_first = a.at([(i + j).floor_div(2)]);
        let x = a.at([i]);
        let inside = x.lt(unused_first) & !x.equals(0.0);
        let value = inside.select(-x.sqrt() / 3.0, b.index(i * 2).to_f32().min(unused_first));
        let s = b.stmt("S", [i, j], domain).store(o, [i, j], value);
        b.schedule("s").order([s], (i.parallel(), j));
        let text = "kernel k(size N) {
            input a[i]: f32 for 0 <= i < N
            output o[i, j]: f32 for 0 <= i < N and 0 <= j < N
            S[i, j] for 0 <= i < N and 0 <= j < N and not ((i + j) mod 2 = 0) {
              let half = a[floor((i + j)/2)]
              o[i, j] = select(a[i] < half and not a[i] == 0, -sqrt(a[i]) / 3, min(f32(index(2i)), half)) }
            schedule s { S -> [i parallel, j] } }";
        assert_eq!(b.build().unwrap(), Kernel::parse(text).unwrap());
    }

    /// The same iterators in two orders: names say what is meant.
    #[test]
    fn tuples_may_list_their_iterators_in_any_order() {
        let b = Kernel::builder("turned");
        let [y, x] = b.iters(["y", "x"]);
        let a = b.input("a", [y, x], Element::F64, y.within(0, 3) & x.within(0, 5));
        let o = b.output("o", [x, y], Element::F64, y.within(0, 3) & x.within(0, 5));
        let s = b.stmt("S", [x, y], y.within(0, 3) & x.within(0, 5)).store(o, [x, y], a.at([y, x]));
        b.schedule("s").order([s], [y, x]);
        let text = "kernel turned() {
            input a[y, x]: f64 for 0 <= y < 3 and 0 <= x < 5
            output o[x, y]: f64 for 0 <= y < 3 and 0 <= x < 5
            S[x, y] for 0 <= y < 3 and 0 <= x < 5 { o[x,y] = a[y,x] }
            schedule s { S -> [y, x] } }";
        assert_eq!(b.build().unwrap(), Kernel::parse(text).unwrap());
    }
}
