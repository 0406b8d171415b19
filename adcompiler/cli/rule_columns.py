"""What the table of rules says of one rule: how it goes backwards, forwards, and twice."""

from __future__ import annotations

from adcompiler.errors import ADError
from adcompiler.frontend.sources.source import read_source
from adcompiler.ops.classify import DECLARED, letters_of
from adcompiler.ops.rules import Rule
from adcompiler.sparsity.interpreter.machine import classifications_of

HEAD = ("reverse", "forward", "second order", "classification")


def columns(rule: Rule) -> tuple[str, str, str, str]:
    """Return the entries under ``HEAD`` of a rule."""
    return reverse(rule), forward(rule), second_order(rule), classification(rule)


def reverse(rule: Rule) -> str:
    """Return where pullbacks come from."""
    if rule.definition is not None:
        return "pullback"
    return "partials" if rule.partials else "-"


def forward(rule: Rule) -> str:
    """Return where pushforwards come from."""
    if rule.forward is not None:
        return "frule"
    if rule.linear or rule.bilinear:
        return "the function itself"
    return "partials" if rule.definition is None else "transposed"


def second_order(rule: Rule) -> str:
    """Return where the derivatives of derivatives come from: the text of the rule, if it is there.

    What the rule calls needs rules of its own for that.
    """
    parts = (rule.definition, *rule.partials, rule.forward)
    try:
        for part in parts:
            if hasattr(part, "__code__"):
                read_source(part)
    except ADError:
        return "-"
    return "from its text"


def classification(rule: Rule) -> str:
    """Return the letters of which derivatives vanish, for each output of elementwise functions."""
    if not rule.elementwise and rule.function not in DECLARED:
        return ""
    found = classifications_of(rule.function, len(rule.partials))
    return " ".join(letters_of(one) for one in found)

