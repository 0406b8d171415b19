"""The operators of the IR: those of Python, each with its sign, its node of ``ast``, its methods.

An operator is a call of a function of ``operator``, as ``operator.mul``. What the stages must know
of operators as such stands here; what the operation does with values is said in ``ops.basics``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of Python.

    ``node`` is its class of ``ast``, ``gives`` what a value made by it is called; ``name`` is that
    of its method without underscores, empty for what no method defines, and ``mirrored`` that of
    the other operand's.
    """

    function: Callable[..., Any]
    node: type[ast.AST]
    sign: str
    gives: str
    name: str = ""
    mirrored: str = ""
    in_place: Callable[..., Any] | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that define the operator, in the order in which they are asked."""
        return tuple(f"__{name}__" for name in (self.name, self.mirrored) if name)


BINARY = tuple(
    Operator(
        getattr(operator, f"__{name}__"), node, sign, gives, name, f"r{name}",
        getattr(operator, f"__i{name}__"),
    )
    for name, node, sign, gives in (
        ("add", ast.Add, "+", "total"), ("sub", ast.Sub, "-", "difference"),
        ("mul", ast.Mult, "*", "product"), ("truediv", ast.Div, "/", "quotient"),
        ("floordiv", ast.FloorDiv, "//", "quotient"), ("mod", ast.Mod, "%", "remainder"),
        ("pow", ast.Pow, "**", "power"), ("matmul", ast.MatMult, "@", "product"),
        ("and", ast.BitAnd, "&", "bits"), ("or", ast.BitOr, "|", "bits"),
        ("xor", ast.BitXor, "^", "bits"), ("lshift", ast.LShift, "<<", "bits"),
        ("rshift", ast.RShift, ">>", "bits"),
    )
)
COMPARISONS = (
    *(
        Operator(getattr(operator, name), node, sign, "test", name, mirrored)
        for name, mirrored, node, sign in (
            ("eq", "eq", ast.Eq, "=="), ("ne", "ne", ast.NotEq, "!="), ("lt", "gt", ast.Lt, "<"),
            ("le", "ge", ast.LtE, "<="), ("gt", "lt", ast.Gt, ">"), ("ge", "le", ast.GtE, ">="),
        )
    ),
    Operator(operator.is_, ast.Is, "is", "test"),
    Operator(operator.is_not, ast.IsNot, "is not", "test"),
)
UNARY = (
    Operator(operator.neg, ast.USub, "-", "negative", "neg"),
    Operator(operator.pos, ast.UAdd, "+", "positive", "pos"),
    Operator(operator.not_, ast.Not, "not", "negation"),
    Operator(operator.invert, ast.Invert, "~", "bits", "invert"),
)

IN_PLACE: dict[Any, Any] = {one.in_place: one.function for one in BINARY}
"""Each in-place operator with the one that makes a new value."""
SIGNS: dict[Any, str] = {one.function: one.sign for one in BINARY}
"""The signs of operators with two operands, comparisons apart."""
BY_SIGN: dict[str, Any] = {one.sign: one.function for one in BINARY}
"""The functions of operators with two operands, comparisons apart, by their signs."""

RING: frozenset[Any] = frozenset({operator.add, operator.sub, operator.mul, operator.neg})
"""Sums, differences, products, negatives: exact for integers, cheap for all numbers."""
WHOLE = RING | {operator.floordiv, operator.mod}
"""Arithmetic by which integers give integers."""
FIELD = RING | {operator.truediv}
"""Arithmetic of real and complex numbers."""
OF_NUMBERS = WHOLE | FIELD | {operator.pow}
"""Operators that numbers have, and arrays of numbers."""
OF_ARRAYS = FIELD | {operator.matmul}
"""Arithmetic of arrays, without powers."""
ORDERED = frozenset({one.function for one in COMPARISONS})
"""Comparisons, of which the result is a truth value for numbers and all that is not an array."""

ORDER = frozenset({one.function for one in COMPARISONS if one.name in ("lt", "le", "gt", "ge")})
"""Comparisons of which of two values is larger."""


def is_one(function: Any, among: frozenset[Any]) -> bool:
    """Say whether a function, which may be of any class, is one of some operators."""
    return isinstance(function, BuiltinFunctionType) and function in among
