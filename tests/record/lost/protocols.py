"""NumPy's protocols: objects that stand for arrays, and functions that dispatch on them."""

from __future__ import annotations

import numpy as np

from tests.record.lost import Program


class Boxed:
    def __init__(self, a):
        self.a = a

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.a * 2.0, dtype)


def array_protocol(a):
    b = Boxed(a)
    return np.sum(b) + np.dot(b, a) + np.asarray(b)[0] + np.array([Boxed(a), b]).max()


def stored_by_the_array_protocol(a):
    y = np.zeros(3)
    y[:] = Boxed(a)
    y += Boxed(a)
    return np.sum(y * a) + np.concatenate([Boxed(a), a])[1]


def interface_of_an_array(a):
    class View:
        def __init__(self, a):
            self.kept = a
            self.__array_interface__ = a.__array_interface__

    y = a * a
    same = np.asarray(View(y))
    same[0] = 3.0 * a[1]
    return np.sum(y)


class Logged(np.lib.mixins.NDArrayOperatorsMixin):
    """Each ufunc scales its result: an array by delegation."""

    __array_priority__ = 100.0

    def __init__(self, a, scale=1.0):
        self.a, self.scale = a, scale

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [one.a if isinstance(one, Logged) else one for one in inputs]
        scale = sum(one.scale for one in inputs if isinstance(one, Logged))
        found = getattr(ufunc, method)(*plain, **kwargs)
        return Logged(found * scale, scale * 2.0)

    def __array_function__(self, func, types, args, kwargs):
        if func is np.sum:
            return np.sum(args[0].a) * args[0].scale
        if func is np.concatenate:
            return np.concatenate([getattr(one, "a", one) for one in args[0]]) * 3.0
        return NotImplemented


def ufunc_protocol(a):
    found = np.multiply(Logged(a), a) + Logged(a, a[0])
    return np.sum(found.a) * found.scale


def ufunc_protocol_by_operators(a):
    return np.sum((2.0 * Logged(a) - a).a) + np.sum(np.add.reduce(Logged(a)).a) + (
        a @ Logged(a)).a


def function_protocol(a):
    return np.sum(Logged(a, a[1])) + np.concatenate([a, Logged(a)])[4]


