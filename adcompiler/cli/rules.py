"""``adcompiler rules``: the table of rules, or all about one."""

from __future__ import annotations

import difflib
import inspect
import pydoc
import sys
import textwrap
from typing import Any

from adcompiler.cli.output import show_json, show_table
from adcompiler.cli.rule_columns import HEAD, columns
from adcompiler.errors import SourceNotFoundError
from adcompiler.frontend.sources.source import read_source
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.registry import REGISTRY
from adcompiler.ops.rules import Rule
from adcompiler.support.signatures import signature as signature_of

SHORT = {"np": "numpy"}
TITLES = {"classification": "vanishing"}
"""Shorter titles for the lines about one rule."""


def list_rules(as_json: bool = False) -> int:
    """Print every rule, alias and declaration of the installed rule packages."""
    empty = ("",) * len(HEAD)
    rules = {(display_name(rule.function), kind(rule), ", ".join(wrt(rule)), *columns(rule),
              rule.kink) for rule in REGISTRY.rules()}
    aliases = {(display_name(other), f"alias of {display_name(function)}", "", *empty, "")
               for other, function in REGISTRY.aliases()}
    inactive = {(display_name(declaration.function), "not differentiable", "", *empty, "")
                for declaration in REGISTRY.declarations()}
    head = ("function", "kind", "wrt", *HEAD, "kink")
    rows = sorted(rules | aliases | inactive)
    if as_json:
        show_json([dict(zip(head, row, strict=True)) for row in rows])
        return 0
    show_table(head, rows)
    print(f"{len(rules)} rules, {len(aliases)} aliases, {len(inactive)} functions without a "
          "derivative")
    return 0


def kind(rule: Rule) -> str:
    """Return what sort of rule it is."""
    if not rule.reverses:
        return "forward"
    if rule.elementwise:
        return "elementwise"
    if rule.bilinear:
        return "bilinear"
    return "linear" if rule.linear else "rule"


def wrt(rule: Rule) -> tuple[str, ...]:
    """Return the arguments that a rule differentiates with respect to."""
    if rule.definition is not None:
        return rule.wrt
    names = ("x",) if len(rule.partials) == 1 else [f"x{i}" for i in range(len(rule.partials))]
    return tuple(n for n, partial in zip(names, rule.partials, strict=True) if partial is not None)


def describe_rule(name: str) -> int:
    """Print all that is known of one function; return 1 if that is nothing."""
    function = function_named(name)
    target = None if function is None else REGISTRY.resolve(function)
    rules = REGISTRY.rules_of(target)
    inactive = REGISTRY.inactive(target)
    if function is None or not (rules or inactive):
        print(f"no rule covers {name}{suggestion(name)}", file=sys.stderr)
        return 1
    print(display_name(function))
    if target is not function:
        print(f"alias of     {display_name(target)}")
    if inactive is not None:
        pure = "" if inactive.pure else ", and runs exactly where it stands"
        print(f"declaration  its results carry no derivative{pure}")
    for rule in rules:
        print("\n".join(rule_rows(rule)))
    return 0


def function_named(name: str) -> Any:
    """Return the callable with a dotted name, None if there is none."""
    first, dot, rest = name.replace(":", ".").partition(".")
    try:
        return pydoc.locate(SHORT.get(first, first) + dot + rest)
    except pydoc.ErrorDuringImport:
        return None


def suggestion(name: str) -> str:
    """Return a half sentence with the rules of similar names."""
    first, dot, rest = name.partition(".")
    names = {display_name(rule.function) for rule in REGISTRY.rules()}
    close = difflib.get_close_matches(SHORT.get(first, first) + dot + rest, names, 3)
    return f"; did you mean {' or '.join(close)}?" if close else "; see `adcompiler rules`"


def rule_rows(rule: Rule) -> list[str]:
    """Return the lines that describe one rule, its source last."""
    rows = [
        f"kind         {kind(rule)}",
        f"wrt          {', '.join(wrt(rule)) or 'nothing'}",
    ]
    if rule.definition is not None:
        rows.insert(0, f"signature    {signature_of(rule.definition)}")
    if rule.types is not None:
        named = ("any" if cls is None else getattr(cls, "__name__", str(cls)) for cls in rule.types)
        rows.append(f"types        {', '.join(named)}")
    for title, entry in zip(HEAD, columns(rule), strict=True):
        if entry:
            rows.append(f"{TITLES.get(title, title):12} {entry}")
    if rule.kink:
        rows.append(f"kink         {rule.kink}")
    if rule.primal_note:
        rows.append(f"primal       {rule.primal_note}")
    return [*rows, "", textwrap.indent(source_of(rule), "    ")]


def source_of(rule: Rule) -> str:
    """Return the source of a rule: its definition, or its partial derivatives."""
    try:
        if rule.definition is not None:
            return read_source(rule.definition).text.rstrip()
        return "\n".join(
            f"d/d{f'x{i}' if len(rule.partials) > 1 else 'x'}  {partial_text(partial)}"
            for i, partial in enumerate(rule.partials)
        )
    except SourceNotFoundError as error:
        return f"({error})"


def partial_text(partial: Any) -> str:
    """Return a partial derivative as it was written."""
    if not callable(partial):
        return "none" if partial is None else repr(partial)
    return read_source(partial).snippet.strip() if inspect.isfunction(partial) else display_name(
        partial
    )
