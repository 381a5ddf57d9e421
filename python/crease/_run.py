"""Runs: folded storage in use, seen as the arrays of the kernel's text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from crease import _crease
from crease._array import Array
from crease._arrays import NDArray, borrowed, count, is_borrowable, source, verify_dtype, verify_target
from crease._boxes import Box
from crease._errors import of_code
from crease._folded import Folded, FoldedCoordinate, FoldedIndex
from crease._progress import Progress

if TYPE_CHECKING:
    from crease._code import Code
    from crease._kernel import ArrayInfo, Kernel
    from crease._plan import Plan

Cancel = _crease.Cancel


class Run:
    """Folded storage in use: arrays, scalars, the present step. Made by :meth:`Code.instantiate`.

    Arrays are read and written by name in logical order: ``run["u"]`` is one, ``run["u"][3, :, 1:10:2]`` a box of it.
    Scalars are attributes: ``run.k = 0.1``. A run is for one thread at a time; another is refused meanwhile. While it
    advances, other Python threads go on, and Control-C ends it at the last whole step.

    Pickles as a checkpoint: the code's plan, the step, scalars, inputs, and all levels of state.
    """

    __slots__ = ("_code", "_options", "_run", "_arrays", "_observers", "_scalars", "_ranges", "__weakref__")

    def __init__(self, code: Code, options: Mapping[str, Any]) -> None:
        put = object.__setattr__
        kernel = code.plan.kernel
        put(self, "_code", code)
        put(self, "_options", dict(options))
        put(self, "_run", code._code.instantiate(self._options))
        put(self, "_arrays", kernel.arrays)
        put(self, "_observers", kernel.observers)
        put(self, "_scalars", frozenset(kernel.scalars))
        put(self, "_ranges", {})

    if TYPE_CHECKING:
        _code: Code
        _options: Dict[str, Any]
        _run: _crease.Run
        _arrays: Dict[str, ArrayInfo]
        _observers: Dict[str, Dict[str, ArrayInfo]]
        _scalars: "frozenset[str]"
        _ranges: Dict[str, List[Tuple[int, int]]]

    # What it is.

    @property
    def code(self) -> Code:
        """The code that it runs."""
        return self._code

    @property
    def plan(self) -> Plan:
        """The plan that it keeps to."""
        return self._code.plan

    @property
    def kernel(self) -> Kernel:
        """The kernel that it runs."""
        return self._code.plan.kernel

    @property
    def threads(self) -> int:
        """Threads that it takes."""
        return self._run.threads

    @property
    def step(self) -> int:
        """Steps done so far, those before a restart included. Any thread may ask at any time."""
        return self._run.step

    def set_step(self, step: int) -> None:
        """Puts the run at a step, as if it had done that many: for a restart. State then has to be given again."""
        self._run.set_step(step)

    # Scalars.

    def set(self, scalar: str, value: float) -> None:
        """Sets a scalar. Raises :class:`RunError` for a name that the kernel does not have."""
        self._run.set(scalar, value)

    def scalar(self, scalar: str) -> Optional[float]:
        """A scalar as it was set; none if it was not."""
        return self._run.scalar(scalar)

    def __getattr__(self, name: str) -> Optional[float]:
        if not name.startswith("_") and name in self._scalars:
            return self._run.scalar(name)
        raise AttributeError(self._no_scalar(name))

    def __setattr__(self, name: str, value: float) -> None:
        if name not in self._scalars or hasattr(type(self), name):
            raise AttributeError(self._no_scalar(name))
        self._run.set(name, value)

    def _no_scalar(self, name: str) -> str:
        known = ", ".join(sorted(self._scalars)) or "none"
        if name in self._scalars:
            return f"scalar `{name}` has the name of a member of runs; call `set({name!r}, ..)`"
        return f"kernel `{self.kernel.name}` has no scalar `{name}`; it has {known}"

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._scalars]

    # Arrays.

    def __getitem__(self, name: str) -> Array:
        return self.array(name)

    def __setitem__(self, name: str, values: Any) -> None:
        self.write(name, values)

    def array(self, name: str, back: int = 0) -> Array:
        """An array of the kernel, to take boxes of; ``back`` steps before the present one."""
        return Array(self, self._info(name), self._ranges_of(name), back)

    def write(self, name: str, values: Any, *, back: int = 0) -> None:
        """Copies a whole array in: an input, or a state at the present step or ``back`` steps before.

        The array may have any strides and must have the shape and the dtype of the kernel's. Raises
        :class:`ArrayError`; nothing has then been copied.
        """
        info = self._info(name)
        self._run.write(name, None, back, source(name, values, info.dtype))

    def write_steps(self, name: str, first: int, values: Any) -> None:
        """Gives an input over steps its values at step ``first`` and those after it: the first axis are the steps.

        Such an input mentions the number of steps in its index space: ``input inflow[t]: f64 for 1 <= t <= T``. Its
        values may be given in parts, each beginning where one before has ended, or earlier. They are forgotten once no
        step reads them any more, and are not pickled with the run. Raises :class:`RunError`.
        """
        self._run.write_steps(name, first, source(name, values, self._info(name).dtype))

    def fill(self, name: str, value: float) -> None:
        """Sets all cells of an array to one value: an input, or all levels of a state that the kernel reads back."""
        info, shape = self._info(name), self.array(name).shape
        cell = source(name, value, info.dtype)
        if cell.ndim != 0:
            raise of_code("run/shape", f"array `{name}` is filled with one value, not with an array of {cell.shape}")
        for back in range(info.levels):
            self._run.write(name, None, back, np.broadcast_to(cell, shape))

    def read(self, name: str, out: Optional[NDArray] = None, *, back: int = 0) -> NDArray:
        """Copies a whole array out: into ``out``, if there is one, else into a new array.

        Cells outside the array's index space are left alone; in a new array they are 0.
        """
        if out is None:
            out = np.zeros(self.array(name).shape, self._info(name).dtype)
        self._read(name, None, back, out)
        return out

    def view(self, name: str, key: Any = ..., *, writable: bool = False, back: int = 0) -> NDArray:
        """A box of an array where it lies, without a copy: ``run.view("u", np.s_[3, :])``.

        That is possible where one formula of the fold keeps all of it and no index wraps around inside: always for
        inputs and outputs, for folded arrays at some steps. Else :class:`RunError`, and :meth:`read` copies. The next
        step moves what it shows, so the run does no step while there are views of it: delete them first.
        """
        box = Box(name, self._info(name).indices, self._ranges_of(name), key)
        view: NDArray = box.turned(self._run.view(name, box.spans, back, writable))
        return view

    def folded(self, name: str, key: Any = ..., *, back: int = 0) -> Folded:
        """Folded memory, and where in it the cells of a box are, for code that addresses it itself.

        Raises :class:`RunError` where several formulas keep the box: ask for smaller ones.
        """
        box = Box(name, self._info(name).indices, self._ranges_of(name), key)
        cells, coordinates, by_index = self._run.folded(name, box.spans, back)
        base, indices = (None, None) if by_index is None else by_index
        by_name = None if indices is None else [FoldedIndex(*index) for index in indices]
        values = [range(span, span + 1) if isinstance(span, int) else range(*span[:2]) for span in box.spans]
        return Folded(cells, [FoldedCoordinate(*each) for each in coordinates], base, by_name, values)

    def _read(self, name: str, box: Optional[Box], back: int, out: NDArray) -> None:
        verify_target(name, out, self._info(name).dtype)
        spans = None if box is None else box.spans
        if is_borrowable(out):
            self._run.read(name, spans, back, out)
            return
        aligned = out.copy()
        self._run.read(name, spans, back, aligned)
        out[...] = aligned

    def _info(self, name: str) -> ArrayInfo:
        info = self._arrays.get(name)
        if info is None:
            known = ", ".join(self._arrays)
            raise of_code("run/unknown-array", f"kernel `{self.kernel.name}` has no array `{name}`; it has {known}")
        return info

    def _ranges_of(self, name: str) -> List[Tuple[int, int]]:
        if name not in self._ranges:
            self._ranges[name] = self._run.index_ranges(name)
        return self._ranges[name]

    # Steps.

    def advance(
        self,
        steps: int,
        *,
        every: Optional[int] = None,
        callback: Optional[Callable[[Run, Progress], Optional[bool]]] = None,
    ) -> Progress:
        """Runs ``steps`` more steps. ``callback(run, progress)`` is called after every ``every`` of them and the last.

        It may read and write arrays and set scalars; if it returns ``False``, the call ends there. Raises
        :class:`RunError` if something was not given (nothing has then been computed), :class:`Cancelled`,
        ``KeyboardInterrupt``, and what the callback raises; the state is then that of :attr:`step`.
        """
        first, begun = self.step, time.monotonic()
        end = first + count("steps", steps)
        part = end - first if every is None else count("every", every)
        if every is not None and callback is None:
            raise TypeError("`every` says how often `callback` is called; give one")
        if every is not None and part == 0:
            message = "steps cannot be done 0 at a time; ask to come back every step or less often"
            raise of_code("run/no-interval", message)
        while True:
            self._run.advance(min(part, end - self.step))
            progress = Progress(first, self.step, end, time.monotonic() - begun)
            goes_on = callback is None or first == end or callback(self, progress) is not False
            if not goes_on or self.step >= end:
                return progress._replace(step=self.step, elapsed=time.monotonic() - begun)

    def advance_until(self, is_reached: Callable[[Run], bool], *, every: int = 1, limit: int) -> bool:
        """Runs until ``is_reached(run)``, asked after every ``every`` steps, for ``limit`` steps at most.

        Returns whether it was reached; :attr:`step` says when.
        """
        reached = False

        def ask(run: Run, _: Progress) -> bool:
            nonlocal reached
            reached = bool(is_reached(run))
            return not reached

        self.advance(limit, every=every, callback=ask)
        return reached

    def monitor_nan(self, every: int) -> None:
        """Looks for NaN in all states after every so many steps from now on; 0 ends that.

        Calls that advance then stop at the step where one is found with a :class:`RunError` of the code
        ``run/not-a-number``, which names array, cell and step; the states can be read. A look costs about as much as
        reading all states once. Checkpoints do not keep the monitor.
        """
        self._run.monitor_nan(count("every", every))

    def cancel_with(self, cancel: Cancel) -> None:
        """Lets a handle stop this run's steps, from any thread: they then raise :class:`Cancelled`."""
        self._run.cancel_with(cancel)

    # Observers.

    def observe(self, observer: str, /, **outputs: NDArray) -> Dict[str, Any]:
        """Computes an observer of the kernel, of the states as they are. Returns its outputs by name.

        ``run.observe("moments")`` makes arrays for them, ``run.observe("moments", density=mine)`` writes into those
        that are given, where they lie: any strides, no copy. Cells that the observer does not compute keep their
        values; in new arrays they are 0. A reduction that is not given is returned as a Python number.
        Arrays whose cells are not aligned are copied, with a :class:`CopyWarning`.

        The first call of all runs of a code compiles the observer, which takes milliseconds.
        """
        return self._observe(0, observer, outputs)

    def advance_observing(self, steps: int, observer: str, /, **outputs: NDArray) -> Dict[str, Any]:
        """Runs ``steps`` more steps and computes an observer of the states that they leave: the outputs by name.

        That is :meth:`advance` and then :meth:`observe`, with the same bits. Where that is faster, the last step
        computes it on the way; what that takes is planned and compiled once it pays. What is wrong with the outputs is
        raised before a step is done.
        """
        return self._observe(count("steps", steps), observer, outputs)

    def _observe(self, steps: int, observer: str, outputs: Dict[str, NDArray]) -> Dict[str, Any]:
        self._run.verify_observed(observer, list(outputs))
        declared = self._observers[observer]
        made = {
            name: np.zeros(self.observed_shape(observer, name), info.dtype)
            for name, info in declared.items()
            if name not in outputs
        }
        results: Dict[str, NDArray] = {**outputs, **made}
        targets = _targets(results, declared)
        fit = all(targets[name].shape == self.observed_shape(observer, name) for name in outputs)
        # What does not fit is refused by the library, which is not to come after steps.
        left = self._run.advance_but_last(steps) if steps > 0 and fit else 0
        self._run.observe(observer, list(targets.items()), left)
        _put_back(results, targets)
        return {name: _number_or_array(made[name]) if name in made else outputs[name] for name in declared}

    def observed_shape(self, observer: str, output: str) -> Tuple[int, ...]:
        """The shape of an observer's output; empty for one number."""
        return tuple(self._run.observed_shape(observer, output))

    # Kernels without state.

    def run_once(
        self, inputs: Optional[Mapping[str, Any]] = None, outputs: Optional[Mapping[str, NDArray]] = None
    ) -> Dict[str, NDArray]:
        """Runs a kernel without state on these arrays, where they lie: any strides, no copy. Returns its outputs.

        Outputs that are not given are made. Arrays whose cells are not aligned are copied, with a
        :class:`CopyWarning`. Without ``inputs`` and ``outputs``, it runs on what :meth:`write` copied in, and
        :meth:`read` gives the outputs.
        """
        if inputs is None and outputs is None:
            self._run.run_once()
            return {}
        given = {name: self._input(name, array) for name, array in (inputs or {}).items()}
        results = dict(outputs or {})
        for name, info in self._arrays.items():
            if info.role == "output" and name not in results:
                results[name] = np.zeros(self.array(name).shape, info.dtype)
        targets = _targets(results, {name: self._info(name) for name in results})
        self._run.run_on(list(given.items()), list(targets.items()))
        _put_back(results, targets)
        return results

    def _input(self, name: str, array: Any) -> NDArray:
        info = self._info(name)
        if not isinstance(array, np.ndarray):
            return source(name, array, info.dtype)
        verify_dtype(name, array, info.dtype)
        return borrowed(name, array)[0]

    # Checkpoints.

    def __repr__(self) -> str:
        return f"<crease.Run of {self.plan!r} at step {self.step}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return _restored, (self._code, self._options, self._checkpoint())

    def _checkpoint(self) -> Dict[str, Any]:
        """All that another run needs to go on."""
        scalars = {name: self.scalar(name) for name in self._scalars}
        kept = [info for info in self._arrays.values() if info.role != "temp"]
        levels = {}
        for info in kept:
            for back in range(info.levels):
                try:
                    levels[info.name, back] = self.read(info.name, back=back)
                except Exception as error:
                    # What was never given is not in the checkpoint, either.
                    if getattr(error, "code", None) not in ("run/no-value", "run/over-steps"):
                        raise
        return {"step": self.step, "scalars": scalars, "levels": levels}


def _targets(results: Mapping[str, Any], declared: Mapping[str, ArrayInfo]) -> Dict[str, NDArray]:
    """The arrays to be written, or copies that can be borrowed."""
    targets = {}
    for name, array in results.items():
        verify_target(name, array, declared[name].dtype)
        targets[name] = borrowed(name, array)[0]
    return targets


def _put_back(results: Mapping[str, NDArray], targets: Mapping[str, NDArray]) -> None:
    """Copies back what was written to copies."""
    for name, target in targets.items():
        if target is not results[name]:
            results[name][...] = target


def _number_or_array(made: NDArray) -> Any:
    """An array without axes as a Python number, others as they are."""
    return made if made.ndim else made.item()


def _restored(code: Code, options: Mapping[str, Any], checkpoint: Mapping[str, Any]) -> Run:
    run = Run(code, options)
    if run.kernel.has_state:
        run.set_step(checkpoint["step"])
    for scalar, value in checkpoint["scalars"].items():
        if value is not None:
            run.set(scalar, value)
    for (name, back), values in checkpoint["levels"].items():
        run.write(name, values, back=back)
    return run
