"""Reads IR as it is printed, with ``<math.sin>`` for constants that are functions.

Variables are told apart by their names. A type may stand behind a variable that is defined,
``y: float64[:] = ...``; other types are those of the values with which the function is run.
A ``~`` at the end of a line marks a statement of the reverse sweep.
"""

from __future__ import annotations

import ast
import pydoc
import re
from collections.abc import Iterator
from typing import Any

from adcompiler.dispatch.annotations import parse_type, split_top
from tests.evaluation.evaluate import Evaluator, Watch
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Attribute, Block, Call, Const, Do, Function, If, Item, Let, Loop, Origin,
    Pack, Param, Raise, Slice, Statement, Step, Update, Var,
)
from adcompiler.ir.printer import Printer
from adcompiler.ops.qualified_names import display_name
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import type_of

CONSTANT = re.compile(r"<([\w.]+)>")
TARGET = re.compile(r"(\w+)(?:: ([^=]+?))?\s*$")
WRITE = re.compile(r"(\w+) with (.+?) (\+?=) (.+)$")


class Reader:
    """Reads one function; ``types`` are those that are written."""

    def __init__(self, text: str) -> None:
        self.rows = [(i + 1, row) for i, row in enumerate(text.splitlines()) if row.strip()]
        self.at = 0
        self.vars: dict[str, Var] = {}
        self.types: dict[Var, Any] = {}
        self.constants: list[Any] = []

    def function(self) -> Function:
        """Return the function."""
        _, head = self.next()
        name, params = re.fullmatch(r"def (\w+)\((.*)\):", head.strip()).groups()  # type: ignore[union-attr]
        made = tuple(Param(self.target(p), 1) for p in split_top(params) if p.strip())
        return Function(name, made, self.block(4), Origin("case.py", 1, 0, head))

    # -- rows ----------------------------------------------------------------------------------

    def next(self) -> tuple[int, str]:
        self.at += 1
        return self.rows[self.at - 1]

    def peek(self) -> tuple[int, str]:
        return self.rows[self.at]

    def block(self, depth: int) -> Block:
        """Read a block, up to what it yields."""
        found: list[Statement] = []
        while True:
            line, row = self.next()
            assert len(row) - len(row.lstrip()) == depth, f"line {line}: {row}"
            text = row.strip()
            if text == "diverges":
                return Block(tuple(found), (), True)
            if text == "yield" or text.startswith("yield "):
                return Block(tuple(found), self.atoms(text[5:]))
            origin = Origin("case.py", line, depth, row)
            if text.endswith("~"):
                text, origin = text[:-1].rstrip(), origin.reversed()
            found.append(self.statement(text, depth, origin))

    def statement(self, text: str, depth: int, origin: Origin) -> Statement:
        if text.startswith("do "):
            return Do(self.rhs(text[3:]), origin)
        if text.startswith("raise "):
            exception, cause = self.atoms(text[6:])
            return Raise(exception, cause, origin)
        head, _, rest = text.partition(" = ")
        if rest.startswith("if "):
            condition = self.atom(rest[3:].rstrip(":"))
            then = self.block(depth + 4)
            assert self.next()[1].strip() == "else:"
            orelse = self.block(depth + 4)
            return If(condition, then, orelse, self.targets(head), origin)
        if rest.startswith("loop ("):
            return self.loop(head, rest, depth, origin)
        rhs = self.rhs(rest)
        return Let(self.target(head), rhs, origin)

    def loop(self, head: str, rest: str, depth: int, origin: Origin) -> Loop:
        inside, end = re.fullmatch(r"loop \((.*)\)( stops)?:", rest).groups()  # type: ignore[union-attr]
        pairs = [pair.split(" = ") for pair in split_top(inside) if pair.strip()]
        inits = tuple(self.atom(init) for _, init in pairs)
        params = tuple(self.target(param) for param, _ in pairs)
        _, row = self.next()
        condition, items, iterables = None, (), ()
        if row.strip() == "while":
            condition = self.block(depth + 8)
        else:
            names, _, over = row.strip().removeprefix("for ").partition(" in ")
            iterables, items = self.atoms(over), self.targets(names)  # type: ignore[assignment]
        body = self.block(depth + 4)
        results = self.targets(head)
        return Loop(
            items, iterables, condition, params, inits, body, results[: len(params)], origin,
            results[len(params) :], bool(end),
        )

    # -- names and values ------------------------------------------------------------------------

    def target(self, text: str) -> Var:
        name, type_ = TARGET.match(text.strip()).groups()  # type: ignore[union-attr]
        var = self.vars[name] = Var(name)
        if type_ is not None:
            self.types[var] = parse_type(type_)
        return var

    def targets(self, text: str) -> tuple[Var, ...]:
        return tuple(self.target(part) for part in split_top(text) if part.strip())

    def atoms(self, text: str) -> tuple[Atom, ...]:
        return tuple(self.atom(part) for part in split_top(text) if part.strip())

    def atom(self, text: str) -> Atom:
        return self.read(self.parsed(text))

    def parsed(self, text: str) -> Any:
        def named(match: re.Match[str]) -> str:
            value = pydoc.locate(match[1])
            assert value is not None, match[1]
            self.constants.append(value)
            return f"constant_{len(self.constants) - 1}"

        return ast.parse(CONSTANT.sub(named, text.strip()), mode="eval").body

    def read(self, node: Any) -> Atom:
        """Return an atom."""
        match node:
            case ast.Name("undefined"):
                return UNDEF
            case ast.Name(name) if name.startswith("constant_"):
                return Const(self.constants[int(name.removeprefix("constant_"))])
            case ast.Name(name):
                return self.vars[name]
            case ast.Constant(None):
                return NONE
        return Const(ast.literal_eval(node))

    def rhs(self, text: str) -> Any:
        """Return a right-hand side."""
        if write := WRITE.match(text):
            steps = tuple(self.steps(write[2]))
            return Update(self.atom(write[1]), steps, self.atom(write[4]), write[3] == "+=")
        match self.parsed(text):
            case ast.Call(ast.Name("tuple" | "list" | "set" as kind), items):
                return Pack(kind, tuple(map(self.read, items)))
            case ast.Call(ast.Name("slice"), parts):
                return Slice(*map(self.read, parts))
            case ast.Call(function, args, keywords):
                named = tuple((k.arg, self.read(k.value)) for k in keywords)
                return Call(self.read(function), tuple(map(self.read, args)), named)
            case ast.Subscript(obj, index):
                return Item(self.read(obj), self.read(index))
            case ast.Attribute(obj, name):
                return Attribute(self.read(obj), name)
        raise AssertionError(f"no right-hand side: {text}")

    def steps(self, text: str) -> Iterator[Step]:
        """Yield the steps ``[i][j]``."""
        for inner in re.findall(r"\[([^\]]*)\]", text):
            yield Step("item", args=(self.atom(inner),))


