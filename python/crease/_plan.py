"""Plans: proved storage for a kernel and its sizes, what is known of it, and code for it."""

from __future__ import annotations

import html
import json
import operator
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple, Union

from crease import _crease
from crease._code import Code
from crease._errors import PlanError, of_code
from crease._run import Run

if TYPE_CHECKING:
    from crease._kernel import Kernel

#: Steps of the run that pictures show.
_DRAWN_STEPS = 4

#: Options that are numbers, and truth values; the others are names or texts.
_NUMBERS = {"horizon", "threads", "memory_cap_bytes", "cache_bytes", "operation_quota", "work_limit"}
_TRUTHS = {"run_opaque_functions"}


class Plan:
    """A proved plan. Nothing is allocated yet. Made by :meth:`Kernel.plan`.

    Pickles as the kernel's text, the sizes and the options; it is planned again where it is read.
    """

    __slots__ = ("_kernel", "_sizes", "_options", "_plan", "_report")

    def __init__(self, kernel: Kernel, sizes: Mapping[str, int], options: Mapping[str, Any]) -> None:
        self._kernel = kernel
        self._sizes = {name: _integer(f"size `{name}`", value, -(1 << 63)) for name, value in sizes.items()}
        self._options = {name: _option(name, value) for name, value in options.items()}
        self._plan = kernel._kernel.plan({"sizes": self._sizes, **self._options})
        self._report: Optional[Dict[str, Any]] = None

    @property
    def kernel(self) -> Kernel:
        """The kernel that it plans."""
        return self._kernel

    @property
    def sizes(self) -> Dict[str, int]:
        """Values of the size parameters."""
        return dict(self._sizes)

    @property
    def options(self) -> Dict[str, Any]:
        """What was asked for besides sizes."""
        return {name: value for name, value in self._options.items() if value is not None}

    @property
    def threads(self) -> int:
        """Threads that a run takes: as many as planned, or one where no two parts of a step may run at a time."""
        return self._plan.threads

    @property
    def folded_bytes(self) -> int:
        """Bytes of folded storage, with padding."""
        return self._plan.folded_bytes

    @property
    def total_bytes(self) -> int:
        """Bytes of all that a run keeps, copies of inputs and outputs included."""
        return self._plan.total_bytes

    @property
    def kept(self) -> str:
        """What became of it in the cache of plans: ``off``, ``found``, ``added``, or why it could not be kept."""
        return self._plan.kept

    @property
    def report(self) -> Dict[str, Any]:
        """Buffers, formulas, sizes, what was chosen and what else there was, time per stage."""
        if self._report is None:
            self._report = json.loads(self._plan.report(False))
        return self._report

    def report_with_bounds(self) -> Dict[str, Any]:
        """The same with a lower bound for every buffer that has one, which can take as long as the plan did."""
        report: Dict[str, Any] = json.loads(self._plan.report(True))
        return report

    def explain(self, all_sizes: bool = False, steps: int = _DRAWN_STEPS) -> Explanation:
        """What was decided, and why: text, and in a notebook pictures of ``steps`` steps.

        What takes longer than a second beyond the plan is left out, and named, unless ``all_sizes`` waits for it.
        """
        drawn = _integer("the number of steps to draw", steps)
        text, report = self._plan.explain(bool(all_sizes))
        return Explanation(self, text, json.loads(report), drawn)

    def dump(self, stage: str, **options: Any) -> str:
        """An intermediate form as text: ``mapping``, ``program``, ``asm`` and others (docs/ARCHITECTURE.md)."""
        return self._plan.dump(stage, _code_options(**options))

    def compile(
        self,
        *,
        instructions: Optional[str] = None,
        vectors: Optional[Union[int, str]] = None,
        unroll: Optional[Union[int, str]] = None,
        non_temporal: Optional[str] = None,
        prefetch: Optional[str] = None,
        work_limit: Optional[int] = None,
    ) -> Code:
        """Machine code for this machine, or for fewer ``instructions`` (``scalar``, ``v128``, ``avx2``, ``avx512``).

        Answers are the same bits whatever is chosen here. Raises :class:`CompileError`.
        """
        options = _code_options(
            instructions=instructions,
            vectors=vectors,
            unroll=unroll,
            non_temporal=non_temporal,
            prefetch=prefetch,
            work_limit=work_limit,
        )
        return Code(self, options)

    def run(self) -> Run:
        """Compiles and allocates."""
        return self.compile().instantiate()

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self._sizes.items())
        return f"<crease.Plan of {self._kernel.name}({sizes}): {self.folded_bytes} bytes folded>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return Plan, (self._kernel, self._sizes, self._options)


