"""NumPy arrays on their way in and out: types first, then what a borrow can take.

Nothing converts values: an array of another dtype or byte order is refused, as a silent copy costs what the folded
storage saves. Numbers and lists, which have no dtype, are taken as the dtype that is needed.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any, Dict, Tuple

import numpy as np

from crease._errors import CopyWarning, of_code

NDArray = np.ndarray[Any, np.dtype[Any]]

#: The dtype of each element type of the text form.
DTYPES: Dict[str, "np.dtype[Any]"] = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "u8": np.dtype(np.uint8),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "u16": np.dtype(np.uint16),
    "i32": np.dtype(np.int32),
    "u32": np.dtype(np.uint32),
    "i64": np.dtype(np.int64),
}


def element_name(dtype: Any) -> str:
    """The element type of the text form that a dtype, or its name there, stands for."""
    if isinstance(dtype, str) and dtype in DTYPES:
        return dtype
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    for name, known in DTYPES.items():
        if found == known:
            return name
    known_names = ", ".join(DTYPES)
    raise of_code("py/element", f"{dtype!r} is no element type; there are {known_names}")


def source(name: str, values: Any, dtype: np.dtype[Any]) -> NDArray:
    """Values to be copied in, as an array that the extension can borrow."""
    if isinstance(values, np.ndarray) or hasattr(values, "__array__"):
        array = np.asarray(values)
        verify_dtype(name, array, dtype)
    else:
        array = _of_numbers(name, values, dtype)
    return array if is_borrowable(array) else array.copy()


def _of_numbers(name: str, values: Any, dtype: np.dtype[Any]) -> NDArray:
    try:
        array = np.array(values, dtype=dtype)
        is_kept = dtype.kind == "f" or bool(np.all(np.asarray(values, dtype=np.float64) == array))
    except (TypeError, ValueError, OverflowError) as error:
        raise of_code("run/element-type", f"array `{name}` holds {dtype.name}: {error}") from None
    if not is_kept:
        raise of_code("run/element-type", f"array `{name}` holds {dtype.name}, which has not all of these values")
    return array


def verify_dtype(name: str, array: NDArray, dtype: np.dtype[Any]) -> None:
    """Refuses an array of another dtype, byte order included."""
    if array.dtype == dtype:
        return
    if array.dtype.newbyteorder("=") == dtype:
        what = f"the NumPy array for `{name}` is not in this machine's byte order"
        raise of_code("py/layout", f"{what}; convert it (`array.astype({dtype.name!r})`)", None)
    what = f"array `{name}` holds {dtype.name}, the NumPy array has dtype {array.dtype}"
    raise of_code("run/element-type", f"{what}; convert it (`array.astype({dtype.name!r})`)")


def verify_target(name: str, array: Any, dtype: np.dtype[Any]) -> None:
    """Refuses what cannot be written to."""
    if not isinstance(array, np.ndarray):
        raise of_code("py/not-an-array", f"array `{name}` is read into a NumPy array, not {type(array).__name__}")
    verify_dtype(name, array, dtype)
    if not array.flags.writeable:
        raise of_code("py/read-only", f"the NumPy array for `{name}` cannot be borrowed: it is read-only")


def is_borrowable(array: NDArray) -> bool:
    """Whether cells are at addresses of their own kind: what packed records and odd offsets break."""
    size = array.itemsize
    whole = all(stride % size == 0 for stride, extent in zip(array.strides, array.shape) if extent > 1)
    return bool(array.flags.aligned) and whole


def borrowed(name: str, array: NDArray) -> Tuple[NDArray, bool]:
    """The array, or a copy that can be borrowed, which is warned of; and whether it is one."""
    if is_borrowable(array):
        return array, False
    warnings.warn(
        f"the NumPy array for `{name}` is not aligned to cells of {array.itemsize} bytes (strides {array.strides}) and"
        " was copied",
        CopyWarning,
        stacklevel=4,
    )
    return array.copy(), True


def count(what: str, value: Any) -> int:
    """A number of steps, threads or bytes."""
    number = operator.index(value)
    if not 0 <= number < 1 << 63:
        raise of_code("py/count", f"`{what}` is {number}; it must be from 0 to {(1 << 63) - 1}")
    return number