class Types(Watch):
    """Notes the types of what variables are bound to, where none is written."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def bound(self, var: Var, values: Any) -> None:
        self.unit.types.setdefault(var, type_of(values[var]))


def read(text: str, values: tuple[Any, ...]) -> tuple[Function, Unit]:
    """Return a function, and what is known of it when it is run on these values."""
    reader = Reader(text)
    function = reader.function()
    unit = Unit()
    unit.types.update(reader.types)
    Evaluator(watch=Types(unit)).run(function, *values)
    enter(function.body, unit)
    return function, unit


def enter(block: Block, unit: Unit) -> None:
    """Enter the definitions of a block."""
    for statement in block.statements:
        if isinstance(statement, Let):
            unit.record(statement.target, statement.rhs, unit.type(statement.target))
        for inner in getattr(statement, "blocks", tuple)():
            enter(inner, unit)


class Names(Printer):
    """Prints IR as it is read: a number only where a name is taken already."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[Var, str] = {}

    def var(self, var: Var) -> str:
        if var not in self.names:
            name, number = var.name, 2
            while name in self.names.values():
                name, number = f"{var.name}_{number}", number + 1
            self.names[var] = name
        return self.names[var]

    def atom(self, atom: Any) -> str:
        if isinstance(atom, Const) and callable(atom.value):
            return f"<{display_name(atom.value)}>"
        return super().atom(atom)
