"""A reverse mode AD of another kind, made from the rules: a tape and operator overloading.

The example of ChainRules' documentation for authors of AD systems, with Python's operators. A hook
gives ``Tracked`` a method for each operator that has a rule for floats; the method notes the rule's
pullback on the tape.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from typing import Any

from adcompiler import Signature, apply_rrule, on_new_rule, refresh_rules, rrule, scalar_rule

METHODS = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "truediv",
}


class Tracked:
    """A number whose cotangent is wanted, on a tape; ``propagate`` hands its cotangent on."""

    def __init__(
        self, primal: float, tape: list[Tracked], propagate: Callable[[float], None] | None = None
    ) -> None:
        self.primal = primal
        self.tape = tape
        self.propagate = propagate
        self.cotangent = 0.0
        tape.append(self)

    def __pow__(self, n: int) -> Any:
        """Return a power as the product that it is."""
        result = self
        for _ in range(n - 1):
            result = result * self
        return result


def define_tracked_overload(signature: Signature) -> bool:
    """Give ``Tracked`` the method for an operator; say whether there is one."""
    name = METHODS.get(signature.op)
    if name is None or not signature.accepts(float):
        return False

    def apply(*operands: Any) -> Tracked:
        args = [x.primal if isinstance(x, Tracked) else x for x in operands]
        tape = next(x.tape for x in operands if isinstance(x, Tracked))
        y, pullback = apply_rrule(signature.op, *args)

        def propagate(y_bar: float) -> None:
            for x, x_bar in zip(operands, pullback(y_bar), strict=True):
                if isinstance(x, Tracked):
                    x.cotangent += x_bar

        return Tracked(y, tape, propagate)

    setattr(Tracked, f"__{name}__", apply)
    setattr(Tracked, f"__r{name}__", lambda self, other: apply(other, self))
    return True


def derivative(f: Callable[..., Any], *args: float) -> tuple[float, ...]:
    """Return the derivatives of a function with respect to its arguments."""
    tape: list[Tracked] = []
    inputs = [Tracked(x, tape) for x in args]
    f(*inputs).cotangent = 1.0
    for node in reversed(tape):
        if node.propagate is not None:
            node.propagate(node.cotangent)
    return tuple(x.cotangent for x in inputs)


def foo(x: Any) -> Any:
    return x + x


def bar(x: Any) -> Any:
    return x + 2.1 * x


def baz(x: Any) -> Any:
    return 2.0 * x**2 + 3.0 * x + 1.2


def qux(x: Any) -> Any:
    return foo(x) + bar(x) + baz(x)


def quux(x: Any) -> Any:
    y = 2.0 * x + 3.0 * x
    return 4.0 * y + 5.0 * y


def main() -> dict[str, tuple[float, ...]]:
    """Return the derivatives of five functions."""
    scalar_rule("x + y", (1, 1))
    scalar_rule("x - y", (1, -1))
    on_new_rule(define_tracked_overload, rrule)

    @rrule(operator.mul, types=(numbers.Number, numbers.Number))
    def multiply(x: Any, y: Any) -> Any:
        def multiply_pullback(dz: Any) -> Any:
            def dx() -> Any:
                return dz * y

            def dy() -> Any:
                return x * dz

            return dx, dy  # functions: each is called only if its value is wanted

        return x * y, multiply_pullback

    refresh_rules()
    return {
        "foo": derivative(foo, 1.6), "bar": derivative(bar, 1.2), "baz": derivative(baz, 1.7),
        "qux": derivative(qux, 1.7), "quux": derivative(quux, 11.1),
    }


if __name__ == "__main__":
    for name, slopes in main().items():
        print(f"{name:6} {slopes!r}")
