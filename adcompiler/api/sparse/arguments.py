"""Gradients in SciPy's sparse matrices: of the numbers that they store, as matrices of one pattern.

Where the compiler refuses a function of a matrix, it compiles one of the matrix' entries, which
makes the matrix (``runtime/sparse/matrices.py``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.dispatch import Options, Specialisations
from adcompiler.dispatch.targets import named_forward
from adcompiler.runtime.structure import is_sparse

COMPRESSED = ("csr", "csc")
PARTS = ("data", "indices", "indptr", "shape")
STARS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def matrices_among(s: Specialisations, values: tuple[Any, ...]) -> dict[int, type]:
    """Return where among the arguments matrices are differentiated, with their classes.

    None, as an empty dict, for what is not asked for by entries.
    """
    if s.options.mode not in ("grad", "value_and_grad") or s.options.batched or any(
        parameter.kind in STARS for parameter in s.parameters
    ):
        return {}
    return {
        i: type(values[i]) for i, steps in zip(s.wrt, s.parts, strict=True)
        if not steps and is_sparse(values[i]) and values[i].format in COMPRESSED
    }


def function_of_entries(
    s: Specialisations, matrices: dict[int, type]
) -> tuple[Callable[..., Any], Options]:
    """Return the function of the entries of some matrices, and what is asked of it."""
    header: list[str] = []
    passed: list[str] = []
    wanted: list[str] = []
    for i, parameter in enumerate(s.parameters):
        name = parameter.name
        given = "" if parameter.kind is not inspect.Parameter.KEYWORD_ONLY else f"{name}="
        if i not in matrices:
            header.append(name)
            passed.append(given + name)
            continue
        data, indices, indptr, shape = parts = [f"{name}_{part}" for part in PARTS]
        header += parts
        passed.append(f"{given}matrix_{i}(({data}, {indices}, {indptr}), shape={shape})")
    for i, steps in zip(s.wrt, s.parts, strict=True):
        name = s.parameters[i].name
        wanted.append(f"{name}_data" if i in matrices else ".".join((name, *map(str, steps))))
    function = s.target.function
    made = named_forward(
        getattr(function, "__name__", "function"), ", ".join(header), ", ".join(passed), function,
        header)
    made.__globals__.update({f"matrix_{i}": cls for i, cls in matrices.items()})
    argnums = wanted[0] if s.single else tuple(wanted)
    return made, replace(s.options, argnums=argnums)


def by_entries(
    s: Specialisations, derivative: Callable[..., Any], matrices: dict[int, type],
    values: tuple[Any, ...],
) -> Any:
    """Return what a derivative of the function of entries gives, its gradients as matrices."""
    given: list[Any] = []
    for i, value in enumerate(values):
        if i in matrices:
            real = value.data if value.data.dtype.kind in "fc" else value.data.astype(float)
            given += [real, value.indices, value.indptr, value.shape]
        else:
            given.append(value)
    result = derivative(*given)
    place = 1 if s.options.mode == "value_and_grad" else 0
    alone = place == 0 and not s.options.has_aux
    bars = result if alone else result[place]
    bars = (bars,) if s.single else bars
    whole = tuple(
        like_matrix(values[i], bar) if i in matrices else bar
        for i, bar in zip(s.wrt, bars, strict=True))
    found: Any = whole[0] if s.single else whole
    if alone:
        return found
    return (*result[:place], found, *result[place + 1 :])


def like_matrix(matrix: Any, data: Any) -> Any:
    """Return a matrix of the same class and pattern with other numbers."""
    places = (np.array(matrix.indices), np.array(matrix.indptr))
    return type(matrix)((data, *places), shape=matrix.shape)
