"""Small rewrites, each with its algebra in a comment; none rounds more often than the original."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, If, Item, Let, Loop, Statement, Var, operands, substitute,
)
from adcompiler.ir.visit import count_uses, substitute_statement
from adcompiler.runtime import add_at
from adcompiler.transforms.unit import Unit

REDUCTIONS = (np.sum, np.mean, np.max, np.min, np.prod)
ELEMENTWISE = (operator.add, operator.sub, operator.mul, operator.truediv)


def algebra(block: Block, unit: Unit, last: bool = False) -> Block:
    """Return ``block`` with trivial arithmetic simplified."""
    rewriter = _Algebra(unit, last)
    rewriter.uses.update(count_uses(block))
    return rewriter.block(block)


class _Algebra:
    def __init__(self, unit: Unit, last: bool) -> None:
        self.unit = unit
        self.last = last
        self.renamed: dict[Var, Atom] = {}
        self.calls: dict[Var, Call] = {}
        self.pending: list[tuple[Var, Any]] = []
        self.inverses: dict[Var, Var] = {}
        self.uses: dict[Atom, int] = {}
        self.depth = 0

    def block(self, block: Block) -> Block:
        statements = tuple(s for old in block.statements for s in self.statement(old))
        return replace(block, statements=statements, yields=tuple(map(self.atom, block.yields)))

    def atom(self, atom: Atom) -> Atom:
        while isinstance(atom, Var) and atom in self.renamed:
            atom = self.renamed[atom]
        return atom

    def statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case Let(target, rhs, origin):
                new = substitute(rhs, self.renamed)
                while isinstance(new, Attribute):
                    closer = self.metadata(target, new)
                    if closer is None:
                        break
                    new = closer
                if isinstance(new, Attribute):
                    self.unit.defs[target] = new
                    length = self.reduced_size(new)
                    if length is not None:
                        shape, axis = length
                        before = Let(shape, Attribute(axis[0], "shape"), origin)
                        item = Item(shape, Const(axis[1]))
                        self.unit.defs[target] = item
                        return [before, Let(target, item, origin)]
                if isinstance(new, Call) and not new.kwargs:
                    known = isinstance(new.func, Const)
                    simpler = self.simplify(new) if known else self.method_sum(new)
                    before = self.written(target, origin)
                    if isinstance(simpler, Item):
                        self.unit.defs[target] = simpler
                        return [Let(target, simpler, origin)]
                    if isinstance(simpler, Call):
                        self.calls[target] = simpler
                        self.unit.defs[target] = simpler
                        return [*before, Let(target, simpler, origin)]
                    if simpler is not None:
                        self.renamed[target] = simpler
                        return []
                if isinstance(new, Call):
                    self.calls[target] = new
                    if not origin.reverse:
                        self.note_inverse(target, new)
                return [statement if new is rhs else Let(target, new, origin)]
            case If():
                condition = self.atom(statement.condition)
                self.depth += 1
                arms = self.block(statement.then), self.block(statement.orelse)
                self.depth -= 1
                return [replace(statement, condition=condition, then=arms[0], orelse=arms[1])]
            case Loop():
                test = statement.condition
                self.depth += 1
                body = self.block(statement.body)
                self.depth -= 1
                return [replace(
                    statement, iterables=tuple(map(self.atom, statement.iterables)),
                    inits=tuple(map(self.atom, statement.inits)),
                    condition=None if test is None else self.block(test),
                    body=body,
                )]
        return [substitute_statement(statement, self.renamed)]

    def note_inverse(self, target: Var, call: Call) -> None:
        """Remember ``target = 1 / y`` at the top of the function, where all that follows sees it."""
        if self.depth == 0 and isinstance(call.func, Const) and (
            call.func.value is operator.truediv and is_number(call.args[0], 1)  # type: ignore[arg-type]
        ):
            divisor = call.args[1]
            if isinstance(divisor, Var) and isinstance(self.unit.type(divisor), t.Array):
                self.inverses[divisor] = target

    def written(self, target: Var, origin: Any) -> list[Statement]:
        """Return the statements that rewriting the definition of ``target`` needs before it."""
        rows: list[Statement] = []
        for var, call in self.pending:
            if isinstance(self.unit.types.get(var, t.UNKNOWN), t.Unknown):
                self.unit.types[var] = self.unit.type(target)
                self.unit.shapes[var] = self.unit.shape_class(target)
            self.unit.defs[var] = call
            if isinstance(call, Call):
                self.calls[var] = call
            rows.append(Let(var, call, origin))
        self.pending.clear()
        return rows

    # -- rewrites ------------------------------------------------------------------------------

    def simplify(self, call: Call) -> Call | Atom | None:
        """Return a simpler call, the atom that the call equals, or None to leave it."""
        function = call.func.value if isinstance(call.func, Const) else None
        if function is np.broadcast_to and len(call.args) == 2:
            return self.spread(call)
        if function is add_at and isinstance(self.unit.type(call.args[0]), t.Array):  # type: ignore[arg-type]
            made = self.made_by(call.args[2], np.full_like)  # type: ignore[arg-type]
            if made is not None and not made.kwargs:  # a[i] += full_like(b, s) -> a[i] += s
                return Call(call.func, (*call.args[:2], made.args[1]))
            return None
        if function is np.expand_dims and len(call.args) == 2:
            return self.new_axis(*call.args)  # type: ignore[arg-type]
        if function in (np.full_like, np.zeros_like, np.ones_like):
            return self.alike(call)
        if function is np.sum and len(call.args) == 1:
            return self.sum_of_equal(call.args[0])
        args: tuple[Any, ...] = call.args
        if function is operator.neg:
            return self.negation(args[0])
        if function in ELEMENTWISE and len(args) == 2:
            constant = self.constants(function, *args)
            if constant is not None:
                return constant
            spread = self.unspread(call, function, *args) or self.respread(function, *args)
            if spread is not None:
                return spread
            if function is operator.mul:
                return (
                    self.signed(function, *args) or self.product(*args)
                    or self.outward(function, *args)
                )
            if function in (operator.add, operator.sub):
                factored = self.factored(function, *args)
                if factored is not None:
                    return factored
            if function is operator.add:
                return self.sum(*args)
            if function is operator.sub:
                negated = self.made_by(args[1], operator.neg)
                if negated is not None and self.numeric(args[0]):
                    return Call(Const(operator.add), (args[0], negated.args[0]))  # x - -y -> x + y
            if function is operator.truediv:
                signed = self.signed(function, *args)
                if signed is not None:
                    return signed
            if function is operator.truediv:
                inverse = self.over_inverse(*args) or self.outward(function, *args)
                if inverse is not None:
                    return inverse
            if function is operator.truediv and is_number(args[1], 1) and self.is_float(args[0]):
                return args[0]  # x / 1 -> x
        return None

    def signed(self, function: Any, x: Atom, y: Atom) -> Call | None:
        """-x * y -> -(x * y), x * -y -> -(x * y), and likewise for quotients."""
        for position, one in enumerate((x, y)):
            negated = self.made_by(one, operator.neg)
            if negated is None or not (self.is_float(x) and self.is_float(y)):
                continue
            inner = (negated.args[0], y) if position == 0 else (x, negated.args[0])
            simpler = self.simplify(Call(Const(function), inner))
            return self.fresh(
                simpler if simpler is not None else Call(Const(function), inner), one)
        return None

    def fresh(self, value: Call | Atom, like: Atom) -> Call:
        """Write ``value`` in front of the statement being simplified; return its negation."""
        if isinstance(value, Call):
            var = Var("product", True)
            type_ = t.UNKNOWN
            self.pending.append((var, value))
            value = var
            self.unit.types[var] = type_
        return Call(Const(operator.neg), (value,))

    @staticmethod
    def constants(function: Any, x: Atom, y: Atom) -> Atom | None:
        if isinstance(x, Const) and isinstance(y, Const):
            if type(x.value) in (int, float) and type(y.value) in (int, float):
                try:
                    return Const(function(x.value, y.value))
                except ArithmeticError:
                    return None
        return None

    def scaled(self, x: Atom) -> tuple[Atom, Atom] | None:
        """Return (c, a) if ``x`` is the product c * a of a number and an array, read only here."""
        made = self.made_by(x, operator.mul)
        type_ = self.unit.type(x)
        if made is None or self.uses.get(x) != 1 or not isinstance(type_, t.Array):
            return None
        for c, a in (made.args, made.args[::-1]):
            if self.unit.type(a) == type_ and self.weak(c, type_.dtype):  # type: ignore[arg-type]
                return c, a  # type: ignore[return-value]
        return None

    def outward(self, function: Any, x: Atom, y: Atom) -> Call | None:
        """(c * a) * b -> c * (a * b) and (c * a) / b -> c * (a / b), for a number c."""
        pairs = ((x, y), (y, x)) if function is operator.mul else ((x, y),)
        for one, other in pairs:
            found = self.scaled(one)
            if found is None or self.unit.type(other) != self.unit.type(one):
                continue
            c, a = found
            inner = (a, other) if one is x else (other, a)
            return Call(Const(operator.mul), (c, self.array(function, inner, one)))
        return None

    def factored(self, function: Any, x: Atom, y: Atom) -> Call | None:
        """c * a + c * b -> c * (a + b), for a number c."""
        one, other = self.scaled(x), self.scaled(y)
        if one is None or other is None or one[0] is not other[0]:
            return None
        return Call(Const(operator.mul), (one[0], self.array(function, (one[1], other[1]), x)))

    def array(self, function: Any, args: tuple[Atom, Atom], like: Atom) -> Atom:
        """Return an array result written in front of the statement being simplified."""
        call = self.simplify(Call(Const(function), args))
        if call is not None and not isinstance(call, Call):
            return call
        var = Var("product", True)
        self.unit.types[var] = self.unit.type(like)
        self.pending.append((var, call or Call(Const(function), args)))
        self.uses[var] = 1
        return var

    def over_inverse(self, x: Atom, y: Atom) -> Call | None:
        """x / y -> x * z where z = 1 / y has been computed."""
        if not isinstance(self.unit.type(x), t.Array):
            return None
        inverse = self.inverses.get(y) if isinstance(y, Var) else None
        if inverse is not None and self.uses.get(inverse) and self.is_float(x):
            return Call(Const(operator.mul), (x, inverse))
        return None

    def negation(self, x: Atom) -> Call | Atom | None:
        if isinstance(x, Const) and type(x.value) in (int, float):
            return Const(-x.value)
        spread = self.made_by(x, np.full_like)
        if spread is not None and not spread.kwargs:
            like, fill = spread.args  # -full_like(a, s) -> full_like(a, -s)
            if isinstance(fill, Const) and type(fill.value) in (int, float):
                return Call(spread.func, (like, Const(-fill.value)))
            if isinstance(fill, Var):
                negative = Var("negative", True)
                self.unit.types[negative] = self.unit.type(fill)
                self.pending.append((negative, Call(Const(operator.neg), (fill,))))
                return Call(spread.func, (like, negative))
        inner = self.made_by(x, operator.neg)
        return inner.args[0] if inner is not None else None  # type: ignore[return-value]  # --x -> x

    def product(self, x: Atom, y: Atom) -> Call | Atom | None:
        for one, other in ((x, y), (y, x)):
            if is_number(one, 1) and self.is_float(other):
                return other  # 1 * x -> x
            if is_number(one, -1) and self.is_float(other):
                return Call(Const(operator.neg), (other,))  # -1 * x -> -x
        for one, other in ((x, y), (y, x)):
            inverse = self.made_by(other, operator.truediv)
            if inverse is not None and self.uses.get(other) == 1 and is_number(inverse.args[0], 1) and self.is_float(one):
                return Call(Const(operator.truediv), (one, inverse.args[1]))  # x * (1 / y) -> x / y
        return None

    def sum(self, x: Atom, y: Atom) -> Call | None:
        negated = self.made_by(y, operator.neg)
        if negated is not None and self.numeric(x):
            return Call(Const(operator.sub), (x, negated.args[0]))  # x + -y -> x - y
        negated = self.made_by(x, operator.neg)
        if negated is not None and self.numeric(y):
            return Call(Const(operator.sub), (y, negated.args[0]))  # -x + y -> y - x
        return None

    def unspread(self, call: Call, function: Any, x: Atom, y: Atom) -> Call | None:
        """full_like(a, s) * b -> s * b where b has the shape and dtype of a."""
        for position, (one, other) in enumerate(((x, y), (y, x))):
            stretched = self.made_by(one, np.broadcast_to)
            if stretched is not None and self.covers(other, one):
                small = stretched.args[0]  # broadcast_to(a, b.shape) * b -> a * b
                args = (small, other) if position == 0 else (other, small)
                return Call(call.func, args)
            made = self.made_by(one, np.full_like)
            if made is None or len(made.args) != 2 or made.kwargs:
                continue
            like, fill = made.args
            other_type, like_type = self.unit.type(other), self.unit.type(one)
            if (
                isinstance(other_type, t.Array) and isinstance(like_type, t.Array)
                and other_type.dtype == like_type.dtype and isinstance(fill, (Var, Const))
                and self.weak(fill, other_type.dtype)
                and self.unit.shape_class(other) == self.unit.shape_class(like)  # type: ignore[arg-type]
            ):
                args = (fill, other) if position == 0 else (other, fill)
                return Call(call.func, args)
        return None

    def covers(self, other: Atom, one: Atom) -> bool:
        """Say whether ``other`` is an array of the shape and dtype of ``one``."""
        a, b = self.unit.type(other), self.unit.type(one)
        return isinstance(a, t.Array) and a == b and (
            self.unit.shape_class(other) == self.unit.shape_class(one)
        )

    def spread(self, call: Call) -> Call | None:
        """broadcast_to(expand_dims(full_like(a, s)), x.shape) -> full_like(x, s)."""
        source, shape = call.args
        made = self.calls.get(source) if isinstance(source, Var) else None
        while made is not None and isinstance(made.func, Const) and made.func.value is (
            np.expand_dims
        ):
            inner = made.args[0]
            made = self.calls.get(inner) if isinstance(inner, Var) else None
        target = self.unit.definition(shape) if isinstance(shape, Var) else None
        if made is None or not isinstance(made.func, Const) or made.func.value is not np.full_like:
            return None
        if isinstance(target, Attribute) and target.name == "shape" and not made.kwargs:
            like = self.unit.type(made.args[0])  # type: ignore[arg-type]
            wanted = self.unit.type(target.obj)
            if isinstance(like, t.Array) and isinstance(wanted, t.Array) and (
                like.dtype == wanted.dtype
            ):
                return Call(Const(np.full_like), (target.obj, made.args[1]))
        return None

    def metadata(self, target: Var, rhs: Attribute) -> Attribute | None:
        """(a + b).size -> a.size where a has the shape of the sum; sum(a, axis=1).size likewise."""
        if rhs.name not in ("shape", "size") or not isinstance(rhs.obj, Var):
            return None
        if target in self.unit.evidence:
            return None  # what is compared must not be rewritten by what the comparison shows
        closer = self.unit.same_shape_operand(rhs.obj)
        return None if closer is None else Attribute(closer, rhs.name)

    def alike(self, call: Call) -> Call | None:
        """full_like(a + b, s) -> full_like(a, s) where a has the shape and dtype of the sum."""
        like = call.args[0]
        found = like
        while isinstance(found, Var):
            closer = self.unit.same_shape_operand(found, self.unit.type(found))
            if closer is None:
                break
            found = closer
        return None if found is like else Call(call.func, (found, *call.args[1:]))

    def reduced_size(self, rhs: Attribute) -> tuple[Var, tuple[Atom, int]] | None:
        """sum(x, axis=1).size -> x.shape[0] for a matrix x."""
        call = self.calls.get(rhs.obj) if rhs.name == "size" and isinstance(rhs.obj, Var) else None
        if call is None or not isinstance(call.func, Const) or call.func.value not in REDUCTIONS:
            return None
        axis = dict(call.kwargs).get("axis")
        x = call.args[0]
        type_ = self.unit.type(x)  # type: ignore[arg-type]
        if not (isinstance(axis, Const) and type(axis.value) is int and set(dict(call.kwargs)) == {
                "axis"} and len(call.args) == 1 and isinstance(type_, t.Array) and type_.ndim == 2):
            return None
        shape = Var("shape", True)
        self.unit.record(shape, Attribute(x, "shape"), t.Tuple((t.INT, t.INT)))  # type: ignore[arg-type]
        return shape, (x, 1 - axis.value % 2)  # type: ignore[return-value]

    def new_axis(self, x: Atom, axis: Atom) -> Item | None:
        """expand_dims(a, 1) -> a[:, newaxis], once nothing else is to be said of it."""
        type_ = self.unit.type(x)
        if not self.last or not isinstance(type_, t.Array) or not isinstance(axis, Const):
            return None
        if type(axis.value) is not int or not -type_.ndim - 1 <= axis.value <= type_.ndim:
            return None
        before = axis.value % (type_.ndim + 1)
        parts = (*(slice(None),) * before, None, *(slice(None),) * (type_.ndim - before))
        return Item(x, Const(parts if before else (None, *((Ellipsis,) if type_.ndim else ()))))

    def method_sum(self, call: Call) -> Call | None:
        """full_like(a, c).sum() -> c * a.size for a constant c."""
        method = self.unit.definition(call.func)
        if isinstance(method, Attribute) and method.name == "sum" and not call.args:
            return self.sum_of_equal(method.obj)
        return None

    def sum_of_equal(self, x: Any) -> Call | None:
        """sum(full_like(a, c)) -> c * a.size for a constant c."""
        made = self.made_by(x, np.full_like)
        if made is None or made.kwargs:
            return None
        like, fill = made.args
        if not (isinstance(fill, Const) and type(fill.value) is float):
            return None
        if not isinstance(self.unit.type(like), t.Array):  # type: ignore[arg-type]
            return None  # a Python number has no size
        size = Var("size", True)
        rhs: Any = Attribute(like, "size")  # type: ignore[arg-type]
        while (closer := self.metadata(size, rhs)) is not None:
            rhs = closer
        self.unit.types[size] = t.INT
        self.pending.append((size, rhs))
        return Call(Const(operator.mul), (fill, size))

    def respread(self, function: Any, x: Atom, y: Atom) -> Call | None:
        """full_like(a, s) * c -> full_like(a, s * c), and likewise for quotients, c a number."""
        made = self.made_by(x, np.full_like)
        if function is operator.mul and made is None:
            x, y = y, x
            made = self.made_by(x, np.full_like)
        if function not in (operator.mul, operator.truediv) or made is None or made.kwargs:
            return None
        like, fill = made.args
        type_ = self.unit.type(x)
        if isinstance(type_, t.Array) and isinstance(fill, (Var, Const)) and self.weak(
            y, type_.dtype
        ):
            filled = self.constants(function, fill, y) or self.product_of(function, fill, y)
            return Call(Const(np.full_like), (like, filled))
        return None

    def product_of(self, function: Any, fill: Atom, factor: Atom) -> Atom:
        """Return a scalar product or quotient, written in front of the statement."""
        simpler = self.simplify(Call(Const(function), (fill, factor)))
        if simpler is not None and not isinstance(simpler, Call):
            return simpler
        var = Var("product", True)
        self.unit.types[var] = self.unit.type(fill)
        self.pending.append((var, simpler or Call(Const(function), (fill, factor))))
        return var

    def weak(self, fill: Atom, dtype: str) -> bool:
        """Say whether arithmetic with the scalar ``fill`` keeps the dtype of an array."""
        type_ = self.unit.type(fill)
        return isinstance(type_, t.Scalar) and type_.kind == "float" and (
            type_.dtype is None or type_.dtype == dtype
        )

    def made_by(self, atom: Atom, function: Any) -> Call | None:
        call = self.calls.get(atom) if isinstance(atom, Var) else None
        if call is not None and isinstance(call.func, Const) and call.func.value is function:
            return call
        return None

    def is_float(self, atom: Atom) -> bool:
        type_ = self.unit.type(atom)
        return isinstance(type_, (t.Scalar, t.Array)) and type_.kind in ("float", "complex")

    def numeric(self, atom: Atom) -> bool:
        return isinstance(self.unit.type(atom), (t.Scalar, t.Array))


def is_number(atom: Atom, value: int) -> bool:
    """Say whether ``atom`` is the constant ``value``, as an int or a float."""
    return isinstance(atom, Const) and type(atom.value) in (int, float) and atom.value == value
