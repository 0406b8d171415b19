"""What a mutant changes: operators of cosmic-ray, and five of the same interface.

Each site, a place and a kind of change, is drawn alike, and then one of its replacements. Of
cosmic-ray's replacements those are taken that give code of which the types still agree: a
comparison becomes its neighbour or its contrary, a union an intersection or a difference.
"""

from __future__ import annotations

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cosmic_ray.operators.binary_operator_replacement as binary
import cosmic_ray.operators.boolean_replacer as booleans
import cosmic_ray.operators.comparison_operator_replacement as comparisons
import cosmic_ray.operators.unary_operator_replacement as unary
import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.break_continue import ReplaceBreakWithContinue, ReplaceContinueWithBreak
from cosmic_ray.operators.exception_replacer import ExceptionReplacer
from cosmic_ray.operators.number_replacer import NumberReplacer
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.operators.zero_iteration_for_loop import ZeroIterationForLoop
from parso.python.tree import Keyword

from tests.mutation.places import Places, Position

Change = tuple[tuple[str, str], ...]


class Own(Operator):  # type: ignore[misc]
    """An operator whose mutated nodes are made of text."""

    def spots(self, node: Any) -> list[Any]:
        """The nodes below a node that may be changed."""
        raise NotImplementedError

    def mutation_positions(self, node: Any) -> Iterator[tuple[Position, Position]]:
        """Where a node may be changed."""
        for spot in self.spots(node):
            yield spot.start_pos, spot.end_pos

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """What becomes of what: see ``EXAMPLES``."""
        return tuple(Example(before, after) for before, after in cls.EXAMPLES)

    EXAMPLES: Change = ()


class RemoveStatement(Own):
    """Leaves out what is done for its effect, and names that are bound anew from themselves."""

    EXAMPLES = (("f(x)\n", "pass\n"), ("x = x + y\n", "pass\n"), ("raise E(x)\n", "pass\n"))

    def spots(self, node: Any) -> list[Any]:
        if node.type != "simple_stmt" or not self.effective(node.children[0]):
            return []
        return [node.children[0]]

    @staticmethod
    def effective(node: Any) -> bool:
        """Whether a statement may be missing without a name that nothing else binds."""
        if node.type != "expr_stmt":
            return node.type in ("raise_stmt", "del_stmt", "atom_expr", "await_expr")
        target, how = node.children[0], node.children[1]
        if how.type == "annassign":
            return False
        names = {leaf.value for leaf in ast_nodes(target) if leaf.type == "name"}
        read = {leaf.value for leaf in ast_nodes(node.children[-1]) if leaf.type == "name"}
        return str(how.get_code()).strip() != "=" or target.type == "atom_expr" or names <= read

    def mutate(self, node: Any, index: int) -> Any:
        gone = node.children[0]
        node.children[0] = Keyword("pass", gone.start_pos, gone.get_first_leaf().prefix)
        return node


class ReturnNone(Own):
    """Gives None for what a function gives, where that is not what None is taken for."""

    EXAMPLES = (("def f():\n    return x", "def f():\n    return None"),)

    def spots(self, node: Any) -> list[Any]:
        if node.type != "return_stmt" or len(node.children) < 2:
            return []
        return [] if node.children[1].get_code().strip() in ("None", "False") else [node]

    def mutate(self, node: Any, index: int) -> Any:
        node.children[1] = Keyword("None", node.children[1].start_pos, " ")
        return node


def given(node: Any) -> list[Any]:
    """The arguments of a call, if it is one with several that may stand in another order."""
    if node.type != "arglist" or node.parent.type != "trailer":
        return []
    if node.parent.get_previous_leaf().value in ("isinstance", "map"):
        return []
    return [child for child in node.children if child.type != "operator"]


class SwapArguments(Own):
    """Gives two neighbouring arguments in the other order."""

    EXAMPLES = (("f(x, y)", "f( y,x)"),)

    def spots(self, node: Any) -> list[Any]:
        plain = [arg.type != "argument" for arg in given(node)]
        return [a for (a, b), (first, second) in zip(
            itertools.pairwise(given(node)), itertools.pairwise(plain), strict=True)
            if first and second and a.get_code().strip() != b.get_code().strip()]

    def mutate(self, node: Any, index: int) -> Any:
        i = node.children.index(self.spots(node)[index])
        node.children[i], node.children[i + 2] = node.children[i + 2], node.children[i]
        return node


