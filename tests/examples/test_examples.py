"""Each example runs, and its numbers are right."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from adcompiler.rulekit import REGISTRY, clear_new_rule_hooks

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> object:
    """Return a function that imports an example by name, as it is imported when run there."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def load_example(name: str) -> ModuleType:
        return importlib.import_module(name)

    return load_example


def test_every_example_is_tested_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    for example in EXAMPLES.glob("*.py"):
        own = Path(__file__).with_name(f"test_{example.stem}.py")
        assert f'load("{example.stem}")' in text or own.exists()


def test_black_scholes_sensitivities_equal_their_closed_forms(load) -> None:
    results = load("black_scholes").main()
    assert list(results) == ["delta", "vega", "rho", "minus theta"]
    for compiled, closed in results.values():
        assert isinstance(compiled, float)
        assert compiled == pytest.approx(closed, rel=1e-12)


def test_newton_has_the_slope_of_the_square_root(load) -> None:
    results = load("newton").main()
    assert results.pop(-1.0) == (0.0, 0.0)
    for a, (value, slope) in results.items():
        assert value == pytest.approx(a**0.5, rel=1e-12)
        assert slope == pytest.approx(0.5 / a**0.5, rel=1e-12)


def test_rnn_gradient_equals_finite_differences(load) -> None:
    results = load("rnn").main()
    assert len(results) == 4
    for compiled, difference in results:
        assert compiled == pytest.approx(difference, rel=1e-6, abs=1e-9)


def test_logistic_regression_reaches_the_optimum_of_scikit_learn(load) -> None:
    results = load("logistic_regression").main()
    ours, theirs = results["losses"]
    assert ours == pytest.approx(theirs, rel=1e-10)
    np.testing.assert_allclose(*results["coefficients"], atol=1e-5)
    assert np.max(np.abs(results["gradient"])) < 1e-5


@pytest.fixture
def registry_as_it_was() -> Iterator[None]:
    """Take back the rules and hooks of an example."""
    REGISTRY.load_all()
    before = len(REGISTRY.log)
    yield
    clear_new_rule_hooks()
    for rule in REGISTRY.log[before:]:
        REGISTRY.withdraw(rule)


def test_E8_E10_dual_numbers_made_from_the_rules(load, registry_as_it_was) -> None:
    assert load("forward_diff_zero").main() == {
        "foo": 2.0, "bar": 3.1, "baz": 2 * 2.0 * 1.7 + 3.0,
        "qux": (2 * 2.0 * 1.7 + 3.0) + 3.1 + 2, "quux": 45.0,
    }


def test_E9_a_tape_made_from_the_rules(load, registry_as_it_was) -> None:
    assert load("reverse_diff_zero").main() == {
        "foo": (2.0,), "bar": (3.1,), "baz": (2 * 2.0 * 1.7 + 3.0,),
        "qux": ((2 * 2.0 * 1.7 + 3.0) + 3.1 + 2,), "quux": (45.0,),
    }


def test_demo_checks_its_gradient_and_optimises(load, capsys: pytest.CaptureFixture[str]) -> None:
    results = load("demo").main()
    compiled, difference = results["check"]
    assert compiled == pytest.approx(difference, rel=1e-8)
    gradient_apart, minimum_apart = results["rosen"]
    assert gradient_apart < 1e-12
    assert minimum_apart < 1e-4
    ours, theirs = results["logistic"]["losses"]
    assert ours == pytest.approx(theirs, rel=1e-10)
    printed = capsys.readouterr().out
    assert "w_bar" in printed
    assert "# " in printed


def test_external_ctypes_slopes_equal_differences(load) -> None:
    results = load("external_ctypes").main()
    assert len(results) == 4
    for compiled, difference in results:
        assert compiled == pytest.approx(difference, rel=1e-8)


def test_external_lowlevel_derivatives_equal_their_closed_forms(load) -> None:
    results = load("external_lowlevel").main()
    assert len(results) == 2
    for compiled, closed in results:
        assert compiled == pytest.approx(closed, rel=1e-12)


