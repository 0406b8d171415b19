"""Functions as other frameworks see them: from a list of arrays to a list of arrays.

A ``Call`` is a function with the structure of its arguments, in which some places hold arrays of
the framework, the operands. Its derivatives are calls again: ``push`` maps operands and their
tangents to tangents of the results, ``pull`` operands and cotangents of the results to cotangents
of the operands. A framework that knows how to evaluate one call, and which calls are its
derivatives, can differentiate as often as it likes.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adcompiler.api.forward import jvp
from adcompiler.api.grad import vjp
from adcompiler.api.primal import compiled
from adcompiler.cache.modules import load_module
from adcompiler.dispatch.arguments import described
from adcompiler.dispatch.targets import defined_at
from adcompiler.frontend.sources.places import stand_for
from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.support.structs import dataclass

Path = tuple[Any, ...]
"""Positions, keys and attributes that lead to a part of nested containers and dataclasses."""

APPLIED = """
def applied(args):
    return function(*args)
"""
PUSHED = """
def pushed(args):
    return jvp(function, (args[0],), args[1], argnums=NAMES)[1]
"""
PULLED = """
def pulled(args):
    return vjp(function, args[0], argnums=NAMES)[1](args[1])
"""
KEPT_CALLS = 256
"""How many functions and structures of arguments are kept."""


def is_number(value: Any) -> bool:
    """Say whether a result is a number or an array; others are handed on as they are."""
    return isinstance(value, (np.ndarray, np.generic, bool, int, float, complex))


def is_data(value: Any) -> bool:
    """Say whether a value is an instance of a dataclass, a container of its attributes."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type) and is_record(value)


def flatten(
    tree: Any, is_leaf: Callable[[Any], bool], path: Path = (), inside: tuple[int, ...] = ()
) -> Iterator[tuple[Path, Any]]:
    """Yield the leaves of nested containers with the paths to them.

    ``inside`` are the identities of what is around. TypeError is raised for what holds itself.
    """
    if is_leaf(tree):
        yield path, tree
        return
    if isinstance(tree, (tuple, list)):
        parts: dict[Any, Any] = dict(enumerate(tree))
    elif isinstance(tree, dict) or is_data(tree):
        parts = tree if isinstance(tree, dict) else state_of(tree)
    else:
        return
    if id(tree) in inside:
        raise TypeError(f"a {type(tree).__name__} holds itself; give the parts that are needed")
    for key, item in parts.items():
        yield from flatten(item, is_leaf, (*path, key), (*inside, id(tree)))


def replaced(tree: Any, leaves: dict[Path, Any], path: Path = ()) -> Any:
    """Return a copy of nested containers with other leaves at some paths."""
    if path in leaves:
        return leaves[path]
    if isinstance(tree, tuple):
        items = [replaced(item, leaves, (*path, i)) for i, item in enumerate(tree)]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if isinstance(tree, list):
        return [replaced(item, leaves, (*path, i)) for i, item in enumerate(tree)]
    if isinstance(tree, dict):
        return {key: replaced(item, leaves, (*path, key)) for key, item in tree.items()}
    if is_data(tree):
        return record(type(tree), **{
            key: replaced(item, leaves, (*path, key)) for key, item in state_of(tree).items()})
    return tree


def without_lists(tree: Any) -> Any:
    """Return nested containers with tuples for the lists: their parts have names."""
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields"):
        return tuple(map(without_lists, tree))
    if isinstance(tree, tuple):
        return type(tree)(*map(without_lists, tree))
    if isinstance(tree, dict):
        return {key: without_lists(item) for key, item in tree.items()}
    if is_data(tree):
        return record(type(tree), **{
            key: without_lists(item) for key, item in state_of(tree).items()})
    return tree


def check_no_list(tree: Any, paths: Sequence[Path]) -> None:
    """Raise TypeError where an operand is in a list."""
    for path in paths:
        inner = tree
        for key in path:
            if isinstance(inner, list):
                raise TypeError(
                    "arrays in a list that is an argument have no names; give a tuple, and make "
                    "the list inside of the function")
            inner = state_of(inner)[key] if is_data(inner) else inner[key]


def as_key(tree: Any) -> Any:
    """Return what can be looked up and tells structures apart; TypeError for other values."""
    if isinstance(tree, (tuple, list)):
        return type(tree), tuple(map(as_key, tree))
    if isinstance(tree, dict):
        return dict, tuple((key, as_key(item)) for key, item in tree.items())
    if is_data(tree):
        return type(tree), as_key(dict(state_of(tree)))
    hash(tree)
    if isinstance(tree, (float, complex, np.inexact)):
        return type(tree), repr(tree)  # 0.0 is not -0.0, and nan is nan
    if tree is None or isinstance(tree, (str, bytes, int, type)):
        return type(tree), tree
    return Itself(tree)


