"""Classes defined inside of a function: which of them are the same at each call.

Such a class is made once, when compiling. So nothing in it may be what another call would see
changed, or read anew: what stands in its body, beside methods, is literals and their like.
"""

from __future__ import annotations

from typing import Any

import gast

from adcompiler.frontend.names import FunctionNode, assigned_names

FIELDS = ("field", "dataclasses.field")
FACTORIES = ("list", "dict", "set", "tuple", "float", "int")


def class_made(*args: Any, **captured: Any) -> Any:
    """Stand for the making of a class, which type inference does."""
    raise TypeError("class_made() is read by the compiler, and never called")


def taken_apart(decorator: gast.expr) -> tuple[gast.expr, dict[str, Any] | None] | None:
    """Return a decorator with the literals that it is given by keyword; None for others."""
    if not isinstance(decorator, gast.Call):
        return decorator, None
    literals = {
        k.arg: k.value.value for k in decorator.keywords
        if k.arg is not None and isinstance(k.value, gast.Constant)
    }
    if decorator.args or len(literals) != len(decorator.keywords):
        return None
    return decorator.func, literals


def is_same_at_each_call(node: gast.ClassDef) -> bool:
    """Say whether a class is the same whenever the function around it is called."""
    own = {
        name for statement in node.body if isinstance(statement, (gast.Assign, gast.AnnAssign))
        for name in assigned_names(statement)
    }
    own |= {inner.name for inner in node.body if isinstance(inner, gast.FunctionDef)}

    def lasting(value: gast.AST | None) -> bool:
        match value:
            case None | gast.Constant() | gast.Lambda():
                return not isinstance(value, gast.Lambda) or defaults_last(value)
            case gast.Name(id=name):
                return name in own
            case gast.Tuple(elts=parts):
                return all(map(lasting, parts))
            case gast.UnaryOp(operand=operand):
                return lasting(operand)
            case gast.BinOp(left=left, right=right):
                return lasting(left) and lasting(right)
            case gast.Call(func=function, args=args, keywords=keywords):
                called = gast.unparse(function).strip()
                if called in FIELDS:
                    return not args and all(
                        lasting(k.value) or (k.arg == "default_factory" and gast.unparse(
                            k.value).strip() in FACTORIES) for k in keywords
                    )
                return called == "property" and not keywords and all(map(lasting, args))
        return False

    def defaults_last(function: FunctionNode) -> bool:
        defaults = [*function.args.defaults, *function.args.kw_defaults]
        return all(map(lasting, defaults))

    def statement_lasts(statement: gast.AST) -> bool:
        match statement:
            case gast.FunctionDef():
                return defaults_last(statement)
            case gast.Pass() | gast.Expr(value=gast.Constant()):
                return True
            case gast.Assign(targets=targets) if all(isinstance(n, gast.Name) for n in targets):
                return lasting(statement.value)
            case gast.AnnAssign(target=gast.Name()):
                return lasting(statement.value)
        return False

    return all(map(statement_lasts, node.body))