@pytest.fixture
def picture(tmp_path: Path) -> Iterator[str]:
    """Return a file for the picture of a pattern, and see that it is drawn."""
    pytest.importorskip("matplotlib")
    path = tmp_path / "pattern.png"
    yield str(path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a22_brusselator_with_a_sparse_jacobian_runs_as_with_differences(load, picture) -> None:
    results = load("brusselator").main(picture, n=5, until=0.2)
    assert results["success"]
    assert results["nonzeros"] == 2 * 25 * 6
    assert results["apart"] < 1e-6 < 1e-2 < results["moved"]


def test_a22_bundle_adjustment_finds_the_cameras(load, picture) -> None:
    module = load("bundle_adjustment")
    results = module.main(picture, cameras=3, points=12)
    assert results["largest"] < 1e-10
    x, others = results["point"], results["others"]
    v = np.random.default_rng(1).normal(size=x.size)
    h = 1e-6
    wanted = module.residuals(x + h * v, *others) - module.residuals(x - h * v, *others)
    np.testing.assert_allclose(module.jacobian(x, *others) @ v, wanted / (2 * h), atol=1e-7)
    in_each_row = np.diff(results["structure"].pattern.indptr)
    assert np.all(in_each_row == module.CAMERA + 3 - 1)  # u without the shift along v, v likewise


def test_a22_chained_objective_of_many_variables_is_minimized(load, picture) -> None:
    results = load("chained_objective").main(picture, n=10_000)
    assert results["nonzeros"] == 29_998
    assert results["slope"] < 1e-6
    assert results["hessian"].diagonal().min() > 0.0
    assert list(results["times"]) == [625, 2500, 10_000]
    assert all(seconds > 0.0 for seconds in results["times"].values())


def test_errors_of_a_likelihood_are_those_of_its_model(load, picture) -> None:
    results = load("likelihood").main(picture)
    assert results["slope"] < 1e-6
    np.testing.assert_allclose(results["errors"], results["robust"], rtol=0.1)
    true = load("likelihood").TRUE
    assert np.all(np.abs(results["estimates"] - true) < 3.0 * results["errors"])


def test_the_conductivity_of_a_rod_is_found(load, picture) -> None:
    module = load("heat_adjoint")
    results = module.main(picture, points=30, steps=400)
    assert results["after"] < 0.05 * results["before"]
    history = results["history"]
    assert history[0] == results["before"] and history[-1] == results["after"]
    assert history == sorted(history, reverse=True)
    k, direction = np.full(29, 0.2), np.random.default_rng(0).normal(size=29)
    measured = module.final(results["true"], 400)

    def misfit(k):
        return module.misfit.primal(k, 400, measured)

    wanted = (misfit(k + 1e-6 * direction) - misfit(k - 1e-6 * direction)) / 2e-6
    assert results["slope"] @ direction == pytest.approx(wanted, rel=1e-5)


def test_a_cart_is_moved_with_sparse_derivatives(load, picture) -> None:
    results = load("cart").main(picture, points=20)
    assert results["left"] < 1e-8
    assert results["nonzeros"] < 0.15 * 42 * 60
    assert results["force"][0] > -results["force"][-1] > 0.0
    assert results["speed"].max() == pytest.approx(1.5, abs=0.1)


# of SciPy's differences beside the minimum, where steps are as small as rounding
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")
def test_solvers_with_derivatives_find_what_they_find_with_differences(load) -> None:
    results = load("scipy_solvers").main(runs=1)
    assert len(results) == 8
    for differences, derivatives in results.values():
        assert derivatives[0] <= differences[0]  # evaluations
        assert derivatives[2] < 1e-4 and differences[2] < 1e-4
    assert results["least_squares, sparse"][1][0] < 0.01 * results["least_squares, sparse"][0][0]


def test_training_on_parts_gives_the_same_in_one_process_and_two(load, picture) -> None:
    results = load("sharded_training").main(picture, count=3_000, steps=6)
    assert results["same"]
    one, two = results["runs"][1], results["runs"][2]
    assert one["losses"] == two["losses"]
    assert one["losses"][-1] < 0.9 * one["losses"][0]
    value, _ = results["whole"]
    assert value / 3_000 < one["losses"][-1]
