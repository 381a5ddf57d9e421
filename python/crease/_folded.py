"""Folded memory as it is, for code that addresses it itself: compiled by Numba, say, or called through ctypes."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

from crease._arrays import NDArray


class FoldedCoordinate(NamedTuple):
    """One coordinate of a cell: ``(sum of coefficients * index + offset) mod modulus``, neighbours ``stride`` apart."""

    #: One for each index, without a state's step.
    coefficients: List[int]
    offset: int
    modulus: int
    stride: int


class FoldedIndex(NamedTuple):
    """One index: a cell is at the base and the sum over all indices of ``stride * ((i + offset) mod modulus)``."""

    #: Its first value, in the kernel's text.
    min: int
    #: How many values it has.
    extent: int
    stride: int
    modulus: int
    offset: int


class Folded(NamedTuple):
    """Where the cells of a box are in folded memory, at the present step. Index values are those of the kernel's text.

    ``cells`` is a view: the run does no step while it exists.
    """

    #: All cells of the buffer, read-only, those of other arrays that share it and padding included.
    cells: NDArray
    #: The fold in general.
    coordinates: List[FoldedCoordinate]
    #: Where it goes index by index: the place of index values whose remainders are 0, and each index; else none.
    base: Optional[int]
    indices: Optional[List[FoldedIndex]]
    #: The values of each index of the box.
    box: List[range]

    def place(self, *index: int) -> int:
        """The place in ``cells`` of a cell of the box. Raises :class:`IndexError` for other cells."""
        if len(index) != len(self.box) or not all(i in values for i, values in zip(index, self.box)):
            ranges = ", ".join(f"{values.start}..{values.stop}" for values in self.box)
            raise IndexError(f"cell {list(index)} is outside of the box, [{ranges}]")
        place = 0
        for coefficients, offset, modulus, stride in self.coordinates:
            value = sum(by * i for by, i in zip(coefficients, index)) + offset
            place += value % modulus * stride
        return place
