"""Where Python or C code calls methods of an object that nobody sees called.

``o`` is an object of which each special method writes into an array that is differentiated, ``n``
one without iteration, ``i`` an iterator and ``p`` an object with a property that do so.
"""

from __future__ import annotations

EXPRESSIONS = """
repr(o)
str(o)
format(o)
format(o, '>3')
f'{o}'
f'{o!r}'
f'{o!s:>4}'
f'{o!a}'
ascii(o)
'%s' % o
'%r' % (o,)
'{}'.format(o)
'{!r}'.format(o)
'{a}'.format_map({'a': o})
string.Template('$a').substitute(a=o)
print(o, file=io.StringIO())
print('x', file=o)
''.join(map(str, [o]))
repr([o])
repr({'a': o})
str((o,))
repr(collections.deque([o]))
str(ValueError(o))
repr(ValueError(o))
bytes(o)
len(o)
bool(o)
not o
o and 1
o or 1
1 if o else 2
[1 for _ in [0] if o]
any([o])
all([o])
list(filter(None, [o]))
hash(o)
{o: 1}
{o}
set([o])
{5: 1}.get(o)
o in {5: 1}
dict.fromkeys([o])
o == 1
1 == o
o != 1
o in [1]
1 in [o]
[o].index(1)
[o].count(1)
[o].remove(1)
[o] == [1]
(o,) == (1,)
{'a': o} == {'a': 1}
[o] < [1]
o < 1
o > 1
0 < o < 3
sorted([o, o])
[o, o].sort()
min(o, 1)
max([1, o])
bisect.bisect([1.0], o)
heapq.heapify([o, o])
heapq.nsmallest(1, [o, o])
1 in o
iter(o)
list(o)
tuple(o)
set(o)
[*o]
(lambda *a: 1)(*o)
[1 for _ in o]
sum(o)
list(zip(o, [1, 2]))
list(enumerate(o))
list(map(abs, o))
list(reversed(o))
[].extend(o)
operator.iadd([], o)
list(itertools.chain(o))
list(itertools.product(o))
collections.deque(o)
math.fsum(o)
{}.update(o)
{**o}
dict(**o)
dict(o)
next(i)
list(i)
sum(i)
max(i)
[*i]
list(zip(i, [1]))
np.fromiter(i, float)
collections.deque(i, maxlen=0)
any(i)
5.0 in i
list(itertools.islice(i, 1))
sorted(i)
set(i)
(*i, 1)
list(map(abs, i))
list(enumerate(i))
math.fsum(i)
operator.setitem([1, 2], slice(0, 1), i)
[].extend(i)
','.join(map(str, i))
functools.reduce(operator.add, i)
np.array(list(i))
o[0]
operator.setitem(o, 0, 1)
operator.delitem(o, 0)
operator.itemgetter(0)(o)
[1, 2][o]
[1, 2][o:]
range(o)
[1] * n
'a' * n
chr(o)
hex(o)
operator.index(o)
np.ones(3)[n]
operator.setitem(np.ones(3), n, 1.0)
np.ones(3)[n:]
np.zeros(n)
np.arange(n)
int(o)
float(o)
complex(o)
round(o)
math.trunc(o)
math.floor(o)
math.ceil(o)
abs(o)
-o
+o
~o
math.sin(o)
math.hypot(o, 1.0)
np.array([n], float)
operator.setitem(np.zeros(2), 0, n)
random.Random(0).gauss(n, 1.0)
struct.pack('d', n)
datetime.timedelta(seconds=float(n))
o + 1
1 + o
2.0 * o
np.float64(1.0) + n
np.ones(2) * n
np.ones(2) @ n
o - 1
1 / o
o // 2
o % 2
divmod(o, 2)
o ** 2
pow(o, 2, 3)
2 ** o
o @ 1
o & 1
o ^ 1
o << 1
operator.iadd(o, 1)
sum([n])
list(itertools.accumulate([n, 1]))
math.prod([1, n])
functools.reduce(operator.add, [n, 1])
np.sum(np.array([n, 1], dtype=object))
o()
list(map(o, [1]))
sorted([1, 2], key=o)
functools.partial(o, 1)()
functools.reduce(o, [1, 2])
np.vectorize(o, otypes=[float])([1.0])
np.apply_along_axis(o, 0, np.ones((2, 2)))
collections.defaultdict(o)['k']
list(itertools.islice(iter(o, 5.0), 2))
copy.copy(o)
copy.deepcopy(o)
copy.deepcopy([o])
pickle.dumps(o)
dir(o)
sys.getsizeof(o)
isinstance(1, o)
isinstance(1, (str, o))
issubclass(int, o)
os.fspath(o)
os.path.exists(o)
operator.length_hint(o)
getattr(o, 'zz')
hasattr(o, 'zz')
operator.attrgetter('zz')(o)
operator.methodcaller('hit')(o)
p.p
getattr(p, 'p')
hasattr(p, 'p')
operator.attrgetter('p')(p)
json.dumps({'a': o}, default=str)
json.dumps(o, default=lambda v: v.hit())
logging.getLogger('ctx.a').error('%s', o)
str(UserWarning(o))
print('a', file=o)
csv.writer(o).writerow([1])
inspect.isfunction(o)
callable(o)
vars(o)
id(o)
type(o)
collections.namedtuple('T', 'a')(o) == (1,)
collections.ChainMap({o: 1})
collections.Counter([o, o])
sorted([1, 2], key=functools.cmp_to_key(lambda p, q: o.hit() or 0))
functools.lru_cache(lambda v: 1)(o)
re.sub('a', lambda m: o.hit() or '', 'aa')
np.ones(2) == n
np.array([n], dtype=object) == 1
n in np.ones(2)
np.where(n, 1.0, 2.0)
np.where(bool(n), 1, 2)
textwrap.indent('a', 'b', lambda l: o.hit() or True)
statistics.fmean([n, 1])
fractions.Fraction(int(o))
math.pow(n, 2)
math.isnan(n)
math.fmod(n, 2)
math.gcd(n, 4)
math.comb(n, 1)
np.isfinite(float(n))
bytes([n])
bytearray([n])
'a'.translate(o)
str.maketrans({'a': 'b'})
eval('1', {'a': o})
setattr(type('K', (), {'d': o})(), 'd', 1)
type('K', (), {'d': o})().d
type('K', (), {'d': o})
object.__repr__(o) and 1
types.MappingProxyType({'a': o}) == 1
contextlib.ExitStack().enter_context(o)
contextlib.closing(o).__exit__(None, None, None)
sorted([o, o], key=len)
max([o], key=len)
list(map(bool, [o]))
list(map(str, [o]))
list(map(hash, [o]))
list(map(float, [n]))
list(filter(len, [o]))
list(map(type(o).hit, [o]))
[k for k, _ in itertools.groupby([o, o])]
list(itertools.compress([1], [o]))
list(itertools.takewhile(bool, [o]))
list(itertools.starmap(lambda *a: 1, [o]))
{}.setdefault(o, 1)
{5: 1}.pop(o, 0)
{5}.discard(o)
{1} | {o}
{1}.issubset(o)
frozenset([o])
(o,).index(1)
(o,).count(1)
1 in (o,)
1 in collections.deque([o])
collections.deque([o]).remove(1)
max(o, default=0)
min(map(abs, o))
range(0, 4, n)
slice(n).indices(4)
list(itertools.islice([1, 2], n))
list(itertools.repeat(1, n))
list(itertools.combinations([1, 2], n))
random.Random(0).choice(o)
random.Random(0).shuffle([o, o])
int.from_bytes(bytes(o), 'big')
round(1.234, n)
'abc'[n]
'a'.center(n)
'a b'.split(' ', n)
[1].insert(n, 2)
[1, 2].pop(n)
np.ones(2).reshape(n, 2)
np.ones((2, 2)).sum(axis=n)
np.take([1, 2], n)
np.clip(1.0, 0.0, float(n))
np.full(2, float(n))
np.round(1.5, n)
np.roll(np.ones(2), n)
""".strip().splitlines()

