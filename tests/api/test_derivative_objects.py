"""What all derivatives have in common: they look inside themselves, travel, and act on vectors."""

from __future__ import annotations

import inspect
import math
import multiprocessing
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adcompiler
from adcompiler import (
    Derivative, UnsupportedError, compiled, derivative, elementwise_grad, fmad, grad, hessian,
    jacfwd, jacobian, jacrev, jet, linearize, nth_derivative, sparse_hessian, sparse_jacobian,
    value_and_grad, vjp,
)

X = np.array([0.5, -1.0, 2.0])


def squares(x: Any) -> Any:
    return x * x


def energy(x: Any) -> Any:
    return np.sum(x[1:] * x[:-1] ** 2)


def wave(t: float) -> float:
    return math.sin(t) * t


def mixed(x: Any, n: int, y: dict[str, Any]) -> Any:
    return {"a": x * y["k"], "b": [y["k"] ** n, n]}


def python_form(function: Callable[..., Any]) -> Any:
    return compiled(function, backend="python")


OPERATORS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...], str]] = {
    "grad": (grad, energy, (X,), "energy_grad"),
    "value_and_grad": (value_and_grad, energy, (X,), "energy_value_and_grad"),
    "jacobian": (jacobian, squares, (X,), "squares_pullback"),
    "jacfwd": (jacfwd, squares, (X,), "squares_pushforward"),
    "jacrev": (jacrev, squares, (X,), "squares_pullback"),
    "fmad": (fmad, energy, (X,), "energy_pushforward"),
    "hessian": (hessian, energy, (X,), "pushforward"),
    "sparse_jacobian": (sparse_jacobian, squares, (X,), "squares_sparse_jacobian"),
    "sparse_hessian": (sparse_hessian, energy, (X,), "energy_sparse_hessian"),
    "derivative": (derivative, wave, (0.5,), "wave_pushforward"),
    "elementwise_grad": (elementwise_grad, squares, (X,), "squares_pushforward"),
    "nth_derivative": (lambda f: nth_derivative(f, 2), wave, (0.5,), "pushforward"),
    "jet": (lambda f: jet(f, 3), wave, (0.5,), "wave_"),
    "compiled": (python_form, squares, (X,), "squares_primal"),
}


def same(one: Any, other: Any) -> bool:
    """Say whether two results are equal to the last bit."""
    if isinstance(one, tuple):
        return all(same(a, b) for a, b in zip(one, other, strict=True))
    if hasattr(one, "toarray"):
        one, other = one.toarray(), other.toarray()
    return bool(np.array_equal(one, other)) and type(one) is type(other)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_makes_one_kind_of_object(name: str) -> None:
    make, function, args, emitted = OPERATORS[name]
    made = make(function)
    assert isinstance(made, Derivative)
    assert made.primal is function and made.__name__ == function.__name__
    shown = {"compiled": "compiled form", "nth_derivative": "derivative", "jacfwd": "jacobian",
             "jacrev": "jacobian"}.get(name, name)
    assert repr(made) == f"<{shown} of {function.__name__}>"
    value = made(*args)
    assert emitted in made.source_for(*args)
    if not name.startswith("sparse"):
        assert made.source == made.source_for(*args)
    compile(made.source, "emitted", "exec")
    assert repr(made.source) == str(made.source)
    assert made.explain(*args).ops > 0
    assert callable(made.compiled_for(*args))
    again = pickle.loads(pickle.dumps(made))
    assert type(again).__name__ == type(made).__name__ and again.primal is function
    assert same(again(*args), value)


def test_source_before_any_call() -> None:
    assert "squares_augmented" in jacobian(squares).source
    assert "squares_pushforward" in jacfwd(squares).source
    assert "pushforward" in hessian(energy).source
    assert "squares_pushforward" in sparse_jacobian(squares).source


def test_the_mode_that_ran_is_shown() -> None:
    made = jacobian(lambda x: np.outer(x, x))
    made(X)
    assert "pushforward" in made.source
    to_number = jacobian(energy)
    to_number(X)
    assert "pullback" in to_number.source and to_number.source == to_number.source_for(X)


def test_arguments_are_named() -> None:
    assert repr(grad(mixed, ("x", 2))) == "<grad of mixed with respect to x, y>"
    assert repr(grad(mixed, "y.k")) == "<grad of mixed with respect to y.k>"
    assert repr(hessian(mixed, 2)) == "<hessian of mixed with respect to y>"
    assert repr(sparse_jacobian(mixed)) == "<sparse_jacobian of mixed with respect to x>"


