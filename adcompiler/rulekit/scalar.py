"""Elementwise rules: by partial derivatives, as functions or as text."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from adcompiler.errors import Finding, RuleError
from adcompiler.ir.operators import BINARY, UNARY
from adcompiler.ops.domains import Domain, as_domain
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.assemble import function_from, lines, unused
from adcompiler.rulekit.define import rrule
from adcompiler.rulekit.problems import name_of, rule_error
from adcompiler.runtime import project
from adcompiler.support.signatures import signature as signature_of

Partial = Callable[..., Any] | int | float | complex | str | None

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    one.node: one.function for one in (*BINARY, *UNARY)}
RESULT = "result"


def scalar_rule(
    functions: Any,
    *partials: Any,
    setup: Callable[..., Any] | str | None = None,
    domain: Domain | Any = None,
    kink: str = "",
    types: Sequence[object] | None = None,
) -> None:
    """Register an elementwise function by its partial derivatives, one per argument.

    For complex arguments a partial is the holomorphic derivative; the pullback multiplies by its
    conjugate. Broadcasting, real parts and float precision are handled by the compiler.

    Parameters:
        functions (callable, tuple or str): One function or a tuple of them; or the text of a call
            or an operator, ``"x + y"`` or ``"np.hypot(x, y)"``: then partials may be texts too:
            expressions of the arguments and of ``result``, with names as they mean where
            ``scalar_rule`` is called.
        partials: For each argument a number (a constant derivative), ``None`` (not differentiable
            in that argument: a value that carries a derivative is refused there), or a function of
            the arguments, followed by the result when it takes one parameter more. A function with
            several outputs is given one tuple of partials per output, each with one partial per
            argument, ``None`` where that output has no derivative in it; of one tuple, ``(px,
            py)``, the partials are those of a single output.
        setup (callable or str): Work that partials share. As a function, it takes the arguments,
            followed by the result when it has one parameter more, and what it returns is the last
            argument of each partial. As text, it is assignments of names that partials read.
        domain, kink, types: As for ``rrule``.

    Raises:
        RuleError: Where the number of partials or of their parameters does not fit.

    Example:
        >>> import numpy as np
        >>> from adcompiler import grad, scalar_rule
        >>> def soft(x):
        ...     return np.log1p(np.exp(x))
        >>> scalar_rule(soft, lambda x: 1.0 / (1.0 + np.exp(-x)))
        >>> grad(lambda x: np.sum(soft(x)))(np.zeros(2))
        array([0.5, 0.5])
    """
    namespace = Namespace(sys._getframe(1))
    names: tuple[str, ...] | None = None
    if isinstance(functions, str):
        function, names = parsed_call(functions, namespace)
        functions = (function,)
    elif not isinstance(functions, tuple):
        functions = (functions,)
    rows = [row if isinstance(row, tuple) else (row,) for row in partials] if any(
        isinstance(row, tuple) for row in partials) else [partials]
    count = len(rows[0])
    if names is None:
        names = argument_names(count)
    maker = PartialMaker(functions[0], names, setup, namespace)
    for row in rows:
        if len(row) != len(names):
            raise maker.error(f"{len(row)} partials for {len(names)} arguments")
    made = [[maker.partial(partial) for partial in row] for row in rows]
    for function in functions:
        if len(made) > 1:
            wrt = [n for j, n in enumerate(names) if any(row[j] is not None for row in made)]
            rrule(function, wrt=wrt, types=types, domain=domain, kink=kink)(
                with_outputs(function, names, made, wrt))
        else:
            REGISTRY.add(Rule(
                function=function, partials=tuple(made[0]), elementwise=True,
                types=tuple(types) if types is not None else None,
                domain=as_domain(domain), kink=kink,
            ))


def argument_names(count: int) -> tuple[str, ...]:
    """Return names for the arguments of a function."""
    return ("x",) if count == 1 else tuple(f"x{i}" for i in range(count))


class Namespace:
    """What names mean at the place where a rule is registered."""

    def __init__(self, frame: FrameType) -> None:
        self.globals = frame.f_globals
        self.locals: Mapping[str, Any] = {} if frame.f_locals is frame.f_globals else dict(
            frame.f_locals)
        self.file, self.line = frame.f_code.co_filename, frame.f_lineno

    def error(self, problem: str, hint: str) -> RuleError:
        """Return the error that something is wrong with the call that registers a rule."""
        text = linecache.getline(self.file, self.line).rstrip()
        return RuleError([Finding(
            self.file, self.line, len(text) - len(text.lstrip()), text, problem, hint,
            width=len(text.strip()) or 1,
        )])

    def value(self, text: str) -> Any:
        """Return the value of an expression there."""
        return eval(text, self.globals, dict(self.locals))

    def local_names(self, text: str) -> dict[str, Any]:
        """Return the local variables that a text reads, with their values."""
        read = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        return {name: self.locals[name] for name in sorted(read) if name in self.locals}


def parsed_call(text: str, namespace: Namespace) -> tuple[Any, tuple[str, ...]]:
    """Return the function that a text such as ``"x + y"`` calls, and the names of its arguments."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise namespace.error(
            f"{text!r} is no expression: {error.msg}",
            "a call of one function, such as 'x + y' or 'np.sin(x)'",
        ) from None
    arguments: Sequence[ast.expr]
    match node:
        case ast.BinOp(left, op, right):
            function, arguments = OPERATORS.get(type(op)), (left, right)
        case ast.UnaryOp(op, operand):
            function, arguments = OPERATORS.get(type(op)), (operand,)
        case ast.Call(func, args, []):
            function, arguments = namespace.value(ast.unparse(func)), args
        case _:
            function, arguments = None, ()
    names = tuple(a.id for a in arguments if isinstance(a, ast.Name))
    if function is None or len(names) != len(arguments) or len(set(names)) != len(names):
        raise namespace.error(
            f"{text!r} is not the call of one function with names as arguments",
            "text such as 'x + y', '-x' or 'np.hypot(x, y)'",
        )
    return function, names


