"""Jacobians for lmfit beside differences of its own residuals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

lmfit = pytest.importorskip("lmfit")
from lmfit.models import ConstantModel, GaussianModel, LinearModel, LorentzianModel  # noqa: E402

from adcompiler import ADError  # noqa: E402
from adcompiler.interop.lmfit import model_jacobian, residual  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
X = np.linspace(0.0, 10.0, 61)


def by_differences(residual: Any, params: Any, *args: Any, **kwargs: Any) -> np.ndarray:
    """Return the derivatives of a residual by the parameters that vary."""
    columns = []
    for name in [name for name, one in params.items() if one.vary]:
        sides = []
        for step in (1e-6, -1e-6):
            moved = params.copy()
            moved[name].value = params[name].value + step
            moved.update_constraints()
            sides.append(np.array(residual(moved, *args, **kwargs)))
        columns.append((sides[0] - sides[1]) / 2e-6)
    return np.stack(columns, axis=-1)


def peaks() -> tuple[Any, Any, np.ndarray]:
    """Return a model of two peaks, parameters of which one depends on another, and data."""
    model = GaussianModel(prefix="a_") + LorentzianModel(prefix="b_") * ConstantModel(prefix="k_")
    model = model + LinearModel(prefix="l_")
    params = model.make_params(
        a_center=3.0, a_sigma=0.5, a_amplitude=5.0, b_center={"value": 7.0, "min": 6.0, "max": 8.0},
        b_amplitude=4.0, k_c={"value": 1.5, "vary": False}, l_slope=0.1, l_intercept=1.0)
    params["b_sigma"].expr = "2 * a_sigma**1.5 + sqrt(a_center)"
    params.add("above", expr="exp(-b_sigma)")
    params["l_slope"].expr = "0.2 * above"
    noise = 0.01 * np.cos(37.0 * X)
    return model, params, model.eval(params, x=X) + noise


@pytest.mark.parametrize("weights", [None, 2.0, 1.0 + X], ids=["none", "number", "array"])
def test_models_and_what_combines_them(weights: Any) -> None:
    model, params, y = peaks()
    found = model_jacobian(model)(params, y, weights, x=X)
    assert found.shape == (61, 6)
    wanted = by_differences(model._residual, params, y.copy(), weights, x=X)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("method", ["leastsq", "least_squares"])
def test_fits_of_models(method: str) -> None:
    model, params, y = peaks()
    params["a_sigma"].value, params["b_center"].value = 0.7, 6.6
    exact = model.fit(
        y, params, x=X, method=method, fit_kws={"Dfun": model_jacobian(model)})
    plain = model.fit(y, params, x=X, method=method)
    assert exact.success and exact.nfev < plain.nfev / 2
    for name in exact.var_names:
        assert exact.params[name].value == pytest.approx(plain.params[name].value, rel=1e-4)
        assert exact.params[name].stderr == pytest.approx(plain.params[name].stderr, rel=1e-2)


def parabola(p: dict[str, float], x: Any, power: int = 2) -> Any:
    return (p["a"] * x - p["b"]) ** power - p["c"]


def named() -> Any:
    return lmfit.create_params(
        a=1.5, b={"value": 2.0, "min": 0.0}, c={"expr": "a * b + exp(a)"},
        d={"value": 1.0, "vary": False})


def test_residuals_of_named_parameters() -> None:
    misfit = pickle.loads(pickle.dumps(residual(parabola)))
    found = misfit.jacobian(named(), X, power=3)
    assert found.shape == (61, 2)
    np.testing.assert_allclose(
        found, by_differences(misfit, named(), X, power=3), rtol=1e-6, atol=1e-6)
    fit = lmfit.Minimizer(misfit, named(), (X[:20],)).leastsq(Dfun=misfit.jacobian)
    plain = lmfit.minimize(misfit, named(), args=(X[:20],))
    assert fit.chisqr == pytest.approx(plain.chisqr, rel=1e-6)


@pytest.mark.parametrize("method", ["bfgs", "lbfgsb", "newton"])
def test_numbers_have_gradients(method: str) -> None:
    cost = residual(lambda p: (p["a"] - 3.0) ** 2 + (p["b"] - 1.0) ** 2 * p["a"] ** 2)
    params = lmfit.create_params(a=1.0, b={"value": 2.0, "min": 0.0})
    assert cost.jacobian(params).tolist() == [-2.0, 2.0]
    found = lmfit.minimize(cost, params, method=method, jac=cost.jacobian).params
    assert found["a"].value == pytest.approx(3.0, abs=1e-4)
    assert found["b"].value == pytest.approx(1.0, abs=1e-4)


def test_symbols_of_users_in_expressions() -> None:
    params = lmfit.Parameters(usersyms={"half": lambda v: 0.5 * v * v})
    params.add("a", 3.0)
    params.add("b", expr="half(a)")
    total = residual(lambda p: np.array([p["b"], p["a"]]))
    assert total.jacobian(params).tolist() == [[3.0], [1.0]]
    params._asteval.symtable["half"] = lambda v: 0.25 * v**4
    params.update_constraints()
    assert total.jacobian(params).tolist() == [[27.0], [1.0]]


def test_refusals() -> None:
    opaque = np.frompyfunc(abs, 1, 1)
    with pytest.raises(ADError, match="has no rule"):
        residual(lambda p: opaque(np.array([p["a"]]))).jacobian(named())
    model = lmfit.Model(lambda x, a: np.exp(1j * a * x))
    with pytest.raises(TypeError, match="real residuals"):
        model_jacobian(model)(model.make_params(a=1.0), np.ones(61) + 0j, None, x=X)
    with pytest.raises(TypeError, match="real residuals"):
        residual(lambda p: np.exp(1j * p["a"] * X)).jacobian(named())
    line = LinearModel()
    with pytest.raises(TypeError, match="beside the parameters"):
        model_jacobian(line)(line.make_params(slope=1.0, intercept=0.0), X, None, x=X, slope=2.0)