def test_attributes_of_the_function_do_not_hide_those_of_the_derivative() -> None:
    def marked(x: float) -> float:
        return x * x

    vars(marked).update(pushed=1, rows=2, form=3, options=4, note="kept")
    for make, wanted in ((grad, 6.0), (jacobian, 6.0), (hessian, 2.0)):
        made = make(marked)
        assert made.note == "kept" and made(3.0) == wanted
    assert sparse_jacobian(marked).note == "kept"
    assert jacobian(jacobian(marked))(3.0) == 2.0


def test_patterns_and_colors() -> None:
    tridiagonal = np.abs(np.subtract.outer(range(3), range(3))) <= 1
    for made in (hessian(energy), sparse_hessian(energy), hessian(energy, mode="adj_adj")):
        wanted = tridiagonal.copy()
        wanted[2, 2] = False
        assert (made.pattern(X).toarray() == wanted).all()
        assert made.colors(X).count == 2
    for made in (jacobian(squares), sparse_jacobian(squares), elementwise_grad(squares)):
        assert (made.pattern(X).toarray() == np.eye(3, dtype=bool)).all()
        assert made.colors(X).count == 1


# --- linear operators -------------------------------------------------------------------------


def test_jacobians_as_operators() -> None:
    operator = jacobian(squares).as_linear_operator(X)
    assert operator.shape == (3, 3) and operator.dtype == np.float64
    assert np.array_equal(operator @ np.eye(3), np.diag(2 * X))
    assert np.array_equal(operator.T @ np.eye(3), np.diag(2 * X))
    gradient = grad(energy).as_linear_operator(X)
    assert gradient.shape == (1, 3)
    assert np.allclose(gradient.T @ np.ones(1), grad(energy)(X), rtol=1e-15)


def test_hessians_as_operators() -> None:
    dense = hessian(energy)(X)
    for made in (hessian(energy), sparse_hessian(energy)):
        operator = made.as_linear_operator(X)
        assert np.allclose(operator @ np.eye(3), dense, rtol=1e-14)
        assert np.allclose(operator.T @ np.eye(3), dense, rtol=1e-14)


def test_operators_of_structures() -> None:
    made = jacobian(mixed, (0, 2))
    operator = made.as_linear_operator(X, 3, {"k": 2.0})
    wanted = np.zeros((4, 4))
    wanted[:3, :3] = np.eye(3) * 2.0
    wanted[:3, 3] = X
    wanted[3, 3] = 12.0
    assert np.array_equal(operator @ np.eye(4), wanted)
    assert np.array_equal(operator.T @ np.eye(4), wanted.T)


def test_operators_do_not_see_later_writes() -> None:
    x = X.copy()
    operator = jacobian(squares).as_linear_operator(x)
    x[:] = 100.0
    assert np.array_equal(operator @ np.ones(3), 2 * X)
    assert np.array_equal(operator.T @ np.ones(3), 2 * X)


def test_operators_are_of_real_numbers() -> None:
    with pytest.raises(TypeError, match="real functions of real numbers"):
        jacobian(squares).as_linear_operator(X + 1j)


def test_conjugate_gradients_on_a_hessian() -> None:
    from scipy.sparse.linalg import cg

    def convex(x: Any) -> Any:
        return np.sum(x**4) + np.sum(x) ** 2

    operator = hessian(convex).as_linear_operator(X)
    tolerance = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"  # SciPy 1.11
    found, code = cg(operator, np.ones(3), atol=0.0, **{tolerance: 1e-12})
    assert code == 0
    assert np.allclose(hessian(convex)(X) @ found, 1.0, rtol=1e-9)


# --- pullbacks and pushforwards ---------------------------------------------------------------


def test_pullbacks_are_objects() -> None:
    _, pullback = vjp(mixed, X, 3, {"k": 2.0})
    assert repr(pullback) == "<pullback of mixed>"
    assert "mixed_pullback" in pullback.source
    again = pickle.loads(pickle.dumps(pullback))
    found = again({"a": np.ones(3), "b": [1.0, None]})
    assert np.array_equal(found[0], [2.0] * 3)
    assert found[1] is None
    assert found[2] == {"k": X.sum() + 12.0}
    _, alone = vjp(squares, X)
    assert np.array_equal(alone.as_linear_operator() @ np.ones(3), 2 * X)


