"""A derivative finds the right code for each call: by types, and by what free names mean now."""

from __future__ import annotations

import builtins
import copy
import functools
import gc
import inspect
import pickle
import pydoc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import Derivative, grad, scalar_rule, value_and_grad, vjp
from adcompiler.rulekit import REGISTRY

SCALE: Any = 2.0


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")


def square(x: float) -> float:
    return x * x


def cube(x: float) -> float:
    return x * x * x


helper = square


def scaled(x: float) -> float:
    """Return the helper's value, scaled."""
    return SCALE * helper(x)


@grad
def decorated(x: float, y: float = 2.0, *, z: float = 1.0) -> float:
    """Return a product."""
    return x * x * y * z


class Model:
    weight: Any

    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def term(self, x: Any) -> Any:
        return self.weight * x * x

    def loss(self, x: Any) -> Any:
        return np.sum(self.term(x))

    def __call__(self, x: Any) -> Any:
        return self.loss(x)

    @property
    def doubled(self) -> Any:
        return 2.0 * self.weight

    def with_property(self, x: Any) -> Any:
        return self.doubled * x

    @grad(argnums="x")
    def slope(self, x: Any) -> Any:
        """Return the loss."""
        return self.weight * x * x


def forms(derivative: Derivative) -> int:
    """Return how many forms were compiled."""
    return sum(map(len, derivative.specialisations.table.values()))


# --- what calls look like ---------------------------------------------------------------------


def test_keywords_defaults_and_integers() -> None:
    assert decorated(3.0) == 12.0
    assert decorated(3) == 12.0
    assert decorated(3.0, 1.0) == 6.0
    assert decorated(x=3.0, y=1.0) == 6.0
    assert decorated(3.0, z=10.0) == 120.0
    assert decorated(3.0, y=1, z=2) == 12.0


def test_calls_that_do_not_fit_name_the_function() -> None:
    with pytest.raises(TypeError, match=r"decorated\(\).*missing 1 required positional.*'x'"):
        decorated()
    with pytest.raises(TypeError, match="unexpected keyword argument 'w'"):
        decorated(1.0, w=2.0)


def test_parameters_may_have_any_names() -> None:
    def f(self: float, type: float, v0_: float, /, getattr: float, *, return_: float) -> float:
        return self * type * v0_ * getattr * return_

    g = grad(f, argnums=(0, "return_"))
    for _ in range(2):
        assert g(2.0, 3.0, 5.0, 7.0, return_=11.0) == (3.0 * 5.0 * 7.0 * 11.0, 210.0)


def test_variable_arguments() -> None:
    def f(x: float, *more: float, **named: float) -> float:
        return x * more[0] * named["k"]

    g = grad(f)
    for _ in range(2):
        assert g(2.0, 3.0, 4.0, k=5.0) == 15.0
    assert g(2.0, 3.0, k=1.0) == 3.0
    assert forms(g) == 2


def test_names_and_numbers_choose_arguments() -> None:
    def f(x: float, y: float) -> float:
        return x * y

    assert grad(f, argnums="y")(2.0, 3.0) == 2.0
    assert grad(f, argnums=-1)(2.0, 3.0) == 2.0
    assert grad(f, argnums=("y", 0))(2.0, 3.0) == (2.0, 3.0)
    assert grad(argnums=[0])(f)(2.0, 3.0) == (3.0,)


def test_each_type_is_compiled_once() -> None:
    g = grad(lambda x: np.sum(x) * 2.0)
    for _ in range(3):
        assert g(3.0) == 2.0
        assert isinstance(g(np.float32(3.0)), np.float32)
        assert g(np.ones(2)).tolist() == [2.0, 2.0]
        assert g(np.ones((1, 2), np.float32)).dtype == np.float32
        assert g([1.0, 2.0]) == [2.0, 2.0]
    assert forms(g) == 5


def test_an_equal_dtype_that_is_another_object() -> None:
    g = grad(lambda x: np.sum(x * x))
    x = np.ones(2)
    copied = pickle.loads(pickle.dumps(x))
    renamed = x.view(np.dtype("f8", metadata={"unit": "m"}))
    for array in (x, copied, renamed):
        assert g(array).tolist() == [2.0, 2.0]
    assert forms(g) == 1


def test_many_types_are_tried_in_turn() -> None:
    g = grad(lambda x: np.sum(x) * 2.0)
    for _ in range(100):
        for ndim in range(1, 8):
            assert g(np.ones((1,) * ndim)).item() == 2.0
    assert forms(g) == 7


# --- what free names mean ---------------------------------------------------------------------


