"""The tables of one compilation: types, definitions, shape classes, facts relied on, findings."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from adcompiler.budget import Budget
from adcompiler.errors import Finding
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Call, Const, Function, Global, Item, Let, Origin, Pack, Rhs, Star,
    Update, Var, operands, unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.registry import REGISTRY, Rule, hashable
from adcompiler.runtime import cell_value, record
from adcompiler.typed.values import keeps_its_arguments, type_of_static

Path = tuple[tuple[str, Any], ...]
"""How a value is reached from the function being compiled: steps such as ("free", "helper").

A path may instead start at an argument, or with ("live", object) at an object that is kept alive.
"""

ShapeClass = Any
"""Equal for two arrays only if their shapes are equal whenever the code runs."""

SCALAR_SHAPE: ShapeClass = ()
DERIVED = ("dropped", "reduced", "suffix", "window", "widened")  # each of one other class


@dataclass(eq=False)
class Callee:
    """A function compiled on its own and called by name: recursive ones and large ones.

    ``function`` is its specialised IR once that is known; ``result`` the type it returns;
    ``findings`` what in it cannot be compiled, which every call reports. ``written`` are the
    positions of the parameters that it writes into: it returns what becomes of them after its
    result, of the types ``finals``. ``gives`` says what the result shares storage with: ``fresh``
    nothing, ``may`` is not known, a number is the position of the parameter that it is.
    ``given`` says that it is given to another function, or run again in a sweep (``again``: then it
    saves nothing); ``lifted`` is the data of modules and cells that it is passed instead of
    reading it.
    """

    name: str
    key: Any
    function: Function | None = None
    result: t.Type = t.BOTTOM
    recursive: bool = False
    findings: list[Finding] = field(default_factory=list)
    written: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()
    finals: dict[int, t.Type] = field(default_factory=dict)
    gives: str | int = "fresh"
    given: bool = False
    again: bool = False
    lifted: list[tuple[Var, Rhs]] = field(default_factory=list)

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def reads_data(self) -> bool:
        """Whether it still reads data of modules or cells itself, or in functions it calls."""
        waiting, seen = [self], set()
        while waiting:
            callee = waiting.pop()
            if callee in seen or callee.function is None:
                continue
            seen.add(callee)
            for statement in walk(callee.function.body):
                match statement:
                    case Let(rhs=Global()):
                        return True
                    case Let(rhs=Call(Const(function))) if function is cell_value:
                        return True
                    case Let(rhs=Call(Const(Callee() as inner))):
                        waiting.append(inner)
        return False

    @property
    def primal_name(self) -> str:
        """The name under which the function itself is emitted, where no derivative is wanted."""
        return f"{self.name}_primal"


@dataclass(eq=False)
class Unit:
    """Everything known while one function is compiled.

    Variables are defined once in the whole unit, so facts about them are tables by variable.
    ``root`` is the Python function being compiled, from which paths start.
    ``facts`` maps paths to the values the code was specialised on; ``captured`` lists the data in
    closure cells of the compiled function itself, which become its last parameters, and ``cells``
    those that a function being compiled on its own is passed. ``rule_names``
    maps (module, name) to the values that rules read by name while they were opened;
    ``inside_rules`` holds the functions among them, whose own names are of that kind too.
    ``parts`` maps parameters that are instances to the variables that hold their attributes.
    ``one_shot`` holds values that stand for iterators, which Python runs over only once;
    ``reused`` the variables of the functions being read that may be read more than once.
    ``derive`` compiles a derivative that the code asks for, ``derivatives`` holds those compiled by
    what they were specialised on, ``emitted`` their functions, and which of them are opened.
    ``spared`` holds what a write computes itself. ``if_bound`` has variables of the program that
    hold one known value or none: the code carries True or nothing for them.
    ``detached`` are the variables defined inside ``with no_grad()``, ``detached_writes`` the values
    of outer storage that is written into there.
    ``merges`` are the places where a variable is one of two arrays; at those in ``chosen`` it is
    kept apart which. ``attempts`` are the ``try`` statements of which it matters how far they came;
    those in ``chosen`` are specialised in parts. ``in_place`` holds the values of arrays that an
    operation of NumPy writes which may raise when it has. ``copied_for_writes`` holds the copies
    that spare the caller's arrays; ``relies_on_layout`` says that some reshape is taken for a view.
    ``written_inside`` says that some store writes into what a container holds; ``taken_out`` tells
    in which container an object was before its place was given to another one, ``popped`` holds
    those that a method has removed; ``stored_copies``
    maps copies that containers got to what they are copies of; ``rearranged`` tells what lists are
    made of, objects and (if True) the items of others, that are written as sums of parts.
    ``typed_calls`` keeps what calls give for arguments of one kind.
    ``deferred`` says that the sweep runs some time after the forward pass. ``replacing`` counts the
    calls around for which a replacement is being opened, ``nested`` the derivatives around of which
    the code will be compiled again.
    """

    root: Any = None
    types: dict[Var, t.Type] = field(default_factory=dict)
    defs: dict[Var, Rhs] = field(default_factory=dict)
    shapes: dict[Var, ShapeClass] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    facts: dict[Path, Any] = field(default_factory=dict)
    paths: dict[int, Path] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    captured: dict[str, Var] = field(default_factory=dict)
    cells: dict[str, Atom] = field(default_factory=dict)
    callees: dict[Any, Callee] = field(default_factory=dict)
    active_calls: list[Any] = field(default_factory=list)
    call_sites: list[Origin] = field(default_factory=list)
    lost: set[Atom] = field(default_factory=set)
    opaque: dict[Any, Finding] = field(default_factory=dict)
    harmless: set[Any] = field(default_factory=set)
    rules_used: dict[Rule, None] = field(default_factory=dict)
    rule_names: dict[tuple[str, str], Any] = field(default_factory=dict)
    inside_rules: set[Any] = field(default_factory=set)
    sources: dict[str, str] = field(default_factory=dict)
    unsure: set[Atom] = field(default_factory=lambda: {UNDEF})
    merged: set[Var] = field(default_factory=set)
    spared: set[Atom] = field(default_factory=set)
    if_bound: dict[Atom, Const] = field(default_factory=dict)
    names: dict[Var, str] = field(default_factory=dict)
    opened: dict[Atom, int] = field(default_factory=dict)
    anonymous: set[Var] = field(default_factory=set)
    one_shot: set[Atom] = field(default_factory=set)
    reused: set[Var] = field(default_factory=set)
    hints: dict[Var, str] = field(default_factory=dict)
    trial: int = 0
    replacing: int = 0
    nested: int = 0
    loops: int = 0
    noted: dict[Var, t.Type] = field(default_factory=dict)
    global_stores: dict[tuple[int, str], list[tuple[Atom, Origin]]] = field(default_factory=dict)
    global_reads: dict[Var, tuple[int, str]] = field(default_factory=dict)
    global_constants: dict[tuple[int, str], Any] = field(default_factory=dict)
    generators: dict[Var, int | None] = field(default_factory=dict)
    evidence: set[Var] = field(default_factory=set)
    loops_seen: dict[Any, Any] = field(default_factory=dict)
    loop_types: dict[Any, list[t.Type]] = field(default_factory=dict)
    reshaped: dict[Any, set[int]] = field(default_factory=dict)
    equal_shapes: dict[ShapeClass, ShapeClass] = field(default_factory=dict)
    parts: dict[Var, dict[str, Atom]] = field(default_factory=dict)
    strict_primal: bool = False
    debug: bool = False
    detached: set[Var] = field(default_factory=set)
    written_inside: bool = False
    taken_out: dict[Var, Var] = field(default_factory=dict)
    popped: set[Var] = field(default_factory=set)
    stored_copies: dict[Var, Var] = field(default_factory=dict)
    rearranged: dict[Var, tuple[tuple[Atom, bool], ...]] = field(default_factory=dict)
    detached_writes: list[tuple[Atom, Origin]] = field(default_factory=list)
    assume_equal_shapes: bool = True
    deferred: bool = False
    merges: set[Any] = field(default_factory=set)
    attempts: set[Any] = field(default_factory=set)
    in_place: set[Var] = field(default_factory=set)
    of_many_types: set[Var] = field(default_factory=set)
    chosen: frozenset[Any] = frozenset()
    copied_for_writes: set[Var] = field(default_factory=set)
    relies_on_layout: bool = False
    derive: Callable[..., Atom] | None = None
    derivatives: dict[Any, Any] = field(default_factory=dict)
    emitted: dict[Any, bool] = field(default_factory=dict)
    typed_calls: dict[Any, tuple[Any, t.Type]] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget.from_environment)

    def type(self, atom: Atom) -> t.Type:
        """Return what is known of the value of ``atom``."""
        if isinstance(atom, Const):
            return t.BOTTOM if atom is UNDEF else type_of_static(atom.value)
        return self.types.get(atom, t.UNKNOWN)

    def definition(self, atom: Atom) -> Rhs | None:
        """Return the right-hand side that defines ``atom``, if it is known."""
        return self.defs.get(atom) if isinstance(atom, Var) else None

    def static(self, value: Any, path: Path | None) -> Const:
        """Return the constant for a value found at ``path``, and record that it was relied on."""
        if path is not None:
            self.facts[path] = value
            if id(value) not in self.paths:
                self.paths[id(value)] = path
                self.kept.append(value)
        return Const(value)

    @staticmethod
    def module(name: str) -> Any:
        """Return an imported module."""
        return sys.modules[name]

    def path_of(self, function: Any) -> Path | None:
        """Return how a function is reached; None inside rules, whose names readers do not know."""
        path = self.paths.get(id(function))
        if path is None and not self.is_inside_rules(function):
            path = (("live", function),)
            self.static(function, path)
        return path

    def is_inside_rules(self, function: Any) -> bool:
        """Say whether a function belongs to a rule or to the compiler."""
        module = getattr(function, "__module__", None) or ""
        return function in self.inside_rules or module.startswith("adcompiler.")

    def read_in_rule(self, module: str, name: str, value: Any) -> None:
        """Record that a rule being opened reads a name of its module."""
        if module:
            self.rule_names[module, name] = value
        if isinstance(value, FunctionType):
            self.inside_rules.add(value)

    def shape_class(self, atom: Atom) -> ShapeClass:
        """Return the shape class of a number or array."""
        type_ = self.type(atom)
        if not isinstance(type_, t.Array) or type_.ndim == 0:
            return SCALAR_SHAPE
        if not isinstance(atom, Var):
            return ("const", atom)
        return self.canonical(self.shapes.get(atom, ("of", atom)))

    def canonical(self, shape: ShapeClass) -> ShapeClass:
        """Return the representative of the shape classes that were checked to be equal."""
        if not self.equal_shapes or not isinstance(shape, tuple) or not shape:
            return shape
        while shape in self.equal_shapes:
            shape = self.equal_shapes[shape]
        if shape[0] in DERIVED:
            return (shape[0], self.canonical(shape[1]), *shape[2:])
        if shape[0] == "broadcast":
            parts = frozenset(map(self.canonical, shape[1]))
            return next(iter(parts)) if len(parts) == 1 else ("broadcast", parts)
        return shape

    def made_equal(self, shape: ShapeClass, representative: ShapeClass) -> bool:
        """Let a shape class stand for one that was checked to be equal, unless it is part of it."""
        if self.leads_to(representative, shape):
            return False
        self.equal_shapes[shape] = representative
        return True

    def leads_to(self, shape: ShapeClass, goal: ShapeClass) -> bool:
        """Return whether finding the representative of a class comes across another class."""
        if shape == goal:
            return True
        following = list(parts_of(shape))
        if shape in self.equal_shapes:
            following.append(self.equal_shapes[shape])
        return any(self.leads_to(other, goal) for other in following)

    def record(self, var: Var, rhs: Rhs, type_: t.Type) -> None:
        """Enter a new variable into the tables."""
        self.types[var] = type_
        self.defs[var] = rhs
        if isinstance(type_, t.Array):
            found = self._shape_of(rhs)
            if found is not None:
                self.shapes[var] = found

    def _shape_of(self, rhs: Rhs) -> ShapeClass | None:
        if isinstance(rhs, Item):
            return self.window(rhs) or self.gathered(rhs)
        if isinstance(rhs, Update):
            return self.shape_class(rhs.obj)
        if isinstance(rhs, Call) and isinstance(made := self.definition(rhs.func), Attribute) and (
            made.name in ("copy", "astype") and isinstance(self.type(made.obj), t.Array)
        ):
            return self.shape_class(made.obj)
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
            return None
        function = REGISTRY.resolve(rhs.func.value)
        args = [arg for arg in rhs.args if not isinstance(arg, Star)]
        if not hashable(function):
            return None
        if function in KEEPDIMS and args:
            return self.reduced(args, dict(rhs.kwargs))
        if function is np.arange and len(args) == 1:
            size = self.definition(args[0])
            if isinstance(size, Attribute) and size.name == "size" and getattr(
                self.type(size.obj), "ndim", 0
            ) == 1:
                return self.shape_class(size.obj)
        if function is np.expand_dims and len(args) == 2 and isinstance(args[1], Const):
            return self.restored(self.shape_class(args[0]), args[1].value)
        if function is np.broadcast_to and len(args) == 2 and not rhs.kwargs:
            shape = self.definition(args[1])
            if isinstance(shape, Attribute) and shape.name == "shape":
                return self.shape_class(shape.obj)
        if rhs.kwargs:
            return None
        if function in LIKE_FIRST and (len(args) == 1 or function is np.full_like):
            return self.shape_class(args[0])
        if is_elementwise(function):
            return self.broadcast_class(args)
        return None

    def reduced(self, args: list[Any], kwargs: dict[str | None, Atom]) -> ShapeClass | None:
        """Return the shape class of a reduction that keeps its axes, with extent 1."""
        keep = kwargs.get("keepdims", Const(False))
        axis = kwargs.get("axis", args[1] if len(args) > 1 else None)
        if not isinstance(keep, Const) or not isinstance(axis, Const):
            return None
        type_ = self.type(args[0])
        axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
        if not isinstance(type_, t.Array) or not all(type(a) is int for a in axes):
            return None
        where = tuple(sorted(a % type_.ndim for a in axes))
        if keep.value is not True and where == tuple(range(len(where))):
            return ("suffix", self.shape_class(args[0]), len(where))
        kind = "reduced" if keep.value is True else "dropped"
        return (kind, self.shape_class(args[0]), where)

    @staticmethod
    def restored(shape: ShapeClass, axis: Any) -> ShapeClass | None:
        """Return the shape class of a reduction whose dropped axis is put back."""
        if shape[:1] == ("dropped",) and shape[2] == (axis,):
            return ("reduced", *shape[1:])
        if shape[:1] == ("suffix",) and shape[2] == 1 and axis == 0:
            return ("reduced", shape[1], (0,))
        return None

    def same_shape_operand(self, atom: Var, type_: t.Type | None = None) -> Var | None:
        """Return an operand of the expression for ``atom`` that has its shape (and ``type_``)."""
        made = self.definition(atom)
        if made is None or not isinstance(self.type(atom), t.Array):
            return None
        shape = self.shape_class(atom)
        found = list(operands(made))
        if isinstance(made, Item):
            found += self.elements(made.index) or ()
        for operand in found:
            if isinstance(operand, Var) and isinstance(self.type(operand), t.Array) and (
                type_ in (None, self.type(operand)) and self.shape_class(operand) == shape
            ):
                return operand
        return None

    def shape_source(self, atom: Var) -> Var:
        """Return the first value that ``atom`` is known, by now, to have its shape from."""
        while (closer := self.same_shape_operand(atom)) is not None:
            atom = closer
        return atom

    def gathered(self, rhs: Item) -> ShapeClass | None:
        """Return the shape class of elements picked by one index array for each axis."""
        parts = self.elements(rhs.index)
        type_ = self.type(rhs.obj)
        if parts is None or not isinstance(type_, t.Array) or len(parts) != type_.ndim:
            return None
        kinds = [self.type(part) for part in parts]
        if all(isinstance(k, t.Array) and k.kind == "int" for k in kinds):
            return self.broadcast_class(list(parts))
        return None

    def window(self, rhs: Item) -> ShapeClass | None:
        """Return the shape class of a part of an array cut out by constant subscripts.

        ``x[1:]`` and ``x[:-1]`` have one shape, whatever the extent of x: it is the number of
        elements left away that counts.
        """
        type_ = self.type(rhs.obj)
        if not isinstance(rhs.index, Const) or not isinstance(type_, t.Array):
            return None
        value = rhs.index.value
        parts = value if isinstance(value, tuple) else (value,)
        if None in parts and all(p is None or p == slice(None) for p in parts):
            base = self.shape_class(rhs.obj)
            found = self.restored(base, parts.index(None)) if parts.count(None) == 1 else None
            return found or ("widened", base, tuple(p is None for p in parts))
        left: list[int | None] = []
        for part in parts:
            away = left_away(part)
            if away is None:
                return None
            left.append(None if away < 0 else away)
        left += [0] * (type_.ndim - len(left))
        base = self.shape_class(rhs.obj)
        return base if not any(n is None or n for n in left) else ("window", base, tuple(left))

    def broadcast_class(self, atoms: list[Any]) -> ShapeClass | None:
        """Return the shape class of an elementwise result of ``atoms``."""
        classes: set[ShapeClass] = set()
        for atom in atoms:
            if not isinstance(self.type(atom), (t.Array, t.Scalar)):
                return None
            shape = self.shape_class(atom)
            if isinstance(shape, tuple) and shape[:1] == ("broadcast",):
                classes |= shape[1]
            elif shape != SCALAR_SHAPE:
                classes.add(shape)
        for shape in list(classes):
            if shape[:1] in (("reduced",), ("suffix",)) and shape[1] in classes:
                classes.discard(shape)  # stretched to what it was reduced from, or ends
        if len(classes) == 1:
            return classes.pop()
        return ("broadcast", frozenset(classes)) if classes else None

    def elements(self, atom: Atom) -> tuple[Atom, ...] | None:
        """Return the atoms a tuple or list was made of, if they are known."""
        rhs = self.definition(atom)
        if isinstance(rhs, Pack) and rhs.kind in ("tuple", "list"):
            if not any(isinstance(item, Star) for item in rhs.items):
                return tuple(unstar(item) for item in rhs.items)
        elif isinstance(rhs, Call) and isinstance(rhs.func, Const) and isinstance(
            type_ := self.type(atom), t.Tuple
        ) and rhs.func.value is type_.cls and keeps_its_arguments(rhs, type_):
            return tuple(unstar(item) for item in rhs.args)
        elif isinstance(atom, Const) and type(atom.value) in (tuple, list):
            return tuple(Const(item) for item in atom.value)
        return None

    def fields(self, atom: Atom) -> dict[str, Atom] | None:
        """Return the atoms of the attributes that an instance was made with, if they are known."""
        if isinstance(atom, Var) and atom in self.parts:
            return self.parts[atom]
        rhs = self.definition(atom)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is record:
            return {key: value for key, value in rhs.kwargs if key is not None}
        return None


def parts_of(shape: ShapeClass) -> Iterable[ShapeClass]:
    """Return the shape classes that a class is made of."""
    if shape[:1] == ("broadcast",):
        return frozenset(shape[1])
    return (shape[1],) if shape[:1] and shape[0] in DERIVED else ()


def left_away(part: Any) -> int | None:
    """Return how many elements a constant subscript leaves away, -1 for an int, else None."""
    if type(part) is int:
        return -1
    if not isinstance(part, slice) or part.step not in (None, 1):
        return None
    start, stop = part.start or 0, part.stop or 0
    if type(start) is not int or type(stop) is not int or start < 0 or stop > 0:
        return None
    return None if part.stop == 0 else start - stop


ELEMENTWISE: frozenset[Callable[..., Any]] = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.neg, operator.pos, operator.abs, abs, operator.iadd, operator.isub,
    operator.imul, operator.itruediv, operator.eq, operator.ne, operator.lt, operator.le,
    operator.gt, operator.ge, operator.and_, operator.or_, operator.xor, operator.invert, np.where,
    np.clip,
})
"""Functions whose array result has the broadcast shape of their arguments."""

KEEPDIMS: frozenset[Callable[..., Any]] = frozenset({
    np.sum, np.max, np.min, np.mean, np.prod, np.std, np.var,
})
"""Reductions that take ``axis`` and ``keepdims``."""

LIKE_FIRST: frozenset[Callable[..., Any]] = frozenset({
    np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy, np.ndarray.copy,
    np.ndarray.astype, np.conj, np.real, np.imag, np.nan_to_num,
})
"""Functions whose array result has the shape of their first argument, when called with one only."""


def is_elementwise(function: Any) -> bool:
    """Say whether a function's array result has the broadcast shape of its arguments."""
    if isinstance(function, np.ufunc):
        return function.signature is None and function.nout == 1
    if function in ELEMENTWISE:
        return True
    rule = REGISTRY.find(function)
    return rule is not None and rule.elementwise
