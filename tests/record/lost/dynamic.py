"""Functions made, replaced, registered and found at run time."""

from __future__ import annotations

import contextvars
import functools
import importlib
import inspect
import math
import sys
import types

import numpy as np

from tests.record.lost import Program

HOOKS: dict = {}
SETTINGS = types.SimpleNamespace(factor=2.0, backend="plain")
CURRENT: contextvars.ContextVar = contextvars.ContextVar("current", default=1.0)


def made_by_exec(x):
    space = {"math": math, "k": x}
    exec("def f(v):\n    return math.sin(v) * k\n\ng = k * k", space)
    return space["f"](x) + space["g"]


def made_by_eval(x):
    f = eval("lambda v, w=3.0: v * v * w + x * v", {"x": x})
    return f(x) + eval("x * x + y", {"y": 2.0}, {"x": x})


def evaluated_in_place(x):
    y = x * x
    return eval("x * y") + y


def locals_and_globals(x):
    y = x * 3.0
    table = dict(locals())
    HOOKS["late"] = table["y"] * x
    found = globals()["HOOKS"].pop("late")
    return found + sys._getframe().f_locals["y"] + inspect.currentframe().f_locals["x"]


def code_that_is_replaced(x):
    def f(v):
        return v * 2.0

    def g(v):
        return v * v

    total = f(x)
    f.__code__ = g.__code__
    total += f(x)
    f.__defaults__ = (x,)
    return total + f() + types.FunctionType(f.__code__, {}, "h")(3.0 * x)


def traced(function):
    def wrapper(*args, **kwargs):
        wrapper.calls.append(args[0] * 2.0)
        return function(*args, **kwargs) * SETTINGS.factor

    wrapper.calls = []
    return wrapper


def checked(low=0.0):
    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, value in bound.arguments.items():
                bound.arguments[name] = max(value, low)
            return function(*bound.args, **bound.kwargs)

        return wrapper

    return decorate


@traced
@checked(low=0.5)
def blended(x, y, *, k=0.1):
    return x * y * k


def decorated(x):
    blended.calls.clear()
    return blended(x, x * 0.1) + blended(x, k=x, y=2.0) + sum(blended.calls)


