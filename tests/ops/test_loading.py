"""Rules are loaded by what is asked for, never by what ran before."""

import ast
import inspect
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from adcompiler.ops.homes import RUNTIME, covering, home_module, rule_packages
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.samples import rule_name

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
        if not home.startswith(RUNTIME) or module is None:
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
