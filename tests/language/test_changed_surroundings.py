"""What changes outside of a function after its first derivative counts at the next one, in all modes.

Types, keys, lengths, classes and None-ness of globals, attributes, defaults and cells: each program
is compared after a change with plain Python, in the process that compiled it before.
"""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hessian, jacobian_sparsity, jvp, sparse_jacobian, vjp

PROGRAMS = []


def changed_by(change):
    """Add a program, linear in x, and what changes its surroundings."""
    def add(function):
        PROGRAMS.append((function, change))
        return function
    return add


class Model:
    scale, table, items = None, {"a": 1.0}, [1.0]

    def __init__(self):
        self.value, self.none, self.inner = 1.0, None, SimpleNamespace(none=None)

    def run(self, x):
        return x * 3.0 if self.none is None else x * self.none

    def __len__(self):
        return 2

    @property
    def twice(self):
        return 2.0


class Other:
    pass


TABLE, NESTED, ITEMS, LONG = {"a": 1.0}, {"a": {"b": None}}, [1.0, 2.0], [1.0] * 70
M, N, K, S = Model(), Model(), Model(), SimpleNamespace(none=None, inner={"a": {"b": 1.0}})
LIST_OF_TABLES, LIST_OF_OBJECTS, TUPLE = [{"a": 1.0}], [SimpleNamespace(none=None)], ({}, S)
FUNCTIONS, CHAIN = {"f": np.negative}, [np.negative]
METHOD, PARTIAL = K.run, functools.partial(lambda t, x: x * t.get("k", 1.0), {})
HELD = {"method": K.run}
FLAG = None


@changed_by(lambda: TABLE.update(b=1.0))
def key_of_a_dict(x):
    return (x * 3.0 if "b" in TABLE else x) * len(TABLE) * TABLE.get("b", 2.0)


@changed_by(lambda: NESTED["a"].update(b=4.0, c=1.0))
def key_of_an_inner_dict(x):
    return x * 3.0 if NESTED["a"]["b"] is None else x * NESTED["a"]["b"] * len(NESTED["a"])


@changed_by(lambda: ITEMS.append(3.0))
def length_of_a_list(x):
    first, *rest = ITEMS
    return x * len(ITEMS) * sum(ITEMS) * first * len(rest)


@changed_by(lambda: LONG.append(None))
def item_of_a_long_list(x):
    return x * 3.0 if LONG[-1] is None else x


@changed_by(lambda: setattr(M, "none", 5.0))
def attribute_that_was_none(x):
    return x * 3.0 if M.none is None else x * M.none


@changed_by(lambda: setattr(M, "value", np.array(5.0)))
def class_of_an_attribute(x):
    return x * M.value


@changed_by(lambda: setattr(M, "new", 5.0))
def new_attribute(x):
    return x * getattr(M, "new", 2.0) * (3.0 if hasattr(M, "new") else 1.0)


@changed_by(lambda: setattr(M.inner, "none", 5.0))
def inner_attribute(x):
    return x * 3.0 if M.inner.none is None else x * M.inner.none


@changed_by(lambda: setattr(Model, "scale", 5.0))
def attribute_of_a_class(x):
    return x * 3.0 if M.scale is None else x * M.scale


@changed_by(lambda: (Model.table.update(b=1.0), Model.items.append(3.0)))
def containers_of_a_class(x):
    return x * len(Model.table) * sum(Model.items)


@changed_by(lambda: setattr(N, "__class__", Other))
def class_of_an_instance(x):
    return x * 3.0 if isinstance(N, Model) else x


@changed_by(lambda: setattr(Model, "__len__", lambda self: 5))
def special_method(x):
    return x * len(M)


@changed_by(lambda: setattr(Model, "twice", property(lambda self: 7.0)))
def property_of_a_class(x):
    return x * M.twice


@changed_by(lambda: setattr(M, "run", lambda x: x * 11.0))
def method_of_an_instance(x):
    return M.run(x)


@changed_by(lambda: S.inner["a"].update(c=1.0))
def dict_of_an_instance(x):
    return x * 3.0 if "c" in S.inner["a"] else x


