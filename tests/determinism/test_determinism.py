"""The same program gives the same text, byte by byte, and the same gradient, bit by bit.

In every process, whatever the hash seed, the order of imports and of compilations, and the threads
that compile. ``ADCOMPILER_PYTHONS`` names other interpreters, separated as paths are, which have
the dependencies: their texts are compared too. That different machines add in different orders is
not of the compiler: gradients are compared on one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hessian, jacobian, sparse_jacobian, vjp
from tests.determinism import emitting

ROOT = Path(__file__).resolve().parents[2]
OTHERS = list(filter(None, os.environ.get("ADCOMPILER_PYTHONS", "").split(os.pathsep)))
LIBRARIES = "scipy.optimize,scipy.special,numpy,math,adcompiler_rules.scipy_special"


def run(*arguments: str, seed: str = "0", python: str = sys.executable) -> dict[str, Any]:
    """Return what a process emits that has nothing in its cache."""
    done = subprocess.run(
        [python, str(ROOT / "tests" / "determinism" / "emitting.py"), *arguments],
        capture_output=True, text=True, timeout=300, cwd=ROOT,
        env=os.environ | {
            "PYTHONHASHSEED": seed, "ADCOMPILER_CACHE_DIR": "off", "ADCOMPILER_VERIFY": "",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "rules")]),
        },
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def here() -> dict[str, Any]:
    return run()


@pytest.mark.parametrize(("arguments", "seed"), [
    (("", "forward"), "12345"),
    ((LIBRARIES, "backward"), "1"),
    (("", "threads"), "random"),
], ids=["another hash seed", "another order", "in threads"])
def test_texts_and_gradients_are_the_same(
    here: dict[str, Any], arguments: tuple[str, str], seed: str
) -> None:
    there = run(*arguments, seed=seed)
    assert len(there) > 30
    assert {name: text for name, (text, _) in there.items()} == {
        name: text for name, (text, _) in here.items()}
    assert there == here


@pytest.mark.skipif(not OTHERS, reason="ADCOMPILER_PYTHONS names no other interpreters")
@pytest.mark.parametrize("python", OTHERS)
def test_texts_of_other_pythons_are_the_same(here: dict[str, Any], python: str) -> None:
    there = run(python=python)
    assert {name: text for name, (text, _) in there.items()} == {
        name: text for name, (text, _) in here.items()}


def network(w, X):
    h = np.tanh(X @ w["a"])
    for _ in range(3):
        h = np.tanh(h @ w["b"] + h)
    return np.sum(np.log(1.0 + h * h) * w["c"])


def stencil(u):
    return np.sin(u[1:-1]) * (u[2:] - 2.0 * u[1:-1] + u[:-2])


def test_gradients_are_repeatable_bit_by_bit() -> None:
    rng = np.random.default_rng(0)
    w = {"a": rng.normal(size=(7, 5)), "b": rng.normal(size=(5, 5)), "c": rng.normal(size=5)}
    X, u = rng.normal(size=(40, 7)), rng.normal(size=30)

    def all_of_them() -> Any:
        _, pullback = vjp(network, w, X)
        return emitting.bits([
            grad(network)(w, X), pullback(1.0), jacobian(stencil)(u),
            sparse_jacobian(stencil)(u).toarray(), hessian(lambda v: np.sum(stencil(v) ** 2))(u),
        ])

    first = all_of_them()
    assert all(all_of_them() == first for _ in range(5))


def test_the_cache_gives_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    w = {"a": rng.normal(size=(7, 5)), "b": rng.normal(size=(5, 5)), "c": rng.normal(size=5)}
    X = rng.normal(size=(40, 7))
    found = set()
    for directory in ("off", str(tmp_path / "cache"), str(tmp_path / "cache")):
        monkeypatch.setenv("ADCOMPILER_CACHE_DIR", directory)
        derivative = grad(network)
        found.add(json.dumps(emitting.bits(derivative(w, X)), sort_keys=True))
    assert len(found) == 1
