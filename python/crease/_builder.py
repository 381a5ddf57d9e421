"""Kernels in Python syntax: what is declared becomes lines of the text form, each of which knows its line of Python.

The text is what is parsed, checked and pickled; where it is wrong, the error names the line of Python that wrote it.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Any, Callable, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from crease._arrays import element_name
from crease._errors import ParseError
from crease._indices import Domain, Index, Time
from crease._kernel import Kernel
from crease._parts import ArrayRef, Line, Observer, Place, ReductionRef, Statement, here
from crease._plan import Plan
from crease._run import Run
from crease._values import Value, called, refuse

Names = Union[str, Iterable[str]]
Times = Union[Index, Time, int, Sequence[Any]]


def _names(given: Names) -> List[str]:
    return given.replace(",", " ").split() if isinstance(given, str) else list(given)


class KernelBuilder:
    """A kernel under construction. Made by :func:`crease.kernel`.

    After its ``with`` block, :meth:`build` gives the kernel, and :meth:`plan` and :meth:`run` are the kernel's.
    """

    def __init__(
        self, name: Optional[str], sizes: Names, steps: Optional[str], where: Any, arithmetic: Names
    ) -> None:
        self._name = name
        self._place = here()
        self._where = where
        self._steps = steps
        self._sizes = _names(sizes)
        self._arithmetic = _names(arithmetic)
        self._taken: "set[str]" = {*self._sizes, *([steps] if steps else [])}
        self._declared: List[Line] = []
        self._statements: List[Statement] = []
        self._scheduled: List[Line] = []
        self._observers: List[Observer] = []
        self._observing: Optional[Observer] = None
        self._open: Optional[Statement] = None
        self._kernel: Optional[Kernel] = None

    # Names.

    @property
    def sizes(self) -> Tuple[Index, ...]:
        """The size parameters, in order: ``N, M = k.sizes``."""
        return tuple(Index.named(name) for name in self._sizes)

    @property
    def steps(self) -> Index:
        """The number of steps. Statements that write state are bounded by it: ``t.between(1, k.steps)``."""
        if self._steps is None:
            refuse(f"kernel `{self._name}` has no steps; name them (`crease.kernel(.., steps=\"T\")`)")
        return Index.named(self._steps)

    def size(self, name: str) -> Index:
        """The size parameter of that name, which is declared if it is new."""
        if name not in self._sizes:
            self._sizes.append(name)
            self._taken.add(name)
            self._kernel = None
        return Index.named(name)

    def indices(self, names: Names) -> Tuple[Index, ...]:
        """Iterators: ``t, y, x = k.indices("t y x")``. One name is one iterator, however often it is asked for."""
        found = _names(names)
        self._taken.update(found)
        return tuple(Index.named(name) for name in found)

    def index(self, name: str) -> Index:
        """One iterator."""
        return self.indices([name])[0]

    def scalar(self, name: str, dtype: Any = "f64") -> Value:
        """A number that a run sets."""
        self._declare(name, f"scalar {name}: {element_name(dtype)}")
        return Value("name", (), name)

    def opaque(self, name: str, *arities: int) -> Callable[..., Value]:
        """A function that stands for any, with these numbers of arguments. It runs only where a plan allows it."""
        self._declare(name, "opaque " + ", ".join(f"{name}({arity})" for arity in arities))
        return lambda *operands: called(name, *operands)

    def allow(self, *flags: str) -> None:
        """Lets more be done to arithmetic than what is written: ``contract``, ``reassociate``, ``reciprocal``."""
        self._arithmetic.extend(flags)
        self._kernel = None

    # Arrays.

    def input(self, name: str, indices: Any, *where: Any, dtype: Any = "f64") -> ArrayRef:
        """An array of the caller's, only read. Conditions on its indices say which cells it has."""
        return self._array("input", name, indices, where, dtype)

    def output(self, name: str, indices: Any, *where: Any, dtype: Any = "f64", live_in: Any = None) -> ArrayRef:
        """An array of the caller's, written; ``live_in``: cells whose value before counts."""
        return self._array("output", name, indices, where, dtype, live_in)

    def temp(
        self, name: str, indices: Any, *where: Any, dtype: Any = "f64", live_in: Any = None, live_out: Any = None
    ) -> ArrayRef:
        """An array that lives while the kernel runs."""
        return self._array("temp", name, indices, where, dtype, live_in, live_out)

    def state(self, name: str, indices: Any, *where: Any, dtype: Any = "f64") -> ArrayRef:
        """An array that lives from step to step; its first index is the step, which the conditions leave open."""
        return self._array("state", name, indices, where, dtype)

    def _array(
        self, role: str, name: str, indices: Any, where: Any, dtype: Any, live_in: Any = None, live_out: Any = None
    ) -> ArrayRef:
        iterators = self._tuple(f"array `{name}`", indices)
        text = f"{role} {name}[{', '.join(iterators)}]: {element_name(dtype)}"
        text += f" for {Domain.of(where)}" if where else ""
        text += f" live in for {Domain.of(live_in)}" if live_in is not None else ""
        text += f" live out for {Domain.of(live_out)}" if live_out is not None else ""
        self._declare(name, text)
        return ArrayRef(self, name, len(iterators))

    # Statements.

    @contextmanager
    def statement(self, name: str, indices: Any, *where: Any) -> Iterator[Statement]:
        """A statement with these iterators, an instance for each point where all conditions hold.

        What its ``with`` block assigns is what an instance does: it reads everything first, then writes.
        """
        place = here()
        if self._open is not None:
            refuse(f"statement `{name}` begins inside statement `{self._open.name}`; end that first")
        head = f"{name}[{', '.join(self._tuple(f'statement `{name}`', indices))}]"
        head += f" for {Domain.of(where)}" if where else ""
        self._open = Statement(name, head, place)
        try:
            yield self._open
            (self._statements if self._observing is None else self._observing.statements).append(self._open)
            self._kernel = None
        finally:
            self._open = None

    def let(self, name: str, value: Any) -> Value:
        """The value under a name of its own in the text."""
        self._taken.add(name)
        known = Value.of(value)
        if known is None:
            refuse(f"`{name}` is to name {value!r}, which is no value")
        return Value("let", (known,), name)

    def assign(self, cell: str, value: Any) -> None:
        """Adds an assignment to the statement that is open: what ``u[t, x] = ..`` does."""
        if self._open is None:
            refuse(f"`{cell}` is assigned outside of a statement; do it inside `with k.statement(..):`")
        known = Value.of(value)
        if known is None:
            refuse(f"`{cell}` is assigned {value!r}, which is no value")
        self._open.assigned.append((cell, known, here()))

    # Observers.

    @contextmanager
    def observer(self, name: str) -> Iterator[Observer]:
        """What is computed of the states on demand, by :meth:`Run.observe`: outputs and statements of a ``with`` block.

        The first iterator of a statement is the step that was done last, and needs no condition. ::

            with k.observer("flux"):
                q = k.output("q", (x,), x.within(0, N - 1))
                with k.statement("Q", (t, x), x.within(0, N - 1)):
                    q[x] = u[t, x] - u[t, x+1]

        Numbers that whole arrays are reduced to are made by :meth:`reduce`.
        """
        if self._open is not None:
            refuse(f"observer `{name}` begins inside statement `{self._open.name}`; end that first")
        if self._observing is not None:
            refuse(f"observer `{name}` begins inside observer `{self._observing.name}`; end that first")
        self._observing = Observer(name, here())
        try:
            yield self._observing
            self._observers.append(self._observing)
            self._kernel = None
        finally:
            self._observing = None

    def reduce(self, how: str, name: str, dtype: Any = "f64") -> ReductionRef:
        """A number of the observer that is open, into which instances of its statements put values.

        ``how`` is ``sum``, ``min`` or ``max``. ::

            with k.observer("health"):
                heat = k.reduce("sum", "heat")
                with k.statement("H", (t, x), x.within(0, N)):
                    heat.put(u[t, x])
        """
        if self._observing is None:
            refuse(f"reduction `{name}` is declared outside of an observer; do it inside `with k.observer(..):`")
        self._declare(name, f"reduce {how} {name}: {element_name(dtype)}")
        return ReductionRef(self, name)

    # Schedules.

    def schedule(
        self,
        name: str,
        times: Optional[Union[Times, str, Mapping[Any, Times]]] = None,
        *,
        kinds: Optional[Sequence[str]] = None,
    ) -> None:
        """A schedule: a time vector for all statements, or for each (or for tuples of them) in a mapping.

        ``k.schedule("rows", (t, y, x.vector(8)))``, ``k.schedule("two", {S: (t, 0, x), (E, F): (t, 1, x)})``. A text is
        an isl map, with the ``kinds`` of its dimensions. Without times, ``auto`` asks for a schedule to be found.
        """
        if self._observing is not None:
            refuse(f"schedule `{name}` stands inside observer `{self._observing.name}`, which has none")
        place = here()
        self._kernel = None
        if times is None:
            self._scheduled.append(Line(f"  schedule {name}", place))
            return
        if isinstance(times, str):
            suffix = f" [{', '.join(kinds)}]" if kinds else ""
            self._scheduled.append(Line(f'  schedule {name} "{times}"{suffix}', place))
            return
        rules = times if isinstance(times, Mapping) else {tuple(self._statements): times}
        texts = [f"{_statement_names(stmts)} -> [{_time_vector(vector)}]" for stmts, vector in rules.items()]
        self._scheduled.append(Line(f"  schedule {name} {{ {'; '.join(texts)} }}", place))

    # The kernel.

    @property
    def text(self) -> str:
        """The text form of what was declared so far."""
        return "\n".join(line.text for line in self._lines()) + "\n"

    def build(self) -> Kernel:
        """The kernel. Raises :class:`ParseError`, which names the line of Python that is wrong."""
        if self._kernel is None:
            lines = self._lines()
            try:
                self._kernel = Kernel.parse("\n".join(line.text for line in lines) + "\n")
            except ParseError as error:
                raise self._located(error, lines) from None
        return self._kernel

    def plan(self, sizes: Optional[Mapping[str, int]] = None, **options: Any) -> Plan:
        """:meth:`Kernel.plan` of the kernel."""
        return self.build().plan(sizes, **options)

    def run(self, sizes: Optional[Mapping[str, int]] = None, **options: Any) -> Run:
        """:meth:`Kernel.run` of the kernel."""
        return self.build().run(sizes, **options)

    def __enter__(self) -> KernelBuilder:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.build()

    def __call__(self, function: Callable[[KernelBuilder], Any]) -> Kernel:
        """As a decorator: the function declares everything, its name is the kernel's if no other was given."""
        if self._name is None:
            self._name = function.__name__
        function(self)
        return self.build()

    def _lines(self) -> List[Line]:
        if self._name is None:
            refuse("the kernel has no name; give it one (`crease.kernel(\"heat\", ..)`)")
        groups = ["size " + ", ".join(self._sizes)] if self._sizes else []
        groups += [f"run {self._steps}"] if self._steps else []
        where = f" for {Domain.of(self._where)}" if self._where is not None else ""
        lines = [Line(f"kernel {self._name}({'; '.join(groups)}){where} {{", self._place)]
        if self._arithmetic:
            lines.append(Line(f"  arithmetic {', '.join(self._arithmetic)}", self._place))
        lines += self._declared
        for statement in self._statements:
            lines += statement.lines(self._taken)
        lines += self._scheduled
        for observer in self._observers:
            lines += observer.lines(self._taken)
        return [*lines, Line("}", self._place)]

    def _declare(self, name: str, text: str) -> None:
        self._taken.add(name)
        (self._declared if self._observing is None else self._observing.declared).append(Line(f"  {text}", here()))
        self._kernel = None

    def _tuple(self, what: str, indices: Any) -> List[str]:
        """Names of the iterators of a tuple."""
        if isinstance(indices, str):
            return [index.name or "" for index in self.indices(indices)]
        names = []
        for index in (indices if isinstance(indices, (tuple, list)) else (indices,)):
            if not isinstance(index, Index) or index.name is None:
                refuse(f"{what} is given {index!r} as an iterator; iterators are made by `indices`")
            names.append(index.name)
        return names

    def _located(self, error: ParseError, lines: List[Line]) -> ParseError:
        """The error with the line of Python that it is about."""
        place: Optional[Place] = None
        shown = ""
        if error.line is not None and error.line <= len(lines):
            line = lines[error.line - 1]
            place, shown = line.place, f"\n  {line.text.strip()}"
        else:
            named = re.search(r"(?:statement|array|scalar|schedule|observer) `(\w+)`", error.reason)
            found = [line for line in lines if named and re.search(rf"\b{named[1]}\b", line.text)]
            place = found[0].place if found else self._place
        better = ParseError(f"{place.filename}, line {place.lineno}: {error.reason}{shown}")
        better.code, better.reason, better.line, better.column = error.code, error.reason, error.line, error.column
        better.filename, better.lineno = place.filename, place.lineno
        return better