@changed_by(lambda: LIST_OF_TABLES[0].update(b=2.0))
def dict_in_a_list(x):
    total = 0.0
    for table in LIST_OF_TABLES:
        for key in table:
            total = total + x * table[key]
    return total


@changed_by(lambda: LIST_OF_OBJECTS.append(SimpleNamespace(none=4.0)))
def instances_in_a_list(x):
    for one in LIST_OF_OBJECTS:
        x = x * 3.0 if one.none is None else x * one.none
    return x


@changed_by(lambda: TUPLE[0].update(a=1.0))
def dict_in_a_tuple(x):
    return x * 3.0 if "a" in TUPLE[0] else x


@changed_by(lambda: FUNCTIONS.update(f=np.positive))
def function_in_a_dict(x):
    return FUNCTIONS["f"](x)


@changed_by(lambda: CHAIN.append(np.negative))
def functions_in_a_list(x):
    for function in CHAIN:
        x = function(x)
    return x


@changed_by(lambda: setattr(K, "none", 5.0))
def state_of_a_bound_method(x):
    return METHOD(x) + HELD["method"](x)


@changed_by(lambda: PARTIAL.args[0].update(k=5.0))
def state_of_a_partial_call(x):
    return PARTIAL(x)


@changed_by(lambda: globals().update(FLAG=5.0))
def global_that_was_none(x):
    return x * 3.0 if FLAG is None else x * FLAG


@changed_by(lambda: default.__defaults__[0].update(k=5.0))
def default(x, table={}):  # noqa: B006
    return x * table.get("k", 3.0)


@changed_by(lambda: keyword.__kwdefaults__["one"].__dict__.update(none=5.0))
def keyword(x, *, one=SimpleNamespace(none=None)):  # noqa: B008
    return x * 3.0 if one.none is None else x * one.none


@changed_by(lambda: setattr(own_attribute, "k", 5.0))
def own_attribute(x):
    return x * 3.0 if own_attribute.k is None else x * own_attribute.k


own_attribute.k = None


def made():
    table, number = {}, None

    def function(x):
        return x * len(table) + (x if number is None else x * number)

    def change():
        nonlocal number
        table["a"], number = 1.0, 5.0

    PROGRAMS.append((function, change))


made()


def results(function, derivatives):
    """Return slopes of a linear function, and whether its pattern has the entry."""
    gradient, second, sparse = derivatives
    wanted = function(2.0) - function(1.0)
    found = [
        gradient(2.0), second(2.0) / 2, vjp(function, 2.0)[1](1.0)[0],
        jvp(function, (2.0,), (1.0,))[1], sparse(np.array([2.0])).toarray()[0, 0],
    ]
    return np.array(found), wanted


def test_changes_outside_are_seen():
    wrong = []
    for function, change in PROGRAMS:
        def in_array(x, function=function):
            return np.array([function(x[0])])

        derivatives = (
            grad(function), hessian(lambda x, f=function: f(x) * x), sparse_jacobian(in_array))
        for _ in range(2):
            found, wanted = results(function, derivatives)
            assert np.allclose(found, wanted), function.__name__
        change()
        found, wanted = results(function, derivatives)
        if not np.allclose(found, wanted):
            wrong.append(f"{function.__name__}: {found} for {wanted}")
    assert not wrong, "\n".join(wrong)


CHOICE = {"a": 1.0}


def test_patterns_follow_keys_that_come_late():
    def chosen(x):
        return np.array([x[0], x[1] if "late" in CHOICE else 0.0])

    assert jacobian_sparsity(chosen, np.ones(2)).nnz == 1
    sparse = sparse_jacobian(chosen)
    sparse(np.ones(2))
    CHOICE["late"] = 1.0
    assert jacobian_sparsity(chosen, np.ones(2)).nnz == 2
    np.testing.assert_array_equal(sparse(np.ones(2)).toarray(), np.eye(2))
    del CHOICE["late"]


def test_a_deleted_attribute_is_missed():
    state = SimpleNamespace(none=None)

    def reads(x):
        return x * 3.0 if state.none is None else x

    derivative = grad(reads)
    assert derivative(2.0) == 3.0
    del state.none
    with pytest.raises(UnsupportedError, match="no attribute `none`"):
        derivative(2.0)
