"""Globals of functions whose names belong to no imported module: of executed texts, notebooks.

What these hold is written into and given back as what modules hold is.
"""

import linecache

from tests.language.reached import check_modes, check_refused

TEXT = '''
import types
import numpy as np

V, L, D = np.array([0.3, 0.6]), [], {"n": 0.5}
G = types.SimpleNamespace(u=np.ones(2), k=1.0, act=lambda v: 0.5 * v * v)
H = types.SimpleNamespace(u=np.ones(2), k=1.0)

def array(x):
    V[0] = x * x
    return np.sum(V * V)

def containers(x):
    L.append(x)
    D["n"] += x
    G.k += x * x
    G.u[1] = x
    return sum(L) * D["n"] * G.k * np.sum(G.u)

def parts(x):
    G.u, H.k = G.u * x, G.k * x
    return np.sum(G.u) * H.k

def renamed(x):
    h = G
    h.k += x * x
    h.u[0] = x
    return G.k * np.sum(G.u)

def counts(h, x, n):
    if n == 0:
        return x
    h.k = h.k + 1.0
    return counts(h, h.act(x) + 0.1, n - 1)

def by_recursion(x):
    return counts(G, x, 2) * G.k

def read_only(x):
    return np.sum(V) * x * D["n"] + H.k

def assigned_and_read(x):
    global V
    V = np.ones(2) * x
    return np.sum(V)
'''


def defined():
    file = "<names without a module>"
    linecache.cache[file] = (len(TEXT), None, TEXT.splitlines(True), file)
    names = {"__name__": "names_without_a_module"}
    exec(compile(TEXT, file, "exec"), names)
    return names


def test_what_names_without_a_module_hold_is_given_back():
    names = defined()
    for name in ("array", "containers", "parts", "renamed", "by_recursion", "read_only"):
        check_modes(names[name])


def test_a_global_without_a_module_that_is_assigned_and_read_is_refused():
    check_refused(defined()["assigned_and_read"], match="is assigned")
