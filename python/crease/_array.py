"""Arrays of a run, seen as NumPy arrays that boxes are taken of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Tuple

import numpy as np

from crease._arrays import NDArray, source, verify_target
from crease._boxes import Box
from crease._errors import of_code

if TYPE_CHECKING:
    from crease._kernel import ArrayInfo
    from crease._run import Run


class Array:
    """An array of a run, at the present step or some before it: ``run["u"]``.

    Boxes of it are copied out and in with NumPy's slices: ``run["u"][3, :, ::2]``. Positions count from 0, wherever an
    index begins in the kernel's text: :attr:`index_ranges` says where that is.
    """

    __slots__ = ("_run", "_info", "_ranges", "_back")

    def __init__(self, run: Run, info: ArrayInfo, ranges: List[Tuple[int, int]], back: int) -> None:
        self._run = run
        self._info = info
        self._ranges = ranges
        self._back = back

    @property
    def name(self) -> str:
        """Its name in the kernel's text."""
        return self._info.name

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of its cells."""
        return self._info.dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        """How many values each index has."""
        return tuple(high - low + 1 for low, high in self._ranges)

    @property
    def ndim(self) -> int:
        """How many indices it has."""
        return len(self._ranges)

    @property
    def indices(self) -> Tuple[str, ...]:
        """Names of its indices."""
        return self._info.indices

    @property
    def index_ranges(self) -> List[Tuple[int, int]]:
        """First and last value of each index in the kernel's text."""
        return list(self._ranges)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        box = self._box(key)
        out = np.zeros(box.shape, self.dtype)
        self._run._read(self.name, box, self._back, box.turned(out))
        return out[()]

    def __setitem__(self, key: Any, values: Any) -> None:
        box = self._box(key)
        cells = source(self.name, values, self.dtype)
        try:
            cells = np.broadcast_to(cells, box.shape)
        except ValueError:
            shapes = f"has shape {list(box.shape)}, the values have {list(cells.shape)}"
            raise of_code("run/region-shape", f"the box of array `{self.name}` {shapes}") from None
        self._run._run.write(self.name, box.spans, self._back, box.turned(cells))

    def read_into(self, key: Any, out: NDArray) -> NDArray:
        """Copies a box into an array of its shape, whatever the strides of that are."""
        box = self._box(key)
        verify_target(self.name, out, self.dtype)
        if out.shape != box.shape:
            shapes = f"has shape {list(box.shape)}, the array has {list(out.shape)}"
            raise of_code("run/region-shape", f"the box of array `{self.name}` {shapes}")
        self._run._read(self.name, box, self._back, box.turned(out))
        return out

    def view(self, key: Any = ..., *, writable: bool = False) -> NDArray:
        """A box where it lies: :meth:`Run.view`."""
        return self._run.view(self.name, key, writable=writable, back=self._back)

    def _box(self, key: Any) -> Box:
        return Box(self.name, self.indices, self._ranges, key)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> NDArray:
        if copy is False:
            return self.view() if dtype is None else self.view().astype(dtype, copy=False)
        values = self._run.read(self.name, back=self._back)
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self) -> str:
        back = f", {self._back} step(s) back" if self._back else ""
        return f"<crease.Array {self.name}[{', '.join(self.indices)}] {self.shape} {self.dtype}{back}>"
