"""No entry is missing: random programs, and programs that patterns were once wrong for."""

import math

import numpy as np
import pytest

from adcompiler import UnsupportedError, jacobian_sparsity
from adcompiler.runtime.adjoints.shaping import CopiedError
from adcompiler.sparsity.interpreter import machine
from adcompiler.sparsity.interpreter.lanes import lanes
from tests.lanes import one_in
from tests.properties.fuzz import program_of
from tests.sparsity.check import dense_jacobian, missing, rows
from tests.sparsity.fuzz import outcome, with_arguments


@pytest.mark.parametrize("first", one_in(4, range(0, 32, 8)))
def test_random_programs(first, monkeypatch):
    for module in (lanes, machine):
        monkeypatch.setattr(module, "FEWEST", 1)
    verdicts = []
    for seed in range(first, first + 8):
        program = program_of(seed)
        for each in (program, with_arguments(program)):
            verdict, reason = outcome(each)
            assert verdict != "failed", f"{reason}\n{each}"
            verdicts.append(verdict)
    assert verdicts.count("sound") >= 5


# -- layouts: a reshape is a view or a copy --------------------------------------------------------


def reshaped_argument(x):
    z = x.reshape(-1)
    z[1] = 5.0
    return x * x


def reshaped_transpose(x):
    y = x * 1.0
    z = y.T.reshape(-1)
    z[0] = 5.0
    return y * y


def reshaped_buffer(x):
    y = np.zeros_like(x)
    z = y.reshape(-1)
    z[1] = x[1, 1]
    return y + x


C = np.arange(1.0, 7.0).reshape(2, 3)
DIAGONAL = [{0}, {1}, {2}, {3}, {4}, {5}]


@pytest.mark.parametrize(("function", "x", "expected"), [
    (reshaped_argument, C, [{0}, set(), *DIAGONAL[2:]]),
    (reshaped_buffer, C, [{0}, {1, 4}, *DIAGONAL[2:]]),
])
def test_reshapes_of_arrays_in_c_order_are_views(function, x, expected):
    for mode in ("global", "local"):
        assert rows(jacobian_sparsity(function, x, mode=mode)) == expected


@pytest.mark.parametrize(("function", "x"), [
    (reshaped_argument, np.asfortranarray(C)), (reshaped_transpose, C),
    (reshaped_transpose, np.asfortranarray(C)), (reshaped_buffer, np.asfortranarray(C)),
])
def test_reshapes_that_may_be_copies_are_refused_or_known(function, x):
    copied = r"may be a view or a copy|makes a copy"
    with pytest.raises((UnsupportedError, CopiedError), match=copied):
        jacobian_sparsity(function, x)
    try:
        pattern = jacobian_sparsity(function, x, mode="local")
    except CopiedError:
        with pytest.raises(CopiedError):
            dense_jacobian(function, (x,), (0,))
    else:
        assert missing(pattern, dense_jacobian(function, (x,), (0,))) == []


def test_strided_vectors():
    def program(x):
        z = x.ravel()
        z[1] = 5.0
        return x * x

    strided = np.ones(8)[::2]
    assert rows(jacobian_sparsity(program, np.ones(4))) == [{0}, set(), {2}, {3}]
    with pytest.raises(UnsupportedError, match="may be a view or a copy"):
        jacobian_sparsity(program, strided)


def test_order_in_memory():
    def flat(x):
        return x.T.ravel("K")

    with pytest.raises(UnsupportedError, match="order in memory"):
        jacobian_sparsity(flat, C)
    assert rows(jacobian_sparsity(flat, C, mode="local")) == DIAGONAL


# -- results whose structure depends on values -----------------------------------------------------


def one_or_two(x):
    y = [x[0]]
    if x[1] > 0:
        y.append(x[2])
    return y


def list_or_tuple(x):
    return [x[0]] if x[0] > 0 else (x[1], x[2])


def number_or_none(x):
    return [x[0], x[1] if x[2] > 0 else None]


@pytest.mark.parametrize(("function", "here"), [
    (one_or_two, [{0}, {2}]), (list_or_tuple, [{0}]), (number_or_none, [{0}, {1}]),
])
def test_structures_that_depend_on_values(function, here):
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(UnsupportedError, match="structure depends on the values"):
        jacobian_sparsity(function, x)
    assert rows(jacobian_sparsity(function, x, mode="local")) == here


