"""The stages, in order: the page to read first.

source -> IR -> types -> augmented primal and sweep -> optimised -> ``ast`` -> text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from adcompiler.emit.module import emit_module
from adcompiler.errors import MissingRuleError, UnsupportedError
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.products import Product, gradient, specialise, split
from adcompiler.rulekit.registry import root_module
from adcompiler.transforms.unit import Unit


@dataclass(frozen=True)
class Request:
    """What is to be compiled: a function, the types of its arguments, and the product wanted."""

    function: Any
    types: tuple[t.Type, ...]
    wrt: tuple[int, ...]
    mode: str = "grad"
    has_aux: bool = False
    single: bool = True


@dataclass(frozen=True)
class Emitted:
    """The emitted module: its text, the names of its entry points, and what it relies on."""

    text: str
    entry: str
    unit: Unit
    product: Product
    bound: dict[str, Any] = field(default_factory=dict)

    @property
    def report(self) -> dict[str, list[str]]:
        """What ``explain`` says of the rules used."""
        rules = list(self.unit.rules_used)
        return {
            "rules": sorted({display_name(rule.function) for rule in rules}),
            "changed": sorted({
                f"{display_name(rule.function)}: {rule.primal_note}"
                for rule in rules if rule.primal_note
            }),
            "kinks": sorted({
                f"{display_name(rule.function)}: {rule.kink}" for rule in rules if rule.kink
            }),
            "residuals": self.product.residuals,
        }


def compile_request(request: Request) -> Emitted:
    """Run all stages; raises UnsupportedError or MissingRuleError with everything found."""
    unit = Unit()
    typed = specialise(unit, lower(request.function), request.function, list(request.types))
    refuse(unit)
    wrt = list(request.wrt)
    if request.mode == "vjp":
        product = split(unit, typed, wrt, request.single)
    else:
        product = gradient(
            unit, typed, wrt, request.mode == "value_and_grad", request.has_aux, request.single
        )
    refuse(unit)
    text, bound = emit_module(product, unit, request.mode)
    return Emitted(text, product.functions[0].name, unit, product, bound)


def display_name(function: Any) -> str:
    """Return a function's name for reports, e.g. ``numpy.sin``."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "?")
    root = root_module(function)
    return name if root in ("builtins", "") else f"{root}.{name}"


def refuse(unit: Unit) -> None:
    """Raise everything that was found to be unsupported, all at once."""
    if unit.findings:
        missing = all(f.anchor == "missing-rule" for f in unit.findings)
        raise (MissingRuleError if missing else UnsupportedError)(unit.findings)
