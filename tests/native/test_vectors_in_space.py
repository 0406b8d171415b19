"""Products of vectors of three components in native loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import grad, jacfwd, value_and_grad
from adcompiler.errors import UnsupportedError
from tests.native.test_arrays_agree import close

pytestmark = pytest.mark.usefixtures("plain_loops")

X = np.linspace(0.4, 1.3, 12)


def two(x):
    return np.cross(x[:3], np.sin(x[3:6]))


def of_rows(x):
    return np.cross(x.reshape(4, 3), x[::-1].reshape(4, 3)).ravel() * x


def with_one(x):
    return np.cross(x.reshape(4, 3), x[:3])[1:] + np.cross(x[3:6], x.reshape(4, 3))[:3]


def stacks(x):
    a = x.reshape(2, 2, 3)
    return np.cross(a, a * a)[1] + np.cross(a * x[0], x[:3])[0]


def columns(x):
    points = x.reshape(4, 3)
    length = np.sqrt(np.sum(points * points, axis=1))[:, None]
    return np.concatenate([points[:, 0] / length[:, 0], points[:, 1] * points[:, 2] / x[0]])


@pytest.mark.parametrize("program", [two, of_rows, with_one, stacks, columns],
                         ids=lambda program: program.__name__)
def test_jacobians_and_gradients_are_the_same(program: Any) -> None:
    native = jacfwd(program, backend="native")
    assert close(native(X), jacfwd(program)(X))

    def total(x):
        return np.sum(program(x) ** 2)

    try:
        found = value_and_grad(total, backend="native")(X)
    except UnsupportedError as error:
        assert {finding.anchor for finding in error.findings} == {"native"}
    else:
        assert close(found[1], grad(total)(X))


def stretched(x):
    return np.cross(x[:3].reshape(1, 3), x[:6].reshape(2, 3))


def test_what_python_has_to_compute_is_left_to_it() -> None:
    assert close(jacfwd(stretched, backend="native")(X), jacfwd(stretched)(X))


def too_long(x):
    return np.cross(x[:4], x[4:8])


def test_vectors_of_other_lengths_are_never_multiplied() -> None:
    with pytest.raises(ValueError, match="incompatible dimensions"):
        jacfwd(too_long)(X)
    with pytest.raises((ValueError, UnsupportedError)):
        jacfwd(too_long, backend="native")(X)
