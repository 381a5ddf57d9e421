"""Kernels: read from text, or built by Python code (``crease._builder``)."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from crease import _crease
from crease._arrays import DTYPES
from crease._plan import Plan
from crease._run import Run


class ArrayInfo(NamedTuple):
    """An array of a kernel."""

    name: str
    #: ``input``, ``output``, ``state`` or ``temp``.
    role: str
    dtype: "np.dtype[Any]"
    #: Names of its indices; a state's without its step.
    indices: Tuple[str, ...]
    #: Steps that a run keeps of a state: how far the kernel reads back.
    levels: int
    #: How values become this output of an observer, which is one number: ``sum``, ``min`` or ``max``; none of arrays.
    reduction: Optional[str] = None


class Kernel:
    """What to compute: arrays, statements, schedules. Immutable; equal kernels have equal texts.

    Made by :meth:`parse`, :meth:`from_file`, or :func:`crease.kernel`.
    """

    __slots__ = ("_kernel", "__weakref__")

    def __init__(self, kernel: _crease.Kernel) -> None:
        self._kernel = kernel

    @staticmethod
    def parse(text: str) -> Kernel:
        """Reads the text form (docs/KERNEL-TEXT.md). Raises :class:`ParseError` with line and column."""
        return Kernel(_crease.Kernel.parse(text))

    @staticmethod
    def from_file(path: "Union[str, os.PathLike[str]]") -> Kernel:
        """Reads the text form from a file."""
        with open(path, encoding="utf-8") as file:
            return Kernel.parse(file.read())

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._kernel.name

    @property
    def text(self) -> str:
        """The text form, which reads back as the same kernel."""
        return self._kernel.text

    @property
    def sizes(self) -> List[str]:
        """Names of its size parameters, which a plan binds."""
        return self._kernel.sizes

    @property
    def steps(self) -> Optional[str]:
        """Name of the number of steps, which no plan binds; none for kernels without state."""
        return self._kernel.steps

    @property
    def has_state(self) -> bool:
        """Whether it advances step by step; else it is run once on inputs and outputs."""
        return self._kernel.has_state

    @property
    def scalars(self) -> "Dict[str, np.dtype[Any]]":
        """Scalars, which a run sets, with their types."""
        return {name: DTYPES[element] for name, element in self._kernel.scalars}

    @property
    def arrays(self) -> Dict[str, ArrayInfo]:
        """Arrays by name."""
        return {
            name: ArrayInfo(name, role, DTYPES[element], tuple(indices), levels)
            for name, role, element, indices, levels in self._kernel.arrays
        }

    @property
    def schedules(self) -> List[str]:
        """Names of its schedules; the first is the default."""
        return self._kernel.schedules

    @property
    def observers(self) -> Dict[str, Dict[str, ArrayInfo]]:
        """What can be computed of the states on demand: outputs by name, for each observer by name."""
        return {
            observer: {
                name: ArrayInfo(name, "output", DTYPES[element], tuple(indices), 1, reduction)
                for name, element, indices, reduction in outputs
            }
            for observer, outputs in self._kernel.observers
        }

    def with_observer(self, text: str) -> Kernel:
        """The kernel with one more observer, in the text form: ``observe name { .. }``.

        Raises :class:`ParseError` with line and column in this text.
        """
        return Kernel(self._kernel.with_observer(text))

    def plan(
        self,
        sizes: Optional[Mapping[str, int]] = None,
        *,
        schedule: Optional[str] = None,
        strategy: Optional[str] = None,
        objective: Optional[str] = None,
        rounding: Optional[str] = None,
        rings: Optional[str] = None,
        mapping: Optional[str] = None,
        storage_view: Optional[str] = None,
        horizon: Optional[int] = None,
        threads: Optional[int] = None,
        memory_cap_bytes: Optional[int] = None,
        cache_bytes: Optional[int] = None,
        operation_quota: Optional[int] = None,
        work_limit: Optional[int] = None,
        run_opaque_functions: Optional[bool] = None,
        plan_cache: "Optional[Union[bool, str, os.PathLike[str]]]" = None,
        **more_sizes: int,
    ) -> Plan:
        """Finds storage for these sizes and proves it: ``kernel.plan(N=512)``. Allocates nothing.

        Sizes are given by name, in a mapping or as keywords. ``schedule`` is one of the kernel's or ``auto``, which
        finds one; ``strategy`` says how storage is found (``auto``), ``mapping`` gives some of it as text; ``threads``
        is how many a run takes (all cores); a plan whose runs would take more than ``memory_cap_bytes`` is refused.
        ``plan_cache`` keeps plans and code on disk, in that directory or, if it is true, the user's for such files, and
        takes over what an earlier process has kept there of the same; :attr:`Plan.kept` says whether. The others are those of the Rust type ``PlanBuilder`` and of the command line.

        Raises :class:`PlanError`.
        """
        options = {
            "schedule": schedule,
            "strategy": strategy,
            "objective": objective,
            "rounding": rounding,
            "rings": rings,
            "mapping": mapping,
            "storage_view": storage_view,
            "horizon": horizon,
            "threads": threads,
            "memory_cap_bytes": memory_cap_bytes,
            "cache_bytes": cache_bytes,
            "operation_quota": operation_quota,
            "work_limit": work_limit,
            "run_opaque_functions": run_opaque_functions,
            "plan_cache": plan_cache,
        }
        return Plan(self, {**(sizes or {}), **more_sizes}, options)

    def run(self, sizes: Optional[Mapping[str, int]] = None, **options: Any) -> Run:
        """Plans, compiles and allocates: ``kernel.run(N=512)``. Takes what :meth:`plan` takes."""
        return self.plan(sizes, **options).run()

    def with_arithmetic(self, *flags: str) -> Kernel:
        """The kernel that allows these things to be done to its arithmetic, and no others; none: to the letter.

        Flags are ``contract``, ``reassociate`` and ``reciprocal`` (docs/KERNEL-TEXT.md).
        """
        return Kernel(self._kernel.with_arithmetic(flags))

    def diamond(self, name: str, schedule: str, dims: Tuple[str, str], size: int) -> Kernel:
        """The kernel with one more schedule: ``schedule`` in diamonds of ``size`` over a time and a space dimension.

        ``kernel.diamond("tiles", "rows", ("t", "x"), 64)``. Raises :class:`PlanError` where dependences forbid it.
        """
        return Kernel(self._kernel.diamond(name, schedule, dims, size))

    def parallelogram(self, name: str, schedule: str, dims: Tuple[str, str], size: Tuple[int, int]) -> Kernel:
        """The same in parallelograms of ``size``: steps of time, and values of the space dimension."""
        return Kernel(self._kernel.parallelogram(name, schedule, dims, size))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        parameters = ", ".join(self.sizes + ([f"run {self.steps}"] if self.steps else []))
        return f"<crease.Kernel {self.name}({parameters})>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return Kernel.parse, (self.text,)
