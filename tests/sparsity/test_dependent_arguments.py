"""What an integer, a boolean, a position or a random number decides is in no pattern one way only.

Each argument of each rule is made a value without derivative that depends on x, and the rule's
call is looked at for several such values; each function of ``random`` and ``np.random`` decides a
branch.
"""

import random
import warnings

import numpy as np
import pytest
from adcompiler import ADError, jacobian_sparsity
from adcompiler.cache.modules import load_module
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.samples import rule_name, sample_calls

from tests.lanes import one_in
from tests.rules.shares import OURS
from tests.rules.test_second_order import DESTRUCTIVE, NOT_CALLED, seed
from tests.sparsity.check import pairs, rows
from tests.sparsity.dependent_arguments import calls_with_dependents

PARTS = 16
ALWAYS = (
    "numpy.choose", "numpy.bincount", "numpy.average", "numpy.interp", "numpy.add.reduceat",
    "numpy.linspace", "numpy.pad", "numpy.take", "fft.fft", "solve_triangular", "numpy.full_like",
    "uniform_filter1d", "cho_factor",
)
"""Rules whose arguments decide most; they are in the first part."""


def rules(part):
    for rule in REGISTRY.rules():
        name = rule_name(rule)
        if rule.function in DESTRUCTIVE | NOT_CALLED or not callable(rule.function) or (
            name.startswith(OURS)  # emitted code calls those, not the user's
        ):
            continue
        if (0 if name.endswith(ALWAYS) else seed(rule) % PARTS) == part:
            yield rule


def lacking(call):
    """Return where the pattern of a call lacks what is not zero at one of its points."""
    point = call.points[0]
    try:
        found = jacobian_sparsity(point.called, *point.moved(), argnums=point.all).toarray()
    except ADError:
        return None
    for wanted in call.wanted():
        if wanted.shape != found.shape:
            return [wanted.shape, found.shape]
        if np.any(wanted & ~found):
            return np.argwhere(wanted & ~found).tolist()
    return []


@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_arguments_of_rules_that_depend_on_inputs(part):
    wrong, right = {}, 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for rule in rules(part):
            calls = sample_calls(rule, np.random.default_rng(seed(rule)))
            for call in calls_with_dependents(rule, calls, 3):
                found = lacking(call)
                right += found == []
                if found:
                    wrong[f"{rule_name(rule)} {call.which}"] = found
    assert wrong == {}
    assert right > 100


# -- what is not an argument of a rule -------------------------------------------------------------

X = np.array([0.7, 0.4, 0.3, 0.9])


def repeated_list(x):
    return np.array([x[1]] * int(4.0 * x[0]))


def picked_by_where(x):
    return x[np.where(x > 0.5)]


def picked_by_list(x):
    return x[[x[0] > 0.5, x[1] > 0.5, True, False]]


def test_lengths_that_depend_on_values_are_refused():
    for function in (repeated_list, picked_by_where, picked_by_list):
        with pytest.raises(ADError, match="depends on the values of the inputs"):
            jacobian_sparsity(function, X)


def by_formatted_text(x):
    return x[1] if f"{x[0]:.1f}" == "0.7" else x[2]


def by_text(x):
    return x[1] if str(x[0]).startswith("0.7") else x[2]


def by_part_of_text(x):
    return x[1] if repr(x[0])[:3] == "0.7" or len("a" + str(x[0])) > 5 else x[2]


def told(x):
    if x[0] < 0.0:
        raise ValueError("bad " + str(x[0]) + f" and {x[1]}")
    return x[1]


def test_text_made_of_inputs_is_not_known():
    for function in (by_formatted_text, by_text, by_part_of_text):
        assert rows(jacobian_sparsity(function, X)) == [{1, 2}]
    assert rows(jacobian_sparsity(told, X)) == [{1}]


def test_masks_of_reductions_that_depend_on_values():
    def of_rows(x):
        y = x.reshape(2, 2)
        return np.sum(y, axis=0, where=y > 0.5)

    assert rows(jacobian_sparsity(lambda x: np.sum(x, where=x > 0.5), X)) == [{0, 1, 2, 3}]
    assert rows(jacobian_sparsity(of_rows, X)) == [{0, 2}, {1, 3}]
    assert rows(jacobian_sparsity(of_rows, X, mode="local")) == [{0}, {3}]


