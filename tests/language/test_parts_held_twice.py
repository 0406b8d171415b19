"""Arrays that several objects hold in the end, or views of which they hold: they stay one memory.

What is given back to one object and what is given back to another one are copied together.
"""

from types import SimpleNamespace

import numpy as np

from adcompiler.runtime.adjoints.indexing import view_in
from tests.language.reached import check_modes

G = SimpleNamespace(u=np.ones(2), w=np.zeros(2))
C = SimpleNamespace(u=np.ones(3), w=np.ones(2))
V = np.ones(2)
D, L, ROWS = {}, [], {"l": []}


def of_another(x):
    C.w = G.u
    return x * C.w[0]


def view_of_another(x):
    C.w = G.u[1:]
    return x * C.w[0]


def view_of_itself(x):
    G.w = G.u[::-1]
    return x * G.w[0]


def view_by_numpy(x):
    G.w = np.ravel(G.u)
    return x * G.w[0]


def appended(x):
    L.append(G.u)
    L.append((G.u[1:], 1.0))
    return x * L[0][0]


def in_containers(x):
    D[0] = [G.u[1:]]
    return x * D[0][0][0]


def made_here(x):
    y = np.ones(3) * x
    G.u = y
    C.u = y
    D["y"] = y
    return np.sum(G.u * G.u)


def view_made_here(x):
    y = np.ones(3) * x
    G.u, G.w, C.u = y, y[:2], y[1:]
    return np.sum(G.u * G.w[0])


def list_made_here(x):
    rows = [x, x * x]
    D["l"] = rows
    ROWS["l"] = rows
    return sum(rows) * x


def in_a_branch(x):
    if x > 0.5:
        C.w = G.u[:]
    return x * C.w[0]


def written_before(x):
    y = np.zeros(2)
    for i in range(2):
        y[i] = x * x * (i + 1)
    G.w = y
    D["y"] = y
    return np.sum(G.w * D["y"])


def array_written(x):
    V[0] = x
    G.u, C.u = V, V[1:]
    return np.sum(G.u) * x


def argument_written(x, a):
    a[0] = x
    G.u, G.w = a, a[1:]
    return np.sum(G.u) * x


def view_in_argument(x, o):
    o.w = o.u[:]
    C.w = o.u
    return np.sum(o.w) * x


def test_what_several_objects_hold_is_one_memory_in_the_end():
    for f in (
        of_another, view_of_another, view_of_itself, view_by_numpy, appended, in_containers,
        made_here, view_made_here, list_made_here, in_a_branch, written_before,
        array_written,
    ):
        check_modes(f)
    check_modes(argument_written, args=(np.ones(3),))
    check_modes(view_in_argument, args=(SimpleNamespace(u=np.ones(2), w=np.zeros(2)),))


def test_a_view_is_found_again_in_a_copy_of_its_memory():
    block = np.arange(24.0).reshape(2, 3, 4)
    for array in (block, block.T, block.transpose(1, 0, 2), block * 1j):
        array = array.copy("K")
        copy = array.copy("K")
        for view in (array[::-1], array[1:], array[..., ::-2], array.T, array.real, array[:0]):
            found = view_in(copy, view, array)
            np.testing.assert_array_equal(found, view)
            assert found.strides == view.strides
            assert not view.size or np.shares_memory(found, copy)
    assert view_in(block[:, ::2], block[1:], block) is None
