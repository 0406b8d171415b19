"""What derivatives of many seeds, in each product, must agree with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
from adcompiler import (
    UnsupportedError, hessian, hvp, jacfwd, jacobian, jacrev, jvp, sparse_hessian, sparse_jacobian,
    vjp,
)
from adcompiler.api.seeds import batched_jvp, batched_vjp
from adcompiler.dispatch.trees import leaves, map_tree
from adcompiler.runtime.batches import seed_of, stacked

SEEDS = (2, 3, 5)
"""Numbers of seeds: the smallest that is several, that of every axis, and that of none."""


def agree(found: Any, wanted: Any, rtol: float = 1e-9) -> None:
    """Assert that trees have one structure, and arrays of one shape and almost equal numbers."""
    found, wanted = list(leaves(found)), list(leaves(wanted))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def flat(tree: Any) -> np.ndarray:
    """Return the numbers of a tree in a row."""
    return np.concatenate([np.zeros(0), *(np.ravel(leaf) for leaf in leaves(tree))])


def random_like(tree: Any, rng: np.random.Generator) -> Any:
    """Return a tree of random numbers of the form of ``tree``."""

    def leaf(x: Any) -> Any:
        drawn = rng.normal(size=np.shape(x))
        return float(drawn) if not isinstance(x, np.ndarray) else drawn.astype(x.dtype)

    return map_tree(leaf, tree)


def rows_of(function: Callable[..., Any], args: tuple[Any, ...], wrt: tuple[int, ...]) -> Any:
    """Return the Jacobian, numbers of the result by numbers of the arguments, one by one."""
    value, pullback = vjp(function, *args, argnums=wrt)
    size = len(flat(value))
    rows = []
    for i in range(size):
        rest = iter(np.eye(size)[i])
        seed = map_tree(lambda x, rest=rest: (
            np.array([next(rest) for _ in range(np.size(x))]).reshape(np.shape(x))
            if isinstance(x, np.ndarray) else next(rest)
        ), value)
        rows.append(flat(pullback(seed)))
    return np.array(rows).reshape(size, -1)


def differences(function: Callable[..., Any], args: tuple[Any, ...], wrt: tuple[int, ...]) -> Any:
    """Return the Jacobian by central differences."""
    columns = []
    for p in wrt:
        for i in range(np.size(args[p])):
            sides = []
            for step in (1e-6, -1e-6):
                moved = [np.array(x) if isinstance(x, np.ndarray) else x for x in args]
                if isinstance(moved[p], np.ndarray):
                    moved[p].reshape(-1)[i] += step
                else:
                    moved[p] += step
                sides.append(flat(function(*moved)))
            columns.append((sides[0] - sides[1]) / 2e-6)
    return np.array(columns).T


def blocks(tree: Any, value: Any, args: tuple[Any, ...], wrt: tuple[int, ...]) -> np.ndarray:
    """Return what ``jacobian`` gives, for a tuple of arguments, as one matrix."""
    parts = iter(leaves(tree))
    return np.block([
        [np.reshape(next(parts), (np.size(y), np.size(args[p]))) for p in wrt]
        for y in leaves(value)
    ])


def check(function: Callable[..., Any], args: tuple[Any, ...], number: int) -> None:
    """Check the products of a function: pullbacks of many cotangents, and others by ``number``."""
    wrt = ((0,), (0, 1), (0, 2), (1, 2), (0, 1, 2))[number % 5]
    value = function(*args)
    wanted = rows_of(function, args, wrt)
    np.testing.assert_allclose(wanted, differences(function, args, wrt), rtol=1e-5, atol=1e-6)
    many_cotangents(function, args, wrt)
    product = PRODUCTS[number % len(PRODUCTS)]
    product(function, args, wrt, value, wanted)


def many_cotangents(function: Callable[..., Any], args: tuple[Any, ...], wrt: Any) -> None:
    """Compare pullbacks of many cotangents with those of each."""
    rng = np.random.default_rng(0)
    value, pullback = vjp(function, *args, argnums=wrt)
    for seeds in SEEDS:
        _, of_each = batched_vjp(function, *args, argnums=wrt)
        drawn = [random_like(value, rng) for _ in range(seeds)]
        found = of_each(stacked(drawn))
        for i in range(seeds):
            agree(seed_of(found, i), pullback(drawn[i]))


def many_tangents(
    function: Callable[..., Any], args: tuple[Any, ...], wrt: Any, value: Any, wanted: Any
) -> None:
    """Compare pushforwards of many tangents with those of each."""
    rng = np.random.default_rng(1)
    for seeds in SEEDS:
        drawn = [tuple(random_like(args[p], rng) for p in wrt) for _ in range(seeds)]
        found = batched_jvp(function, args, stacked(drawn), argnums=wrt)[1]
        for i in range(seeds):
            agree(seed_of(found, i), jvp(function, args, drawn[i], argnums=wrt)[1])
            np.testing.assert_allclose(
                flat(seed_of(found, i)), wanted @ flat(drawn[i]), rtol=1e-8, atol=1e-9
            )


def dense(
    function: Callable[..., Any], args: tuple[Any, ...], wrt: Any, value: Any, wanted: Any
) -> None:
    """Compare the Jacobian by rows, by columns, and by what is fewer."""
    for operator in (jacobian, jacrev, jacfwd):
        found = blocks(operator(function, wrt)(*args), value, args, wrt)
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-9)


def sparse(
    function: Callable[..., Any], args: tuple[Any, ...], wrt: Any, value: Any, wanted: Any
) -> None:
    """Compare the sparse Jacobian of each kind."""
    for kind in ("row", "column", "bidirectional"):
        found = sparse_jacobian(function, wrt, kind=kind)(*args).toarray()
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-9)


def second(
    function: Callable[..., Any], args: tuple[Any, ...], wrt: Any, value: Any, wanted: Any
) -> None:
    """Compare Hessians of a weighted sum, and their products with vectors."""
    if isinstance(value, (tuple, list, dict)):
        dense(function, args, wrt, value, wanted)
        return
    position = wrt[-1]
    weights = np.linspace(0.4, 1.3, len(flat(value)))

    total: Callable[..., Any] = (
        lambda x, y, z, n: np.sum(np.ravel(function(x, y, z, n)) * weights),
        lambda x, y, z, n: np.sum(np.ravel(function(y, x, z, n)) * weights),
        lambda x, y, z, n: np.sum(np.ravel(function(y, z, x, n)) * weights),
    )[position]
    x, rest = args[position], (*args[:position], *args[position + 1 :])
    size = np.size(x)
    by_rows = differences(lambda *moved: vjp(total, *moved, argnums=0)[1](1.0), (x, *rest), (0,))

    def near(found: Any, wanted: Any) -> None:
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)

    along = np.linspace(-1.0, 1.5, size).reshape(np.shape(x))
    for mode in (None, "fwd_fwd", "adj_fwd", "adj_adj"):
        with contextlib.suppress(UnsupportedError) if mode else contextlib.nullcontext():
            near(np.reshape(hessian(total, mode=mode)(x, *rest), (size, size)), by_rows)
            if mode != "fwd_fwd":
                near(np.ravel(hvp(total, x, along, *rest, mode=mode)), by_rows @ along.ravel())
    with contextlib.suppress(UnsupportedError):
        near(sparse_hessian(total)(x, *rest).toarray(), by_rows)


PRODUCTS = (
    dense, many_tangents, sparse, dense, many_tangents, second,
    dense, sparse, many_tangents, dense, sparse, many_tangents,
)
