"""``vmap`` in compiled code: code of all examples at once, or a loop over them."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.compile.nested.asked import Asked, first_accepted
from adcompiler.compile.nested.called import resolved
from adcompiler.compile.nested.primal_and_pullback import derived_of, opened
from adcompiler.compile.nested.trees import NUMBERS, NoStructure
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Var
from adcompiler.infer.differentiated_paths import keys_of
from adcompiler.infer.writer import Writer
from adcompiler.typed.axes import axes_of_call, axes_of_parts, axis_within
from adcompiler.typed.derivatives import Wanted


class Arguments:
    """Text that reads one example of arguments, and that of how many there are."""

    def __init__(self, s: Writer, names: dict[str, Any]) -> None:
        self.s = s
        self.names = names
        self.extents: list[str] = []

    def one(self, atom: Atom, path: str, axes: Any) -> str:
        """Return text of one example of an argument."""
        elements = self.s.unit.elements(atom) if isinstance(axes, (int, tuple)) else None
        type_ = self.s.unit.type(atom)
        if elements is None or not isinstance(type_, (t.List, t.Tuple)):
            return self.of_type(type_, path, axes)
        parts = axes_of_parts(axes, list(range(len(elements))), path)
        return self.built(type_, list(range(len(elements))), [
            self.one(element, f"{path}[{i}]", part)
            for i, (element, part) in enumerate(zip(elements, parts, strict=True))
        ])

    def of_type(self, type_: t.Type, path: str, axes: Any) -> str:
        """Return text of one example of a value of a type."""
        if axes is None:
            return path
        if isinstance(type_, t.Array) and type_.ndim is not None and isinstance(axes, int):
            axis = axis_within(axes, type_.ndim, path)
            self.extents.append(f"{path}.shape[{axis}]")
            return f"{path}[{':, ' * axis}i]"
        if isinstance(type_, t.Static) and type_.value is None:
            return path
        if not isinstance(type_, t.Tuple) and not (
            isinstance(type_, t.Dict) and type_.keys is not None
        ):
            raise NoStructure(type_)
        keys = list(range(len(type_.items))) if isinstance(type_, t.Tuple) else list(keys_of(type_))
        parts = axes_of_parts(axes, keys, path)
        return self.built(type_, keys, [
            self.of_type(item, f"{path}[{key!r}]", part)
            for key, item, part in zip(keys, type_.items, parts, strict=True)
        ])

    def built(self, type_: t.Type, keys: list[Any], texts: list[str]) -> str:
        """Return text of a container of one example."""
        return container(type_, keys, texts, self.names)


def container(type_: t.Type, keys: list[Any], texts: list[str], names: dict[str, Any]) -> str:
    """Return text that builds a container; ``names`` gets the class that it calls."""
    if isinstance(type_, t.List):
        return f"[{', '.join(texts)}]"
    if isinstance(type_, t.Dict):
        return f"{{{', '.join(f'{k!r}: {v}' for k, v in zip(keys, texts, strict=True))}}}"
    assert isinstance(type_, t.Tuple)
    if type_.cls is tuple:
        return f"({''.join(f'{text}, ' for text in texts)})"
    name = f"{type_.cls.__name__}_{len(names)}"
    names[name] = type_.cls
    return f"{name}({', '.join(texts)})"


def mapped(asked: Asked) -> Atom:
    """Write the function for all examples at once, or a loop over them."""
    try:
        return first_accepted(asked, [lambda: at_once(asked), lambda: one_by_one(asked)])
    except ValueError as error:
        return asked.reject(f"vmap() of these arguments: {error}", "axes that fit the arguments")


def one_by_one(asked: Asked) -> Atom:
    """Write a loop that calls the function for each example, and stacks what it returns."""
    s, args, kwargs = asked.s, asked.args, asked.kwargs
    in_axes, by_name = axes_of_call(asked.wanted.option("in_axes", 0), len(args), list(kwargs))
    names: dict[str, Any] = {"np": np}
    arguments = Arguments(s, names)
    given = [f"x{i}" for i in range(len(args))]
    rows = [arguments.one(a, x, axis) for a, x, axis in zip(args, given, in_axes, strict=True)]
    rows += [f"{key}={arguments.one(kwargs[key], key, axis)}" for key, axis in by_name.items()]
    lines = [f"def of_examples({', '.join(('function', *given, *kwargs))}):",
             *counted(arguments.extents),
             f"    return [function({', '.join(rows)}) for i in range(count)]\n"]
    found = asked.call("\n".join(lines), names, [asked.func, *args, *kwargs.values()])
    if found is UNDEF:
        return found
    type_ = s.unit.type(found)
    if not isinstance(type_, t.List):
        raise NoStructure(type_)
    return asked.call(*stacked(type_.item, asked.wanted.option("out_axes", 0)), [found])


def counted(extents: list[str]) -> list[str]:
    """Return lines that count the examples, and raise where arguments hold different numbers."""
    if not extents:
        raise ValueError("vmap needs an argument that is mapped over an axis")
    count, *others = dict.fromkeys(extents)
    lines = [f"    count = {count}"]
    for other in others:
        lines += [f"    if {other} != count:",
                  "        raise ValueError('vmap over different numbers of examples')"]
    return lines


def at_once(asked: Asked) -> Atom:
    """Write the code of the function for all examples at once; report where there is none."""
    try:
        found = all_at_once(asked)
    except (NotBatchable, NoStructure):
        found = None
    if found is None:
        return asked.reject(
            "vmap() of a function of which there is no code for all examples at once",
            "a loop over the examples")
    return found


def all_at_once(asked: Asked) -> Atom | None:
    """As ``at_once``; None or an exception where there is no such code."""
    s, args, kwargs = asked.s, asked.args, asked.kwargs
    in_axes, by_name = axes_of_call(asked.wanted.option("in_axes", 0), len(args), list(kwargs))
    names: dict[str, Any] = {"np": np}
    whole = Arguments(s, names)
    rows: dict[Atom, int] = {}
    given: list[Atom] = []
    moved: list[str] = []
    paths = [*(f"x{i}" for i in range(len(args))), *kwargs]
    for atom, path, axes in zip(
        (*args, *kwargs.values()), paths, (*in_axes, *by_name.values()), strict=True
    ):
        type_ = s.unit.type(atom)
        row = atom
        if axes is not None:
            row = Var(path)
            s.unit.types[row] = row_type(type_, axes)
            rows[row] = len(moved)
            whole.of_type(type_, path, axes)
            moved.append(path if not axes else f"np.moveaxis({path}, {axes}, 0)")
        given.append(row)
    text = "\n".join([
        f"def examples({', '.join(paths)}):", *counted(whole.extents),
        f"    return ({''.join(f'{one}, ' for one in moved)})\n"])
    out_axes = asked.wanted.option("out_axes", 0)
    if not isinstance(out_axes, int):
        raise NoStructure("that is stacked in parts")
    found = compiled_at_once(asked, given, rows, text, names, [*args, *kwargs.values()])
    if found is None or not out_axes:
        return found
    return asked.call(*with_axis(s.unit.type(found), out_axes), [found])


def row_type(type_: t.Type, axes: Any) -> t.Type:
    """Return the type of one example of an array; raise NotBatchable for any other argument."""
    if not isinstance(type_, t.Array) or type_.ndim is None or not isinstance(axes, int) or (
        type_.ndim == 0 or type_.kind not in (*NUMBERS, "bool")
    ):
        raise NotBatchable
    return t.Scalar(type_.kind, type_.dtype) if type_.ndim == 1 else (
        t.Array(type_.dtype, type_.ndim - 1))


def compiled_at_once(
    asked: Asked, given: list[Atom], rows: dict[Atom, int], text: str, names: dict[str, Any],
    whole: list[Atom],
) -> Atom | None:
    """Write the code of the function for all examples, at arguments that ``given`` are rows of."""
    s, count = asked.s, len(asked.args)
    keywords = dict(zip(asked.kwargs, given[count:], strict=True))
    called = resolved(s, asked.func, given[:count], keywords, asked.origin)
    if called is None or not all(row in called.bound for row in rows):
        return None
    places = [(i, ()) for i, atom in enumerate(called.bound) if atom in rows]
    kept: dict[Atom, None] = {}
    wanted = Wanted("vmap", tuple(i for i, _ in places))
    derived = derived_of(s, wanted, called, places, kept, asked.origin)
    if derived is None or derived.findings or derived.entry is None or derived.written:
        return None
    examples = asked.call(text, names, whole)
    atoms = [asked.item(examples, rows[atom]) if atom in rows else atom for atom in kept]
    return opened(s, derived, atoms, [], asked.origin, asked.name)


def with_axis(type_: t.Type, axis: int) -> tuple[str, dict[str, Any]]:
    """Return the text of a function that moves the axis of the examples, and what it names."""
    names: dict[str, Any] = {"np": np}

    def text(type_: t.Type, path: str) -> str:
        if isinstance(type_, t.Array) and type_.ndim is not None:
            return f"np.moveaxis({path}, 0, {axis_within(axis, type_.ndim, 'the stacked result')})"
        if not isinstance(type_, t.Tuple):
            raise NoStructure(type_)
        keys = list(range(len(type_.items)))
        return container(type_, keys, [
            text(item, f"{path}[{i}]") for i, item in enumerate(type_.items)], names)

    return f"def moved(found):\n    return {text(type_, 'found')}\n", names


def stacked(type_: t.Type, out_axes: Any) -> tuple[str, dict[str, Any]]:
    """Return the text of a function that stacks results of a type, and what it names."""
    names: dict[str, Any] = {"np": np}
    lines = ["def stacked(found):"]

    def text(type_: t.Type, path: str, axes: Any) -> str:
        if axes is None:
            raise NoStructure("that is the same for all examples (out_axes=None)")
        if isinstance(type_, t.Scalar) and isinstance(axes, int) and (
            type_.kind in (*NUMBERS, "bool")
        ):
            axis_within(axes, 1, "the stacked result")
            return f"np.array([one{path} for one in found])"
        if isinstance(type_, t.Array) and type_.ndim is not None and isinstance(axes, int):
            axis = axis_within(axes, type_.ndim + 1, "the stacked result")
            if len(lines) == 1:
                lines.extend([
                    "    if not found:",
                    "        raise ValueError('vmap over no examples: the shape of what the "
                    "function returns is not known')"])
            end = f", axis={axis})" if axis else ")"
            return f"np.stack([one{path} for one in found]{end}"
        if isinstance(type_, t.Static) and type_.value is None:
            return "None"
        if isinstance(type_, t.Tuple):
            keys = list(range(len(type_.items)))
        elif isinstance(type_, t.Dict) and type_.keys is not None:
            keys = list(keys_of(type_))
        else:
            raise NoStructure(type_)
        parts = axes_of_parts(axes, keys, "the result")
        return container(type_, keys, [
            text(item, f"{path}[{key!r}]", part)
            for key, item, part in zip(keys, type_.items, parts, strict=True)
        ], names)

    result = text(type_, "", out_axes)
    return "\n".join([*lines, f"    return {result}\n"]), names


__all__ = ["mapped"]