class Memoised:
    """A decorator that is a class, and binds as a method does."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function, self.count = function, 0

    def __call__(self, *args):
        self.count += 1
        return self.function(*args) * self.count

    def __get__(self, instance, owner=None):
        return functools.partial(self, instance)


class Engine:
    def __init__(self, x):
        self.x = x

    @Memoised
    def power(self, v):
        return self.x * v


def decorated_by_a_class(x):
    Engine.__dict__["power"].count = 0
    engine = Engine(x)
    return engine.power(x) + engine.power(2.0) + Engine.__dict__["power"].__wrapped__(engine, 3.0)


def register(name):
    def add(function):
        HOOKS[name] = function
        return function

    return add


@register("plain")
def plain(v):
    return v * v


@register("fast")
def fast(v):
    return np.square(v)


def registered(x):
    total = 0.0
    for name in ("plain", "fast"):
        SETTINGS.backend = name
        total += HOOKS[SETTINGS.backend](x)
    SETTINGS.backend = "plain"
    register("late")(lambda v: v * x)
    return total + HOOKS.pop("late")(3.0)


class Backend:
    """A module of functions by name, as tensor libraries have."""

    def __init__(self, module):
        self._module = module
        self._made = {}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._made[name]
        except KeyError:
            function = getattr(self._module, name)
            self._made[name] = made = lambda *a, **k: function(*a, **k)
            return made

    def __dir__(self):
        return ["exp"]


def backend_by_attribute(a):
    nx = Backend(np)
    return nx.sum(nx.exp(a) * nx.sqrt(a)) + nx.linalg(a) if False else nx.sum(
        nx.exp(a) * nx.sqrt(a)) + nx.max(a)


def module_made_at_run_time(x):
    module = types.ModuleType("made_for_a_test")
    exec("def __getattr__(name):\n    return lambda v: v * len(name)\n\ndef f(v): return v * v",
         module.__dict__)
    sys.modules["made_for_a_test"] = module
    try:
        from made_for_a_test import f, triple
        late = importlib.import_module("made_for_a_test")
        late.shift = x * 2.0
        return f(x) + triple(x) + late.other(x) * late.shift
    finally:
        del sys.modules["made_for_a_test"]


def monkeypatched(x):
    original = math.sin
    math.sin = lambda v: v * x
    try:
        return math.sin(x) + original(x)
    finally:
        math.sin = original


def patched_by_mock(x):
    from unittest import mock

    with mock.patch.object(SETTINGS, "factor", x), mock.patch.dict(HOOKS, plain=lambda v: v * 7.0):
        return SETTINGS.factor * HOOKS["plain"](x)


def patched_class(x):
    original = Engine.__init__

    def init(self, v):
        original(self, v * v)

    Engine.__init__ = init
    try:
        return Engine(x).x
    finally:
        Engine.__init__ = original


def context_variables(x):
    token = CURRENT.set(x * x)
    context = contextvars.copy_context()
    CURRENT.reset(token)

    def scaled(v):
        return v * CURRENT.get()

    return context.run(scaled, x) + scaled(x) + context[CURRENT]


def composed(x):
    def compose(*functions):
        return functools.reduce(lambda f, g: lambda v: g(f(v)), functions)

    steps = [functools.partial(pow, x), lambda v: v + x, math.sqrt, np.tanh, float]
    return compose(*steps)(2)


def curried(x):
    def curry(function, *held):
        def take(*args, **kwargs):
            got = held + args
            if len(got) >= function.__code__.co_argcount:
                return function(*got, **kwargs)
            return curry(function, *got)

        return take

    return curry(lambda p, q, r: p * q + r)(x)(x * x)(3.0 * x)


def star_arguments(x):
    def f(p, /, q=2.0, *rest, r, **others):
        return p * q + sum(rest) * r + sum(others.values())

    keywords = {"r": x, "s": x * x}
    return f(x, *[x, 3.0], x, **keywords, **{"t": 4.0 * x}) + f(x, r=1.0)


def signature_by_name(x):
    def model(t, rate=x, *, shift=0.5):
        return rate * t + shift

    values = {name: p.default for name, p in inspect.signature(model).parameters.items()}
    values["t"] = 2.0
    model.__kwdefaults__["shift"] = x * x
    return model(**{k: v for k, v in values.items() if k != "shift"}) + values["shift"]


def lambdas_in_tables(x):
    table = {"a": [lambda v: v + x, lambda v: v * x], "b": (math.exp,)}
    total = 0.0
    for functions in table.values():
        for k, f in enumerate(functions):
            total += f(x) * (k + 1)
    return total + (lambda *a: a[-1])(*[g(x) for g in table["a"]])


def plugins(x):
    class Plugin:
        found: list = []  # noqa: RUF012
        order = 0

        def __init_subclass__(cls, *, order=0, **rest):
            super().__init_subclass__(**rest)
            cls.order = order
            Plugin.found.append(cls)

        def apply(self, v):
            return v

    class Square(Plugin, order=2):
        def apply(self, v):
            return v * v

    class Shift(Plugin, order=1):
        def apply(self, v):
            return super().apply(v) + x

    value = x
    for plugin in sorted(Plugin.found, key=lambda cls: cls.order):
        value = plugin().apply(value)
    return value + len([Square, Shift])


def polynomial_written_as_text(x):
    lines = ["def poly(v):", "    total = 0.0"]
    lines += [f"    total = total * v + {k}.0" for k in (1, 2, 3)]
    space: dict = {}
    exec(compile("\n".join([*lines, "    return total"]), "<poly>", "exec"), space)
    return space["poly"](x)


PROGRAMS = [
    Program("exec", made_by_exec, (0.7,), lambda x: math.sin(x) + x * math.cos(x) + 2.0 * x),
    Program("eval", made_by_eval, (0.7,), lambda x: 10.0 * x),
    Program("eval of local names", evaluated_in_place, (0.7,), lambda x: 3.0 * x * x + 2.0 * x),
    Program("locals and frames", locals_and_globals, (0.7,), lambda x: 6.0 * x + 4.0),
    Program("code that is replaced", code_that_is_replaced, (0.7,), lambda x: 2.0 + 22.0 * x),
    Program("decorators", decorated, (0.7,)),
    Program("a decorator that is a class", decorated_by_a_class, (0.7,), lambda x: 2.0 * x + 7.0),
    Program("a registry", registered, (0.7,), lambda x: 4.0 * x + 3.0),
    Program("a backend by attributes", backend_by_attribute, (np.array([0.3, 0.5, 0.7]),)),
    Program("a module made at run time", module_made_at_run_time, (0.7,),
            lambda x: 22.0 * x + 6.0),
    Program("a function of math replaced", monkeypatched, (0.7,),
            lambda x: 2.0 * x + math.cos(x)),
    Program("mock.patch", patched_by_mock, (0.7,), lambda x: 14.0 * x),
    Program("__init__ replaced", patched_class, (0.7,), lambda x: 2.0 * x),
    Program("context variables", context_variables, (0.7,), lambda x: 3.0 * x * x + 1.0 + 2.0 * x),
    Program("composed functions", composed, (0.7,)),
    Program("curried functions", curried, (0.7,), lambda x: 3.0 * x * x + 3.0),
    Program("star arguments", star_arguments, (0.7,)),
    Program("defaults by signature", signature_by_name, (0.7,), lambda x: 2.0 + 2.0 * x),
    Program("lambdas in tables", lambdas_in_tables, (0.7,),
            lambda x: 2.0 + 4.0 * x + math.exp(x) + 2.0 * x),
    Program("plugins", plugins, (0.7,), lambda x: 8.0 * x),
    Program("a polynomial written as text", polynomial_written_as_text, (0.7,),
            lambda x: 2.0 * x + 2.0),
]