class RemoveKeyword(Own):
    """Leaves an argument that is given by name to its default."""

    EXAMPLES = (("f(x, y=z)", "f(x)"),)

    def spots(self, node: Any) -> list[Any]:
        return [arg for arg in given(node)[1:]
                if arg.type == "argument" and arg.children[1].type == "operator"
                and arg.children[1].value == "="]

    def mutate(self, node: Any, index: int) -> Any:
        i = node.children.index(self.spots(node)[index])
        del node.children[i - 1 : i + 1]
        return node


CONTRARY = {"in": " not in", "not in": " in"}


class SwapMembership(Own):
    """``in`` for ``not in``, and the other way round."""

    EXAMPLES = (("x in y", "x not in y"), ("x not in y", "x in y"))
    def spots(self, node: Any) -> list[Any]:
        if node.type != "comparison":
            return []
        return [op for op in node.children[1::2] if op.get_code().strip() in CONTRARY]

    def mutate(self, node: Any, index: int) -> Any:
        op = self.spots(node)[index]
        node.children[node.children.index(op)] = parso.parse(CONTRARY[op.get_code().strip()])
        return node


COMPARED = {"Eq": ("NotEq",), "NotEq": ("Eq",), "Is": ("IsNot",), "IsNot": ("Is",),
            "Lt": ("LtE", "GtE"), "LtE": ("Lt", "Gt"), "Gt": ("GtE", "LtE"), "GtE": ("Gt", "Lt")}
COMPUTED = {"Add": ("Sub",), "Sub": ("Add", "BitAnd"), "Mul": ("Add",), "Div": ("Mul",),
            "FloorDiv": ("Mul",), "Mod": ("Mul",), "Pow": ("Mul",), "LShift": ("RShift",),
            "RShift": ("LShift",), "BitOr": ("BitAnd", "Sub"), "BitAnd": ("BitOr", "Sub"),
            "BitXor": ("BitOr",)}


def replacements(module: Any, prefix: str, table: dict[str, tuple[str, ...]]) -> list[Operator]:
    """Those of cosmic-ray's replacements of operators that a table names."""
    return [getattr(module, f"{prefix}_{old}_{new}")()
            for old, others in table.items() for new in others]


KINDS: dict[str, list[Operator]] = {
    "comparison": [*replacements(comparisons, "ReplaceComparisonOperator", COMPARED),
                   SwapMembership()],
    "arithmetic": replacements(binary, "ReplaceBinaryOperator", COMPUTED),
    "sign": [unary.ReplaceUnaryOperator_USub_UAdd(), unary.ReplaceUnaryOperator_Delete_Invert()],
    "not": [booleans.AddNot(), unary.ReplaceUnaryOperator_Delete_Not()],
    "and, or": [booleans.ReplaceAndWithOr(), booleans.ReplaceOrWithAnd()],
    "truth": [booleans.ReplaceTrueWithFalse(), booleans.ReplaceFalseWithTrue()],
    "number": [NumberReplacer()],
    "loop": [ReplaceBreakWithContinue(), ReplaceContinueWithBreak(), ZeroIterationForLoop()],
    "exception": [ExceptionReplacer()],
    "statement": [RemoveStatement()],
    "return": [ReturnNone()],
    "arguments": [SwapArguments(), RemoveKeyword()],
}


@dataclass(frozen=True)
class Mutation:
    """One operator at one of its places in a module."""

    operator: Operator
    occurrence: int
    at: Position

    def apply(self, source: str) -> str | None:
        """The module with the change; None if that is no other program."""
        try:
            made = mutate_code(source, self.operator, self.occurrence)
            changed = made is not None and ast.dump(ast.parse(made)) != ast.dump(ast.parse(source))
        except SyntaxError:
            return None
        return made if changed else None


def sites(source: str) -> list[tuple[str, list[Mutation]]]:
    """The sites of a module, by place: the kind of change and its replacements."""
    places, found = Places.of(source), defaultdict(list)
    counts: dict[Operator, Iterator[int]] = defaultdict(itertools.count)
    for node in ast_nodes(get_ast(source)):
        for kind, operators in KINDS.items():
            for operator in operators:
                for begin, _ in operator.mutation_positions(node):
                    mutation = Mutation(operator, next(counts[operator]), begin)
                    if places.mutable(begin):
                        found[begin, kind].append(mutation)
    return [(kind, found[begin, kind]) for begin, kind in sorted(found)]
