"""Methods of distributions whose parameters are given beforehand: ``norm(loc, scale).logpdf(x)``."""

import numpy as np
import pytest
import scipy.stats

from adcompiler import ADError, grad, value_and_grad


def given_first(x, loc, scale):
    return scipy.stats.norm(loc, scale).logpdf(x)


def given_by_name(x, loc, scale):
    return scipy.stats.norm(scale=scale, loc=loc).logpdf(x)


def given_a_name(x, loc, scale):
    frozen = scipy.stats.norm(loc, scale=scale)
    return frozen.logpdf(x) + frozen.logpdf(2.0 * x)


def at(x, loc, scale):
    z = (x - loc) / scale
    return -z / scale, z / scale, (z * z - 1.0) / scale


@pytest.mark.parametrize("function", [given_first, given_by_name])
def test_parameters_reach_the_method(function):
    value, found = value_and_grad(function, argnums=(0, 1, 2))(0.7, 0.2, 1.5)
    assert value == scipy.stats.norm.logpdf(0.7, 0.2, 1.5)
    np.testing.assert_allclose(found, at(0.7, 0.2, 1.5), rtol=1e-12)


def test_several_methods_of_one():
    found = grad(given_a_name, argnums=(0, 1, 2))(0.7, 0.2, 1.5)
    first, second = at(0.7, 0.2, 1.5), at(1.4, 0.2, 1.5)
    wanted = first[0] + 2.0 * second[0], first[1] + second[1], first[2] + second[2]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_methods_without_a_rule_are_refused():
    with pytest.raises(ADError):
        grad(lambda x: scipy.stats.norm(x, 1.0).entropy() + x)(0.5)
