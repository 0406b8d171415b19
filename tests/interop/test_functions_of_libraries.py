"""Functions of other array libraries are refused with one message, in every operator.

Modules that stand in for the libraries have functions of each kind that these have.
"""

import sys
import types

import numpy as np
import pytest
from adcompiler import (
    ADError, grad, hessian, jacobian, jacobian_sparsity, jvp, sparse_jacobian, vjp,
)

WITHOUT_SOURCE = """
def sum(*args, **kwargs):
    raise TypeError("sum(): argument 'input' must be Tensor, not numpy.ndarray")

class Compiled:
    def __init__(self, name):
        self.__name__ = self.__qualname__ = name
        self.__module__ = __name__

    def __call__(self, *args, **kwargs):
        raise TypeError("not an array of this library")

sin = Compiled("sin")
"""


@pytest.fixture(params=["torch", "jax.numpy", "tensorflow"])
def library(request, monkeypatch):
    module = types.ModuleType(request.param)
    root, _, name = request.param.partition(".")
    monkeypatch.setitem(sys.modules, root, types.ModuleType(root) if name else module)
    if name:
        monkeypatch.setattr(sys.modules[root], name, module, raising=False)
        monkeypatch.setitem(sys.modules, request.param, module)
    exec(compile(WITHOUT_SOURCE, "<built-in>", "exec"), module.__dict__)
    return module


def test_functions_of_other_array_libraries_are_refused_alike(library):
    x = np.ones(3)

    def summed(x):
        return library.sum(x) * 2.0

    def of_number(x):
        return library.sin(x[0]) * 2.0

    for function in (summed, of_number):
        for call in (
            lambda f: grad(f)(x), lambda f: hessian(f)(x), lambda f: jvp(f, (x,), (x,)),
            lambda f: vjp(f, x), lambda f: jacobian(f)(x), lambda f: jacobian_sparsity(f, x),
            lambda f: sparse_jacobian(f)(x),
        ):
            with pytest.raises(ADError) as caught:
                call(function)
            root = library.__name__.partition(".")[0]
            assert f"this is computed by {root}, whose functions have no rules" in (
                str(caught.value))
            assert "write it with NumPy" in str(caught.value)
            assert "Compiled" not in str(caught.value)
