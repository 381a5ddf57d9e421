"""The catalogue of kernels: stencils, lattice Boltzmann methods, image pipelines, kernels of publications."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Optional

from crease import _crease
from crease._arrays import NDArray
from crease._errors import PlanError
from crease._kernel import Kernel
from crease._plan import Plan
from crease._run import Run


class Entry:
    """A kernel of the catalogue, with sizes, scalars and initial data that make sense for it."""

    def __init__(self, name: str, summary: str, source: str) -> None:
        #: How the command line names it, too.
        self.name = name
        #: One line.
        self.summary = summary
        #: Where the kernel comes from.
        self.source = source
        kernel, sizes, steps, scalars = _crease.catalogue_entry(name)
        #: The kernel.
        self.kernel = Kernel(kernel)
        #: Sizes at which one run takes a moment.
        self.sizes: Dict[str, int] = dict(sizes)
        #: Steps that go with them.
        self.steps = steps
        #: Values of its scalars.
        self.scalars: Dict[str, float] = dict(scalars)

    def initial(self, sizes: Optional[Mapping[str, int]] = None, **more_sizes: int) -> Dict[str, NDArray]:
        """What its caller provides at these sizes: inputs, and state at step 0."""
        sizes = {**self.sizes, **(sizes or {}), **more_sizes}
        fields = _crease.catalogue_initial(self.name, list(sizes.items()), list(self.scalars.items()))
        arrays = self.kernel.arrays
        return {name: field.astype(arrays[name].dtype) for name, field in fields.items()}

    def reference(
        self, initial: Mapping[str, NDArray], steps: int, sizes: Optional[Mapping[str, int]] = None
    ) -> Dict[str, NDArray]:
        """What naive loops over full arrays, written in Rust, make of these data: the same bits as a run."""
        sizes = {**self.sizes, **(sizes or {})}
        doubles = {name: field.astype("float64") for name, field in initial.items()}
        scalars = list(self.scalars.items())
        fields = _crease.catalogue_naive(self.name, list(sizes.items()), steps, scalars, doubles)
        arrays = self.kernel.arrays
        return {name: field.astype(arrays[name].dtype) for name, field in fields.items()}

    def plan(self, sizes: Optional[Mapping[str, int]] = None, **options: Any) -> Plan:
        """A plan: what :meth:`Kernel.plan` takes, with the catalogue's sizes where none are given."""
        names = self.kernel.sizes
        more = {name: options.pop(name) for name in names if name in options}
        return self.kernel.plan({**self.sizes, **(sizes or {}), **more}, **options)

    def run(self, sizes: Optional[Mapping[str, int]] = None, **options: Any) -> Run:
        """A run that has its scalars and initial data and is ready to advance. Takes what :meth:`plan` takes."""
        plan = self.plan(sizes, **options)
        run = plan.run()
        for scalar, value in self.scalars.items():
            run.set(scalar, value)
        for name, values in self.initial(plan.sizes).items():
            run.write(name, values)
        return run

    def __repr__(self) -> str:
        return f"<crease.Entry {self.name}: {self.summary}>"


class _UnknownKernel(PlanError, KeyError):
    """Also what mappings raise, so that ``in`` and ``get`` work."""

    code = "py/unknown-kernel"

    def __str__(self) -> str:
        return str(self.args[0])


class Catalogue(Mapping[str, Entry]):
    """All entries by name. Iterates in the order of the command ``crease kernels``."""

    def __init__(self) -> None:
        self._lines = {name: (summary, source) for name, summary, source in _crease.catalogue_names()}

    def __getitem__(self, name: str) -> Entry:
        if name not in self._lines:
            known = ", ".join(self._lines)
            raise _UnknownKernel(f"the catalogue has no kernel `{name}`; it has {known}")
        return Entry(name, *self._lines[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __repr__(self) -> str:
        return "\n".join(f"{name:<24} {summary}" for name, (summary, _) in self._lines.items())


#: The catalogue.
catalogue = Catalogue()


def kernels() -> List[str]:
    """Names of the kernels in the catalogue."""
    return list(catalogue)
