"""The intermediate representation: A-normal form with structured regions.

A ``Function`` holds a ``Block``; a block is a sequence of statements and the atoms it yields.
``Let`` names the value of a right-hand side; each ``Var`` is defined once. ``If`` and ``Loop``
contain blocks and define results from what those yield (see ``regions``): there are no jumps, so
the reverse of a region is again a region of the same kind. Nothing is ever edited in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from adcompiler.errors import Finding
from adcompiler.ir.atoms import NONE, UNDEF, Atom, Const, Origin, Undefined, Var
from adcompiler.ir.regions import Block, Edge, Handler, If, Loop, Region, Try, With
from adcompiler.support.structs import dataclass

__all__ = [
    "NONE", "UNDEF", "Atom", "Attribute", "Block", "Call", "Closure", "Const", "Do", "Edge",
    "Format", "Free", "Function", "Global", "Handler", "If", "Item", "Let", "Loop", "Origin",
    "Pack", "Param", "Raise", "Region", "Rhs", "Slice", "Star", "Statement", "Step", "Try",
    "Undefined", "Unsupported", "Update", "Var", "With", "arguments", "operands", "step_with",
    "substitute",
    "unstar",
]


@dataclass(frozen=True, slots=True)
class Star:
    """An argument or element ``*atom``."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class Call:
    """``func(*args, **kwargs)``; a keyword of None stands for ``**atom``."""

    func: Atom
    args: tuple[Atom | Star, ...]
    kwargs: tuple[tuple[str | None, Atom], ...] = ()