class PartialMaker:
    """Makes each partial of a rule a number, None, or a function of arguments and result."""

    def __init__(
        self, function: Callable[..., Any], names: tuple[str, ...], setup: Any, namespace: Namespace
    ) -> None:
        self.function = function
        self.names = names
        self.setup = setup
        self.namespace = namespace

    def error(self, problem: str, part: Any = None) -> RuleError:
        """Return the error that a part of the rule is malformed."""
        hint = (
            f"scalar_rule({name_of(self.function)}, ...) with one partial for each of "
            f"{', '.join(self.names)}: a number, None, or a function of them (and of the result)"
        )
        problem = f"the rule of {name_of(self.function)} has {problem}"
        if part is None:
            return self.namespace.error(problem, hint)
        return rule_error(part, problem, hint)

    def partial(self, partial: Partial) -> Any:
        """Return one partial with its share of the setup."""
        if isinstance(partial, str):
            return self.from_text(partial)
        if not callable(partial):
            return partial
        if self.setup is None:
            self.arity(partial, 0)
            return partial
        if isinstance(self.setup, str):
            raise self.error("a setup= in text for a partial that is a function", partial)
        return self.with_setup(partial)

    def arity(self, part: Callable[..., Any], more: int) -> bool:
        """Say whether a function takes the result as well; RuleError if its arity is neither."""
        try:
            parameters = signature_of(part).parameters.values()
        except (TypeError, ValueError):
            return False
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return False
        required = sum(p.default is p.empty for p in parameters)
        count = len(self.names) + more
        if required <= count <= len(parameters):
            return False
        if required <= count + 1 <= len(parameters):
            return True
        raise self.error(f"a partial or setup that takes {required} arguments, not {count} (or "
                         f"{count + 1}, with the result)", part)

    def with_setup(self, partial: Any) -> Any:
        """Return the partial of the arguments and the result, without the shared work."""
        result = unused(RESULT, self.names)
        given = ", ".join(self.names)
        shared = f"setup({given}, {result})" if self.arity(self.setup, 0) else f"setup({given})"
        more = f"{result}, " if self.arity(partial, 1) else ""
        name = f"{name_of(self.function)}_partial"
        text = lines(
            f"def {name}({given}, {result}):", f"    return partial({given}, {more}{shared})", ""
        )
        return function_from(text, name, {"partial": partial, "setup": self.setup})

    def from_text(self, partial: str) -> Any:
        """Return the function that a partial and the setup, given as text, are."""
        name = f"{name_of(self.function)}_partial"
        setup = self.setup or ""
        if not isinstance(setup, str):
            raise self.error("a partial in text for a setup= that is a function")
        try:
            rows = ast.unparse(ast.parse(setup.replace(";", "\n"))).splitlines()
            value = ast.unparse(ast.parse(partial.strip(), mode="eval"))
        except SyntaxError as error:
            raise self.error(f"text that does not parse ({error.msg}): {partial!r}") from None
        text = lines(
            f"def {name}({', '.join((*self.names, RESULT))}):", *(f"    {row}" for row in rows),
            f"    return {value}", "",
        )
        inner = set(self.names) | {RESULT} | set(assigned(setup))
        known = self.namespace.local_names(text)
        parts = {key: v for key, v in known.items() if key not in inner}
        self.check_names(text, inner)
        return function_from(text, name, parts, self.namespace.globals)

    def check_names(self, text: str, inner: set[str]) -> None:
        """Raise RuleError for a name that means nothing where the rule is registered."""
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name) and node.id not in inner and (
                node.id not in self.namespace.locals and node.id not in self.namespace.globals
                and not hasattr(builtins, node.id)
            ):
                raise self.error(f"text that reads the name `{node.id}`, which is not defined")


