"""Objects that are no arguments: attributes of classes and functions, cells, defaults, globals.

They are read where the code begins, written into as arguments are, and given back in the end.
"""

from types import SimpleNamespace

import numpy as np
from scipy.integrate import quad

from tests.language.reached import check_modes, check_refused


class Buffers:
    data = np.zeros(4)
    log = []
    table = {"n": 0.0}
    parts = {"u": np.zeros(2), "l": [1.0, 2.0]}
    held = SimpleNamespace(n=0.0, u=np.ones(2))
    shared = data[1:]

    def put(self, x):
        self.data[1] = x
        type(self).log.append(x)
        self.__class__.log.append(1.0)

    @classmethod
    def entered(cls, x):
        cls.data[2] = x

    @staticmethod
    def buffer():
        return Buffers.data


class Derived(Buffers):
    def go(self, x):
        super().data[0] = x * x
        self.data[1] = x
        return np.sum(Buffers.data * Derived.data)


class Slotted:
    __slots__ = ("k",)
    registry = []

    def __init__(self, k):
        self.k = k
        Slotted.registry.append(k)


def scratch(x):
    scratch.buffer[0] = x * x
    scratch.calls.append(1.0)
    return scratch.buffer[0] * x * len(scratch.calls)


scratch.buffer = np.zeros(1)
scratch.calls = []


def class_array(x):
    for i in range(4):
        Buffers.data[i] = Buffers.data[i - 1] * x + x
    return np.sum(Buffers.data * Buffers.data)


def class_containers(x):
    Buffers.table["n"] += 2.0
    Buffers.table["new"] = x * x
    Buffers.parts["u"][0] = x * x
    Buffers.parts["l"][1] = x
    Buffers.held.n = x * x
    Buffers.held.u[0] = x
    return Buffers.table["n"] * Buffers.table["new"] * Buffers.parts["u"][0] * Buffers.held.n


def through_instances(x):
    Buffers().put(x * x)
    Derived.entered(x)
    view = Buffers.buffer()
    view[3] = x * x * x
    return sum(Buffers.log) * np.sum(Derived.data)


def inherited(x):
    return Derived().go(x)


def in_a_branch(x):
    if x > 0.5:
        Buffers.table["k"] = x * x
    else:
        Buffers.table["k"] = x
    return Buffers.table["k"] * x


def augmented(x):
    b = Buffers()
    b.data += x
    return np.sum(Buffers.data * x)


def registered(x):
    Slotted(x * x)
    Slotted(x)
    return sum(Slotted.registry) * x


def given_to_numpy(x):
    np.copyto(Buffers.data, x * x)
    np.multiply(np.ones(2), x * x, out=Buffers.held.u)
    return np.sum(Buffers.data) * x * Buffers.held.u[0]


def of_functions(x):
    return scratch(x) + scratch(x)


def of_itself(x):
    of_itself.memo["last"] = x * x
    return of_itself.memo["last"] * x


of_itself.memo = {}


def made_with_cells():
    buffer, log = np.zeros(2), []

    def inner(x):
        buffer[0] = x * x
        log.append(x)
        return buffer[0] * x * len(log)

    return inner


cells_of_another = made_with_cells()


def of_cells(x):
    return cells_of_another(x) + cells_of_another(x)


class Kept:
    def __init__(self):
        self.n, self.u = 1.0, np.ones(2)


def of_defaults(x, a=np.zeros(2), *, kept=Kept()):  # noqa: B008
    a[0] = x * x
    kept.n = kept.n + x
    kept.u[0] = x
    return a[0] * kept.n * kept.u[0]


def counts(x, memo=[0.0], *, u=np.zeros(2)):  # noqa: B006, B008
    """Be compiled on its own, as it is long."""
    memo[0] += 1.0
    u[1] = u[1] + memo[0]
    y = ((((((x + 1.0) * x + 2.0) * x + 3.0) * x + 4.0) * x + 5.0) * x + 6.0) * x * 0.1
    z = ((((((y + 1.0) * y + 2.0) * y + 3.0) * y + 4.0) * y + 5.0) * y + 6.0) * y * 0.1
    return z * memo[0] + x * u[1]


def of_defaults_of_a_function_called_twice(x):
    return counts(x) * counts(x * x)


def only_read(x, weights=np.ones(2), table={"k": 2.0}):  # noqa: B006, B008
    return Buffers.data[1] + weights[0] * x * x * table["k"] * Buffers.table["n"]