def test_keys_that_depend_on_values():
    def looked_up(x):
        table = {x[0]: x[1]}
        return table[x[0]]

    with pytest.raises(UnsupportedError, match=r"test_soundness\.py:\d+:\d+: .*a key"):
        jacobian_sparsity(looked_up, np.ones(2))


# -- arrays of unknown shape -----------------------------------------------------------------------


def test_in_place_operators_of_arrays_of_unknown_shape():
    def program(x):
        y = x[:2] * 1.0 if x[0] > 0 else x[2:] * 1.0
        y += x[1]
        y *= 2.0
        return y.sum()

    assert rows(jacobian_sparsity(program, np.ones(5))) == [{0, 1, 2, 3, 4}]


def test_methods_of_arrays_of_numbers_at_a_point():
    def program(v):
        total = np.sum(v, axis=0)
        return total.sum() + total.copy() * v[0]

    assert rows(jacobian_sparsity(program, np.ones(3), mode="local")) == [{0, 1, 2}]


# -- exceptions ------------------------------------------------------------------------------------


def noted(x, m):
    c = x[1]
    try:
        z = np.sin(0.7)
        if c > 0:
            raise IndexError
    except IndexError:
        m.append(x[0])
    return z


def notes(x):
    m = [x[2]]
    z = noted(x, m)
    return z + sum(m)


def test_handlers_of_exceptions_that_may_be_raised():
    assert rows(jacobian_sparsity(notes, np.ones(3))) == [{0, 2}]
    assert rows(jacobian_sparsity(notes, np.array([1.0, -1.0, 1.0]), mode="local")) == [{2}]


def by_class_of_two(x):
    try:
        if x[0] > 1.0:
            raise KeyError("a")
        y = math.log(x[0])
    except (ValueError, KeyError) as error:
        if isinstance(error, KeyError):
            return np.array([x[1], x[2]])
        return np.array([x[0], 1.0])
    return np.array([y, y])


def by_class_of_any(x):
    try:
        y = math.log(x[0])
    except Exception as error:
        return x[1] if isinstance(error, ValueError) else x[2]
    return y


def by_class_of_what_is_raised(x):
    chosen = KeyError if x[0] > 1.0 else ValueError
    try:
        raise chosen("a")
    except Exception as error:
        return x[1] if isinstance(error, KeyError) else x[2]


@pytest.mark.parametrize(("function", "expected"), [
    (by_class_of_two, [{1}, {2}]), (by_class_of_any, [{0}]), (by_class_of_what_is_raised, [{1}])])
def test_handlers_that_tell_apart_what_may_be_raised_are_refused_or_known(function, expected):
    with pytest.raises(UnsupportedError, match="of one kind or another"):
        jacobian_sparsity(function, np.ones(3))
    assert rows(jacobian_sparsity(function, np.array([2.0, 3.0, 4.0]), mode="local")) == expected


def raised_again(x):
    try:
        try:
            y = math.log(x[0])
        except (ValueError, ArithmeticError) as error:
            if x[1] > 0.0:
                raise
            raise KeyError(f"no logarithm: {error}") from error
    except KeyError:
        return x[2]
    except ValueError:
        return x[3]
    return y


def test_exceptions_that_may_be_raised_again_reach_every_handler():
    assert rows(jacobian_sparsity(raised_again, np.ones(4))) == [{0, 2, 3}]
    at = np.array([-1.0, -1.0, 1.0, 1.0])
    assert rows(jacobian_sparsity(raised_again, at, mode="local")) == [{2}]


HELD = 1.0


def kept_in_a_global(x):
    global HELD
    HELD = x[0] * x[1]
    y = x[2]
    if x[0] > 0.0:
        y = y * 2.0
    return y


def kept_in_an_arm(x):
    global HELD
    if x[0] > 0.0:
        HELD = x[1]
    return x[2]


def test_assignments_to_globals():
    assert rows(jacobian_sparsity(kept_in_a_global, np.ones(3))) == [{2}]
    assert HELD == 1.0
    with pytest.raises(UnsupportedError, match="global variable that depends on the values"):
        jacobian_sparsity(kept_in_an_arm, np.ones(3))
    assert rows(jacobian_sparsity(kept_in_an_arm, np.ones(3), mode="local")) == [{2}]
