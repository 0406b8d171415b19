"""Modules that change between two processes: what is kept on disk never outlives the change.

Each change writes a module in two variants, imports one after the other with one cache directory, as
processes that follow each other do, and compares with Python. Refused programs say so.
"""

from __future__ import annotations

import importlib
import linecache
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from adcompiler import ADError, value_and_grad


# ruff: noqa: E501 (a program is one line of the table)
HEAD="""
import operator, functools, enum, dataclasses, collections, types, math
import numpy as np
"""
CHANGES: dict[str, tuple[str, object, object]] = {
 "itemgetter": ("pick = operator.itemgetter({})\ndef f(x):\n    return pick([x, x*x])*1.0\n", "0","1"),
 "itemgetter2": ("pick = operator.itemgetter(0, {})\ndef f(x):\n    return sum(pick([x, x*x, x*x*x]))\n", "1","2"),
 "attrgetter": ("pick = operator.attrgetter('{}')\ndef f(x):\n    return pick(types.SimpleNamespace(a=x, b=x*x))\n", "a","b"),
 "methodcaller": ("class A:\n    def __init__(self, x): self.x=x\n    def p(self): return self.x\n    def q(self): return self.x*self.x\npick = operator.methodcaller('{}')\ndef f(x):\n    return pick(A(x))\n", "p","q"),
 "methodcaller_arg": ("class A:\n    def __init__(self, x): self.x=x\n    def p(self, n): return self.x**n\npick = operator.methodcaller('p', {})\ndef f(x):\n    return pick(A(x))\n", "2","3"),
 "partial_arg": ("def h(n, x): return x**n\np = functools.partial(h, {})\ndef f(x):\n    return p(x)\n", "2","3"),
 "partial_kw": ("def h(x, n=1): return x**n\np = functools.partial(h, n={})\ndef f(x):\n    return p(x)\n", "2","3"),
 "partial_kw_name": ("def h(x, n=1, m=1): return x**n + m*x\np = functools.partial(h, {}=3)\ndef f(x):\n    return p(x)\n", "n","m"),
 "partial_func": ("def h(x): return x*x\ndef k(x): return x*x*x\np = functools.partial({})\ndef f(x):\n    return p(x)\n", "h","k"),
 "partial_list": ("def h(w, x): return w[0]*x\np = functools.partial(h, [{}])\ndef f(x):\n    return p(x)\n", "2","3"),
 "match_args": ("class P:\n    __match_args__ = {}\n    def __init__(self, a, b): self.a=a; self.b=b\ndef f(x):\n    match P(x, x*x):\n        case P(u, v):\n            return u + 2*v\n", "('a','b')","('b','a')"),
 "enum_member": ("class E(enum.Enum):\n    A = {}\n    B = 5\ndef f(x):\n    return x**E.A.value\n", "2","3"),
 "enum_int": ("class E(enum.IntEnum):\n    A = {}\n    B = 5\ndef f(x):\n    return x**E.A\n", "2","3"),
 "enum_branch": ("class E(enum.Enum):\n    A = 1\n    B = 2\nmode = E.{}\ndef f(x):\n    return x*x if mode is E.A else x*x*x\n", "A","B"),
 "enum_flag": ("class E(enum.Flag):\n    A = 1\n    B = 2\nmode = E.A{}\ndef f(x):\n    return x*x if E.B in mode else x*x*x\n", "","|E.B"),
 "dc_default": ("@dataclasses.dataclass\nclass P:\n    a: float\n    b: float = {}\ndef f(x):\n    p=P(x)\n    return p.a*p.b\n", "2.0","3.0"),
 "dc_order": ("@dataclasses.dataclass\nclass P:\n    {0}: float\n    {1}: float\ndef f(x):\n    p=P(x, x*x)\n    return p.a + 2*p.b\n", ("a","b"),("b","a")),
 "dc_factory": ("@dataclasses.dataclass\nclass P:\n    a: float\n    b: list = dataclasses.field(default_factory=lambda: [{}])\ndef f(x):\n    p=P(x)\n    return p.a*p.b[0]\n", "2.0","3.0"),
 "dc_kwonly": ("@dataclasses.dataclass\nclass P:\n    a: float\n    b: float = dataclasses.field(default=2.0, init={})\ndef f(x):\n    p=P(x)\n    return p.a*p.b\n", "True","False"),
 "class_attr": ("class A:\n    k = {}\ndef f(x):\n    return x*A.k\n", "2.0","3.0"),
 "class_attr_str": ("class A:\n    k = '{}'\ndef f(x):\n    return x*x if A.k == 'a' else x\n", "a","b"),
 "class_attr_bool": ("class A:\n    k = {}\ndef f(x):\n    return x*x if A.k else x\n", "True","False"),
 "class_attr_none": ("class A:\n    k = {}\ndef f(x):\n    return x*x if A.k is None else x\n", "None","1"),
 "class_base": ("class B1:\n    def p(self, x): return x\nclass B2:\n    def p(self, x): return x*x\nclass A({}): pass\na = A()\ndef f(x):\n    return a.p(x)\n", "B1","B2"),
 "class_mro": ("class B1:\n    def p(self, x): return x\nclass B2:\n    def p(self, x): return x*x\nclass A({}): pass\ndef f(x):\n    return A().p(x)\n", "B1,B2","B2,B1"),
 "method_body": ("class A:\n    def p(self, x): return x*{}\ndef f(x):\n    return A().p(x)\n", "2.0","3.0"),
 "property": ("class A:\n    def __init__(self, x): self.x=x\n    @property\n    def p(self): return self.x**{}\ndef f(x):\n    return A(x).p\n", "2","3"),
 "cached_property": ("class A:\n    def __init__(self, x): self.x=x\n    @functools.cached_property\n    def p(self): return self.x**{}\ndef f(x):\n    return A(x).p\n", "2","3"),
 "staticmethod": ("class A:\n    @staticmethod\n    def p(x): return x**{}\ndef f(x):\n    return A.p(x)\n", "2","3"),
 "classmethod_attr": ("class A:\n    n = {}\n    @classmethod\n    def p(cls, x): return x**cls.n\ndef f(x):\n    return A.p(x)\n", "2","3"),
 "slots_init": ("class A:\n    __slots__=('a','b')\n    def __init__(self, a, b): self.{0}=a; self.{1}=b\ndef f(x):\n    p=A(x,x*x)\n    return p.a+2*p.b\n", ("a","b"),("b","a")),
 "global_int": ("N = {}\ndef f(x):\n    return x**N\n","2","3"),
 "global_float": ("N = {}\ndef f(x):\n    return x**N\n","2.0","3.0"),
 "global_str": ("N = '{}'\ndef f(x):\n    return x*x if N=='a' else x\n","a","b"),
 "global_bool": ("N = {}\ndef f(x):\n    return x*x if N else x\n","True","False"),
 "global_none": ("N = {}\ndef f(x):\n    return x*x if N is None else x\n","None","2"),
 "global_tuple": ("N = {}\ndef f(x):\n    s=0.0\n    for n in N: s = s + x**n\n    return s\n","(1,2)","(1,3)"),
 "global_tuple_len": ("N = {}\ndef f(x):\n    s=0.0\n    for n in N: s = s + x**n\n    return s\n","(1,2)","(1,2,3)"),
 "global_list": ("N = {}\ndef f(x):\n    s=0.0\n    for n in N: s = s + x**n\n    return s\n","[1,2]","[1,3]"),
 "global_dict_key": ("N = {{{}: 2.0}}\ndef f(x):\n    s=0.0\n    for k in N: s = s + x**k*N[k]\n    return s\n","1","2"),
 "global_dict_str": ("N = {{'{}': 2.0}}\ndef f(x):\n    return x*x if 'a' in N else x\n","a","b"),
 "global_frozenset": ("N = frozenset([{}])\ndef f(x):\n    return x*x if 1 in N else x\n","1","2"),
 "global_set": ("N = {{{}}}\ndef f(x):\n    return x*x if 1 in N else x\n","1","2"),
 "global_func": ("def a(x): return x*x\ndef b(x): return x*x*x\nh = {}\ndef f(x):\n    return h(x)\n","a","b"),
 "global_lambda": ("h = lambda x: x**{}\ndef f(x):\n    return h(x)\n","2","3"),
 "global_ufunc": ("h = np.{}\ndef f(x):\n    return h(x)\n","sin","cos"),
 "global_builtin": ("h = math.{}\ndef f(x):\n    return h(x)\n","sin","cos"),
 "global_dtype": ("D = np.{}\ndef f(x):\n    return float(np.sum(np.array([x, 0.1], dtype=D)))*x\n","float64","float32"),
 "global_slice": ("S = slice({})\ndef f(x):\n    return sum([x, x*x, x*x*x][S])\n","0,1","1,3"),
 "global_ellipsis": ("S = {}\ndef f(x):\n    return x*x if S is ... else x\n","...","None"),
 "global_module": ("import math as M1, cmath as M2\nM = {}\ndef f(x):\n    return abs(M.exp(x))*1.0\n","M1","M2"),
 "nested_tuple_func": ("def a(x): return x*x\ndef b(x): return x*x*x\nT = ({},)\ndef f(x):\n    return T[0](x)\n","a","b"),
 "dict_func": ("def a(x): return x*x\ndef b(x): return x*x*x\nT = {{'k': {}}}\ndef f(x):\n    return T['k'](x)\n","a","b"),
 "list_func": ("def a(x): return x*x\ndef b(x): return x*x*x\nT = [{}]\ndef f(x):\n    s = 0.0\n    for h in T: s = s + h(x)\n    return s\n","a","b"),
 "default_func": ("def a(x): return x*x\ndef b(x): return x*x*x\ndef f(x, h={}):\n    return h(x)\n","a","b"),
 "default_int_inner": ("def h(x, n={}): return x**n\ndef f(x):\n    return h(x)\n","2","3"),
 "kwdefault_inner": ("def h(x, *, n={}): return x**n\ndef f(x):\n    return h(x)\n","2","3"),
 "default_root": ("def f(x, n={}):\n    return x**n\n","2","3"),
 "default_list_inner": ("def h(x, n=[{}]): return x**n[0]\ndef f(x):\n    return h(x)\n","2","3"),
 "default_dict_inner": ("def h(x, n={{'a': {}}}): return x**n['a']\ndef f(x):\n    return h(x)\n","2","3"),
 "default_str_inner": ("def h(x, n='{}'): return x*x if n == 'a' else x\ndef f(x):\n    return h(x)\n","a","b"),
 "default_tuple_inner": ("def h(x, n=({},)): return x**n[0]\ndef f(x):\n    return h(x)\n","2","3"),
 "closure_int": ("def make(n):\n    def h(x): return x**n\n    return h\nh = make({})\ndef f(x):\n    return h(x)\n","2","3"),
 "closure_str": ("def make(n):\n    def h(x): return x*x if n=='a' else x\n    return h\nh = make('{}')\ndef f(x):\n    return h(x)\n","a","b"),
 "closure_func": ("def a(x): return x*x\ndef b(x): return x*x*x\ndef make(g):\n    def h(x): return g(x)\n    return h\nh = make({})\ndef f(x):\n    return h(x)\n","a","b"),
 "closure_root": ("def make(n):\n    def f(x): return x**n\n    return f\nf = make({})\n","2","3"),
 "closure_getter": ("def make(g):\n    def f(x): return g([x,x*x])\n    return f\nf = make(operator.itemgetter({}))\n","0","1"),
 "closure_partial": ("def h(n,x): return x**n\ndef make(g):\n    def f(x): return g(x)\n    return f\nf = make(functools.partial(h, {}))\n","2","3"),
 "decorator": ("def deco(k):\n    def w(f):\n        @functools.wraps(f)\n        def n(*a): return k*f(*a)\n        return n\n    return w\n@deco({})\ndef g(x): return x*x\ndef f(x): return g(x)\n","2.0","3.0"),
 "decorated_root": ("def deco(k):\n    def w(f):\n        @functools.wraps(f)\n        def n(*a): return f(*a)**k\n        return n\n    return w\n@deco({})\ndef f(x): return x*x\n","2","3"),
 "inst_attr_int": ("class A:\n    def __init__(self, n): self.n=n\na=A({})\ndef f(x): return x**a.n\n","2","3"),
 "inst_attr_str": ("class A:\n    def __init__(self, n): self.n=n\na=A('{}')\ndef f(x): return x*x if a.n=='a' else x\n","a","b"),
 "inst_attr_func": ("def p(x): return x*x\ndef q(x): return x*x*x\nclass A:\n    def __init__(self, n): self.n=n\na=A({})\ndef f(x): return a.n(x)\n","p","q"),
 "inst_method_bound": ("class A:\n    def __init__(self, n): self.n=n\n    def p(self, x): return x**self.n\nh=A({}).p\ndef f(x): return h(x)\n","2","3"),
 "inst_method_name": ("class A:\n    def p(self, x): return x**2\n    def q(self, x): return x**3\nh=A().{}\ndef f(x): return h(x)\n","p","q"),
 "callable_inst": ("class A:\n    def __init__(self, n): self.n=n\n    def __call__(self, x): return x**self.n\nh=A({})\ndef f(x): return h(x)\n","2","3"),
 "ns": ("ns = types.SimpleNamespace(n={})\ndef f(x): return x**ns.n\n","2","3"),
 "ns_func": ("def p(x): return x*x\ndef q(x): return x*x*x\nns = types.SimpleNamespace(n={})\ndef f(x): return ns.n(x)\n","p","q"),
 "namedtuple_fields": ("P = collections.namedtuple('P', '{}')\ndef f(x):\n    p=P(x,x*x)\n    return p.a+2*p.b\n","a b","b a"),
 "namedtuple_defaults": ("P = collections.namedtuple('P', 'a b', defaults=[{}])\ndef f(x):\n    p=P(x)\n    return p.a*p.b\n","2.0","3.0"),
 "getattr_name": ("N='{}'\ndef f(x):\n    return getattr(types.SimpleNamespace(a=x,b=x*x), N)\n","a","b"),
 "singledispatch": ("@functools.singledispatch\ndef h(x): return x\n@h.register({})\ndef _(x): return x*x\ndef f(x): return h(x)\n","float","int"),
 "reduce_op": ("op = operator.{}\ndef f(x): return functools.reduce(op, [x, x*x, 2.0])\n","add","mul"),
 "isinstance_cls": ("C = {}\ndef f(x): return x*x if isinstance(x, C) else x\n","float","int"),
 "isinstance_tuple": ("C = {}\ndef f(x): return x*x if isinstance(x, C) else x\n","(float,)","(int,)"),
 "issub_abc": ("import numbers\nC = numbers.{}\ndef f(x): return x*x if isinstance(x, C) else x\n","Real","Integral"),
 "vectorize": ("h = np.vectorize(lambda x: x**{})\ndef f(x): return float(h(x))\n","2","3"),
 "class_getitem_type": ("class A:\n    table = {{'a': {}}}\n    @classmethod\n    def make(cls, x): return x**cls.table['a']\ndef f(x): return A.make(x)\n","2","3"),
 "class_inner": ("class A:\n    class B:\n        n={}\ndef f(x): return x**A.B.n\n","2","3"),
 "subclass_hook": ("class A:\n    def __init_subclass__(cls, n=1): cls.n=n\nclass B(A, n={}): pass\ndef f(x): return x**B.n\n","2","3"),
 "metaclass": ("class M(type):\n    @property\n    def n(cls): return {}\nclass A(metaclass=M): pass\ndef f(x): return x**A.n\n","2","3"),
 "dunder_call_cls": ("class A:\n    def __new__(cls, x):\n        self=object.__new__(cls); self.x=x**{}; return self\ndef f(x): return A(x).x\n","2","3"),
 "dunder_add": ("class A:\n    def __init__(self,x): self.x=x\n    def __add__(self,o): return self.x**{}+o\ndef f(x): return A(x)+1.0\n","2","3"),
 "dunder_bool": ("class A:\n    def __bool__(self): return {}\na=A()\ndef f(x): return x*x if a else x\n","True","False"),
 "dunder_len": ("class A:\n    def __len__(self): return {}\na=A()\ndef f(x): return x**len(a)\n","2","3"),
 "dunder_getattr": ("class A:\n    def __getattr__(self, n): return {}\na=A()\ndef f(x): return x**a.n\n","2","3"),
 "dunder_iter": ("class A:\n    def __iter__(self): return iter({})\na=A()\ndef f(x): return sum([x**n for n in a])\n","[1,2]","[1,3]"),
 "dunder_contains": ("class A:\n    def __contains__(self, n): return {}\na=A()\ndef f(x): return x*x if 1 in a else x\n","True","False"),
 "descriptor": ("class D:\n    def __get__(self, o, t): return {}\nclass A:\n    n=D()\na=A()\ndef f(x): return x**a.n\n","2","3"),
 "weights_array": ("W = np.array({})\ndef f(x): return float(np.sum(W*x))\n","[1.0,2.0]","[1.0,3.0]"),
 "weights_shape": ("W = np.array({})\ndef f(x): return float(np.sum(W*x))\n","[1.0,2.0]","[[1.0,3.0]]"),
 "weights_int": ("W = np.array({})\ndef f(x): return float(np.sum(x**W))\n","[1,2]","[1,3]"),
 "range_global": ("R = range({})\ndef f(x):\n    for _ in R: x = x*1.5\n    return x\n","2","3"),
 "bytes_global": ("B = b'{}'\ndef f(x): return x*x if B == b'a' else x\n","a","b"),
 "complex_global": ("Z = {}\ndef f(x): return abs(Z*x)\n","1j","2j"),
 "default_partial_arg": ("def h(n, x): return x**n\ndef f(x, g=functools.partial(h, {})): return g(x)\n","2","3"),
 "partial_nested": ("def h(n, m, x): return x**n*m\np = functools.partial(functools.partial(h, {}), 2.0)\ndef f(x): return p(x)\n","2","3"),
 "partial_of_method": ("class A:\n    def __init__(self, k): self.k=k\n    def p(self, n, x): return self.k*x**n\np = functools.partial(A({}).p, 2)\ndef f(x): return p(x)\n","2.0","3.0"),
 "partialmethod": ("class A:\n    def p(self, n, x): return x**n\n    q = functools.partialmethod(p, {})\ndef f(x): return A().q(x)\n","2","3"),
 "typing_newtype": ("import typing\nT = typing.NewType('T', {})\ndef f(x): return T(x)*x\n","float","int"),
 "cmp_key": ("key = functools.cmp_to_key(lambda a, b: {})\ndef f(x): return sorted([x, 2*x], key=key)[0]*1.0\n","(a>b)-(a<b)","(b>a)-(b<a)"),
 "sort_key": ("key = operator.itemgetter({})\ndef f(x): return sorted([(0,2,x),(1,1,x*x)], key=key)[0][2]\n","0","1"),
 "max_key": ("key = operator.attrgetter('{}')\nN=types.SimpleNamespace\ndef f(x): return max([N(a=0,b=2,v=x),N(a=1,b=1,v=x*x)], key=key).v\n","a","b"),
 "map_getter": ("key = operator.itemgetter({})\ndef f(x): return sum(map(key, [(x,x*x)]))\n","0","1"),
 "tuple_getter": ("T = (operator.itemgetter({}),)\ndef f(x): return T[0]((x,x*x))\n","0","1"),
 "dict_getter": ("T = {{'k':operator.itemgetter({})}}\ndef f(x): return T['k']((x,x*x))\n","0","1"),
 "inst_getter": ("T = types.SimpleNamespace(g=operator.itemgetter({}))\ndef f(x): return T.g((x,x*x))\n","0","1"),
 "cls_getter": ("class T:\n    g=operator.itemgetter({})\ndef f(x): return T.g((x,x*x))\n","0","1"),
 "default_getter": ("def f(x, g=operator.itemgetter({})): return g((x,x*x))\n","0","1"),
 "default_inner_getter": ("def h(x, g=operator.itemgetter({})): return g((x,x*x))\ndef f(x): return h(x)\n","0","1"),
 "partial_getter": ("def h(g, x): return g((x,x*x))\np=functools.partial(h, operator.itemgetter({}))\ndef f(x): return p(x)\n","0","1"),
 "getter_slice": ("g=operator.itemgetter(slice({}))\ndef f(x): return sum(g([x,x*x,x*x*x]))\n","0,1","0,2"),
 "poly": ("P = np.polynomial.Polynomial({})\ndef f(x): return P(x)\n","[1.0,2.0]","[1.0,2.0,3.0]"),
 "poly1d": ("P = np.poly1d({})\ndef f(x): return P(x)\n","[1.0,2.0]","[1.0,2.0,3.0]"),
}