class Itself:
    """A key of one object: others that are equal to it may be told apart by the function."""

    def __init__(self, value: Place) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def is_same(one: Any, other: Any) -> bool:
    """Say whether two results have one structure, with the same in it where no arrays stand."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(is_same(one[key], other[key]) for key in one)
    if is_data(one):
        return is_same(dict(state_of(one)), dict(state_of(other)))
    return one is other or bool(one == other)


def as_argument(operand: Any) -> Any:
    """Return an operand as the function takes it: its own copy; a number if it has no axes."""
    array = np.array(operand)
    return array if array.ndim else array[()]


def written(
    text: str, name: str, function: Callable[..., Any], argnums: Any, root: Callable[..., Any]
) -> Any:
    """Return a function of a template, around another one; messages point at the ``root``."""
    text = text.replace("NAMES", repr(argnums))
    namespace = load_module(None, text.lstrip(), f"adcompiler_{name}").__dict__
    namespace.update(function=function, jvp=jvp, vjp=vjp)
    made = namespace[name]
    stand_for(made.__code__.co_filename, {}, defined_at(root))
    return made


class Place:
    """Stands for an operand in the structure of arguments."""

    def __repr__(self) -> str:
        return "<operand>"

    def __reduce__(self) -> str:
        return "PLACE"


PLACE = Place()


@dataclass(frozen=True)
class Result:
    """The structure of a result: the ``tree``, and where numbers and arrays stand in it.

    ``floats`` tells which of them are, so that they have derivatives.
    """

    tree: Any
    paths: tuple[Path, ...]
    floats: tuple[bool, ...]

    def cotangent(self, parts: Iterator[Any]) -> Any:
        """Return a cotangent of this structure; ``parts`` are those of floats, in order."""
        places = zip(self.paths, self.floats, strict=True)
        return without_lists(
            replaced(self.tree, {path: next(parts) if on else None for path, on in places}))

    def structured(self, values: Sequence[Any]) -> Any:
        """Return a result of this structure with given numbers and arrays."""
        return replaced(self.tree, dict(zip(self.paths, values, strict=True)))


def flat(value: Place) -> tuple[list[np.ndarray], Result]:
    """Return the numbers and arrays in a result, and its structure."""
    found = [(path, np.asarray(leaf)) for path, leaf in flatten(value, is_number)]
    paths = tuple(path for path, _ in found)
    return [leaf for _, leaf in found], Result(
        replaced(value, dict.fromkeys(paths, PLACE)), paths,
        tuple(leaf.dtype.kind in "fc" for _, leaf in found))


class Call:
    """A function of one tuple, and where in it operands stand.

    ``root`` is the user's function, ``smooth`` tells which operands are differentiated;
    ``linear`` is how many of the last ones the results are linear in. ``backend`` is that of the
    value and the first derivatives; native loops for those of derivatives are not insisted on.
    ``evaluate`` computes the same as the function, where that is a derivative by a backend;
    ``parent`` is the call of which it is one, and what is asked of that.
    """

    def __init__(
        self, function: Callable[..., Any], root: Callable[..., Any], tree: Any,
        paths: Sequence[Path], smooth: Sequence[bool], linear: int = 0, backend: str = "python",
        evaluate: Callable[..., Any] | None = None,
        parent: tuple[Call, Result | None] | None = None,
    ) -> None:
        self.function = function
        self.root = root
        self.tree = tree
        self.paths = tuple(paths)
        self.smooth = tuple(smooth)
        self.linear = linear
        self.backend = backend
        self.evaluate = evaluate
        self.parent = parent
        self.pulls: dict[Any, Call] = {}
        self.argnums = tuple(
            ".".join(("args", *map(step, path)))
            for path, on in zip(paths, smooth, strict=True) if on)

    def __reduce__(self) -> Any:
        if self.parent is not None:
            return derived_call, self.parent
        return first_call, (self.root, self.tree, self.paths, self.smooth, self.backend)

    def arguments(self, operands: Sequence[np.ndarray]) -> Any:
        """Return the tuple that the function takes, with copies of the operands."""
        given = map(as_argument, operands)
        return replaced(self.tree, dict(zip(self.paths, given, strict=True)))

    def value(self, operands: Sequence[np.ndarray]) -> tuple[list[np.ndarray], Result]:
        """Return the results, and their structure."""
        return flat(self.primal(self.arguments(operands)))

    @functools.cached_property
    def primal(self) -> Callable[..., Any]:
        """The function as values are computed."""
        if self.evaluate is not None:
            return self.evaluate
        if self.backend == "python":
            return self.function
        return compiled(self.function, backend=self.backend)

    def value_and_pullback(
        self, operands: Sequence[np.ndarray]
    ) -> tuple[list[np.ndarray], Result, Callable[[Sequence[Any]], list[Any]]]:
        """Return results, structure, and a function of cotangents of those that are floats."""
        value, pullback = vjp(
            self.function, self.arguments(operands), argnums=self.argnums, backend=self.backend)
        values, result = flat(value)

        def pull(cotangents: Sequence[np.ndarray]) -> list[Any]:
            return list(pullback(result.cotangent(map(as_argument, cotangents))))

        return values, result, pull

    @property
    def derived_backend(self) -> str:
        """The backend of derivatives of this call's derivatives."""
        return "auto" if self.backend == "native" else self.backend

    @functools.cached_property
    def push(self) -> Call:
        """The call that maps operands, and tangents of the smooth ones, to those of results."""
        count = sum(self.smooth)
        function = written(PUSHED, "pushed", self.function, self.argnums, self.root)

        def evaluate(args: Any) -> Any:
            return jvp(self.function, (args[0],), args[1], argnums=self.argnums,
                       backend=self.backend)[1]

        tree = (self.tree, (PLACE,) * count)
        paths = [(0, *path) for path in self.paths] + [(1, i) for i in range(count)]
        return Call(
            function, self.root, tree, paths, [*self.smooth, *[True] * count], count,
            self.derived_backend, evaluate, (self, None))

    def pull(self, result: Result) -> Call:
        """The call that maps operands, and cotangents of results, to those of smooth operands."""
        key = as_key(result.tree), result.paths, result.floats
        if key not in self.pulls:
            floats = [path for path, on in zip(result.paths, result.floats, strict=True) if on]
            function = written(PULLED, "pulled", self.function, self.argnums, self.root)

            def evaluate(args: Any) -> Any:
                return vjp(self.function, args[0], argnums=self.argnums,
                           backend=self.backend)[1](args[1])

            cotangent = result.cotangent(iter([PLACE] * len(floats)))
            paths = [(0, *path) for path in self.paths] + [(1, *path) for path in floats]
            self.pulls[key] = Call(
                function, self.root, (self.tree, cotangent), paths,
                [*self.smooth, *[True] * len(floats)], len(floats), self.derived_backend,
                evaluate, (self, result))
        return self.pulls[key]


