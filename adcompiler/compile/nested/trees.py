"""The structure of values whose derivatives are written entry by entry, and text that builds it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from adcompiler.cache.modules import EMITTED, load_module
from adcompiler.frontend.sources.places import stand_for
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Origin
from adcompiler.runtime.records import is_record_class
from adcompiler.infer.differentiated_paths import keys_of
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit


class NoStructure(Exception):
    """A value of which it is not known when compiling what numbers and arrays it holds."""


@dataclass(frozen=True)
class Leaf:
    """A number, or an array with ``ndim`` axes; it may be either where ``kind`` is ``any``."""

    kind: str
    is_array: bool = False
    ndim: int = 0

    @property
    def is_either(self) -> bool:
        """Whether it is left to the run whether this is a number or an array."""
        return self.kind == "any"


@dataclass(frozen=True)
class Node:
    """A container or instance, with what it holds by position, key or name."""

    kind: str
    cls: Any
    parts: tuple[tuple[Any, Form], ...]


Form = Leaf | Node | None
"""The structure of a value; None is that of what is no number, array, or container of these."""

NUMBERS = ("int", "float", "complex")


def form_of(unit: Unit, atom: Atom, is_result: bool = False) -> Form:
    """Return the structure of a value; raise NoStructure where it is not known.

    A result of unknown type is taken for a number or array, which is checked when it is there.
    """
    if is_result and isinstance(unit.type(atom), t.Unknown):
        return Leaf("any", True)
    type_, elements = unit.type(atom), unit.elements(atom)
    if isinstance(type_, (t.List, t.Tuple)) and elements is not None:
        return node_of(type_, [form_of(unit, element) for element in elements])
    return form_of_type(type_)


def form_of_type(type_: t.Type) -> Form:
    """Return the structure of values of a type; raise NoStructure where it is not known."""
    match type_:
        case t.Scalar(kind):
            return Leaf(kind) if kind in NUMBERS else None
        case t.Array():
            if type_.kind == "other" or type_.ndim is None:
                raise NoStructure(type_)
            return Leaf(type_.kind, True, type_.ndim) if type_.kind in NUMBERS else None
        case t.Tuple(items):
            return node_of(type_, [form_of_type(item) for item in items])
        case t.Dict(keys, items) if keys is not None:
            return node_of(type_, [form_of_type(item) for item in items])
        case t.Object(cls, fields) if is_record_class(cls):
            return node_of(type_, [form_of_type(item) for _, item in fields])
        case t.Static() | t.Text() | t.Range():
            return None
    raise NoStructure(type_)


def node_of(type_: t.Type, forms: Sequence[Form]) -> Node:
    """Return the structure of a container of a type that holds parts of the given ones."""
    kind = {t.Tuple: "tuple", t.List: "list", t.Dict: "dict", t.Object: "record"}[type(type_)]
    keys = range(len(forms)) if isinstance(type_, (t.Tuple, t.List)) else keys_of(type_)
    cls = type_.cls if isinstance(type_, t.Tuple) else None
    return Node(kind, cls, tuple(zip(keys, forms, strict=True)))


def leaves_of(form: Form, path: str) -> Iterator[tuple[str, Leaf]]:
    """Yield the leaves of a structure, each with the text that reads it of the value ``path``."""
    if isinstance(form, Leaf):
        yield path, form
    elif form is not None:
        for key, part in form.parts:
            yield from leaves_of(part, step_to(form, path, key))


def step_to(node: Node, path: str, key: Any) -> str:
    """Return the text that reads a part of the value ``path``."""
    return f"{path}.{key}" if node.kind == "record" else f"{path}[{key!r}]"


def built(
    form: Form, path: str, of_leaf: Callable[[str, Leaf], str], names: dict[str, Any]
) -> str:
    """Return text that builds a value of a structure, from that of each leaf.

    ``names`` gets the classes that the text calls.
    """
    if form is None:
        return "None"
    if isinstance(form, Leaf):
        return of_leaf(path, form)
    parts = [
        (key, built(part, step_to(form, path, key), of_leaf, names)) for key, part in form.parts
    ]
    texts = [text for _, text in parts]
    match form.kind:
        case "list":
            return f"[{', '.join(texts)}]"
        case "dict":
            return f"{{{', '.join(f'{key!r}: {text}' for key, text in parts)}}}"
        case "record":
            return f"record({', '.join(f'{key}={text}' for key, text in parts)})"
    if form.cls is tuple:
        return f"({''.join(f'{text}, ' for text in texts)})"
    name = f"{form.cls.__name__}_{len(names)}"
    names[name] = form.cls
    return f"{name}({', '.join(texts)})"


def function_of_text(
    unit: Unit, text: str, names: dict[str, Any], origin: Origin
) -> FunctionType:
    """Return the function that a text defines, to be opened like emitted code.

    It stands for the user's line at ``origin``.
    """
    name = text[4 : text.index("(")]
    place = f"# {origin.file}:{origin.line}:{origin.column}\n"
    made = loaded(text + place, name, tuple(names.items()))
    stand_for(made.__code__.co_filename, {}, origin)
    unit.derivatives.emitted[made] = True
    return made


@functools.lru_cache(maxsize=256)
def loaded(text: str, name: str, names: tuple[tuple[str, Any], ...]) -> FunctionType:
    """Return the function that a text defines; the same one for the same text."""
    module = load_module(None, text, EMITTED + name).__dict__
    module.update(names)
    made: FunctionType = module[name]
    return made
