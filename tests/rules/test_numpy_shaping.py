"""Linear NumPy functions on memory layouts, precisions and 0-d arrays; what is refused."""

import itertools

import numpy as np
import pytest

from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.comparison import inner
from adcompiler.rulekit.testing import rule_function
from adcompiler.runtime.adjoints import joining
from adcompiler.runtime.adjoints import shaping as viewing
from adcompiler_rules.kernels import gathering, padding, products, shaping
from tests.lanes import one_in


def assert_cotangents_return_to_their_elements(function, x, *args, **kwargs):
    """Check the pullback of a function that only moves the elements of ``x``, all different."""
    y, pullback = rule_function(REGISTRY.find(function))(x, *args, **kwargs)
    y_bar = np.random.default_rng(0).normal(size=y.shape)
    cotangents = dict(zip(y.ravel().tolist(), y_bar.ravel().tolist(), strict=True))
    expected = np.reshape([cotangents[element] for element in x.ravel().tolist()], x.shape)
    np.testing.assert_array_equal(pullback(y_bar), expected)


def assert_pullback_is_adjoint(function, x, *args, **kwargs):
    """Check ``<y_bar, f(v)> == <pullback(y_bar), v>``."""
    rng = np.random.default_rng(0)
    y, pullback = rule_function(REGISTRY.find(function))(x, *args, **kwargs)
    np.testing.assert_array_equal(y, function(x, *args, **kwargs))
    v = np.asarray(rng.normal(size=x.shape))
    y_bar = rng.normal(size=np.shape(y)).astype(np.asarray(y).dtype)
    x_bar = pullback(y_bar)
    assert isinstance(x_bar, np.ndarray)
    assert (x_bar.shape, x_bar.dtype) == (x.shape, x.dtype)
    expected = inner(y_bar, np.asarray(function(v, *args, **kwargs)))
    assert inner(x_bar, v) == pytest.approx(expected, rel=1e-6)


LAYOUTS = {
    "C": np.arange(12.0).reshape(3, 4),
    "Fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "transposed": np.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0),
    "reversed": np.arange(12.0).reshape(3, 4)[::-1, ::-1],
    "strided": np.arange(48.0).reshape(6, 8)[::2, ::-2].T,
    "empty": np.zeros((0, 4)),
    "vector": np.arange(12.0),
}


@pytest.mark.parametrize("function, layout, order", one_in(5, itertools.product(
    [np.ravel, np.ndarray.flatten, np.ndarray.ravel], LAYOUTS, ["C", "F", "A", "K"])))
def test_flattening_in_memory_order(function, layout, order):
    assert_cotangents_return_to_their_elements(function, LAYOUTS[layout], order=order)


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reshaping_in_memory_order(layout, order):
    shape = (0, 2) if layout == "empty" else (2, -1)
    assert_cotangents_return_to_their_elements(np.reshape, LAYOUTS[layout], shape, order=order)


@pytest.mark.parametrize("function, args", [
    (np.ndarray.reshape, (1, 1)),
    (np.ndarray.flatten, ()),
    (np.ndarray.copy, ()),
    (np.ndarray.astype, (np.float32,)),
    (np.ndarray.item, ()),
    (np.ndarray.tolist, ()),
    (np.ndarray.transpose, ()),
    (np.ndarray.squeeze, ()),
    (np.ndarray.repeat, (3,)),
])
def test_methods_of_0d_arrays(function, args):
    assert_pullback_is_adjoint(function, np.array(0.5), *args)


@pytest.mark.parametrize("name", ["T", "mT"])
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (2, 0)])
def test_transposing_attributes(name, shape):
    if not hasattr(np.ndarray, name):
        pytest.skip("NumPy 2 only")
    x = np.arange(float(np.prod(shape))).reshape(shape)
    y, pullback = rule_function(REGISTRY.find(getattr(np.ndarray, name)))(x)
    assert np.array_equal(y, getattr(x, name))
    assert np.array_equal(pullback(y), x)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_cotangent_of_a_cast_has_the_dtype_from_before(dtype):
    for function in (np.ndarray.astype, np.asarray, np.array):
        assert_pullback_is_adjoint(function, np.arange(6.0).reshape(2, 3), dtype)


def test_cast_to_integers_has_no_derivative():
    x = np.array([0.5, 1.5])
    _, pullback = rule_function(REGISTRY.find(np.ndarray.astype))(x, int)
    assert np.array_equal(pullback(np.zeros(2)), [0.0, 0.0])


@pytest.mark.parametrize("mode", ["empty", "maximum", "median", "minimum"])
def test_padding_by_order_statistics_is_refused_by_name(mode):
    with pytest.raises(NotImplementedError, match=f"mode='{mode}'"):
        rule_function(REGISTRY.find(np.pad))(np.zeros(3), 1, mode)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("width", [(0, 1), (1, 4), (9, 7), (20, 0)])
def test_odd_reflections_of_any_width(mode, n, width):
    y_bar = np.random.default_rng(2).normal(size=n + sum(width))
    x_bar = padding.pad_adjoint(y_bar, (n,), width, mode, "odd")
    columns = np.pad(np.eye(n), (width, (0, 0)), mode=mode, reflect_type="odd")
    np.testing.assert_allclose(x_bar, y_bar @ columns, rtol=1e-10, atol=1e-12)
    assert x_bar.shape == (n,)


def adjoints():
    for module in (gathering, joining, padding, products, shaping, viewing):
        for name, function in vars(module).items():
            own = getattr(function, "__module__", None) == module.__name__
            if own and "adjoint" in name and not name.startswith("_"):
                yield function


@pytest.mark.parametrize("function", list(adjoints()), ids=lambda function: function.__name__)
def test_adjoint_has_a_rule_itself(function):
    """Second derivatives differentiate pullbacks, and so what pullbacks call."""
    REGISTRY.load_all()
    assert REGISTRY.find(function) or REGISTRY.inactive(function)
