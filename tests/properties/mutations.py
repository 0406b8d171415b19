"""Small changes of a program's text: most make other programs that run, some that raise."""

from __future__ import annotations

import ast
import copy
import linecache
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Edit = Callable[[ast.FunctionDef, Random], "str | None"]
CONSTANTS = (0, 1, -1, 2, 0.0, 1.0, -1.5, 0.5, True, None)
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE, ast.NotEq), ast.LtE: (ast.Lt, ast.Gt, ast.Eq),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE, ast.NotEq), ast.GtE: (ast.Gt, ast.Lt, ast.Eq),
    ast.Eq: (ast.NotEq, ast.Lt, ast.GtE), ast.NotEq: (ast.Eq, ast.Gt, ast.LtE),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    """Return the lists of statements in a tree."""
    return [rows for node in ast.walk(tree) for name in ("body", "orelse", "finalbody")
            if isinstance(rows := getattr(node, name, None), list) and rows]


def nodes(tree: ast.AST, *kinds: type) -> list[Any]:
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def place(tree: ast.FunctionDef, rng: Random) -> tuple[list[ast.stmt], int]:
    rows = rng.choice(bodies(tree))
    return rows, rng.randrange(len(rows))


def delete(tree: ast.FunctionDef, rng: Random) -> str | None:
    rows, i = place(tree, rng)
    gone = rows[i]
    rows[i : i + 1] = [] if len(rows) > 1 else [ast.Pass()]
    return f"without `{ast.unparse(gone).splitlines()[0]}`"


def duplicate(tree: ast.FunctionDef, rng: Random) -> str | None:
    rows, i = place(tree, rng)
    rows.insert(i, copy.deepcopy(rows[i]))
    return f"twice `{ast.unparse(rows[i]).splitlines()[0]}`"


def swap(tree: ast.FunctionDef, rng: Random) -> str | None:
    rows, i = place(tree, rng)
    if i + 1 == len(rows):
        return None
    rows[i], rows[i + 1] = rows[i + 1], rows[i]
    return f"`{ast.unparse(rows[i]).splitlines()[0]}` before its predecessor"


def drop_return(tree: ast.FunctionDef, rng: Random) -> str | None:
    found = nodes(tree, ast.Return)
    if not found:
        return None
    node = rng.choice(found)
    node.value = None
    return "a bare return"


def leave(tree: ast.FunctionDef, rng: Random) -> str | None:
    """Put a ``return``, ``break`` or ``continue`` somewhere."""
    loops = nodes(tree, ast.For, ast.While)
    if loops and rng.random() < 0.7:
        rows = rng.choice(loops).body
        new: ast.stmt = rng.choice([ast.Break(), ast.Continue(), ast.Return(None)])
    else:
        rows, new = rng.choice(bodies(tree)), ast.Return(None)
    rows.insert(rng.randrange(len(rows) + 1), new)
    return f"`{ast.unparse(new)}` put in"


def constant(tree: ast.FunctionDef, rng: Random) -> str | None:
    found = [node for node in nodes(tree, ast.Constant) if type(node.value) in (int, float)]
    if not found:
        return None
    node = rng.choice(found)
    old = node.value
    other = [old + 1, old - 1, -old, float(old), int(old) if abs(old) < 1e9 else 0, *CONSTANTS]
    node.value = rng.choice([v for v in other if repr(v) != repr(old)])
    return f"{node.value!r} for {old!r}"


def comparison(tree: ast.FunctionDef, rng: Random) -> str | None:
    found = nodes(tree, ast.Compare)
    if not found:
        return None
    node = rng.choice(found)
    i = rng.randrange(len(node.ops))
    node.ops[i] = rng.choice(COMPARISONS[type(node.ops[i])])()
    return f"`{ast.unparse(node)}` as the comparison"


def name(tree: ast.FunctionDef, rng: Random) -> str | None:
    """Read another variable."""
    used = sorted({n.id for n in nodes(tree, ast.Name)} | {a.arg for a in tree.args.args})
    found = [n for n in nodes(tree, ast.Name) if isinstance(n.ctx, ast.Load)]
    if len(used) < 2 or not found:
        return None
    node = rng.choice(found)
    old = node.id
    node.id = rng.choice([other for other in used if other != old])
    return f"{node.id} for {old}"


def bound(tree: ast.FunctionDef, rng: Random) -> str | None:
    """Run over one number more or less, or backwards."""
    found = [n for n in nodes(tree, ast.Call)
             if isinstance(n.func, ast.Name) and n.func.id == "range" and n.args]
    if not found:
        return None
    node = rng.choice(found)
    i = rng.randrange(len(node.args))
    shift = ast.Constant(rng.choice([1, 2]))
    node.args[i] = ast.BinOp(node.args[i], rng.choice([ast.Add(), ast.Sub()]), shift)
    return f"`{ast.unparse(node)}` as the range"


def nothing(tree: ast.FunctionDef, rng: Random) -> str | None:
    """Give None for an argument, or leave it out."""
    found = [n for n in nodes(tree, ast.Call) if n.args]
    if not found:
        return None
    node = rng.choice(found)
    i = rng.randrange(len(node.args))
    if rng.random() < 0.5:
        node.args[i] = ast.Constant(None)
    else:
        del node.args[i]
    return f"`{ast.unparse(node)}` as the call"


def arithmetic(tree: ast.FunctionDef, rng: Random) -> str | None:
    found = nodes(tree, ast.BinOp, ast.AugAssign)
    if not found:
        return None
    node = rng.choice(found)
    node.op = rng.choice([op for op in OPERATORS if not isinstance(node.op, op)])()
    return f"`{ast.unparse(node)}` as the arithmetic"


def negation(tree: ast.FunctionDef, rng: Random) -> str | None:
    found = nodes(tree, ast.If, ast.While, ast.IfExp)
    if not found:
        return None
    node = rng.choice(found)
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return f"`{ast.unparse(node.test)}` as the condition"


EDITS: tuple[Edit, ...] = (
    delete, duplicate, swap, drop_return, leave, constant, constant, comparison, name, name, bound,
    nothing, arithmetic, negation,
)


def mutated(tree: ast.FunctionDef, rng: Random) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Iterate over changed copies of a function, which compile, each with what was changed."""
    while True:
        changed = copy.deepcopy(tree)
        what = rng.choice(EDITS)(changed, rng)
        if what is None:
            continue
        try:
            compile(ast.unparse(ast.fix_missing_locations(changed)), "<mutant>", "exec")
        except (SyntaxError, ValueError, TypeError):
            continue
        yield changed, what


def loaded(tree: ast.FunctionDef, namespace: dict[str, Any], file: str) -> Callable[..., Any]:
    """Return the function of a tree, with text that tools find; it sees a copy of ``namespace``."""
    text = ast.unparse(tree) + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {**namespace, "__name__": file.strip("<>").replace(" ", "_")}
    exec(compile(text, file, "exec"), scope)
    found = scope[tree.name]
    assert callable(found)
    return found
