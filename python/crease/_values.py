"""Values of kernels: what statements compute. Python's operators and functions of this package make them.

Indices and conditions, which are values too where one is needed, are in ``crease._indices``; ``crease._texts`` writes
values as text.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, NoReturn, Optional, Tuple

from crease._errors import of_code


def refuse(message: str) -> NoReturn:
    """Raises a mistake in the building of a kernel."""
    raise of_code("py/kernel", message)


def no_truth(what: str) -> NoReturn:
    raise TypeError(
        f"{what} has no truth value while a kernel is built. Join conditions with `&`, `|` and `~` around parentheses:"
        " Python turns `and`, `or`, `not`, `if` and chains such as `0 <= y < N` into truth values. Ranges are"
        " `y.within(0, N)` and `t.between(1, T)`, choices `crease.where(..)`, `crease.minimum(..)`"
    )


class Valued:
    """What is a value where one is needed."""

    __slots__ = ()

    def value(self) -> Value:
        """As a value."""
        raise NotImplementedError


class Value:
    """What statements compute: ``+ - * /``, comparisons, ``& | ~`` of truth values, ``abs``, functions.

    Evaluated in the order written, each operation rounded. What is used several times is computed once.
    """

    __slots__ = ("operation", "operands", "label")

    def __init__(self, operation: str, operands: Tuple[Value, ...] = (), label: str = "") -> None:
        self.operation = operation
        self.operands = operands
        #: A name, a number or an access as text; the name of a `let`; the function that is called.
        self.label = label

    @staticmethod
    def of(given: Any) -> Optional[Value]:
        """A value, an index, a condition or a number as a value; none for anything else."""
        if isinstance(given, Value):
            return given
        if isinstance(given, Valued):
            return given.value()
        if isinstance(given, bool) or getattr(given, "shape", ()) != ():
            return None
        try:
            number = float(given)
        except (TypeError, ValueError, OverflowError):
            return None
        if isinstance(given, str):
            return None
        if not math.isfinite(number):
            refuse(f"{number} is no number of a kernel; pass it as a scalar, or compute it")
        if isinstance(given, int) and int(number) != given:
            refuse(f"{given} is no double")
        return Value("number", (), repr(number))

    def __add__(self, other: Any) -> Any:
        return binary("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return binary("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return binary("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return binary("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return binary("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return binary("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return binary("/", other, self)

    def __neg__(self) -> Value:
        return Value("neg", (self,))

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return Value("call", (self,), "abs")

    def __pow__(self, exponent: Any) -> Value:
        refuse(f"a power, here of {exponent!r}, is a product: write `x * x`, in the order that it is to be rounded")

    def sqrt(self) -> Value:
        """Square root; ``numpy.sqrt`` calls it, too."""
        return Value("call", (self,), "sqrt")

    def __lt__(self, other: Any) -> Any:
        return binary("<", self, other)

    def __le__(self, other: Any) -> Any:
        return binary("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return binary(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return binary(">=", self, other)

    def __eq__(self, other: Any) -> Any:
        return binary("==", self, other)

    def __ne__(self, other: Any) -> Any:
        return binary("!=", self, other)

    __hash__ = object.__hash__

    def __and__(self, other: Any) -> Any:
        return binary("and", self, other)

    def __rand__(self, other: Any) -> Any:
        return binary("and", other, self)

    def __or__(self, other: Any) -> Any:
        return binary("or", self, other)

    def __ror__(self, other: Any) -> Any:
        return binary("or", other, self)

    def __invert__(self) -> Value:
        return Value("not", (self,))

    def __bool__(self) -> bool:
        no_truth("a value of a kernel")

    def __float__(self) -> float:
        raise TypeError("a value of a kernel is no number while the kernel is built")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions of values, and operators whose other side is a NumPy number."""
        function = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or options or function is None:
            return NotImplemented
        return function(*inputs)

    def __repr__(self) -> str:
        return f"<value {self.operation} {self.label}>".replace(" >", ">")


def binary(operation: str, left: Any, right: Any) -> Any:
    one, other = Value.of(left), Value.of(right)
    if one is None or other is None:
        return NotImplemented
    return Value(operation, (one, other))


def called(function: str, *given: Any) -> Value:
    """A function of the text form."""
    operands = []
    for operand in given:
        value = Value.of(operand)
        if value is None:
            refuse(f"`{function}` takes values and numbers, not {operand!r}")
        operands.append(value)
    return Value("call", tuple(operands), function)


def sqrt(a: Any) -> Value:
    """Square root, correctly rounded."""
    return called("sqrt", a)


def absolute(a: Any) -> Value:
    """Absolute value; ``abs`` does as well."""
    return called("abs", a)


def minimum(a: Any, b: Any) -> Value:
    """``a if a < b else b``."""
    return called("min", a, b)


def maximum(a: Any, b: Any) -> Value:
    """``a if a > b else b``."""
    return called("max", a, b)


def fma(a: Any, b: Any, c: Any) -> Value:
    """``a * b + c`` with one rounding."""
    return called("fma", a, b, c)


