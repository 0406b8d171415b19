"""Wrapped functions under JAX's transforms, beside the same functions written for JAX."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

from adcompiler import MissingRuleError  # noqa: E402
from adcompiler.interop.jax import wrap  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def model(x: Any, n: int, p: dict[str, Any]) -> Any:
    return {"a": np.sin(x) * p["k"] ** n, "b": (x @ x) * p["k"], "c": n}


def model_of_jax(x: Any, n: int, p: dict[str, Any]) -> Any:
    return {"a": jnp.sin(x) * p["k"] ** n, "b": (x @ x) * p["k"], "c": n}


def first(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: f(x, 3, {"k": jnp.array(2.0)})["a"]


def energy(f: Callable[..., Any]) -> Callable[..., Any]:
    def number(x: Any, k: Any) -> Any:
        found = f(x, 3, {"k": k})
        return (found["a"] ** 2).sum() + found["b"]

    return number


TRANSFORMS: dict[str, Callable[..., Any]] = {
    "value": lambda f, x, k: f(x, 3, {"k": k}),
    "jvp": lambda f, x, k: jax.jvp(first(f), (x,), (x,)),
    "vjp": lambda f, x, k: jax.vjp(first(f), x)[1](x),
    "grad": lambda f, x, k: jax.grad(energy(f), (0, 1))(x, k),
    "jit-grad": lambda f, x, k: jax.jit(jax.grad(energy(f), (0, 1)))(x, k),
    "vmap": lambda f, x, k: jax.vmap(first(f))(jnp.stack([x, 2 * x])),
    "vmap-grad": lambda f, x, k: jax.vmap(jax.grad(energy(f)), (0, None))(jnp.stack([x, x]), k),
    "jit-vmap-grad": lambda f, x, k: jax.jit(jax.vmap(jax.grad(energy(f)), (1, 0)))(
        jnp.stack([x, 2 * x], axis=1), jnp.stack([k, k])),
    "jacrev": lambda f, x, k: jax.jacrev(first(f))(x),
    "jacfwd": lambda f, x, k: jax.jacfwd(first(f))(x),
    "hessian": lambda f, x, k: jax.hessian(energy(f), (0, 1))(x, k),
    "jit-hessian": lambda f, x, k: jax.jit(jax.hessian(energy(f)))(x, k),
    "reverse-reverse": lambda f, x, k: jax.jacrev(jax.jacrev(energy(f)))(x, k),
    "reverse-forward": lambda f, x, k: jax.jacrev(jax.jacfwd(energy(f)))(x, k),
    "third": lambda f, x, k: jax.jacfwd(jax.jacrev(jax.jacrev(energy(f))))(x, k),
    "scan": lambda f, x, k: jax.grad(lambda x: jax.lax.scan(
        lambda c, _: (first(f)(c), None), x, None, length=3)[0].sum())(x),
    "checkpoint": lambda f, x, k: jax.grad(jax.checkpoint(energy(f)))(x, k),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str) -> None:
    x, k = jnp.array([0.3, -0.4]), jnp.array(2.0)
    wrapped = wrap(model)
    found, wanted = TRANSFORMS[name](wrapped, x, k), TRANSFORMS[name](model_of_jax, x, k)
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("of", [
    lambda f, z: jax.vjp(f, z)[1](z * 1j), lambda f, z: jax.jvp(f, (z,), (z * 2j,)),
    lambda f, z: jax.grad(lambda z: jnp.abs(f(z)).sum())(z),
    lambda f, z: jax.jacrev(f, holomorphic=True)(z),
    lambda f, z: jax.jacfwd(f, holomorphic=True)(z),
], ids=["vjp", "jvp", "grad", "jacrev", "jacfwd"])
def test_complex_numbers(of: Any) -> None:
    z = jnp.array([0.3 + 0.4j, 1.0 - 2.0j])
    pairs = (
        (wrap(lambda z: np.exp(1j * z) * z), lambda z: jnp.exp(1j * z) * z),
        (wrap(lambda z: np.conj(z) * z**2), lambda z: jnp.conj(z) * z**2),
    )
    for ours, theirs in pairs:
        for one, other in zip(
            jax.tree.leaves(of(ours, z)), jax.tree.leaves(of(theirs, z)), strict=True):
            assert np.allclose(one, other, rtol=1e-12)


def test_single_precision() -> None:
    jax.config.update("jax_enable_x64", False)
    x = jnp.arange(3.0)
    found = jax.jit(jax.value_and_grad(lambda x: wrap(lambda x: np.sum(x * x) / 3)(x)))(x)
    assert found[0].dtype == found[1].dtype == jnp.float32
    assert np.allclose(found[1], 2 * x / 3, rtol=1e-6)


def test_compiled_once_for_a_shape() -> None:
    calls = []

    def counted(x: Any) -> Any:
        calls.append(x.shape)
        return x * 2.0

    wrapped = jax.jit(wrap(counted))
    for _ in range(3):
        wrapped(jnp.ones(2))
    assert calls == [(2,)] * 4  # once for ones


def test_results_that_change_their_shape() -> None:
    def chosen(x: Any) -> Any:
        return x[x > 0]

    with pytest.raises(Exception, match="must not depend on values"):
        wrap(chosen)(jnp.array([1.0, -1.0]))
    assert wrap(chosen, like=np.ones(1))(jnp.array([1.0, -1.0])).tolist() == [1.0]


def test_refusals() -> None:
    with pytest.raises(TypeError, match="was given no array of JAX"):
        wrap(model)(np.ones(2), 3, {"k": 1.0})
    opaque = np.frompyfunc(abs, 1, 1)
    with pytest.raises(MissingRuleError, match="has no rule"):
        jax.grad(wrap(lambda x: opaque(x).sum() * 1.0))(jnp.ones(2))


@pytest.mark.parametrize(("function", "message"), [
    (lambda x: 1 if x[0] > 0.5 else x[0] * 2.0, "dtype float64, but it had int64"),
    (lambda x: {"a": x[0]} if x[0] > 0.5 else {"b": x[0]}, "another structure"),
    (lambda x: (x[0], "large" if x[0] > 0.5 else "small"), "another structure"),
])
def test_results_that_depend_on_values_are_refused(function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrap(function)(jnp.array([0.4, 1.0]))


def test_dtypes_that_numpy_has_no_numbers_of_are_refused() -> None:
    with pytest.raises(TypeError, match="bfloat16"):
        jax.grad(wrap(lambda x: np.sum(x)))(jnp.ones(3, jnp.bfloat16))


def test_zeros_of_both_signs_are_two_arguments() -> None:
    signed = wrap(lambda x, k: x * np.copysign(1.0, k))
    assert [float(signed(jnp.ones(1), k)[0]) for k in (0.0, -0.0)] == [1.0, -1.0]


@dataclasses.dataclass
class Weights:
    w: Any
    power: int


jax.tree_util.register_dataclass(Weights, data_fields=["w"], meta_fields=["power"])


def test_dataclasses_of_arrays() -> None:
    powers = wrap(lambda p, x: np.sum(np.sin(p.w) * x**p.power))
    given, x = Weights(jnp.array([0.1, 0.2]), 3), jnp.array([2.0, 3.0])
    found = jax.jit(jax.grad(powers))(given, x)
    assert type(found) is Weights and found.power == 3
    assert np.allclose(found.w, np.cos([0.1, 0.2]) * [8.0, 27.0], rtol=1e-14)


def looped(x: Any) -> Any:
    total = 0.0
    for i in range(x.size):
        total = total + np.sin(x[i]) * x[i] ** 2
    return total


def test_native_loops_under_transforms() -> None:
    pytest.importorskip("llvmlite")
    x = jnp.array([0.3, -0.7, 1.1])
    native, plain = wrap(looped, backend="native"), wrap(looped)
    assert np.allclose(native(x), plain(x), rtol=1e-14)
    for of in (jax.grad, jax.jacfwd, jax.hessian, lambda f: jax.vmap(jax.grad(f))):
        at = jnp.stack([x, 2 * x]) if of not in (jax.grad, jax.jacfwd, jax.hessian) else x
        assert np.allclose(jax.jit(of(native))(at), of(plain)(at), rtol=1e-12)


def test_pickled_by_name_or_with_the_function() -> None:
    copy = pickle.loads(pickle.dumps(wrap(looped, like=0.0)))
    assert copy.options == {"like": 0.0, "backend": "python"}
    assert np.allclose(jax.grad(copy)(jnp.ones(2)), jax.grad(wrap(looped))(jnp.ones(2)))
