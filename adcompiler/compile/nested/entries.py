"""Jacobians by their columns or rows: text that applies a linear map to unit vectors.

What is returned is the source of a function of the value, of the linear map (the pullback or the
pushforward) and of the arguments ``x0``, ``x1``, ... that are differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.compile.nested.trees import Form, Leaf, built, leaves_of
from adcompiler.runtime import as_cotangent, record, seed, unit_vectors, zeros_like

NAMES: dict[str, Any] = {
    "np": np, "record": record, "seed": seed, "zeros_like": zeros_like,
    "as_cotangent": as_cotangent, "unit_vectors": unit_vectors,
}


def arguments_of(forms: list[Form]) -> list[str]:
    """Return the names of the arguments."""
    return [f"x{i}" for i in range(len(forms))]


def extents(path: str, leaf: Leaf) -> list[str]:
    """Return text of the extents of an array."""
    return [f"{path}.shape[{k}]" for k in range(leaf.ndim)]


def joint_shape(path: str, leaf: Leaf, at: str, given: Leaf) -> str:
    """Return text of the shape of the derivatives of one leaf by another."""
    behind = shape_text(extents(at, given))
    if leaf.is_either:
        return f"np.shape({path}) + {behind}"
    return shape_text(extents(path, leaf) + extents(at, given))


def shape_text(parts: list[str]) -> str:
    """Return text of a shape."""
    return f"({''.join(f'{part}, ' for part in parts)})"


def basis(path: str, leaf: Leaf) -> str:
    """Return text of the unit vectors of an array, one behind the other."""
    if leaf.is_either:
        return f"unit_vectors({path})"
    eye = f"np.eye({path}.size)" if leaf.kind == "int" else (
        f"np.eye({path}.size, dtype={path}.dtype)"
    )
    return f"{eye}.reshape({shape_text([f'{path}.size', *extents(path, leaf)])})"


def zero(path: str, leaf: Leaf) -> str:
    """Return text of zero in the place of a leaf."""
    if not leaf.is_array:
        return "0.0"
    return f"np.zeros({shape_text(extents(path, leaf))}" + (
        ")" if leaf.kind == "int" else f", dtype={path}.dtype)"
    )


def applied(
    linear: str, trees: list[tuple[str, Form]], chosen: str, leaf: Leaf, names: dict[str, Any],
    reads: list[str],
) -> str:
    """Return text of what a linear map makes of the unit vectors of one leaf of its arguments.

    Of what it returns only what the single one of ``reads`` leads to is kept, if there is one.
    """
    unit = "unit" if is_several(leaf) else one(chosen, leaf) if leaf.is_array else "1.0"
    given = ", ".join(
        built(form, path, lambda at, one: unit if at == chosen else zero(at, one), names)
        for path, form in trees
    )
    call = f"{linear}({given})" + (reads[0] if len(reads) == 1 else "")
    return f"[{call} for unit in {basis(chosen, leaf)}]" if is_several(leaf) else call


def is_several(leaf: Leaf) -> bool:
    """Say whether a leaf has any number of elements, not one for sure."""
    return leaf.is_either or leaf.ndim > 0


def rows(value: Form, arguments: list[Form], several: bool, holomorphic: bool) -> tuple[str, Any]:
    """Return the text of the Jacobian by rows, and what it names."""
    names = dict(NAMES)
    inputs = arguments_of(arguments)
    lines = ["def jacobian_rows(value, pullback{}):"]
    number: dict[str, int] = {}
    reads = [
        at.replace(given, f"[{i}]", 1)
        for i, (given, form) in enumerate(zip(inputs, arguments, strict=True))
        for at, _ in leaves_of(form, given)
    ]
    for path, leaf in leaves_of(value, "value"):
        number[path] = len(number)
        found = applied("pullback", [("value", value)], path, leaf, names, reads)
        lines.append(f"    rows_{number[path]} = {found}")

    def block(path: str, leaf: Leaf, i: int, at: str, given: Leaf) -> str:
        read = at.replace(inputs[i], f"[{i}]", 1) if len(reads) > 1 else ""
        if not is_several(leaf):
            text = f"rows_{number[path]}{read}"
        else:
            shape = joint_shape(path, leaf, at, given)
            text = f"np.array([row{read} for row in rows_{number[path]}]).reshape({shape})"
            text += "[()]" if leaf.is_either and not given.is_array else ""
        return f"np.conj({text})" if holomorphic else text

    return finished(lines, value, arguments, several, block, names)


def columns(value: Form, arguments: list[Form], several: bool) -> tuple[str, Any]:
    """Return the text of the Jacobian by columns, and what it names."""
    names = dict(NAMES)
    lines = ["def jacobian_columns(value, pushforward{}):"]
    if isinstance(value, Leaf) and value.is_either:
        lines.append("    unit_vectors(value)")
    reads = [path.removeprefix("value") for path, _ in leaves_of(value, "value")]
    number = pushed(lines, arguments, names, reads)

    def block(path: str, leaf: Leaf, i: int, at: str, given: Leaf) -> str:
        read = path.removeprefix("value") if len(reads) > 1 else ""
        if not is_several(given):
            return f"columns_{number[at]}{read}"
        text = f"np.array([column{read} for column in columns_{number[at]}])"
        text = f"np.moveaxis({text}, 0, -1)" if leaf.is_array else text
        return f"{text}.reshape({joint_shape(path, leaf, at, given)})"

    return finished(lines, value, arguments, several, block, names)


def slopes(value: Leaf, arguments: list[Form], several: bool, shown: str) -> tuple[str, Any]:
    """Return the text of the gradient by forward mode, and what it names.

    ``shown`` is what messages call the function, whose result counts as a scalar.
    """
    names = dict(NAMES)
    lines = ["def slopes(value, pushforward{}):", f"    seed(value, {shown!r})"]
    number = pushed(lines, arguments, names, [""])

    def block(path: str, leaf: Leaf, i: int, at: str, given: Leaf) -> str:
        if not is_several(given):
            whole = f"columns_{number[at]}"
            return f"np.sum({whole})" if leaf.is_array else whole
        each = "np.sum(column)" if leaf.is_array else "column"
        text = f"np.array([{each} for column in columns_{number[at]}])"
        return f"{text}.reshape({shape_text(extents(at, given))})"

    return finished(lines, value, arguments, several, block, names)


def pushed(
    lines: list[str], arguments: list[Form], names: dict[str, Any], reads: list[str]
) -> dict[str, int]:
    """Add the pushing of all unit tangents; return the numbers of the columns of each leaf."""
    trees = list(zip(arguments_of(arguments), arguments, strict=True))
    number: dict[str, int] = {}
    for given, form in trees:
        for path, leaf in leaves_of(form, given):
            number[path] = len(number)
            found = applied("pushforward", trees, path, leaf, names, reads)
            lines.append(f"    columns_{number[path]} = {found}")
    return number


def ones(argument: Form) -> tuple[str, Any]:
    """Return the text of a function that gives ones in the structure of its argument."""
    names = dict(NAMES)
    tree = built(
        argument, "x", lambda at, leaf: one(at, leaf) if leaf.is_array else "1.0", names
    )
    return f"def ones(x):\n    return {tree}\n", names


def zeros(argument: Form) -> tuple[str, Any]:
    """Return the text of a function that gives zeros in the structure of its argument."""
    names = dict(NAMES)
    return f"def zeros(x):\n    return {built(argument, 'x', zero, names)}\n", names


def one(path: str, leaf: Leaf) -> str:
    """Return text of an array of ones."""
    return zero(path, leaf).replace("np.zeros", "np.ones", 1)


Block = Callable[[str, Leaf, int, str, Leaf], str]


def finished(
    lines: list[str], value: Form, arguments: list[Form], several: bool, block: Block,
    names: dict[str, Any],
) -> tuple[str, Any]:
    """Return the whole text, with the tree of blocks that is returned."""
    inputs = arguments_of(arguments)

    def inner(path: str, leaf: Leaf) -> str:
        """Return the text of the derivatives of one leaf of the result."""
        parts = [
            built(
                form, inputs[i],
                lambda at, given, i=i: block(path, leaf, i, at, given),  # type: ignore[misc]
                names,
            ) for i, form in enumerate(arguments)
        ]
        return f"({''.join(f'{part}, ' for part in parts)})" if several else parts[0]

    lines.append(f"    return {built(value, 'value', inner, names)}")
    lines[0] = lines[0].format("".join(f", {name}" for name in inputs))
    return "\n".join(lines) + "\n", names
