"""Boxes: NumPy's slices as regions of an array."""

from __future__ import annotations

import operator
from typing import Any, List, Sequence, Tuple, Union

from crease._errors import of_code

#: One index value, or first value, value behind the last, and step: in index values of the kernel's text.
Span = Union[int, Tuple[int, int, int]]

#: The slice that turns an axis round.
BACKWARDS = slice(None, None, -1)


class Box:
    """Which cells: a span for each index, the shape of an array of them, and which of its axes run backwards."""

    __slots__ = ("spans", "shape", "turns")

    def __init__(self, array: str, indices: Sequence[str], ranges: Sequence[Tuple[int, int]], key: Any) -> None:
        parts = _one_for_each(array, indices, key)
        self.spans: List[Span] = []
        shape: List[int] = []
        turns: List[slice] = []
        for dim, (part, (low, high)) in enumerate(zip(parts, ranges)):
            extent = high - low + 1
            if not isinstance(part, slice):
                self.spans.append(low + _position(array, indices, dim, part, extent))
                continue
            taken = _range(array, indices, dim, part, extent)
            shape.append(len(taken))
            turns.append(BACKWARDS if taken.step < 0 else slice(None))
            ascending = taken[::-1] if taken.step < 0 else taken
            if ascending:
                # A single value is at any step from the next one, however far.
                step = ascending.step if len(ascending) > 1 else 1
                self.spans.append((low + ascending[0], low + ascending[-1] + 1, step))
            else:
                self.spans.append((low, low, 1))
        self.shape = tuple(shape)
        self.turns = tuple(turns)

    def turned(self, array: Any) -> Any:
        """An array of the box in ascending order, for one in the order of the slices; and the other way round."""
        return array[self.turns] if BACKWARDS in self.turns else array


def _one_for_each(array: str, indices: Sequence[str], key: Any) -> List[Any]:
    parts = list(key) if isinstance(key, tuple) else [key]
    dots = [at for at, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError(f"array `{array}`: a box has one `...` at most")
    missing = len(indices) - (len(parts) - len(dots))
    if missing < 0:
        names = ", ".join(indices)
        raise of_code(
            "run/region-ranges",
            f"array `{array}` has {len(indices)} index(es) ({names}), the box has {len(parts) - len(dots)}",
        )
    at = dots[0] if dots else len(parts)
    parts[at : at + len(dots)] = [slice(None)] * missing
    return parts


def _position(array: str, indices: Sequence[str], dim: int, part: Any, extent: int) -> int:
    if isinstance(part, bool) or not hasattr(part, "__index__") or getattr(part, "shape", ()) != ():
        what = f"index `{indices[dim]}` (dimension {dim}) of array `{array}`"
        raise TypeError(f"{what}: boxes are of integers, slices and `...`, not {type(part).__name__}")
    position = operator.index(part)
    if not -extent <= position < extent:
        what = f"index `{indices[dim]}` (dimension {dim}) of array `{array}`"
        raise IndexError(f"{position} is out of bounds for {what}, which has {extent} values")
    return position % extent


def _range(array: str, indices: Sequence[str], dim: int, part: slice, extent: int) -> range:
    try:
        return range(*part.indices(extent))
    except ValueError:
        what = f"index `{indices[dim]}` (dimension {dim})"
        raise of_code("run/region-step", f"the box of array `{array}` has a step of 0 for {what}") from None
