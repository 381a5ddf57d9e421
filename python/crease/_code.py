"""Code: what a plan is compiled to, and where runs come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Tuple

from crease._arrays import count
from crease._run import Run

if TYPE_CHECKING:
    from crease._plan import Plan


class Code:
    """Machine code, shared by any number of runs. Made by :meth:`Plan.compile`."""

    __slots__ = ("_plan", "_options", "_code")

    def __init__(self, plan: Plan, options: Mapping[str, Any]) -> None:
        self._plan = plan
        self._options = dict(options)
        self._code = plan._plan.compile(self._options)

    @property
    def plan(self) -> Plan:
        """The plan that it is of."""
        return self._plan

    @property
    def kept(self) -> str:
        """What became of it in the cache of plans: ``off``, ``found``, ``added``, or why it could not be kept."""
        return self._code.kept

    def instantiate(
        self,
        threads: Optional[int] = None,
        *,
        memory_limit_bytes: Optional[int] = None,
        check_memory: bool = True,
        flush_denormals: bool = False,
        guard_pages: bool = False,
        pin_threads: bool = False,
    ) -> Run:
        """Allocates folded storage: for the planned threads, if no other number is given.

        A run that needs more memory than the machine or its control group has left, or than ``memory_limit_bytes``, is
        refused, unless ``check_memory`` is false. ``pin_threads`` keeps the library's threads on cores of their own while
        they work for the run. Raises :class:`RunError`.
        """
        limit = memory_limit_bytes
        options = {
            "threads": None if threads is None else count("threads", threads),
            "memory_limit_bytes": None if limit is None else count("memory_limit_bytes", limit),
            "check_memory": check_memory,
            "flush_denormals": flush_denormals,
            "guard_pages": guard_pages,
            "pin_threads": pin_threads,
        }
        return Run(self, options)

    def run(self, inputs: Mapping[str, Any], outputs: Optional[Mapping[str, Any]] = None, **scalars: float) -> Any:
        """Runs a kernel without state once on these arrays: :meth:`Run.run_once` of a run for this call."""
        run = self.instantiate()
        for name, value in scalars.items():
            run.set(name, value)
        return run.run_once(inputs, outputs)

    def __repr__(self) -> str:
        return f"<crease.Code of {self._plan!r}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return Code, (self._plan, self._options)
