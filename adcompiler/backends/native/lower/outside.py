"""What functions read of modules, classes and closures: loops are given it, as arguments are.

It may be another value at each call, so that it is no part of the code: a function of the module
reads it, once a call, and nothing that loops do can change it. Dispatch tests the types before.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adcompiler.backends.native.loops import ARRAYS, KINDS, SINGLE
from adcompiler.backends.native.lower.host_calls import clashing, is_named
from adcompiler.backends.native.lower.parameters import is_exact
from adcompiler.backends.native.values import Declined
from adcompiler.backends.python.module import emit_module
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Attribute, Block, Call, Const, Do, Function, Global, Item, Let, Param, Rhs, Var, unstar,
)
from adcompiler.ir.visit import substitute_block, used, walk, with_blocks
from adcompiler.products.product import Product
from adcompiler.runtime import cell_value, give_back
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.runtime.records import is_record_class
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit

CONSTANTS = ("math", "numpy")
"""Modules of which the numbers are the same for good."""
NAMES = "__globals__"
BY_POSITION = 1


@dataclass(frozen=True)
class Outside:
    """Functions whose first one has parameters for what is outside of them, called ``names``.

    ``text`` is that of the function ``reader``, which returns their values; there is none if
    nothing is read. It may have a function ``again`` too, the first one as Python runs it with
    values that were read before.
    """

    functions: tuple[Function, ...]
    names: tuple[str, ...] = ()
    reader: str = ""
    text: str = ""
    again: str = ""

    def without(self, names: Sequence[str]) -> list[str]:
        """Return names of parameters without those for what is outside."""
        return [name for name in names if name not in self.names]

    @property
    def line(self) -> str:
        """The line of a function that reads them."""
        return f"    {', '.join(self.names)} = {self.reader}()\n" if self.names else ""


def given_outside(
    functions: Sequence[Function], unit: Unit, text: str, tangents: int = 0,
    is_first: bool = False,
) -> Outside:
    """Return functions of which the first one is given what they read outside of them.

    It comes before the ``tangents``, the last parameters. With ``is_first`` others run later, and
    the first one may have to run again for them. Raises Declined if what is outside is written
    into, or not found by a name.
    """
    reads = Reads(unit, functions)
    if not reads.found:
        return Outside(tuple(functions))
    main = functions[0]
    if is_first and Reads(unit, functions[1:]).found:
        raise Declined("a global is read by a function that is compiled apart", main.origin)
    names = {param.var.name for one in functions for param in one.params}
    params = []
    for var in reads.found:
        name = var.name
        while name in names or name == main.name:
            name += "_"
        names.add(name)
        given = Var(name)
        unit.set_type(given, unit.type(var), True)
        reads.same.update({one: given for one, first in reads.same.items() if first is var})
        params.append(Param(given, BY_POSITION))
    count = len(main.params) - tangents
    given_to = (*main.params[:count], *params, *main.params[count:])
    changed = [replace(one, body=reads.without(one.body)) for one in functions]
    changed[0] = replace(changed[0], params=given_to)
    reader = f"{main.name}_outside"
    made = Function(reader, (), Block(tuple(reads.statements), tuple(reads.found)), main.origin)
    docs = {reader: "Return what the loops read outside of the function."}
    written_again = []
    if is_first:
        again = f"{main.name}_again"
        written_again = [replace(changed[0], name=again)]
        docs[again] = f"Return what `{main.name}` returns, given what it reads outside."
    written, bound = emit_module(Product([made, *written_again], docs), unit)
    if not is_named(unit, bound) or clashing(written, text):
        raise Declined("what is read outside of the function has no name", main.origin)
    given_names = tuple(param.var.name for param in params)
    return Outside(
        tuple(changed), given_names, reader, f"{written.rstrip()}\n\n\n",
        written_again[0].name if written_again else "")


class Reads:
    """The statements of functions that read data outside of them, each once.

    ``found`` are their variables, ``same`` tells of variables which of these they are.
    """

    def __init__(self, unit: Unit, functions: Sequence[Function]) -> None:
        self.unit = unit
        self.statements: list[Let] = []
        self.found: list[Var] = []
        self.same: dict[Var, Var] = {}
        self.first: dict[Any, Var] = {}
        self.spaces: dict[Var, Let] = {}
        for function in functions:
            read = used(function.body)
            for statement in walk(function.body):
                if isinstance(statement, Let) and statement.target in read:
                    self.note(statement)
        for function in functions:
            self.check(function)

    def note(self, statement: Let) -> None:
        """Note a statement that reads data outside of the function."""
        rhs = statement.rhs
        if isinstance(rhs, Attribute) and rhs.name == NAMES and isinstance(rhs.obj, Const):
            self.spaces[statement.target] = statement
            return
        key = self.key_of(rhs)
        if key is None or not is_data(self.unit.type(statement.target)):
            return
        if key not in self.first:
            self.first[key] = statement.target
            self.found.append(statement.target)
            if isinstance(rhs, Item):
                space = self.spaces[rhs.obj]  # type: ignore[index]
                self.statements += [] if space in self.statements else [space]
            self.statements.append(statement)
        self.same[statement.target] = self.first[key]

    def key_of(self, rhs: Rhs) -> Any:
        """Return what tells one place outside of the function from others; None for no such."""
        match rhs:
            case Global(module) if module not in CONSTANTS:
                return rhs
            case Attribute(Const(owner), name) if is_plain(owner, name):
                return "attribute", id(owner), name
            case Call(Const(function), (Const(owner), Const(index)), ()) if function is cell_value:
                return "cell", id(owner), index
            case Item(Var() as space, Const(name)) if space in self.spaces:
                owner = self.spaces[space].rhs.obj.value  # type: ignore[union-attr]
                return "global", id(owner.__globals__), name
        return None

    def check(self, function: Function) -> None:
        """Refuse functions that write into what is outside of them."""
        for statement in walk(function.body):
            match statement:
                case Do(Call(Const(called), args)) if called is give_back and any(
                    unstar(arg) in self.same for arg in args[:1]
                ):
                    raise Declined(
                        "what is outside of the function is written into", function.origin)

    def without(self, block: Block) -> Block:
        """Return a block that has variables in place of what it read outside."""
        return self.dropped_from(substitute_block(block, self.same))

    def dropped_from(self, block: Block) -> Block:
        """Return a block without the statements that read outside."""
        kept = tuple(
            with_blocks(one, self.dropped_from) for one in block.statements
            if not (isinstance(one, Let) and (
                one.target in self.same or one.target in self.spaces)))
        return replace(block, statements=kept)


@unless_it_raises(False)
def is_plain(owner: Any, name: str) -> bool:
    """Say whether an attribute of a class is what lies there: reading it runs no code."""
    return isinstance(owner, type) and inspect.getattr_static(owner, name) is getattr(owner, name)


def is_data(type_: t.Type) -> bool:
    """Say whether loops take a value of a type as an argument."""
    match type_:
        case t.Scalar(kind, dtype, ()):
            return kind in KINDS and dtype in (None, KINDS[kind], SINGLE)
        case t.Array(dtype, ndim):
            return dtype in ARRAYS and bool(ndim)
        case t.Tuple(items, cls):
            return cls is tuple and all(map(is_data, items))
        case t.Dict(keys):
            return keys is not None
        case t.Object(cls):
            return is_record_class(cls)
        case t.List(item):
            return is_exact(item)
    return False

