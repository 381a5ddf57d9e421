"""Crease: folded storage for affine kernels, proved and compiled at run time.

``crease.catalogue`` holds kernels that are ready to run; ``crease.Kernel.parse`` reads the text form, ``crease.kernel``
builds kernels in Python syntax. A kernel makes a plan, a plan code, code runs: ``kernel.run(N=512)`` does all three.

    >>> import crease
    >>> run = crease.catalogue["lbm-d2q9-cavity"].run(N=32)
    >>> run.advance(100).step
    100
    >>> run["f0"].shape
    (32, 32)
"""

from crease._array import Array
from crease._builder import KernelBuilder, kernel
from crease._catalogue import Catalogue, Entry, catalogue, kernels
from crease._code import Code
from crease._crease import __version__, most_threads
from crease._errors import (
    ArrayError,
    Cancelled,
    CompileError,
    CopyWarning,
    Error,
    ParseError,
    PlanError,
    RunError,
)
from crease._folded import Folded, FoldedCoordinate, FoldedIndex
from crease._indices import Domain, Index, Time
from crease._kernel import ArrayInfo, Kernel
from crease._parts import ArrayRef, Observer, ReductionRef, Statement
from crease._plan import Explanation, Plan
from crease._progress import Progress
from crease._run import Cancel, Run
from crease._values import (
    Clamped,
    Value,
    absolute,
    add_sat,
    bit_and,
    bit_not,
    bit_or,
    bit_xor,
    clamp,
    f32,
    f64,
    fma,
    i16,
    i16_sat,
    i32,
    i32_sat,
    i64,
    i64_sat,
    i8,
    i8_sat,
    maximum,
    minimum,
    shift_left,
    shift_right,
    sqrt,
    sub_sat,
    u16,
    u16_sat,
    u32,
    u32_sat,
    u8,
    u8_sat,
    where,
)

__all__ = [
    "Array",
    "ArrayError",
    "ArrayInfo",
    "ArrayRef",
    "Cancel",
    "Cancelled",
    "Catalogue",
    "Clamped",
    "Code",
    "CompileError",
    "CopyWarning",
    "Domain",
    "Entry",
    "Error",
    "Explanation",
    "Folded",
    "FoldedCoordinate",
    "FoldedIndex",
    "Index",
    "Kernel",
    "KernelBuilder",
    "Observer",
    "ParseError",
    "Plan",
    "PlanError",
    "Progress",
    "ReductionRef",
    "Run",
    "RunError",
    "Statement",
    "Time",
    "Value",
    "__version__",
    "absolute",
    "add_sat",
    "bit_and",
    "bit_not",
    "bit_or",
    "bit_xor",
    "catalogue",
    "clamp",
    "f32",
    "f64",
    "fma",
    "i16",
    "i16_sat",
    "i32",
    "i32_sat",
    "i64",
    "i64_sat",
    "i8",
    "i8_sat",
    "kernel",
    "kernels",
    "maximum",
    "minimum",
    "most_threads",
    "shift_left",
    "shift_right",
    "sqrt",
    "sub_sat",
    "u16",
    "u16_sat",
    "u32",
    "u32_sat",
    "u8",
    "u8_sat",
    "where",
]

# Where users find them, and where pickles look for them.
for _class in list(globals().values()):
    if isinstance(_class, type) and _class.__module__.startswith("crease._"):
        try:
            _class.__module__ = "crease"
        except TypeError:
            pass  # Classes of the extension cannot be changed.
del _class
