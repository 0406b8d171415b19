"""Functions of which nothing is known: what they write into arrays is seen, or refused."""

from __future__ import annotations

import ctypes
import pickle
import struct

import numpy as np
import pytest
from scipy.cluster.vq import vq

from adcompiler import ADError, grad, value_and_grad, vjp
from adcompiler.runtime.unknown_calls import WrittenError

ARRAY = np.ctypeslib.ndpointer(float)
memcpy = ctypes.CDLL(None).memcpy
memcpy.argtypes = [ARRAY, ARRAY, ctypes.c_size_t]
memcpy.restype = None
TABLE = np.array([1.0, 2.0, 3.0])
HELD = [1.0, 2.0]
X = np.array([0.5, 0.7, 1.1])


def filled(x):
    y = np.zeros(3)
    memcpy(y, TABLE, 24)
    return np.sum(y * x)


def filled_later(x):
    y = np.ones(3)
    before = np.sum(y * x * x)
    memcpy(y, TABLE, 24)
    return before + np.sum(y * x)


def filled_through_a_view(x):
    y = np.zeros(6)
    whole = y.reshape(2, 3)
    memcpy(y[3:], TABLE, 24)
    return np.sum(whole[1] * x)


def filled_in_a_loop(x):
    y = np.zeros(3)
    for k in range(3):
        memcpy(y, TABLE * k, 24)
        x = x * y + x
    return np.sum(x)


def filled_in_a_branch(x):
    y = np.ones(3)
    if x[0] > 0.0:
        memcpy(y, TABLE, 24)
    return np.sum(y * x)


def packed(x):
    y = np.zeros(3)
    struct.pack_into("2d", y, 8, 4.0, 9.0)
    return np.sum(y * x)


def read_only(x):
    return len(struct.pack("d", 1.0)) * np.sum(x * TABLE)


def bytes_read(x):
    return np.sum(np.frombuffer(struct.pack("3d", 1.0, 2.0, 3.0)) * x)


def copied_by_pickling(x):
    return np.sum(pickle.loads(pickle.dumps(TABLE)) * TABLE * x)


PROGRAMS = (
    filled, filled_later, filled_through_a_view, filled_in_a_loop, filled_in_a_branch, packed,
    read_only, bytes_read, copied_by_pickling,
)


def test_a_python_function_around_compiled_code_is_never_tried_on_stand_ins():
    def f(m):
        return np.sum(vq(m, m)[1] ** 2)

    m = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    with pytest.raises(ADError, match="which it may write into"):
        value_and_grad(f)(m)


def differences(f, x):
    steps = 1e-6 * np.eye(x.size)
    return np.array([(f(x + h) - f(x - h)) / 2e-6 for h in steps])


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_a_compiled_function_writes_is_read(f):
    value, gradient = value_and_grad(f)(X.copy())
    assert np.isclose(value, f(X))
    assert np.allclose(gradient, differences(f, X), atol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_a_compiled_function_writes_is_read_by_split_pairs(f):
    value, pullback = vjp(f, X.copy())
    assert np.isclose(value, f(X))
    assert np.allclose(pullback(1.0), differences(f, X), atol=1e-7)


def test_a_caller_s_array_gets_what_was_written():
    def f(x, y):
        memcpy(y, TABLE, 24)
        return np.sum(x * y)

    y = np.zeros(3)
    value, pullback = vjp(f, X, y, argnums=0)
    assert np.isclose(value, X @ TABLE)
    assert np.array_equal(y, TABLE)
    assert np.allclose(pullback(1.0), TABLE)


def test_a_derivative_through_such_a_function_is_refused():
    def f(x):
        y = np.zeros(3)
        memcpy(y, x, 24)
        return np.sum(y * x)

    with pytest.raises(ADError, match="has no rule"):
        grad(f)(X)


def test_several_parts_of_one_array_are_refused():
    def f(x):
        y = np.zeros(6)
        memcpy(y[:3], y[3:], 24)
        return np.sum(y[:3] * x)

    with pytest.raises(ADError, match="several parts of one array"):
        grad(f)(X)


def by_ctypes(x):
    y = np.zeros(3)
    return np.sum(y * x) + 0.0 * (y.ctypes is None)


def by_data(x):
    y = np.zeros(3)
    return np.sum(y * x) + len(y.data)


def by_interface(x):
    y = np.zeros(3)
    return np.sum(y * x) + len(y.__array_interface__)


@pytest.mark.parametrize("f", [by_ctypes, by_data, by_interface])
def test_the_address_of_an_array_is_refused(f):
    with pytest.raises(ADError, match="where an array lies in memory"):
        grad(f)(X)


def test_a_memoryview_is_refused():
    def f(x):
        y = np.zeros(3)
        struct.pack_into("2d", memoryview(y), 8, 4.0, 9.0)
        return np.sum(y * x)

    with pytest.raises(ADError, match="refers to the storage of an array"):
        grad(f)(X)


def test_a_write_into_an_array_of_the_module_is_noticed():
    table = TABLE.copy()

    def f(x):
        memcpy(table, 2.0 * TABLE, 24)
        return np.sum(x * table)

    with pytest.raises(WrittenError, match="belongs to the module"):
        grad(f)(X)
    assert np.array_equal(table, TABLE)


def test_a_bound_method_of_an_object_of_the_module_is_refused():
    push = HELD.append

    def f(x):
        push(1.0)
        return np.sum(x) * len(HELD)

    with pytest.raises(ADError, match="share memory"):
        grad(f)(X)