def test_writes_into_objects_outside_are_given_back():
    for f in (
        class_array, class_containers, through_instances, inherited, in_a_branch, augmented,
        registered, given_to_numpy, of_functions, of_itself, of_cells, of_defaults,
        of_defaults_of_a_function_called_twice,
    ):
        check_modes(f)


def test_objects_outside_that_are_only_read_have_second_derivatives():
    check_modes(only_read, hessians=True)


def two_attributes(x):
    Buffers.data[1] = x * x
    return Buffers.shared[0] * x


def attribute_and_argument(x, a):
    Buffers.data[1] = x * x
    return np.sum(a) * x


def attributes_by_dict(x):
    of_itself.__dict__["memo"]["last"] = x
    return of_itself.memo["last"] * x


def rebinds(x):
    Buffers.data = np.ones(4) * x
    return np.sum(Buffers.data)


TUPLE = ([1.0], 2.0)


def grows_inside_a_tuple(x):
    TUPLE[0].append(x)
    return TUPLE[0][1] * x


def test_what_is_not_given_back_is_refused():
    check_refused(two_attributes, match="share memory")
    check_refused(attribute_and_argument, args=(Buffers.data,), match="share memory")
    check_refused(attributes_by_dict, match="the attribute `__dict__`")
    check_refused(rebinds)
    check_refused(grows_inside_a_tuple, match="inside of a tuple")


# -- functions compiled on their own ---------------------------------------------------------------


def padded(h):
    h = h * 1.01 + np.sin(h) * 0.1 + np.cos(h) * 0.1 + np.sin(h) * 0.1 + np.cos(h) * 0.1
    h = h * 1.02 + np.sin(h) * 0.2 + np.cos(h) * 0.2 + np.sin(h) * 0.2 + np.cos(h) * 0.2
    h = h * 1.03 + np.sin(h) * 0.3 + np.cos(h) * 0.3 + np.sin(h) * 0.3 + np.cos(h) * 0.3
    h = h * 1.04 + np.sin(h) * 0.4 + np.cos(h) * 0.4 + np.sin(h) * 0.4 + np.cos(h) * 0.4
    return h * DATA[0] * TABLE["k"] * Buffers.data[0]


def padded_writes(h):
    h = h * 1.01 + np.sin(h) * 0.1 + np.cos(h) * 0.1 + np.sin(h) * 0.1 + np.cos(h) * 0.1
    h = h * 1.02 + np.sin(h) * 0.2 + np.cos(h) * 0.2 + np.sin(h) * 0.2 + np.cos(h) * 0.2
    h = h * 1.03 + np.sin(h) * 0.3 + np.cos(h) * 0.3 + np.sin(h) * 0.3 + np.cos(h) * 0.3
    h = h * 1.04 + np.sin(h) * 0.4 + np.cos(h) * 0.4 + np.sin(h) * 0.4 + np.cos(h) * 0.4
    DATA[1] = h
    TABLE["k"] = h
    Buffers.data[1] = h
    return h


DATA = np.ones(2)
TABLE = {"k": 1.0}


def written_before_a_call(x):
    DATA[0] = x * x
    TABLE["k"] = x
    Buffers.data[0] = x
    return padded(x)


def written_between_calls(x):
    first = padded(x)
    DATA[0] = first
    return padded(x) * first


def written_in_a_loop(x):
    total = 0.0
    for _ in range(3):
        total = total + padded(x)
        DATA[0] = total
        Buffers.data[0] = x
    return total


def written_in_calls(x):
    y = padded_writes(x) + padded_writes(x * x)
    return y * DATA[1] * TABLE["k"] * Buffers.data[1]


def integrand(t):
    return t * DATA[0] * Buffers.table["n"]


def read_by_an_integral(x):
    DATA[0] = x
    Buffers.table["n"] = x
    return quad(integrand, 0.0, 1.0)[0] * x


def test_calls_see_what_their_caller_has_written_and_give_back_what_they_write():
    for f in (
        written_before_a_call, written_between_calls, written_in_a_loop, written_in_calls,
        read_by_an_integral,
    ):
        check_modes(f)


def recursive_reader(x, n):
    if n == 0:
        return x * DATA[0]
    return recursive_reader(x * DATA[0], n - 1)


def written_before_a_recursion(x):
    DATA[0] = x
    return recursive_reader(x, 2)


def written_through_an_argument(x, a):
    a[0] = x
    return padded(x)


def test_recursions_that_would_not_see_a_write_are_refused():
    check_refused(written_before_a_recursion, match="reads `DATA`, which was written into")


def test_an_argument_that_a_call_reads_as_a_global_is_refused_where_it_is_written():
    check_refused(written_through_an_argument, args=(DATA,), match="share memory")