REFUSED = {"getattr_name", "dunder_call_cls", "partialmethod",
           "typing_newtype"}


def filled(text: str, variant: object) -> str:
    return HEAD + text.format(*(variant if isinstance(variant, tuple) else (variant,)))


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    text, first, second = CHANGES[name]
    path = tmp_path / f"changing_{name}.py"
    values = []
    for turn, variant in enumerate((first, second, first)):
        path.write_text(filled(text, variant), encoding="utf-8")
        os.utime(path, (1e9 + turn, 1e9 + turn))
        sys.modules.pop(path.stem, None)
        linecache.clearcache()
        importlib.invalidate_caches()
        module = importlib.import_module(path.stem)
        x, h = 1.3, 1e-4
        slope = (8 * (module.f(x + h) - module.f(x - h)) - module.f(x + 2 * h)
                 + module.f(x - 2 * h)) / (12 * h)
        try:
            found = value_and_grad(module.f)(x)
        except ADError:
            assert name in REFUSED
            continue
        assert name not in REFUSED or turn == 1
        tolerance = 1e-2 if name == "global_dtype" else 1e-7
        np.testing.assert_allclose(found, (module.f(x), slope), rtol=tolerance)
        values.append(found)
    sys.modules.pop(path.stem, None)
    assert len(values) != 3 or values[0] == values[2]
