"""Parts of a kernel under construction: arrays, statements, and the lines of Python that they are from."""

from __future__ import annotations

import sys
from typing import Any, Iterator, List, NamedTuple, Optional, Protocol, Tuple

from crease._indices import Index
from crease._texts import Texts, in_order
from crease._values import Clamped, Value, refuse


class Place(NamedTuple):
    """A line of Python."""

    filename: str
    lineno: int


class Line(NamedTuple):
    """A line of the text form, and the line of Python that wrote it."""

    text: str
    place: Place


def here() -> Place:
    """The line of Python that called this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


def _is_ours(module: str) -> bool:
    # `contextlib` stands between a `with` and this package.
    return module == "contextlib" or module == "crease" or module.startswith("crease.")


class Assigns(Protocol):
    """A kernel under construction, as its arrays see it."""

    def assign(self, cell: str, value: Any) -> None:
        """Adds an assignment to the statement that is open."""


class ArrayRef:
    """An array of a kernel under construction: ``u[t, y, x]`` reads a cell, and writes one inside a statement.

    Of an input, ``lut[crease.clamp(value)]`` reads the cell that an integer says.
    """

    __slots__ = ("_builder", "name", "indices")

    def __init__(self, builder: Assigns, name: str, indices: int) -> None:
        self._builder = builder
        #: Its name.
        self.name = name
        #: How many indices it has.
        self.indices = indices

    def __getitem__(self, key: Any) -> Value:
        parts = key if isinstance(key, tuple) else (key,)
        operands = tuple(part.value for part in parts if isinstance(part, Clamped))
        if not operands:
            return Value("name", (), self._cell(key))
        # Neither names nor indices have braces, which stand for the values here.
        return Value("lookup", operands, self._cell(key, clamped="{}"))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._builder.assign(self._cell(key), value)

    def _cell(self, key: Any, clamped: Optional[str] = None) -> str:
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) != self.indices:
            refuse(f"array `{self.name}` has {self.indices} index(es), this access has {len(parts)}")
        texts = []
        for dim, part in enumerate(parts):
            if clamped is not None and isinstance(part, Clamped):
                texts.append(clamped)
                continue
            index = Index.of(part)
            if index is None:
                what = f"index {dim} of array `{self.name}` is an affine expression of iterators and sizes"
                refuse(f"{what}, not {part!r}")
            texts.append(index.text())
        return f"{self.name}[{', '.join(texts)}]"

    def __iter__(self) -> Iterator[Value]:
        raise TypeError(f"array `{self.name}` of a kernel under construction cannot be iterated over")


class ReductionRef:
    """A number of an observer under construction, which values are put into."""

    __slots__ = ("_builder", "name")

    def __init__(self, builder: Assigns, name: str) -> None:
        self._builder = builder
        #: Its name.
        self.name = name

    def put(self, value: Any) -> None:
        """Lets every instance of the statement that is open put a value into it."""
        self._builder.assign(self.name, value)


class Observer:
    """An observer of a kernel under construction."""

    __slots__ = ("name", "declared", "statements", "_place")

    def __init__(self, name: str, place: Place) -> None:
        #: Its name.
        self.name = name
        #: Lines of its outputs, reductions among them.
        self.declared: List[Line] = []
        self.statements: List[Statement] = []
        self._place = place

    def lines(self, taken: "set[str]") -> List[Line]:
        """Head, outputs, statements, end."""
        lines = [Line(f"  observe {self.name} {{", self._place), *self.declared]
        for statement in self.statements:
            lines += statement.lines(taken)
        return [*lines, Line("  }", self._place)]


class Statement:
    """A statement of a kernel under construction, for schedules."""

    __slots__ = ("name", "_head", "assigned", "_place")

    def __init__(self, name: str, head: str, place: Place) -> None:
        #: Its name.
        self.name = name
        self._head = head
        self._place = place
        self.assigned: List[Tuple[str, Value, Place]] = []

    def lines(self, taken: "set[str]") -> List[Line]:
        """Head, `let`s for what is used several times, assignments, end."""
        order, uses = in_order(value for _, value, _ in self.assigned)
        texts = Texts({})
        lines = [Line(f"  {self._head} {{", self._place)]
        places = {id(value): place for _, value, place in self.assigned}
        first = self.assigned[0][2] if self.assigned else self._place
        fresh = (name for name in (f"v{number}" for number in range(1, sys.maxsize)) if name not in taken)
        named: "set[str]" = set()
        for value in order:
            shared = uses[id(value)] > 1 and value.operation not in ("number", "name", "index")
            if value.operation != "let" and not shared:
                continue
            name = value.label if value.operation == "let" else next(fresh)
            if name in named:
                refuse(f"statement `{self.name}` uses two values named `{name}` by `let`")
            named.add(name)
            # The outermost name of a value counts; what it is made of has names already.
            text = texts.text(value, 0)
            texts.names[id(value)] = name
            lines.append(Line(f"    let {name} = {text}", places.get(id(value), first)))
        for cell, value, place in self.assigned:
            lines.append(Line(f"    {cell} = {texts.text(value, 0)}", place))
        lines.append(Line("  }", self._place))
        return lines