def step(key: Any) -> str:
    """Return how ``argnums`` writes a position or key."""
    if isinstance(key, int) or (isinstance(key, str) and key and "." not in key):
        return str(key)
    raise TypeError(f"keys of dicts are words, so that parts can be named; got {key!r}")


@functools.lru_cache(maxsize=KEPT_CALLS)
def kept_call(
    function: Callable[..., Any], key: Any, paths: tuple[Path, ...], smooth: tuple[bool, ...],
    backend: str,
) -> list[Call]:
    """Return a list that is to hold the call of a function with a structure of arguments."""
    return []


def call_of(
    function: Callable[..., Any], args: tuple[Any, ...], is_operand: Callable[[Any], bool],
    is_smooth: Callable[[Any], bool], backend: str = "python",
) -> tuple[Call, list[Any]]:
    """Return a call of a function with some arguments, and the operands in them."""
    found = list(flatten(args, is_operand))
    paths = tuple(path for path, _ in found)
    smooth = tuple(is_smooth(leaf) for _, leaf in found)
    check_no_list(args, paths)
    tree = replaced(args, dict.fromkeys(paths, PLACE))
    try:
        kept = kept_call(function, as_key(tree), paths, smooth, backend)
    except TypeError:  # not to be looked up
        kept = []
    if not kept:
        kept.append(first_call(function, tree, paths, smooth, backend))
    return kept[0], [leaf for _, leaf in found]


def first_call(
    function: Callable[..., Any], tree: Any, paths: tuple[Path, ...], smooth: tuple[bool, ...],
    backend: str,
) -> Call:
    """Return the call of a user's function."""
    applied = written(APPLIED, "applied", function, (), function)
    return Call(applied, function, tree, paths, smooth, backend=backend)


def derived_call(parent: Call, result: Result | None) -> Call:
    """Return the pushforward of a call, or its pullback of cotangents of a result."""
    return parent.push if result is None else parent.pull(result)


def check_some(call: Call, function: Callable[..., Any], args: tuple[Any, ...], what: str) -> None:
    """Raise TypeError where no argument is an array of the framework."""
    if not call.paths:
        given = ", ".join(described(one) for one in args) or "nothing"
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(f"{name} was given no {what}, but {given}; call it without wrap for those")


__all__ = ["KEPT_CALLS", "Call", "Result", "call_of", "check_some", "is_same"]
