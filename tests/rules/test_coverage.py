"""Every public function of ``math`` and ``operator`` has a rule, or is said to carry none."""

import math
import operator

import pytest

from adcompiler.rulekit import REGISTRY

# Left to the compiler (indexing, mutation), or not functions of numbers.
LEFT_TO_THE_COMPILER = {
    "attrgetter", "call", "delitem", "getitem", "itemgetter", "methodcaller", "setitem",
    "is_none", "is_not_none",
}
IN_PLACE = {
    "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior", "ipow",
    "irshift", "isub", "itruediv", "ixor",
}


def functions_of(module):
    return {name: value for name, value in vars(module).items()
            if callable(value) and not name.startswith("_")}


def covered(function):
    return REGISTRY.has_rules(function) or REGISTRY.inactive(function) is not None


@pytest.mark.parametrize("name", sorted(functions_of(math)))
def test_math_function_is_covered(name):
    assert covered(getattr(math, name))


@pytest.mark.parametrize(
    "name", sorted(set(operator.__all__) - LEFT_TO_THE_COMPILER - IN_PLACE)
)
def test_operator_is_covered(name):
    REGISTRY.load_all()
    assert covered(getattr(operator, name))
