"""Native loops as a C file, and the Python module beside it that calls them by ctypes."""

from __future__ import annotations

import re

from adcompiler.backends.native.standalone import caller, lowered_alone
from adcompiler.backends.native.c.printer import CPrinter
from adcompiler.backends.native.c.runtime import (
    ARRAY, HEAD, HELPERS, NAMES, PRODUCT, SUMS, array_text,
)
from adcompiler.backends.native.loops import BOOL, FLOAT, INT, Flat, LoopFunction, Use, rows_of
from adcompiler.backends.native.ops.singles import refuse_short_floats
from adcompiler.backends.native.values import Declined
from adcompiler.products.product import Product
from adcompiler.typed.unit import Unit

BUILD = "cc -std=c99 -O2 -fwrapv -ffp-contract=off -fPIC -shared -o lib{0}.so {0}.c -lm"
"""The library has another name than the module beside it, which Python would find instead."""
STUB = '''import ctypes
import operator
from pathlib import Path

import numpy as np

place = Path(__file__).resolve()
built = [place.with_name(f"lib{place.stem}{suffix}") for suffix in (".so", ".dll", ".dylib")]
library = ctypes.CDLL(str(next(filter(Path.exists, built), built[0])))


class Array(ctypes.Structure):
    """An array as the loops have it: steps count items, a block of None is not theirs."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 6), ("step", ctypes.c_int64 * 6),
        ("axes", ctypes.c_int64), ("block", ctypes.c_void_p),
    )


def given(x):
    """Return a NumPy array as the loops have it, which keeps it alive."""
    if not x.flags.aligned or any(step % x.itemsize for step in x.strides):
        x = np.array(x)
    steps = [step // x.itemsize for step in x.strides]
    found = Array(x.ctypes.data, (ctypes.c_int64 * 6)(*x.shape), (ctypes.c_int64 * 6)(*steps),
                  x.ndim, None)
    found.of = x
    return found


def taken(found, dtype, release):
    """Return a copy of what the loops made as a NumPy array, and let go of theirs."""
    shape = tuple(found.shape[: found.axes])
    x = np.empty(shape, dtype)
    if x.size:
        steps = [step * x.itemsize for step in found.step[: found.axes]]
        ends = [(n - 1) * step for n, step in zip(shape, steps)]
        first = sum(min(end, 0) for end in ends)
        size = sum(map(abs, ends)) + x.itemsize
        storage = (ctypes.c_char * size).from_address(found.data + first)
        x[...] = np.ndarray(shape, dtype, storage, -first, steps)
    release(ctypes.byref(found))
    return x

'''
CTYPES = {FLOAT: "ctypes.c_double", INT: "ctypes.c_int64", BOOL: "ctypes.c_bool"}


def c_alone(product: Product, unit: Unit, stem: str = "loops") -> tuple[str, str]:
    """Return the text of a C file called ``stem``, and of the Python module that calls it.

    Where Python would take over, that raises. Raises Declined.
    """
    loops, names = lowered_alone(product, unit, {
        "library", "given", "taken", "Array", "ctypes", "place", "built"})
    function = product.functions[0]
    refuse_short_floats(unit, "in C")
    if loops.called:
        raise Declined("a function calls itself, which loops in C do not", function.origin)
    doc = product.docs[function.name]
    comment = f"/* {doc}\n *\n * {BUILD.format(stem)}\n */\n"
    body = CPrinter(loops).text()
    text = comment + HEAD + runtime_of(loops, body) + "\n" + body
    stub = f'"""Calls the loops of {stem}.c. Compile these first:\n\n{BUILD.format(stem)}\n"""\n\n'
    stub += STUB + ctypes_call(loops) + caller(function.name, loops, names, doc)
    return text, stub


def runtime_of(loops: LoopFunction, printed: str) -> str:
    """Return the C functions that the printed loops call, and those that these call."""
    texts = [array_text(ARRAY, dtype) for dtype in NAMES]
    types = CPrinter(loops).types
    for row in rows_of(loops.body):
        if isinstance(row, Use):
            text, _ = HELPERS[row.helper]
            first = row.args[0]
            of = first.buffer if isinstance(first, Flat) else str(first)
            text = array_text(text, FLOAT if text in (SUMS, PRODUCT) else types.arrays[of])
            texts += [text] if text not in texts else []
    parts = [part for text in texts for part in text.strip().split("\n\n")]
    kept, read = [], printed
    for part in reversed(parts):
        if defined_in(part) & set(re.findall(r"\w+", read)):
            kept.append(part)
            read += part
    return "\n\n".join(["", *reversed(kept), ""])


def defined_in(part: str) -> set[str]:
    """Return the name of the function, or of the type, that a part of the C defines."""
    found = re.search(r"(\w+)\([^;]*\)\n\{|\} (\w+);", part)
    assert found is not None, part
    return set(found.groups()) - {None}


def ctypes_call(loops: LoopFunction) -> str:
    """Return the text of the function that calls the loops by ctypes."""
    names = [f"a{i}" for i, _ in enumerate(loops.parameters)]
    kinds, passed, lines = [], [], []
    for name, one in zip(names, loops.parameters, strict=True):
        kinds.append("Array" if one.ndim else CTYPES[one.dtype])
        passed.append(f"given({name})" if one.ndim else name)
    results, values = [], []
    for i, output in enumerate(loops.outputs):
        results.append(f"r{i}")
        lines.append(f"r{i} = {'Array' if output.ndim else CTYPES[output.dtype]}()")
        kind = NAMES[output.dtype]
        values.append(f'taken(r{i}, "{output.dtype}", library.release_{kind})' if output.ndim
                      else f"r{i}.value")
        kinds.append("ctypes.c_void_p")
        passed.append(f"ctypes.byref(r{i})")
    shown = "\n".join(f"    {line}" for line in [
        *lines, f"if not library.{loops.name}({', '.join(passed)}):",
        f"    return False, {', '.join(['None'] * len(values))}",
        f"return True, {', '.join(values)}",
    ])
    return f'''
library.{loops.name}.argtypes = [{', '.join(kinds)}]
library.{loops.name}.restype = ctypes.c_bool


def {loops.name}({', '.join(names)}):
    """Call the loops; return whether they came to their end, and what they gave."""
{shown}
'''