def assigned(setup: str) -> Iterator[str]:
    """Yield the names that a setup assigns."""
    for node in ast.walk(ast.parse(setup.replace(";", "\n"))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def with_outputs(
    function: Callable[..., Any], names: tuple[str, ...], rows: list[list[Any]], wrt: list[str]
) -> Any:
    """Return the definition of a rule for several outputs, from one row of partials for each.

    Its pullback gives cotangents of the arguments ``wrt``, which have a partial in some row.
    """
    name = name_of(function)
    given = ", ".join(names)
    result, bars = unused(RESULT, names), unused("bars", names)
    bar_names = [unused(f"bar_{i}", names) for i in range(len(rows))]
    primal = unused(name, (*names, result, bars, *bar_names))
    parts: dict[str, Any] = {primal: function, "project": project, "np": np}
    cotangents = []
    for j, argument in enumerate(names):
        if argument not in wrt:
            continue
        terms = []
        for i, row in enumerate(rows):
            if row[j] is None:
                continue
            if callable(row[j]):
                parts[f"partial_{i}_{j}"] = row[j]
                more = f", {result}" if takes_result(row[j], len(names)) else ""
                terms.append(f"np.conj(partial_{i}_{j}({given}{more})) * {bar_names[i]}")
            else:
                terms.append(f"{row[j].conjugate()!r} * {bar_names[i]}")
        cotangents.append(f"            project({' + '.join(terms)}, {argument}),")
    used = [bar if any(bar in row for row in cotangents) else "_" for bar in bar_names]
    body = ["        return (", *cotangents, "        )"]
    if len(wrt) == 1:
        body = [f"        return {cotangents[0].strip().rstrip(',')}"]
    text = lines(
        f"def {name}_rule({given}):",
        f"    {result} = {primal}({given})",
        "",
        f"    def {name}_pullback({bars}):",
        f"        {', '.join(used)} = {bars}",
        *body,
        "",
        f"    return {result}, {name}_pullback",
        "",
    )
    return function_from(text, f"{name}_rule", parts)


def takes_result(partial: Callable[..., Any], count: int) -> bool:
    """Say whether a partial takes the result after ``count`` arguments."""
    try:
        return len(signature_of(partial).parameters) > count
    except (TypeError, ValueError):
        return False