def where(condition: Any, a: Any, b: Any) -> Value:
    """``a`` where the condition holds, else ``b``; both are evaluated. The text form says ``select``."""
    return called("select", condition, a, b)


def f32(a: Any) -> Value:
    """Rounded to single precision."""
    return called("f32", a)


def f64(a: Any) -> Value:
    """Widened to double precision."""
    return called("f64", a)


def i8(a: Any) -> Value:
    """As a signed 8-bit integer: modulo two to the number of bits, or of a floating-point number as ``i8_sat``."""
    return called("i8", a)


def i8_sat(a: Any) -> Value:
    """The signed 8-bit integer that is closest to the integer part; NaN gives 0."""
    return called("i8_sat", a)


def u8(a: Any) -> Value:
    """As a unsigned 8-bit integer: modulo two to the number of bits, or of a floating-point number as ``u8_sat``."""
    return called("u8", a)


def u8_sat(a: Any) -> Value:
    """The unsigned 8-bit integer that is closest to the integer part; NaN gives 0."""
    return called("u8_sat", a)


def i16(a: Any) -> Value:
    """As a signed 16-bit integer: modulo two to the number of bits, or of a floating-point number as ``i16_sat``."""
    return called("i16", a)


def i16_sat(a: Any) -> Value:
    """The signed 16-bit integer that is closest to the integer part; NaN gives 0."""
    return called("i16_sat", a)


def u16(a: Any) -> Value:
    """As a unsigned 16-bit integer: modulo two to the number of bits, or of a floating-point number as ``u16_sat``."""
    return called("u16", a)


def u16_sat(a: Any) -> Value:
    """The unsigned 16-bit integer that is closest to the integer part; NaN gives 0."""
    return called("u16_sat", a)


def i32(a: Any) -> Value:
    """As a signed 32-bit integer: modulo two to the number of bits, or of a floating-point number as ``i32_sat``."""
    return called("i32", a)


def i32_sat(a: Any) -> Value:
    """The signed 32-bit integer that is closest to the integer part; NaN gives 0."""
    return called("i32_sat", a)


def u32(a: Any) -> Value:
    """As a unsigned 32-bit integer: modulo two to the number of bits, or of a floating-point number as ``u32_sat``."""
    return called("u32", a)


def u32_sat(a: Any) -> Value:
    """The unsigned 32-bit integer that is closest to the integer part; NaN gives 0."""
    return called("u32_sat", a)


def i64(a: Any) -> Value:
    """As a signed 64-bit integer: modulo two to the number of bits, or of a floating-point number as ``i64_sat``."""
    return called("i64", a)


def i64_sat(a: Any) -> Value:
    """The signed 64-bit integer that is closest to the integer part; NaN gives 0."""
    return called("i64_sat", a)


def add_sat(a: Any, b: Any) -> Value:
    """The sum of integers, or the closest number that their type has."""
    return called("add_sat", a, b)


def sub_sat(a: Any, b: Any) -> Value:
    """The difference of integers, or the closest number that their type has."""
    return called("sub_sat", a, b)


def bit_and(a: Any, b: Any) -> Value:
    """Bits that two integers have in common."""
    return called("bit_and", a, b)


def bit_or(a: Any, b: Any) -> Value:
    """Bits of either integer."""
    return called("bit_or", a, b)


def bit_xor(a: Any, b: Any) -> Value:
    """Bits of one integer and not of the other."""
    return called("bit_xor", a, b)


def bit_not(a: Any) -> Value:
    """The other bits of an integer."""
    return called("bit_not", a)


def shift_left(a: Any, places: int) -> Value:
    """An integer moved to higher bits, by less places than it has bits."""
    return called("shift_left", a, places)


def shift_right(a: Any, places: int) -> Value:
    """An integer moved to lower bits, by less places than it has bits; the sign moves in where there is one."""
    return called("shift_right", a, places)


class Clamped:
    """An index that a value says, for what is read of an input."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        #: An integer.
        self.value = value


def clamp(a: Any) -> Clamped:
    """The integer as an index of an input that is read, ``lut[clamp(pixel)]``: the closest one that the input has."""
    value = Value.of(a)
    if value is None:
        refuse(f"`clamp` takes a value, not {a!r}")
    return Clamped(value)


def _ufunc(operation: str) -> Callable[..., Any]:
    return lambda a, b: binary(operation, a, b)


_UFUNCS: Dict[str, Callable[..., Any]] = {
    "add": _ufunc("+"),
    "subtract": _ufunc("-"),
    "multiply": _ufunc("*"),
    "divide": _ufunc("/"),
    "less": _ufunc("<"),
    "less_equal": _ufunc("<="),
    "greater": _ufunc(">"),
    "greater_equal": _ufunc(">="),
    "equal": _ufunc("=="),
    "not_equal": _ufunc("!="),
    "negative": lambda a: -a,
    "positive": lambda a: a,
    "absolute": absolute,
    "sqrt": sqrt,
    "minimum": minimum,
    "maximum": maximum,
}
