"""Exceptions: one class for each stage, a code for each error.

Codes are those of docs/ERRORS.md (``plan/unknown-size``), and of their own for what only Python can do wrong
(``py/layout``). Messages are the library's.
"""

from __future__ import annotations

from typing import Optional, Tuple, Type


class Error(Exception):
    """Anything that Crease refuses. ``code`` stays the same when messages get better."""

    code: str = ""


class ParseError(Error, ValueError):
    """A kernel is wrong: its text, or the Python code that builds it.

    ``line`` and ``column`` are those of the text, from 1; ``filename`` and ``lineno`` those of the Python code, where a
    kernel was built by some.
    """

    reason: str = ""
    line: Optional[int] = None
    column: Optional[int] = None
    filename: Optional[str] = None
    lineno: Optional[int] = None


class PlanError(Error, ValueError):
    """No plan: a size, a schedule, an option, storage that cannot be proved, or too little memory allowed."""


class CompileError(Error, RuntimeError):
    """No machine code for what was asked for."""


class RunError(Error, RuntimeError):
    """A run refuses a call; nothing has been computed then, unless the message says so."""


class ArrayError(RunError, ValueError):
    """An array does not fit: its type, shape, strides, byte order, or that it may not be written."""


class Cancelled(RunError):
    """A run was stopped by its handle; its state is that of the last whole step."""


class CopyWarning(UserWarning):
    """An array that was to be borrowed was copied instead, because of how it lies in memory."""


_BY_CODE: "dict[str, Type[Error]]" = {
    "run/cancelled": Cancelled,
    "run/shape": ArrayError,
    "run/element-type": ArrayError,
    "run/region-ranges": ArrayError,
    "run/region-step": ArrayError,
    "run/region-shape": ArrayError,
    "run/outside-array": ArrayError,
    "run/strides": ArrayError,
    "run/strides-outside": ArrayError,
    "run/strides-overlap": ArrayError,
    "run/slice-length": ArrayError,
    "py/not-an-array": ArrayError,
    "py/layout": ArrayError,
    "py/overlap": ArrayError,
    "py/read-only": ArrayError,
    "py/option": PlanError,
    "py/unknown-choice": PlanError,
    "py/unknown-kernel": PlanError,
    "py/kernel-data": PlanError,
    "py/explain": PlanError,
    "py/pictures": PlanError,
    "py/element": ParseError,
    "py/kernel": ParseError,
    "call/overlap": ArrayError,
    "call/read-only": ArrayError,
    "call/shape": ArrayError,
    "call/element": ArrayError,
}

_BY_STAGE: "dict[str, Type[Error]]" = {
    "kernel": ParseError,
    "compile": CompileError,
    "isa": CompileError,
    "run": RunError,
    "call": RunError,
    "memory": RunError,
    "threads": RunError,
    "py": RunError,
}


def of_code(code: str, message: str, place: Optional[Tuple[int, int, str]] = None) -> Error:
    """The exception for a code. ``place``: line and column of a text, and the message without them."""
    kind = _BY_CODE.get(code) or _BY_STAGE.get(code.split("/")[0], PlanError)
    error = kind(message)
    error.code = code
    if isinstance(error, ParseError):
        error.reason = message
        if place is not None:
            error.line, error.column, error.reason = place
    return error