def test_a_global_function_that_is_rebound(monkeypatch: pytest.MonkeyPatch) -> None:
    g = grad(scaled)
    assert g(3.0) == 12.0
    monkeypatch.setitem(globals(), "helper", cube)
    assert g(3.0) == 54.0
    monkeypatch.setitem(globals(), "helper", square)
    assert g(3.0) == 12.0
    assert forms(g) == 2


def test_global_data_is_live_and_its_type_too(monkeypatch: pytest.MonkeyPatch) -> None:
    g = grad(scaled)
    for value, wanted in ((2.0, 12.0), (3.0, 18.0), (np.float32(1.0), 6.0), (2, 12.0)):
        monkeypatch.setitem(globals(), "SCALE", value)
        assert g(3.0) == wanted
        assert type(g(3.0)) is float


def test_a_module_attribute_that_is_rebound(monkeypatch: pytest.MonkeyPatch) -> None:
    here = sys.modules[__name__]
    namespace = {"here": here}
    f = eval("lambda x: here.helper(x) * here.SCALE", namespace)
    monkeypatch.setattr(here, "SCALE", 1.0)
    with pytest.raises(Exception, match="no source text"):
        grad(f)(1.0)

    def through_module(x: float) -> Any:
        return THIS.helper(x) * THIS.SCALE

    g = grad(through_module)
    assert g(3.0) == 6.0
    monkeypatch.setattr(here, "helper", cube)
    assert g(3.0) == 27.0
    monkeypatch.setattr(here, "SCALE", np.ones(()))
    assert g(3.0) == 27.0


THIS = sys.modules.get(__name__)


def test_a_builtin_that_is_shadowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: float) -> float:
        return abs(x)

    g = grad(f)
    assert g(-2.0) == -1.0
    monkeypatch.setitem(globals(), "abs", square)
    assert g(-2.0) == -4.0
    monkeypatch.delitem(globals(), "abs")
    assert g(-2.0) == -1.0
    assert builtins.abs is abs


def test_code_that_is_replaced_in_place() -> None:
    def inner(x: float) -> float:
        return x * x

    def outer(x: float, k: float = 1.0) -> float:
        return inner(x) * k

    g = grad(outer)
    assert g(3.0) == 6.0
    inner.__code__ = cube.__code__  # as IPython's autoreload does
    assert g(3.0) == 27.0


def test_captured_variables_are_live() -> None:
    data, function = np.arange(3.0), square

    def f(x: Any) -> Any:
        return np.sum(function(x * data))

    g = grad(f)
    assert g(1.0) == 10.0
    data = np.ones(3)
    assert g(1.0) == 6.0
    data = 2.0
    assert g(1.0) == 8.0
    function = cube
    assert g(1.0) == 24.0


def test_methods_and_their_objects() -> None:
    model = Model(2.0)
    g = grad(model.loss)
    assert g(3.0) == 12.0
    model.weight = 5.0
    assert g(3.0) == 30.0
    model.weight = np.array([1.0, 2.0])
    assert g(np.ones(2)).tolist() == [2.0, 4.0]
    model.weight = 1.0
    assert grad(model)(3.0) == 6.0
    assert grad(Model.with_property, argnums=1)(model, 3.0) == 2.0


def test_a_method_that_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    g = grad(Model(2.0).loss)
    assert g(3.0) == 12.0
    monkeypatch.setattr(Model, "term", lambda self, x: self.weight * x)
    assert g(3.0) == 2.0
    h = grad(Model(2.0).with_property)
    assert h(3.0) == 4.0
    monkeypatch.setattr(Model, "doubled", property(lambda self: 3.0 * self.weight))
    assert h(3.0) == 6.0


def test_globals_of_methods_are_live(monkeypatch: pytest.MonkeyPatch) -> None:
    class Scaled:
        def term(self, x: float) -> Any:
            return SCALE * helper(x)

        def loss(self, x: float) -> Any:
            return self.term(x)

    g = grad(Scaled().loss)
    assert g(3.0) == 12.0
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert g(3.0) == 30.0
    monkeypatch.setitem(globals(), "helper", cube)
    assert g(3.0) == 135.0


def test_functions_passed_as_arguments() -> None:
    g = grad(lambda x, f: f(x))
    for _ in range(2):
        assert g(3.0, square) == 6.0
        assert g(3.0, cube) == 27.0
        assert g(3.0, Model(2.0).loss) == 12.0
        assert g(3.0, functools.partial(scaled)) == 12.0


def test_a_new_function_at_every_call_does_not_fill_the_memory() -> None:
    g = grad(lambda x, f: f(x))
    alive = []
    for k in range(3):
        def f(x: float, k: int = k) -> float:
            return x * k
        alive.append(weakref.ref(f))
        assert g(2.0, f) == float(k)
    assert len(g.specialisations.table) <= 256


