"""Indices of kernels, conditions on them, and dimensions of time: what is affine."""

from __future__ import annotations

import operator
from typing import Any, Dict, List, Optional, Sequence, Tuple

from crease._texts import AND, OR
from crease._values import Value, Valued, binary, no_truth, refuse


class Index(Valued):
    """An affine expression: integer multiples of iterators, sizes, floors and remainders, and a number.

    ``+ - *`` with integers and other indices, ``// k`` (floor) and ``% k`` (never negative). Comparisons make domains.
    What is not affine, such as ``x * x`` or ``x / 2``, becomes a :class:`Value`.
    """

    __slots__ = ("terms", "constant")

    def __init__(self, terms: Dict[str, int], constant: int) -> None:
        #: Multiples by what is multiplied, as text.
        self.terms = {atom: by for atom, by in terms.items() if by != 0}
        self.constant = constant

    @staticmethod
    def named(name: str) -> Index:
        """An iterator or a size."""
        return Index({name: 1}, 0)

    @staticmethod
    def of(value: Any) -> Optional[Index]:
        """An index or an integer as an index; none for anything else."""
        if isinstance(value, Index):
            return value
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            return None
        return Index({}, operator.index(value))

    @property
    def name(self) -> Optional[str]:
        """The name of an iterator or a size that stands alone."""
        alone = self.constant == 0 and list(self.terms.values()) == [1]
        return next(iter(self.terms)) if alone and next(iter(self.terms)).isidentifier() else None

    def within(self, low: Any, high: Any) -> Domain:
        """``low <= self < high``."""
        low, high = _bound(low), _bound(high)
        return Domain("and", (Domain("<=", (), (low, self)), Domain("<", (), (self, high))))

    def between(self, low: Any, high: Any) -> Domain:
        """``low <= self <= high``."""
        low, high = _bound(low), _bound(high)
        return Domain("and", (Domain("<=", (), (low, self)), Domain("<=", (), (self, high))))

    def overlapped(self) -> Time:
        """As a time dimension of tiles that run at once, each of which computes what it needs of others by itself."""
        return Time(self, "overlapped")

    def parallel(self) -> Time:
        """As a dimension of time without an order."""
        return Time(self, "parallel")

    def sequential(self) -> Time:
        """As a dimension of time in ascending order."""
        return Time(self, "sequential")

    def vector(self, lanes: int) -> Time:
        """As a dimension of time in blocks of at most this many lanes."""
        return Time(self, f"vector({operator.index(lanes)})")

    def _joined(self, other: Any, by: int) -> Any:
        index = Index.of(other)
        if index is None:
            value = Value.of(other)
            return NotImplemented if value is None else Value("+" if by > 0 else "-", (self.value(), value))
        terms = dict(self.terms)
        for atom, factor in index.terms.items():
            terms[atom] = terms.get(atom, 0) + by * factor
        return Index(terms, self.constant + by * index.constant)

    def __add__(self, other: Any) -> Any:
        return self._joined(other, 1)

    def __radd__(self, other: Any) -> Any:
        index = Index.of(other)
        return binary("+", other, self) if index is None else index._joined(self, 1)

    def __sub__(self, other: Any) -> Any:
        return self._joined(other, -1)

    def __rsub__(self, other: Any) -> Any:
        index = Index.of(other)
        return binary("-", other, self) if index is None else index._joined(self, -1)

    def __neg__(self) -> Index:
        return Index({atom: -by for atom, by in self.terms.items()}, -self.constant)

    def __pos__(self) -> Index:
        return self

    def __abs__(self) -> Value:
        return abs(self.value())

    def __mul__(self, other: Any) -> Any:
        index = Index.of(other)
        if index is not None and (not index.terms or not self.terms):
            varying, factor = (self, index.constant) if not index.terms else (index, self.constant)
            return Index({atom: factor * by for atom, by in varying.terms.items()}, factor * varying.constant)
        return binary("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        index = Index.of(other)
        return binary("*", other, self) if index is None else index * self

    def __truediv__(self, other: Any) -> Any:
        return binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return binary("/", other, self)

    def __floordiv__(self, other: Any) -> Index:
        return Index({f"floor(({self.text()})/{_divisor('//', other)})": 1}, 0)

    def __mod__(self, other: Any) -> Index:
        return Index({f"(({self.text()}) mod {_divisor('%', other)})": 1}, 0)

    def __lt__(self, other: Any) -> Any:
        return _compared(self, "<", other)

    def __le__(self, other: Any) -> Any:
        return _compared(self, "<=", other)

    def __gt__(self, other: Any) -> Any:
        return _compared(self, ">", other)

    def __ge__(self, other: Any) -> Any:
        return _compared(self, ">=", other)

    def __eq__(self, other: Any) -> Any:
        return _compared(self, "=", other)

    def __ne__(self, other: Any) -> Any:
        return _compared(self, "!=", other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        no_truth(f"the index `{self.text()}`")

    def __index__(self) -> int:
        raise TypeError(f"the index `{self.text()}` is no number while a kernel is built")

    __array_ufunc__: Any = None

    def value(self) -> Value:
        """Its number, as a value."""
        return Value("index", (), self.text())

    def text(self) -> str:
        """As the text form has it."""
        parts: List[str] = []
        for atom, by in self.terms.items():
            factor = "" if abs(by) == 1 else f"{abs(by)}*"
            parts.append(f"{_sign(by, not parts)}{factor}{atom}")
        if self.constant or not parts:
            parts.append(f"{_sign(self.constant, not parts)}{abs(self.constant)}")
        return "".join(parts)

    def __repr__(self) -> str:
        return f"<index {self.text()}>"


def _sign(number: int, is_first: bool) -> str:
    if is_first:
        return "-" if number < 0 else ""
    return " - " if number < 0 else " + "


def _bound(value: Any) -> Index:
    index = Index.of(value)
    if index is None:
        refuse(f"a range of an index ends at an affine expression of sizes and iterators, not at {value!r}")
    return index


def _divisor(operation: str, value: Any) -> int:
    index = Index.of(value)
    if index is None or index.terms:
        refuse(f"an index `{operation}` something takes an integer there, not {value!r}")
    return index.constant


class Time:
    """A dimension of time: an index and how its instances are ordered."""

    __slots__ = ("index", "kind")

    def __init__(self, index: Index, kind: str) -> None:
        self.index = index
        self.kind = kind

    def text(self) -> str:
        """As the text form has it."""
        return f"{self.index.text()} {self.kind}"


class Domain(Valued):
    """A condition on indices: ``&`` and, ``|`` or, ``~`` not."""

    __slots__ = ("operation", "parts", "compared")

    def __init__(
        self, operation: str, parts: Sequence[Domain] = (), compared: Optional[Tuple[Index, Index]] = None
    ) -> None:
        self.operation = operation
        self.parts = tuple(parts)
        self.compared = compared

    @staticmethod
    def of(given: Any) -> str:
        """The text of conditions that all hold: domains, texts, ``True``, and sequences of these."""
        if isinstance(given, Domain):
            return given.text(AND)
        if isinstance(given, str):
            return f"({given})"
        if given is True:
            return "true"
        if isinstance(given, (tuple, list)):
            return " and ".join(Domain.of(part) for part in given) or "true"
        refuse(f"{given!r} is no condition on indices: compare iterators and sizes, or write a text")

    def __and__(self, other: Any) -> Any:
        return self._joined("and", other)

    def __or__(self, other: Any) -> Any:
        return self._joined("or", other)

    def __invert__(self) -> Domain:
        return Domain("not", (self,))

    def _joined(self, operation: str, other: Any) -> Any:
        if isinstance(other, Domain):
            return Domain(operation, (self, other))
        if isinstance(other, Value):
            return Value(operation, (self.value(), other))
        return NotImplemented

    def __bool__(self) -> bool:
        no_truth(f"the condition `{self.text(OR)}`")

    def value(self) -> Value:
        """The condition as a truth value, for :func:`crease.where`."""
        if self.compared is not None:
            same = {"=": "=="}.get(self.operation, self.operation)
            return Value(same, (self.compared[0].value(), self.compared[1].value()))
        return Value(self.operation, tuple(part.value() for part in self.parts))

    def text(self, place: int) -> str:
        """As the text form has it, where what binds less than ``place`` takes parentheses."""
        if self.compared is not None:
            return f"{self.compared[0].text()} {self.operation} {self.compared[1].text()}"
        if self.operation == "not":
            return f"not ({self.parts[0].text(OR)})"
        binds = AND if self.operation == "and" else OR
        joined = f" {self.operation} ".join(part.text(binds) for part in self.parts)
        return f"({joined})" if binds < place else joined

    def __repr__(self) -> str:
        return f"<domain {self.text(OR)}>"


def _compared(index: Index, operation: str, other: Any) -> Any:
    right = Index.of(other)
    if right is not None:
        return Domain(operation, (), (index, right))
    return binary("==" if operation == "=" else operation, index, other)