def _statement_names(given: Any) -> str:
    statements = given if isinstance(given, tuple) else (given,)
    if not statements:
        refuse("a schedule comes after the statements that it orders; there are none")
    return ", ".join(stmt.name if isinstance(stmt, Statement) else str(stmt) for stmt in statements)


def _time_vector(given: Any) -> str:
    parts = given if isinstance(given, (tuple, list)) else (given,)
    texts = []
    for part in parts:
        index = Index.of(part)
        if index is None and not isinstance(part, Time):
            refuse(f"{part!r} is no dimension of time: those are indices and integers, or `x.vector(8)`")
        texts.append(part.text() if index is None else index.text())
    return ", ".join(texts)


def kernel(
    name: Optional[str] = None,
    *,
    sizes: Names = (),
    steps: Optional[str] = None,
    where: Any = None,
    arithmetic: Names = (),
) -> KernelBuilder:
    """Begins a kernel in Python syntax, as a ``with`` block or as a decorator.

    ``sizes`` names the size parameters (``"NY NX"``), ``steps`` the number of steps of a kernel with state; ``where``
    says for which sizes it is defined, ``arithmetic`` what may be done to its arithmetic. ::

        with crease.kernel("heat", sizes="N", steps="T") as k:
            (N,), T = k.sizes, k.steps
            t, x = k.indices("t x")
            c = k.scalar("c")
            u = k.state("u", (t, x), x.within(0, N))
            with k.statement("S", (t, x), t.between(1, T), x.within(1, N - 1)):
                u[t, x] = u[t-1, x] + c * (u[t-1, x-1] - 2 * u[t-1, x] + u[t-1, x+1])
            with k.statement("E", (t, x), t.between(1, T), (x == 0) | (x == N - 1)):
                u[t, x] = u[t-1, x]
            k.schedule("rows", (t, x.vector(8)))
        run = k.run(N=100)
    """
    return KernelBuilder(name, sizes, steps, where, arithmetic)