def test_rules_registered_afterwards_are_used() -> None:
    def primitive(x: float) -> float:
        return x * x

    def f(x: float) -> float:
        return primitive(x)

    g = grad(f)
    assert g(3.0) == 6.0
    scalar_rule(primitive, lambda x: 100.0)
    assert g(3.0) == 100.0
    scalar_rule(primitive, lambda x: 200.0)
    assert g(3.0) == 200.0
    REGISTRY.remove(primitive)
    assert g(3.0) == 6.0


# --- a derivative as an object ----------------------------------------------------------------


def test_it_looks_like_the_function() -> None:
    assert decorated.__name__ == "decorated"
    assert decorated.__doc__ == "Return a product."
    assert list(inspect.signature(decorated).parameters) == ["x", "y", "z"]
    assert "Return a product." in pydoc.render_doc(decorated)
    assert repr(decorated) == "<grad of decorated with respect to x>"
    assert decorated.primal(2.0) == 8.0
    assert isinstance(decorated, Derivative)
    assert callable(decorated)


def test_as_a_method() -> None:
    model = Model(2.0)
    assert model.slope(3.0) == 12.0
    assert model.slope.__doc__ == "Return the loss."
    assert list(inspect.signature(model.slope).parameters) == ["x"]
    assert Model.slope.options.argnums == "x"
    model.weight = 5.0
    assert model.slope(3.0) == 30.0


def test_pickling_and_copying() -> None:
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    made = grad(square)
    restored = pickle.loads(pickle.dumps(made))
    assert restored(3.0) == 6.0
    assert restored.options == made.options
    assert copy.copy(decorated) is decorated
    assert copy.deepcopy([decorated])[0] is decorated
    assert copy.copy(made)(3.0) == 6.0
    bound = pickle.loads(pickle.dumps(value_and_grad(Model(2.0).loss)))
    assert bound(3.0) == (18.0, 12.0)


def test_functions_and_derivatives_are_freed() -> None:
    def make() -> tuple[Callable[[], object], ...]:
        data = np.ones(3)

        def f(x: Any) -> Any:
            return np.sum(x * data)

        g = grad(f)
        g(1.0)
        vjp(f, 1.0)[1](1.0)
        return weakref.ref(f), weakref.ref(g), weakref.ref(data)

    references = make()
    gc.collect()
    assert [reference() for reference in references] == [None, None, None]


def test_vjp_compiles_a_function_once() -> None:
    def f(x: float) -> float:
        return x * x

    @functools.wraps(f)
    def wrapper(x: float) -> float:
        return 3.0 * f(x)

    for _ in range(2):
        assert vjp(f, 3.0)[1](1.0) == (6.0,)
        assert vjp(wrapper, 3.0)[1](1.0) == (18.0,)
        assert vjp(f, 3.0, argnums=0)[1](1.0) == 6.0
        assert vjp(Model(2.0).loss, 3.0)[1](1.0) == (12.0,)
        assert vjp(np.sin, 0.0)[1](2.0) == (2.0,)


# --- threads ----------------------------------------------------------------------------------


def test_many_threads_call_it_first() -> None:
    g = grad(lambda x: np.sum(np.tanh(x) * x) * SCALE)
    arguments = [1.0, np.ones(2), np.ones((2, 2)), np.float32(1.0)]
    wanted = [grad(lambda x: np.sum(np.tanh(x) * x) * SCALE)(x) for x in arguments]
    barrier = threading.Barrier(8)
    failed: list[BaseException] = []

    def call() -> None:
        try:
            barrier.wait()
            for _ in range(20):
                for x, gradient in zip(arguments, wanted, strict=True):
                    assert np.array_equal(g(x), gradient)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert forms(g) == 4


def test_a_pullback_is_called_from_many_threads() -> None:
    x = np.linspace(0.0, 1.0, 5)
    _, pullback = vjp(lambda x: np.sin(x) * x, x)
    (wanted,) = pullback(np.ones(5))
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(pullback(np.ones(5))[0])) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all(np.array_equal(one, wanted) for one in found)


def test_rules_are_loaded_by_two_threads_at_once() -> None:
    program = (
        "import threading, math, numpy as np\n"
        "from adcompiler.rulekit import REGISTRY\n"
        "found = []\n"
        "barrier = threading.Barrier(6)\n"
        "def look(function):\n"
        "    barrier.wait()\n"
        "    found.append(REGISTRY.find(function) is not None)\n"
        "functions = [np.sin, np.sum, np.linalg.norm] * 2\n"
        "threads = [threading.Thread(target=look, args=(f,)) for f in functions]\n"
        "[t.start() for t in threads]\n"
        "[t.join() for t in threads]\n"
        "assert found == [True] * 6, found\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