class Watched(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        plain = [np.asarray(one) for one in inputs]
        if out is not None:
            kwargs["out"] = tuple(np.asarray(one) for one in out)
        found = getattr(ufunc, method)(*plain, **kwargs)
        return (found * 2.0).view(Watched) if isinstance(found, np.ndarray) else found * 3.0


def ufunc_protocol_of_a_subclass(a):
    w = a.view(Watched)
    y = np.sin(w) * a
    y += w
    return float(np.asarray(y).sum()) + np.add.reduce(w)


class Wrapped(np.ndarray):
    def __array_wrap__(self, found, context=None, return_scalar=False):
        return np.asarray(found) * 5.0

    def __array_finalize__(self, other):
        if other is not None and self.size == 3:
            self.total = np.asarray(self).sum()


def wrap_and_finalize(a):
    w = (a * 1.0).view(Wrapped)
    return np.sum(np.exp(w)) + w.total * w[:2].size


class Tensor:
    """An array by delegation through ``__getattr__``, with operators made in a loop."""

    def __init__(self, data):
        self.data = data

    def __getattr__(self, name):
        found = getattr(self.data, name)
        return (lambda *a, **k: Tensor(found(*a, **k))) if callable(found) else found


def binary(name):
    def method(self, other):
        return Tensor(getattr(self.data, name)(getattr(other, "data", other)))
    method.__name__ = name
    return method


for _name in ("__add__", "__mul__", "__sub__", "__rmul__", "__matmul__"):
    setattr(Tensor, _name, binary(_name))


def operators_made_in_a_loop(a):
    t = Tensor(a)
    return ((2.0 * t + t * t) @ t - t.sum()).data * t.dot(a).data


def scalars_in_arrays_of_arrays(a):
    m = np.array([[a[0], 2.0], a[1:]])
    n = np.stack([a[:2], [a[2], 1.0]])
    v = np.array([a[0], [a[1]][0], (a * a)[2], np.float32(1.0), 3, True])
    return np.sum(m @ n) + v @ v


def filled_and_repeated(a):
    full = np.full((2, 2), a[0])
    like = np.full_like(a, a[1])
    full[0, 0] = a[2]
    y = np.empty(2)
    y.fill(a[0] * a[1])
    return np.sum(full @ full) + np.sum(like * a) + np.sum(np.tile(y, 2)) + np.repeat(y, 3).sum()


def polynomials(a):
    p = np.poly1d(a)
    q = np.polynomial.Polynomial(a)
    return p(2.0) + q(a[0]) + (p * p)(0.5) + q.deriv()(0.3) + np.polyval(a, a[1]) + p.coeffs[0]


def interpolated(a):
    from scipy.interpolate import CubicSpline, interp1d

    grid = np.arange(3.0)
    return np.interp(a[0], grid, a) + interp1d(grid, a * a)(0.5) + CubicSpline(grid, a)(1.3)


def frozen_distribution(x):
    from scipy import stats

    return stats.norm(loc=x, scale=2.0 * x).pdf(0.2) + stats.norm.logpdf(0.3, x)


def rotation(a):
    from scipy.spatial.transform import Rotation

    return np.sum(Rotation.from_rotvec(a).apply([1.0, 2.0, 3.0]) * [1.0, 0.5, 2.0])


def sparse_product(a):
    import scipy.sparse

    m = scipy.sparse.csr_matrix((a, ([0, 1, 1], [0, 0, 1])), shape=(2, 2))
    return np.sum((m @ m.T).toarray()) + np.sum(m @ a[:2]) + m.sum() + m[1, 0]


def series(a):
    import pandas as pd

    s = pd.Series(a, index=list("pqr"))
    s["p"] = a[1] * a[2]
    frame = pd.DataFrame({"u": s, "v": s * 2.0})
    return s.sum() + (frame["u"] * frame["v"]).mean() + frame.loc["q", "v"] + s.rolling(2).mean()["r"]


def labelled_array(a):
    import xarray

    d = xarray.DataArray(a, dims="t", coords={"t": [0.0, 1.0, 2.0]})
    return float((d * d).sum() + d.sel(t=1.0) * d.mean() + d.diff("t")[0])


def jitted(a):
    return float(np.sum(compiled_square(a))) + compiled_square(a[0])


def jitted_that_writes(a):
    y = a * a
    compiled_write(y)
    return np.sum(y)


def jitted_ufunc(a):
    return np.sum(compiled_ufunc(a, 2.0)) + compiled_ufunc.reduce(a * 1.0)


def _square(v):
    return v * v


def _write(y):
    y[0] = y[1] * y[2]


def _blend(p, q):
    return p + 2.0 * q


try:
    import numba
except ImportError:
    compiled_square, compiled_write = _square, _write
    compiled_ufunc = None
else:
    compiled_square, compiled_write = numba.njit(_square), numba.njit(_write)
    compiled_ufunc = numba.vectorize(["float64(float64, float64)"])(_blend)

A = np.array([0.3, 0.5, 0.7])
PROGRAMS = [
    Program("__array__", array_protocol, (A,), lambda a: 2.0 + 4.0 * a + np.array([2.0, 0, 2.0])),
    Program("__array__ under stores", stored_by_the_array_protocol, (A,),
            lambda a: 8.0 * a + np.array([0.0, 2.0, 0.0])),
    Program("__array_interface__", interface_of_an_array, (A,),
            lambda a: np.array([0.0, 2.0 * a[1] + 3.0, 2.0 * a[2]])),
    Program("__array_ufunc__", ufunc_protocol, (A,)),
    Program("__array_ufunc__ by operators", ufunc_protocol_by_operators, (A,)),
    Program("__array_function__", function_protocol, (A,)),
    Program("__array_ufunc__ of a subclass", ufunc_protocol_of_a_subclass, (A,)),
    Program("__array_wrap__ and __array_finalize__", wrap_and_finalize, (A,)),
    Program("operators made in a loop", operators_made_in_a_loop, (A,)),
    Program("arrays made of scalars and arrays", scalars_in_arrays_of_arrays, (A,)),
    Program("full, fill, tile", filled_and_repeated, (A,)),
    Program("polynomials", polynomials, (A,)),
    Program("interpolators", interpolated, (A,)),
    Program("a frozen distribution", frozen_distribution, (0.7,)),
    Program("a rotation", rotation, (A,)),
    Program("a sparse matrix", sparse_product, (A,)),
    Program("a Series", series, (A,)),
    Program("a DataArray", labelled_array, (A,)),
    Program("numba.njit", jitted, (A,), lambda a: 2.0 * a + np.array([2.0 * a[0], 0.0, 0.0])),
    Program("numba.njit that writes", jitted_that_writes, (A,),
            lambda a: np.array([0.0, 2.0 * a[1] * (1.0 + a[2] ** 2),
                                2.0 * a[2] * (1.0 + a[1] ** 2)])),
    *([] if compiled_ufunc is None else [
        Program("numba.vectorize", jitted_ufunc, (A,), np.array([2.0, 3.0, 3.0]))]),
]
