"""A forward mode AD of another kind, made from the rules: dual numbers by operator overloading.

The example of ChainRules' documentation for authors of AD systems, with Python's operators. The
class ``Dual`` defines no arithmetic: a hook gives it a method for each operator that has a rule
for floats. A rule that is added later is taken up by ``refresh_rules``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adcompiler import Signature, apply_frule, on_new_rule, refresh_rules, scalar_rule

METHODS = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "truediv",
}


class Dual:
    """A number with the derivative of it along one direction."""

    def __init__(self, primal: float, partial: float = 0.0) -> None:
        self.primal = primal
        self.partial = partial

    def __pow__(self, n: int) -> Any:
        """Return a power as the product that it is."""
        result = self
        for _ in range(n - 1):
            result = result * self
        return result


def define_dual_overload(signature: Signature) -> bool:
    """Give ``Dual`` the method for an operator; say whether there is one."""
    name = METHODS.get(signature.op)
    if name is None or not signature.accepts(float):
        return False

    def apply(*duals: Any) -> Dual:
        args = [d.primal if isinstance(d, Dual) else d for d in duals]
        tangents = [d.partial if isinstance(d, Dual) else 0.0 for d in duals]
        return Dual(*apply_frule(signature.op, args, tangents))

    setattr(Dual, f"__{name}__", apply)
    setattr(Dual, f"__r{name}__", lambda self, other: apply(other, self))
    return True


def derivative(f: Callable[[Any], Any], x: float) -> float:
    """Return the derivative of a function of one number."""
    result: float = f(Dual(x, 1.0)).partial
    return result


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


def main() -> dict[str, float]:
    """Return the derivatives of five functions."""
    scalar_rule("x + y", (1, 1))
    scalar_rule("x - y", (1, -1))
    on_new_rule(define_dual_overload, apply_frule)
    scalar_rule("x * y", ("y", "x"))
    refresh_rules()
    return {
        "foo": derivative(foo, 1.6), "bar": derivative(bar, 1.2), "baz": derivative(baz, 1.7),
        "qux": derivative(qux, 1.7), "quux": derivative(quux, 11.1),
    }


if __name__ == "__main__":
    for name, slope in main().items():
        print(f"{name:6} {slope!r}")