def test_pushforwards_are_objects() -> None:
    _, push = linearize(mixed, X, 3, {"k": 2.0})
    assert repr(push) == "<pushforward of mixed>"
    again = pickle.loads(pickle.dumps(push))
    found = again(np.ones(3), None, {"k": 1.0})
    assert np.array_equal(found["a"], 2.0 + X) and found["b"][0] == 12.0
    with pytest.raises(TypeError, match="holds no float"):
        again(np.ones(3), 1.0, {"k": 1.0})
    with pytest.raises(TypeError, match="takes 3 tangents"):
        again(np.ones(3))
    operator = push.as_linear_operator()
    assert operator.shape == (4, 4)
    assert np.array_equal(operator @ np.array([0.0, 0.0, 0.0, 1.0]), [*X, 12.0])


def stopped(x: Any, tolerance: float) -> Any:
    while np.sum(x * x) > tolerance:
        x = x / 2.0
    return x


def test_maps_travel_without_the_function(tmp_path: Path) -> None:
    (tmp_path / "gone.py").write_text(
        "import numpy as np\n\ndef f(x, n):\n    for _ in range(n):\n        x = np.sin(x) * x\n"
        "    return x\n")
    script = (
        "import pickle, sys\nimport numpy as np\nfrom adcompiler import linearize, vjp\n"
        "from gone import f\nx = np.array([0.5, 1.5])\n"
        "maps = vjp(f, x, 3)[1], linearize(f, x, 3)[1]\n"
        "pickle.dump((maps, maps[0](np.ones(2))), open(sys.argv[1], 'wb'))\n")
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "maps")], check=True, cwd=tmp_path,
        env={"PATH": "", "PYTHONPATH": f"{tmp_path}", "ADCOMPILER_CACHE_DIR": str(tmp_path)})
    (pull, push), wanted = pickle.loads((tmp_path / "maps").read_bytes())
    assert np.array_equal(pull(np.ones(2))[0], wanted[0]) and wanted[1] is None
    assert np.allclose(push(np.ones(2), None), wanted[0], rtol=1e-14)


def test_pushforwards_that_compute_again() -> None:
    _, push = linearize(stopped, X, 0.5)
    again = pickle.loads(pickle.dumps(push))
    assert np.array_equal(again(np.ones(3), 0.0), push(np.ones(3), 0.0))
    assert np.array_equal(push(np.ones(3), 0.0), np.ones(3) / 4.0)


# --- other processes --------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # of fork, where other tests have started threads
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_pools_of_processes(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, context) as pool:  # which ends where a process does
        for make in (grad, hessian, sparse_hessian):
            assert same(pool.submit(make(energy), X).result(), make(energy)(X))


MAIN = """
    import sys
    import numpy as np
    import {pickler}
    from adcompiler import grad, jacobian

    SCALE = 3.0

    @grad
    def cube(x):
        return SCALE * np.sum(x**3)

    @jacobian
    def scaled(x):
        return SCALE * x

    if __name__ == "__main__":
        {pickler}.dump([cube, scaled], open(sys.argv[1], "wb"))
"""


def test_cloudpickle_takes_along_what_main_defines(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    (tmp_path / "work.py").write_text(textwrap.dedent(MAIN.format(pickler="cloudpickle")))
    subprocess.run([sys.executable, "work.py", "file"], check=True, cwd=tmp_path)
    cube, scaled = pickle.loads((tmp_path / "file").read_bytes())
    assert np.array_equal(cube(X), 9.0 * X**2)
    assert np.array_equal(scaled(X), 3.0 * np.eye(3))


def test_joblib(tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")

    local = grad(lambda x: np.sum(x**2))
    with joblib.parallel_backend("loky", n_jobs=1):
        found = joblib.Parallel()(joblib.delayed(local)(X * k) for k in (1.0, 2.0))
    assert np.array_equal(found[1], 4.0 * X)


def test_source_is_text_that_shows_as_code() -> None:
    text = grad(energy).source_for(X)
    assert isinstance(text, str) and text == adcompiler.source(energy, X)
    assert "<pre" in text._repr_html_()


def test_no_source_of_what_is_refused() -> None:
    with pytest.raises(UnsupportedError):
        hessian(lambda x: np.sum(np.frompyfunc(abs, 1, 1)(x))).source_for(X)