@dataclass(frozen=True, slots=True)
class Pack:
    """A display: kind is ``tuple``, ``list``, ``set`` or ``dict`` (then ``keys`` go with items).

    A dict entry whose key is None stands for ``**item``.
    """

    kind: str
    items: tuple[Atom | Star, ...]
    keys: tuple[Atom | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """``obj[index]``."""

    obj: Atom
    index: Atom


@dataclass(frozen=True, slots=True)
class Slice:
    """``lower:upper:step`` inside a subscript."""

    lower: Atom
    upper: Atom
    step: Atom


@dataclass(frozen=True, slots=True)
class Step:
    """One step from a value to a part of it that shares its storage.

    ``kind`` is ``item`` (a subscript, ``args`` holds the index), ``attr`` (``name``) or ``call``
    (of ``function``, its first argument left out); ``kwargs`` are keyword arguments of calls.
    """

    kind: str
    name: str = ""
    args: tuple[Atom, ...] = ()
    function: Any = None
    kwargs: tuple[tuple[str, Atom], ...] = ()

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms that the step reads."""
        return (*self.args, *(atom for _, atom in self.kwargs))


@dataclass(frozen=True, slots=True)
class Update:
    """``obj`` with the part that ``steps`` lead to replaced by ``value``, or increased by it.

    This is a value like any other: what ``obj`` names does not change. Code is emitted for it as
    a write into the storage of ``obj``, which nothing reads any more by then.
    """

    obj: Atom
    steps: tuple[Step, ...]
    value: Atom
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """``obj.name``."""

    obj: Atom
    name: str


@dataclass(frozen=True, slots=True)
class Closure:
    """A function value made here: ``captures`` bind ``function.captures`` when it is called.

    ``scope`` is the compile-time environment in which its free names are looked up.
    """

    function: Function
    captures: tuple[Atom, ...]
    defaults: tuple[Atom, ...]
    scope: Any = None


@dataclass(frozen=True, slots=True)
class Free:
    """The value of a name that is neither a parameter nor assigned in the function."""

    name: str


@dataclass(frozen=True, slots=True)
class Global:
    """The current value of ``module.path`` (data that the user may change between calls)."""

    module: str
    path: str


@dataclass(frozen=True, slots=True)
class Format:
    """An f-string; parts are texts or ``(atom, conversion, format specification)``."""

    parts: tuple[str | tuple[Atom, int, Atom], ...]


def arguments(call: Call) -> list[Any]:
    """Return the arguments of a call; those that stand for several are ``Star``."""
    return list(call.args)


Rhs = Call | Pack | Item | Slice | Attribute | Closure | Free | Global | Format | Update


@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """``target = rhs``."""

    target: Var
    rhs: Rhs
    origin: Origin


@dataclass(frozen=True, slots=True, eq=False)
class Do:
    """A call made for its effect."""

    rhs: Rhs
    origin: Origin


@dataclass(frozen=True, slots=True, eq=False)
class Raise:
    """``raise exception from cause``; nothing after it in its block runs."""

    exception: Atom
    cause: Atom
    origin: Origin


@dataclass(frozen=True, slots=True, eq=False)
class Unsupported:
    """A form that cannot be compiled; an error if specialisation finds that it can be reached."""

    finding: Finding


Statement = Let | Do | Raise | Unsupported | If | Loop | With | Try


@dataclass(frozen=True, slots=True, eq=False)
class Param:
    """A parameter; ``kind`` is that of ``inspect.Parameter``, as an int."""

    var: Var
    kind: int
    has_default: bool = False


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Function:
    """A function: its body's block yields the value returned.

    ``captures`` are variables of enclosing functions, bound by ``Closure``; ``itself`` is bound to
    the closure being called, for recursion by name.
    """

    name: str
    params: tuple[Param, ...]
    body: Block
    origin: Origin
    captures: tuple[Var, ...] = ()
    itself: Var | None = None
    doc: str = ""
    annotations: Mapping[str, Any] = field(default_factory=dict)


def operands(rhs: Rhs) -> tuple[Atom, ...]:
    """Return the atoms that ``rhs`` reads, in evaluation order."""
    # Asked more often than anything else: calls, which are most of what is asked for, come first.
    if isinstance(rhs, Call):
        args: tuple[Any, ...] = rhs.args
        if Star in map(type, args):
            args = tuple(map(unstar, args))
        if rhs.kwargs:
            return (rhs.func, *args, *(atom for _, atom in rhs.kwargs))
        return (rhs.func, *args)
    of = _OPERANDS.get(type(rhs))
    return () if of is None else of(rhs)


_OPERANDS: dict[type, Callable[[Any], tuple[Atom, ...]]] = {
    Pack: lambda pack: (
        *(key for key in pack.keys if key is not None), *map(unstar, pack.items),
    ),
    Item: lambda item: (item.obj, item.index),
    Slice: lambda part: (part.lower, part.upper, part.step),
    Attribute: lambda attribute: (attribute.obj,),
    Update: lambda update: (
        update.obj, *(atom for step in update.steps for atom in step.atoms), update.value,
    ),
    Closure: lambda closure: (*closure.captures, *closure.defaults),
    Format: lambda text: tuple(
        atom for part in text.parts if not isinstance(part, str) for atom in (part[0], part[2])
    ),
}
"""The atoms of each kind of right-hand side but a call; one without atoms has no entry."""


def substitute(rhs: Rhs, mapping: Mapping[Var, Atom]) -> Rhs:
    """Return ``rhs`` with variables replaced; the same object if none of them occurs."""

    if not mapping or mapping.keys().isdisjoint(operands(rhs)):
        return rhs

    def new(atom: Any) -> Any:
        if isinstance(atom, Star):
            return Star(new(atom.atom))
        return mapping.get(atom, atom)

    match rhs:
        case Call(func, args, kwargs):
            return Call(new(func), tuple(map(new, args)), tuple((k, new(a)) for k, a in kwargs))
        case Pack(kind, items, keys):
            return Pack(kind, tuple(map(new, items)), tuple(map(new, keys)))
        case Item(obj, index):
            return Item(new(obj), new(index))
        case Slice(lower, upper, step):
            return Slice(new(lower), new(upper), new(step))
        case Attribute(obj, name):
            return Attribute(new(obj), name)
        case Update(obj, steps, value, adds):
            return Update(new(obj), tuple(step_with(s, new) for s in steps), new(value), adds)
        case Closure(function, captures, defaults, scope):
            return Closure(function, tuple(map(new, captures)), tuple(map(new, defaults)), scope)
        case Format(parts):
            return Format(tuple(
                part if isinstance(part, str) else (new(part[0]), part[1], new(part[2]))
                for part in parts
            ))
    return rhs


def step_with(step: Step, new: Callable[[Any], Any]) -> Step:
    """Return a step with its atoms replaced."""
    return replace(
        step, args=tuple(map(new, step.args)),
        kwargs=tuple((key, new(atom)) for key, atom in step.kwargs),
    )


def constants(atoms: Sequence[Atom | Star]) -> list[Any] | None:
    """Return the values of constants, None if one is none."""
    found = [atom.value for atom in atoms if isinstance(atom, Const)]
    return found if len(found) == len(atoms) else None


def unstar(argument: Atom | Star) -> Atom:
    """Return the atom of an argument, starred or not."""
    return argument.atom if isinstance(argument, Star) else argument