STATEMENTS = """
with o: pass
for v in o: pass
while o: break
assert o
x, y = o
x, *y = o
del o[0]
o[0] = 1
o += 1
o[0] += 1
x = [1, 2, 3]; x[n:] = o
x = [*o, *i]
x = {**o}
x = (o, *i)
x, *y = i
for v in i: pass
if o: pass
if not o: pass
if 1 in o: pass
if o and n: pass
if 0 < o < 3: pass
""".strip().splitlines()

BLOCKS = """
match o:
    case 7: pass
    case _: pass
--
match o:
    case [x, y]: pass
--
match {"a": o}:
    case {"a": 7}: pass
--
match p:
    case Property(x): pass
--
match 1:
    case Unseen(): pass
--
try:
    raise ValueError(o)
except ValueError as error:
    str(error)
--
def generator():
    yield from o
list(generator())
--
class Finalised:
    def __del__(self): o.hit()
Finalised()
--
class Holder:
    held = o
    def __len__(self): return 1
Holder()
""".strip().split("--\n")

HEADER = """
import bisect
import collections
import contextlib
import copy
import csv
import datetime
import decimal
import fractions
import functools
import heapq
import inspect
import io
import itertools
import json
import logging
import math
import operator
import os
import pickle
import random
import re
import statistics
import string
import struct
import sys
import textwrap
import types

import numpy as np

logging.getLogger("ctx.a").propagate = False
logging.getLogger("ctx.a").addHandler(logging.StreamHandler(io.StringIO()))


class Numeric:
    def __init__(self, y):
        self.y = y

    def hit(self):
        self.y[0] *= 2.0


class Unseen(Numeric):
    __match_args__ = ()

    def __getattr__(self, name):
        if name.startswith("_") or name in ("dtype", "shape", "ndim", "size"):
            raise AttributeError(name)
        self.hit()
        return 1.0


class Iterator(Numeric):
    count = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.count > 2:
            raise StopIteration
        self.hit()
        return float(self.count)


class Property(Numeric):
    __match_args__ = ("p",)

    @property
    def p(self):
        self.hit()
        return 1.0


def method(result):
    def called(self, *args, **kwargs):
        self.hit()
        return result(self) if callable(result) else result

    return called


TEXTS = {"repr": "o", "str": "o", "format": "o", "fspath": "/nowhere", "bytes": b"o"}
NUMBERS = {
    "bool": True, "hash": 5, "index": 1, "int": 1, "float": 1.0, "complex": 1j, "round": 1,
    "trunc": 1, "floor": 1, "ceil": 1, "abs": 1.0, "neg": 1.0, "pos": 1.0, "invert": 1.0,
    "eq": True, "ne": True, "lt": True, "gt": False, "le": True, "ge": True,
    "divmod": (1.0, 1.0), "iadd": lambda self: self, "call": 1.0, "copy": Unseen,
    "deepcopy": 1.0, "reduce": (float, (1.0,)), "dir": ["a"], "sizeof": 8,
    "instancecheck": True, "subclasscheck": True, "get": 1.0, "set": None, "delete": None,
    "set_name": None, "enter": lambda self: self, "exit": False,
    **dict.fromkeys(("add", "radd", "mul", "rmul", "sub", "rsub", "truediv", "rtruediv",
                     "floordiv", "mod", "pow", "rpow", "matmul", "rmatmul", "and", "or", "xor",
                     "lshift"), 1.0),
}
ITEMS = {
    "len": 2, "contains": True, "iter": lambda self: iter([1.0, 2.0]),
    "reversed": lambda self: iter([1.0, 2.0]), "getitem": 1.0, "setitem": None, "delitem": None,
    "length_hint": 2,
}
for name, result in {**TEXTS, **NUMBERS}.items():
    setattr(Numeric, f"__{name}__", method(result))
for name, result in {**ITEMS}.items():
    setattr(Unseen, f"__{name}__", method(result))
for name in ("keys", "write", "read", "close"):
    setattr(Unseen, name, method(["a"] if name == "keys" else ""))
Numeric.__copy__ = method(lambda self: type(self)(self.y))
"""


def program(number: int, lines: list[str]) -> str:
    """Return the text of a function of an array that runs lines of code."""
    body = ["y = a * a", "o, n, i, p = Unseen(y), Numeric(y), Iterator(y), Property(y)",
            "inside(o, n, i, p)", "return np.sum(y)"]
    return (f"def f{number}(a):\n    def inside(o, n, i, p):\n"
            + "".join(f"        {line}\n" for line in lines)
            + "\n" + "".join(f"    {line}\n" for line in body))


def module(every: int = 1, start: int = 0) -> tuple[str, dict[str, str]]:
    """Return the text of a module, and what each of its functions runs, by name.

    One in ``every`` is taken.
    """
    codes = [*EXPRESSIONS, *STATEMENTS, *BLOCKS][start::every]
    names = {f"f{k}": code for k, code in enumerate(codes)}
    texts = [program(k, code.splitlines()) for k, code in enumerate(codes)]
    return "\n\n".join([HEADER, *texts]), names