def test_definite_matrices_by_diagonals():
    from scipy.linalg import solveh_banded

    for lower in (False, True):
        def solution(x, lower=lower):
            both = [0.1 * x, x + 3.0]
            return solveh_banded(np.stack(both[::-1] if lower else both), np.ones(4), lower=lower)

        assert len(pairs(jacobian_sparsity(solution, X))) == 16


# -- random numbers --------------------------------------------------------------------------------

GIVEN = (
    "", "0.3", "1, 2", "[1.0, 2.0]", "[1, 2], 1", "3", "0.3, 0.7", "0.1, 0.2, 0.3", "3, 0.4",
    "4, 3, 2", "3, [0.2, 0.8]", "[0.3, 0.7]", "[0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]",
)
"""Arguments that functions of random numbers are tried with."""


def branch_on(module, name):
    """Return a function that branches on what a function of random numbers gives, if it can."""
    for given in GIVEN:
        try:
            shown = np.asarray(getattr(module, name)(*eval(f"[{given}]")))
        except Exception:
            continue
        if not shown.size or shown.dtype.kind not in "biuf":
            continue
        made = load_module(None, (
            "def drawn(x):\n"
            f"    return x[0] if np.sum(draw.{name}({given})) > 0.5 else x[1]\n"
        ), f"adcompiler_random_{name}")
        made.__dict__.update(np=np, draw=module)
        return made.drawn
    return None


def state():
    return random.getstate(), [str(part) for part in np.random.get_state()]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_branches_on_random_numbers_are_followed_both_ways():
    refused, followed = [], 0
    for module in (random, np.random, np.random.default_rng(0), np.random.RandomState(0),
                   random.Random(0), random.SystemRandom()):
        for name in dir(module):
            if name.startswith(("_", "set")) or name in ("seed", "test"):
                continue
            function = branch_on(module, name)
            if function is None:
                continue
            before = state()
            try:
                found = rows(jacobian_sparsity(function, np.ones(2)))
            except ADError:
                refused.append(name)
                continue
            assert found == [{0, 1}], (module, name)
            assert state() == before, (module, name)
            followed += 1
    assert followed > 100
    assert len(refused) < 40, refused


# -- stores into parts of elements -----------------------------------------------------------------


def imaginary(x):
    y = x[:3] + 0j
    y.imag = x[1:]
    return np.abs(y)


def some_real(x):
    y = 1j * x[:3]
    y.real[1:] = x[2:]
    return np.abs(y)


def as_floats(x):
    y = x[:2] + 0j
    z = y.view(float)
    z[1:3] = x[2:]
    return np.abs(y)


def of_transpose(x):
    y = (x + 0j).reshape(2, 2)
    y.T.imag[0] = x[:2]
    return np.abs(y)


def increased(x):
    y = (x[:3] + 0j).astype(np.complex64)
    y.imag += x[1:]
    return np.abs(y)


def in_a_dict(x):
    y = {"a": x[:3] + 0j}
    y["a"].imag[0] = x[3]
    return np.abs(y["a"])


def other_bits(x):
    y = x * 1.0
    y.view(np.int32)[1] = 0
    return y


@pytest.mark.parametrize("mode", ["global", "local"])
def test_stores_into_parts_of_elements_keep_the_rest(mode):
    for function, expected in (
        (imaginary, [{0, 1}, {1, 2}, {2, 3}]), (some_real, [{0}, {1, 2}, {2, 3}]),
        (as_floats, [{0, 2}, {1, 3}]), (of_transpose, [{0}, {1}, {1, 2}, {3}]),
        (increased, [{0, 1}, {1, 2}, {2, 3}]), (in_a_dict, [{0, 3}, {1}, {2}]),
    ):
        assert rows(jacobian_sparsity(function, X, mode=mode)) == expected, function
    with pytest.raises(ADError, match="through a view of dtype int32"):
        jacobian_sparsity(other_bits, X, mode=mode)
