"""Operations of PyTensor, beside the same functions written for PyTensor."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")
import pytensor.tensor as pt  # noqa: E402

from adcompiler import ADError  # noqa: E402
from adcompiler.interop.pymc import wrap  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
MODE = pytensor.compile.mode.Mode(linker="py", optimizer="fast_compile")


def model(x: Any, n: Any, p: dict[str, Any]) -> Any:
    return {"a": np.sin(x) * p["k"] ** n, "b": (x @ x) * p["k"], "c": n}


wrapped = wrap(model, returns={"a": np.empty(0), "b": 0.0, "c": 0})
x, n, k = pt.dvector("x"), pt.lscalar("n"), pt.dscalar("k")
AT = [np.array([0.3, -0.4]), 3, 2.0]


def ours() -> Any:
    found = wrapped(x, n, {"k": k})
    return (found["a"] ** 2).sum() + 3.0 * found["b"]


def theirs() -> Any:
    return ((pt.sin(x) * k**n) ** 2).sum() + 3.0 * (x @ x) * k


@pytest.mark.parametrize("of", [
    lambda y: [y], lambda y: pytensor.grad(y, [x, k]),
    lambda y: [pytensor.gradient.hessian(y, x)],
    lambda y: [pytensor.gradient.hessian(y, x, disconnected_inputs="ignore"),
               pytensor.grad(pytensor.grad(y, k), x)],
], ids=["value", "grad", "hessian", "mixed"])
@pytest.mark.parametrize("mode", [MODE, "FAST_RUN", "NUMBA"], ids=["python", "run", "numba"])
def test_gradients(of: Any, mode: Any) -> None:
    found = pytensor.function([x, n, k], of(ours()), mode=mode, on_unused_input="ignore")(*AT)
    wanted = pytensor.function([x, n, k], of(theirs()), mode=MODE, on_unused_input="ignore")(*AT)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_gradients_through_one_result_of_several() -> None:
    found = wrapped(x, n, {"k": k})
    slope = pytensor.function([x, n, k], pytensor.grad(found["b"], x), mode=MODE,
                              on_unused_input="ignore")
    np.testing.assert_allclose(slope(*AT), [1.2, -1.6], rtol=1e-14)
    with pytest.raises(pytensor.gradient.DisconnectedInputError):
        pytensor.grad(found["b"], n)


def test_native_loops_and_single_precision() -> None:
    pytest.importorskip("llvmlite")

    def looped(x: Any) -> Any:
        total = 0.0
        for i in range(x.size):
            total = total + np.sin(x[i]) * x[i] ** 2
        return total

    y = wrap(looped, backend="native")(x)
    found = pytensor.function([x], pytensor.grad(y, x), mode=MODE)(AT[0])
    np.testing.assert_allclose(
        found, np.cos(AT[0]) * AT[0] ** 2 + 2.0 * np.sin(AT[0]) * AT[0], rtol=1e-13)
    single = pt.fvector("single")
    slope = pytensor.grad(wrap(looped, returns=np.float32(0.0))(single), single)
    assert pytensor.function([single], slope, mode=MODE)(AT[0].astype("f")).dtype == np.float32


def test_pickled() -> None:
    function = pytensor.function([x, n, k], pytensor.grad(ours(), [x, k]), mode=MODE)
    copy = pickle.loads(pickle.dumps(function))
    for one, other in zip(copy(*AT), function(*AT), strict=True):
        np.testing.assert_array_equal(one, other)


def test_refusals() -> None:
    with pytest.raises(TypeError, match="was given no variable of PyTensor"):
        wrapped(np.ones(2), 3, {"k": 1.0})
    with pytest.raises(TypeError, match="1 axes, not float64 and 0"):
        pytensor.function([x], wrap(lambda x: 2.0 * x)(x), mode=MODE)([1.0])
    with pytest.raises(TypeError, match="holds 2 arrays, not the 1"):
        pytensor.function([x], wrap(lambda x: (x[0], x[1]))(x), mode=MODE)([1.0, 2.0])
    with pytest.raises(TypeError, match="dtype complex128"):
        pytensor.function([x], wrap(lambda x: np.sum(x) * 1j)(x), mode=MODE)([1.0])
    opaque = np.frompyfunc(abs, 1, 1)
    slope = pytensor.grad(wrap(lambda x: opaque(x).sum() * 1.0)(x), x)
    with pytest.raises(ADError, match="has no rule"):
        pytensor.function([x], slope, mode=MODE)([1.0])


def decay(rate: Any, start: Any) -> Any:
    at, out = start, np.zeros(20)
    for i in range(20):
        at = at - 0.1 * rate * at
        out[i] = at
    return out


def test_a_model_of_pymc() -> None:
    pm = pytest.importorskip("pymc")
    seen = decay(1.3, 2.0)
    with pm.Model() as model:
        rate, start = pm.LogNormal("rate", 0.0, 1.0), pm.Normal("start", 1.0, 2.0)
        pm.Normal("y", wrap(decay, returns=np.empty(0))(rate, start), 0.01, observed=seen)
        draws = pm.sample(
            draws=100, tune=200, chains=1, cores=1, progressbar=False, random_seed=3,
            compute_convergence_checks=False)
    assert float(draws.posterior["rate"].mean()) == pytest.approx(1.3, abs=0.02)
    point = model.initial_point()
    slope = model.compile_dlogp()(point)
    names = [one.name for one in model.value_vars]
    for i, name in enumerate(names):
        sides = [model.compile_logp()({**point, name: point[name] + h}) for h in (1e-6, -1e-6)]
        assert slope[i] == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-5)
