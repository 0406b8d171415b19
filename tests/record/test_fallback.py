"""Which engine answers: decided by the program and the types of the arguments, and kept so."""

from __future__ import annotations

import base64
import marshal
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from adcompiler import grad, hessian, hvp, jacobian, rrule
from adcompiler.errors import RecordedWarning
from adcompiler.ops.registry import REGISTRY
from adcompiler.record.functions import kept_or_new
from adcompiler.record.running import Recorded

X, V = np.array([0.3, 0.7]), np.array([1.0, -2.0])


def by_name_or_not(x, how):
    if isinstance(how, str):
        return np.sum(np.__dict__[how](x))
    return np.sum(x**how)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Record what is refused, as users do; the functions that were recorded."""
    monkeypatch.setenv("ADCOMPILER_RECORD", "1")
    found: list[object] = []
    init = Recorded.__init__

    def counted(self, function, *args, **kwargs):
        found.append(function)
        init(self, function, *args, **kwargs)

    monkeypatch.setattr(Recorded, "__init__", counted)
    return found


def test_each_type_of_arguments_has_its_engine(runs: list[object]) -> None:
    """A function that was recorded once still compiles for other types."""
    by_name = {"grad": np.cos(X), "hessian": np.diag(-np.sin(X)), "hvp": -np.sin(X) * V}
    by_power = {"grad": 3 * X**2, "hessian": np.diag(6 * X), "hvp": 6 * X * V}
    calls = {
        "grad": grad(by_name_or_not), "hessian": hessian(by_name_or_not),
        "hvp": lambda x, how: hvp(by_name_or_not, x, V, how),
    }
    for name, call in calls.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordedWarning)
            for _ in range(2):
                assert np.allclose(call(X, "sin"), by_name[name], rtol=1e-14), name
        assert runs, name
        runs.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("error", RecordedWarning)
            for _ in range(2):
                assert np.allclose(call(X, 3), by_power[name], rtol=1e-14), name
            assert not runs, name
            assert np.allclose(call(X, "sin"), by_name[name], rtol=1e-14), name
        assert runs, name
        runs.clear()


def test_what_is_looked_into_is_what_the_call_with_these_types_runs(runs: list[object]) -> None:
    line = by_name_or_not.__code__.co_firstlineno + 2
    for make in (grad, hessian, jacobian):
        derivative = make(by_name_or_not)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordedWarning)
            assert "recorded" not in repr(derivative), make
            derivative(X, "sin")
            assert repr(derivative).endswith(" of by_name_or_not with respect to x, recorded>")
            assert derivative.source.startswith("def by_name_or_not(x, how):"), make
            assert derivative.explain(X, "sin").backend == (
                f"a recording of each call: test_fallback.py:{line}: which function is called "
                "here depends on data"), make
            assert derivative.explain(X, 3).backend == "Python", make
            derivative(X, 3)
            assert "recorded" not in repr(derivative) + derivative.source, make


def test_a_rule_that_is_registered_later_decides_again(runs: list[object]) -> None:
    def inner(x, name):
        return np.__dict__[name](x)

    def function(x):
        return np.sum(inner(x, "sin") * x)

    second = 2 * np.cos(X) - X * np.sin(X)
    derivative = hessian(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordedWarning)
        assert np.allclose(derivative(X), np.diag(second), rtol=1e-14)
        assert np.allclose(hvp(function, X, V), second * V, rtol=1e-14)
    rrule(inner)(lambda x, name: (np.sin(x), lambda dy: (dy * np.cos(x), None)))
    runs.clear()
    try:
        assert np.allclose(derivative(X), np.diag(second), rtol=1e-14)
        assert np.allclose(hvp(function, X, V), second * V, rtol=1e-14)
        assert not runs
    finally:
        REGISTRY.remove(inner)


def test_rewritten_code_on_disk_is_taken_where_this_user_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path / "cache"))

    def halved(x: float) -> float:
        return 0.5 * x

    made = kept_or_new(halved)
    (entry,) = (tmp_path / "cache").rglob("recorded_*.py")
    written = entry.read_bytes()
    assert kept_or_new(halved) == made
    assert entry.read_bytes() == written
    other = marshal.dumps(compile("0/0", "other", "eval"))
    forged = re.sub(rb'"code": "[^"]*"', b'"code": "' + base64.b64encode(other) + b'"', written)
    assert forged != written
    entry.write_bytes(forged)
    assert kept_or_new(halved) == made
