"""Rules are loaded by what is asked for, never by what ran before."""

import ast
import inspect
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from adcompiler.ops import loading
from adcompiler.ops.qualified_names import covering, home_module, is_emitted_home, rule_packages
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.samples import rule_name

from tests.docs.test_code_blocks import DOCUMENTS, blocks
from tests.lanes import one_in

ROOT = Path(__file__).resolve().parents[2]


@cache
def imported_by(module):
    """Return the modules of rules that one of them imports, itself among them."""
    found, todo = {module}, [module]
    while todo:
        path = sys.modules[todo.pop()].__file__
        for node in ast.walk(ast.parse(Path(path).read_text())):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
            elif isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            for name in names:
                if name.startswith("adcompiler_rules.") and name in sys.modules and (
                    name not in found
                ):
                    found.add(name)
                    todo.append(name)
    return found


def written_in(rule):
    """Return the module of rules that a rule is written in, None if that is not known."""
    parts = [rule.definition, *rule.partials]
    homes = (inspect.getmodule(part) for part in parts if callable(part))
    return next((m.__name__ for m in homes if m and m.__name__.startswith("adcompiler_rules.")),
                None)


def test_rules_of_what_emitted_code_calls_come_with_its_module():
    rules = list(REGISTRY.rules())
    points = {name: [p.module for p in found] for name, found in rule_packages().items()}
    left, seen = {}, 0
    for rule in rules:
        home, module = home_module(rule.function), written_in(rule)
        if not is_emitted_home(home) or module is None:
            continue
        seen += 1
        asked = [m for name in covering(home) for m in points.get(name, ())]
        if not any(module in imported_by(m) for m in asked):
            left[rule_name(rule)] = module
    assert left == {}
    assert seen > 80


ALONE = """
import numpy as np
import adcompiler as ad
import scipy.sparse as sp
import scipy.sparse.linalg

def product(x):
    return sp.diags([x[:3] * 1.0, 2.0 + x, x[1:] * 1.0], [-1, 0, 1]) @ x

def solution(x):
    matrix = sp.diags([x[:3] * 1.0, 4.0 + x, x[1:] * 1.0], [-1, 0, 1]).tocsc()
    return scipy.sparse.linalg.spsolve(matrix, np.ones(4))

def total(x):
    return product(x).sum()

x = np.array([0.7, 0.4, 0.3, 0.9])
h = 1e-5
band = abs(np.subtract.outer(np.arange(4), np.arange(4))) < 2
wanted = np.array([(product(x + h * e) - product(x - h * e)) / (2 * h) for e in np.eye(4)]).T
"""
OPERATORS = {
    "a pattern": "assert (ad.jacobian_sparsity(product, x).toarray() == band).all()",
    "a pattern of solutions": "assert ad.jacobian_sparsity(solution, x).toarray().all()",
    "a pattern at a point": (
        "assert (ad.jacobian_sparsity(product, x, mode='local').toarray() == band).all()"),
    "a pattern of second derivatives": (
        "assert (ad.hessian_sparsity(total, x).toarray() >= np.eye(4)).all()"),
    "a sparse Jacobian": "assert np.allclose(ad.sparse_jacobian(product)(x).toarray(), wanted)",
    "a sparse Hessian": (
        "assert np.allclose(ad.sparse_hessian(total)(x).toarray(), np.diag([4., 6., 6., 4.]))"),
    "a Jacobian": "assert np.allclose(ad.jacobian(product)(x), wanted)",
    "a gradient": "assert np.allclose(ad.grad(total)(x), wanted.sum(0))",
}
"""What is done with a function that makes a sparse matrix of SciPy, each alone in a process."""


@pytest.mark.parametrize("name", one_in(4, OPERATORS))
def test_each_operator_alone_in_a_process(name, tmp_path):
    path = tmp_path / "alone.py"
    path.write_text(ALONE + OPERATORS[name] + "\n")
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


SPARSE = {"sparse_jacobian", "sparse_hessian", "jacobian_sparsity", "hessian_sparsity"}
PAGES = ("sparsity", "reference", "collocation")
"""The pages of documentation that show them."""
EACH_FORKED = """
import os
import sys
import traceback
import types
from pathlib import Path

import adcompiler

failed = 0
for path in map(Path, sys.argv[1:]):
    child = os.fork()
    if not child:
        module = sys.modules[path.stem] = types.ModuleType(path.stem)
        try:
            exec(compile(path.read_text(), str(path), "exec"), vars(module))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    failed += os.waitpid(child, 0)[1] != 0
sys.exit(failed)
"""
"""A process that has imported adcompiler alone runs each file in a process forked from it."""


def names_in(statement, *kinds):
    """Return the names that a statement reads, binds or writes into."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, kinds):
            found.add(node.id)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, kinds):
            found.update(n.id for n in ast.walk(node.value) if isinstance(n, ast.Name))
        elif isinstance(node, ast.alias) and ast.Store in kinds:
            found.add((node.asname or node.name).partition(".")[0])
    return found


def binds(statement, wanted):
    """Say whether a statement defines one of some names, or registers something for it."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        registered = [names_in(one, ast.Load) for one in statement.decorator_list]
        return statement.name in wanted or any(one & wanted for one in registered)
    return not isinstance(statement, (ast.Expr, ast.Assert)) and bool(
        names_in(statement, ast.Store) & wanted)


def examples():
    """Yield the place, and the text, of each documented example of a sparse operator alone.

    That is the block that calls it behind what it needs of the blocks before, and nothing else.
    """
    for document in (one for one in DOCUMENTS if one.stem in PAGES):
        before = []
        for block in blocks(document.read_text()):
            if block.language != "python":
                continue
            here = ast.parse(block.text).body
            wanted = set().union(*(names_in(one, ast.Load) for one in here))
            attributes = {
                node.attr for one in here for node in ast.walk(one)
                if isinstance(node, ast.Attribute)}
            if (wanted | attributes) & SPARSE and block.kind != "raises":
                kept = []
                for text, statement in reversed(before):
                    if binds(statement, wanted):
                        kept.insert(0, text)
                        wanted |= names_in(statement, ast.Load)
                yield f"{document.stem}_{block.line}", "\n\n".join([*kept, block.text])
            lines = block.text.splitlines()
            for one in here:
                first = min([one.lineno, *(
                    each.lineno for each in getattr(one, "decorator_list", []))])
                before.append(("\n".join(lines[first - 1 : one.end_lineno]), one))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked")
@pytest.mark.parametrize("part", one_in(8, range(8)))
def test_each_documented_example_of_sparse_operators_alone(part, tmp_path):
    found = list(examples())
    assert len(found) > 15
    files = []
    for place, text in found[part::8]:
        files.append(tmp_path / f"{place}.py")
        files[-1].write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", EACH_FORKED, *map(str, files)], capture_output=True, text=True,
        cwd=ROOT, env={**os.environ, "ADCOMPILER_CACHE_DIR": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "ours"), [
    ("adcompiler_rules.scipy_linalg", True), ("mine", False), ("adcompiler_rules_of_mine", False),
])
def test_only_rules_that_come_along_leave_others_to_be_loaded(name, ours, monkeypatch):
    # rules of other packages go on top of those that are loaded before
    monkeypatch.setattr(loading, "rule_roots", lambda: {"mine", "adcompiler_rules"})
    space = {"__name__": name, "imports_rules": loading.imports_rules}
    text = "def inside():\n    return imports_rules()\nfound = inside()"
    exec(compile(text, name, "exec"), space)
    assert space["found"] == ours
    assert space["inside"]() is False