def _integer(what: str, value: Any, least: int = 0) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is an integer, not {value!r}") from None
    if not least <= number < 1 << 63:
        raise of_code("py/option", f"{what} is {number}; it must be from {least} to {(1 << 63) - 1}")
    return number


def _option(name: str, value: Any) -> Any:
    """An option of a plan or of code, of the type that its name has; none for the library's choice."""
    if value is None:
        return None
    if name in _NUMBERS:
        return _integer(f"option `{name}`", value)
    if name in _TRUTHS:
        return bool(value)
    if name == "plan_cache":
        return value if isinstance(value, bool) else os.fspath(value)
    if not isinstance(value, str):
        raise TypeError(f"option `{name}` is a text, not {value!r}")
    return value


def _code_options(**given: Any) -> Dict[str, Any]:
    names = ("instructions", "vectors", "unroll", "non_temporal", "prefetch", "work_limit")
    for name in given:
        if name not in names:
            raise TypeError(f"there is no option `{name}` of code; there are {', '.join(names)}")
    options = {name: given.get(name) for name in names}
    for name in ("vectors", "unroll"):
        options[name] = None if options[name] is None else str(options[name])
    return {name: _option(name, value) for name, value in options.items()}


class Explanation:
    """What a plan decided: ``str()`` for a terminal, pictures inline in a notebook, ``report`` for programs."""

    def __init__(self, plan: Plan, text: str, report: Dict[str, Any], steps: int) -> None:
        self._plan = plan
        self._steps = steps
        self._drawn: Optional[Tuple[Dict[str, int], Dict[str, str]]] = None
        #: The text of ``crease explain``.
        self.text = text
        #: The report, and under ``parametric`` what is known of other sizes.
        self.report = report

    @property
    def pictures(self) -> Dict[str, str]:
        """SVG by name: ``storage-map``, ``lifetimes``, ``wavefronts``. Drawn when first asked for.

        Of smaller sizes where those of the plan are too many cells to show; :attr:`drawn_sizes` says which.
        """
        return dict(self._draw()[1])

    @property
    def drawn_sizes(self) -> Dict[str, int]:
        """The sizes that pictures show."""
        return dict(self._draw()[0])

    def save(self, directory: "Union[str, os.PathLike[str]]") -> List[Path]:
        """Writes the text and the pictures to files in a directory, which is made if need be."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        contents = {"explain.txt": self.text, **{f"{name}.svg": svg for name, svg in self.pictures.items()}}
        for name, content in contents.items():
            (folder / name).write_text(content, encoding="utf-8")
        return [folder / name for name in contents]

    def _draw(self) -> Tuple[Dict[str, int], Dict[str, str]]:
        if self._drawn is None:
            smaller, pictures = self._plan._plan.pictures(self._steps)
            self._drawn = (dict(smaller) or self._plan.sizes, dict(pictures))
        return self._drawn

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        text = f"<pre>{html.escape(self.text)}</pre>"
        try:
            sizes, pictures = self._draw()
        except PlanError as error:
            return f"{text}<p>No pictures: {html.escape(str(error))}</p>"
        shown = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        note = f"<p>Pictures of a run of {self._steps} steps at {html.escape(shown)}.</p>"
        return text + note + "".join(f"<figure>{svg}</figure>" for svg in pictures.values())
