"""IR as text, for people: ``adcompiler dump --stage`` and debugging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Format, Free, Function, Global, If, Item, Let,
    Loop, Pack, Raise, Slice, Star, Statement, Step, Unsupported, Update, Var,
)


class Printer:
    """Writes IR with a number behind each variable; ``types`` adds what is known of them."""

    def __init__(self, types: Mapping[Var, Any] | None = None) -> None:
        self.types = types
        self.numbers: dict[Var, int] = {}

    def function(self, function: Function) -> str:
        """Return the text of a function."""
        params = ", ".join(self.target(param.var) for param in function.params)
        return "\n".join([f"def {function.name}({params}):", *self.block(function.body, 1)])

    def var(self, var: Var) -> str:
        return f"{var.name}.{self.numbers.setdefault(var, len(self.numbers))}"

    def target(self, var: Var) -> str:
        known = self.types.get(var) if self.types is not None else None
        return self.var(var) if known is None else f"{self.var(var)}: {known}"

    def atom(self, atom: Any) -> str:
        if isinstance(atom, Star):
            return "*" + self.atom(atom.atom)
        if isinstance(atom, Const):
            value = atom.value
            name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
            return repr(atom.value) if name is None else f"<{name}>"
        return self.var(atom)

    def atoms(self, atoms: tuple[Atom | Star, ...]) -> str:
        return ", ".join(map(self.atom, atoms))

    def rhs(self, rhs: Any) -> str:
        match rhs:
            case Call(func, args, kwargs):
                named = [f"{key or '**'}={self.atom(value)}" for key, value in kwargs]
                return f"{self.atom(func)}({', '.join([*map(self.atom, args), *named])})"
            case Pack(kind, items, keys):
                head = f"{kind}[{self.atoms(tuple(k for k in keys if k))}]" if keys else kind
                return f"{head}({self.atoms(items)})"
            case Item(obj, index):
                return f"{self.atom(obj)}[{self.atom(index)}]"
            case Slice(lower, upper, step):
                return f"slice({self.atoms((lower, upper, step))})"
            case Attribute(obj, name):
                return f"{self.atom(obj)}.{name}"
            case Update(obj, steps, value, adds):
                place = "".join(map(self.step, steps))
                return f"{self.atom(obj)} with {place} {'+=' if adds else '='} {self.atom(value)}"
            case Closure(function, captures, _):
                return f"closure {function.name}({self.atoms(captures)})"
            case Free(name):
                return f"free {name}"
            case Global(module, path):
                return f"global {module}.{path}"
            case Format(parts):
                inner = ", ".join(p if isinstance(p, str) else self.atom(p[0]) for p in parts)
                return f"format({inner})"
        return repr(rhs)

    def step(self, step: Step) -> str:
        match step.kind:
            case "item":
                return f"[{self.atom(step.args[0])}]"
            case "attr":
                return f".{step.name}"
        named = [f"{key}={self.atom(value)}" for key, value in step.kwargs]
        return f".{step.name}({', '.join([*map(self.atom, step.args), *named])})"

    def block(self, block: Block, depth: int) -> list[str]:
        rows = [row for s in block.statements for row in self.statement(s, depth)]
        end = "diverges" if block.diverges else f"yield {self.atoms(block.yields)}"
        return [*rows, "    " * depth + end]

    def statement(self, statement: Statement, depth: int) -> list[str]:
        pad = "    " * depth
        match statement:
            case Let(target, rhs, _):
                return [f"{pad}{self.target(target)} = {self.rhs(rhs)}"]
            case Do(rhs, _):
                return [f"{pad}do {self.rhs(rhs)}"]
            case Raise(exception, cause, _):
                return [f"{pad}raise {self.atoms((exception, cause))}"]
            case Unsupported(finding):
                return [f"{pad}unsupported: {finding.problem}"]
            case If(condition, then, orelse, results, _):
                head = ", ".join(map(self.target, results))
                return [
                    f"{pad}{head} = if {self.atom(condition)}:", *self.block(then, depth + 1),
                    f"{pad}else:", *self.block(orelse, depth + 1),
                ]
            case Loop():
                return self.loop(statement, depth)
        return []

    def loop(self, node: Loop, depth: int) -> list[str]:
        pad = "    " * depth
        head = ", ".join(map(self.target, (*node.results, *node.collects)))
        pairs = zip(node.params, node.inits, strict=True)
        carried = ", ".join(f"{self.target(p)} = {self.atom(i)}" for p, i in pairs)
        rows = [f"{pad}{head} = loop ({carried}){' stops' if node.stops else ''}:"]
        if node.condition is None:
            items = ", ".join(map(self.target, node.items))
            rows.append(f"{pad}  for {items} in {self.atoms(node.iterables)}")
        else:
            rows += [f"{pad}  while", *self.block(node.condition, depth + 2)]
        return [*rows, *self.block(node.body, depth + 1)]
