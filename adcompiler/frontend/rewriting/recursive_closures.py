"""Inner functions that call one another: each gets those that it calls as functions of its own.

Of ``even`` and ``odd``, which call each other, neither can be made first. A copy of ``odd`` inside
of ``even`` finds ``even`` as the function around it, and ``even`` needs nothing beside it then.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping

import gast

from adcompiler.frontend.names import FunctionNode, Scope, assigned_names, own_functions, own_nodes

LARGEST = 4
"""The number of functions of a group up to which they are copied: their copies hold others."""

DECLARATIONS = (gast.Nonlocal, gast.Global)


def untangle(function: FunctionNode) -> None:
    """Put copies of the others into each of the functions of ``function`` that call one another.

    Groups that are too large, or whose functions could not be made elsewhere, are left as they are.
    """
    made = functions_of(function)
    called = {name: free_names(node) & made.keys() for name, node in made.items()}
    reached = {name: reachable(name, called) for name in made}
    groups = {
        name: [other for other in made if other != name and other in reached[name]
               and name in reached[other]]
        for name in made
    }
    copies = {
        name: [copy.deepcopy(made[other]) for other in group]
        for name, group in groups.items()
        if group and can_be_copied(name, group, made)
        and are_made_together(function, [name, *group])
    }
    for name, inner in copies.items():
        body = made[name].body
        start = 1 if gast.get_docstring(made[name]) is not None else 0
        body[start:start] = inner


def functions_of(function: FunctionNode) -> dict[str, gast.FunctionDef]:
    """Return the functions that ``function`` always makes, by name, if nothing else has it."""
    if isinstance(function, gast.Lambda):
        return {}
    found = [node for node in function.body if isinstance(node, gast.FunctionDef)]
    if len(found) < 2:
        return {}
    times = Counter(node.name for node in found)
    times.update(node.id for node in gast.walk(function.args) if isinstance(node, gast.Name))
    for node in function.body:
        if not isinstance(node, gast.FunctionDef):
            times.update(assigned_names(node).keys())
    return {node.name: node for node in found if times[node.name] == 1}


def free_names(function: Scope) -> set[str]:
    """Return the names that a function reads of its surroundings, and perhaps a few more."""
    used: set[str] = set()
    targets: set[str] = set()  # of comprehensions, which have names of their own
    for node in own_nodes(function):
        if isinstance(node, gast.Name):
            (used if isinstance(node.ctx, gast.Load) else targets).add(node.id)
    used = used.union(*map(free_names, own_functions(function)))
    return used - targets - assigned_names(function).keys()


def reachable(name: str, called: Mapping[str, set[str]]) -> set[str]:
    """Return the functions that a call of ``name`` may call, directly or by others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = called[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def are_made_together(function: FunctionNode, names: list[str]) -> bool:
    """Say whether no statement between the definitions reads a function of the group."""
    body = [] if isinstance(function, gast.Lambda) else function.body
    places = [
        i for i, node in enumerate(body)
        if isinstance(node, gast.FunctionDef) and node.name in names
    ]
    return not any(
        isinstance(child, gast.Name) and child.id in names
        for node in body[places[0]:places[-1]] if not isinstance(node, gast.FunctionDef)
        for child in gast.walk(node)
    )


def can_be_copied(name: str, group: list[str], made: Mapping[str, gast.FunctionDef]) -> bool:
    """Say whether the functions of a group mean the same when they are made inside of ``name``."""
    names = {name, *group}
    members = [made[member] for member in names]
    if len(names) > LARGEST or any(
        isinstance(node, DECLARATIONS) for member in members for node in gast.walk(member)
    ):
        return False
    local = assigned_names(made[name]).keys()
    return not any(names & assigned_names(member).keys() for member in members) and all(
        not made[other].decorator_list and has_constant_defaults(made[other])
        and not (free_names(made[other]) - names) & local
        for other in group
    )


def has_constant_defaults(function: FunctionNode) -> bool:
    """Say whether the defaults of a function are the same wherever it is made."""
    defaults = [*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)]
    return all(
        isinstance(node, (gast.Constant, gast.UnaryOp, gast.unaryop))
        for default in defaults for node in gast.walk(default)
    )
