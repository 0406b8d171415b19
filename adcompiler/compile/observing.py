"""Runs a function once, on copies, to see of which types the values are that nobody can tell.

The parsed functions are evaluated as they stand, and so is every function that they call whose text
can be read. Nothing of the run is seen outside: arguments, global data and what hangs on them are
copies, and a call of which no fact says that it does nothing but give a value ends the run. What
was seen by then is what is known.
"""

from __future__ import annotations

import copy
import functools
import importlib.util
import inspect
import sys
import types as python_types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.frontend.imports import imported_module
from adcompiler.frontend.scope import MISSING, Scope
from adcompiler.ir import types as t
from adcompiler.ir.evaluate import Env, Evaluator, arguments
from adcompiler.ir.nodes import (
    Attribute, Call, Closure, Free, Function, If, Origin, Rhs, Statement, Try, Var, With,
)
from adcompiler.ops.harmless import (
    ASKING, CHANGING_FIRST, CONTEXTS, LOOKING, OF_WARNINGS, READING, SETTING, is_plain_class,
    sets_plainly,
)
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime import generated, store_global
from adcompiler.specialise.calls.libraries import is_runtime, may_be_tried, stays_whole
from adcompiler.specialise.calls.operator_methods import runs_over
from adcompiler.typed.derivatives import MAKERS, is_derivative
from adcompiler.typed.observed import Observed, places
from adcompiler.typed.values import by_numba_vectorize, type_of

MAX_STATEMENTS = 200_000
"""The number of statements after which a run ends: an interpreter is slow."""

OWN_CLASSES = (
    list, dict, set, frozenset, tuple, str, bytes, int, float, complex, bool, range, slice,
    np.ndarray, np.generic,
)
"""Classes whose methods do nothing but give a value, or change the value that they are of."""
ELSEWHERE = frozenset({"tofile", "dump"})
IMPORTS = frozenset({imported_module, importlib.import_module})
KEPT_WHOLE = OF_WARNINGS | IMPORTS | LOOKING
FUNCTIONS = (python_types.FunctionType,)
LOOKING_UP = (type(object.__getattribute__),)
DESCRIPTORS = (
    *FUNCTIONS, *LOOKING_UP, staticmethod, classmethod, python_types.MethodDescriptorType,
    python_types.GetSetDescriptorType, python_types.MemberDescriptorType,
    python_types.ClassMethodDescriptorType,
)
"""What is looked up in a class without running anything."""


class Stopped(BaseException):
    """The run has come to what may be seen outside, or takes too long."""


def observe(function: Any, values: tuple[Any, ...]) -> Observed:
    """Return the types that variables have in a run of ``function`` on copies of ``values``."""
    observer = Observer()
    with warnings.catch_warnings(), np.errstate(all="ignore"), suppress(Exception, Stopped):
        warnings.simplefilter("ignore")
        observer.start(function, values)
    return observer.seen


class Observer(Evaluator):
    """Evaluates parsed functions, and notes the types of their variables."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = Observed()
        self.sites: list[Origin] = []
        self.scopes: list[Scope] = []
        self.at: Origin | None = None
        self.left = MAX_STATEMENTS
        self.copies: dict[int, Any] = {}
        self.kept: list[Any] = []
        self.stored: dict[tuple[int, str], Any] = {}

    def start(self, function: Any, values: tuple[Any, ...]) -> None:
        """Run ``function`` with a value for each parameter."""
        self.opened(function, lower(function), tuple(map(self.copied, values)))

    def opened(self, function: Any, definition: Function, values: tuple[Any, ...]) -> Any:
        """Run the text of a Python function."""
        with self.inside(Scope(function)):
            return self.run(definition, *values)

    @contextmanager
    def inside(self, scope: Scope) -> Iterator[None]:
        """Look free names up in the surroundings of a function meanwhile."""
        self.scopes.append(scope)
        try:
            yield
        finally:
            self.scopes.pop()

    @contextmanager
    def called_here(self) -> Iterator[None]:
        """Say that what is run meanwhile is called by the present statement."""
        at = self.at
        if at is not None:
            self.sites.append(at)
        try:
            yield
        finally:
            if at is not None:
                self.sites.pop()
            self.at = at

    # -- what is outside -----------------------------------------------------------------------

    def copied(self, value: Any) -> Any:
        """Return a copy of data that the caller or a module has, the same one each time."""
        if isinstance(type_of(value), t.Static):
            return value
        self.kept.append(value)
        return copy.deepcopy(value, self.copies)

    def looked_up(self, name: str) -> Any:
        scope = self.scopes[-1]
        stored = (id(scope.function.__globals__), name)
        kind, value = scope.lookup(name)
        if kind != "cell" and stored in self.stored:
            return self.stored[stored]
        if value is MISSING:
            raise NameError(name)
        return self.copied(value)

    def attribute(self, owner: Any, name: str) -> Any:
        """Return an attribute; of a module or class, and by a property, as seen from outside."""
        if isinstance(owner, python_types.ModuleType | type | python_types.FunctionType):
            return self.copied(getattr(owner, name))
        cls = type(owner)
        if not isinstance(getattr(cls, "__getattribute__", None), LOOKING_UP):
            raise Stopped
        found = inspect.getattr_static(cls, name, None)
        if name in getattr(owner, "__dict__", ()) and not isinstance(found, property):
            return getattr(owner, name)
        if isinstance(found, property):
            return self.call(found.fget, [owner], {})
        if found is None and isinstance(getattr(cls, "__getattr__", None), FUNCTIONS):
            return self.call(cls.__getattr__, [owner, name], {})
        if found is not None and not hasattr(found, "__get__"):
            return self.copied(found)
        if found is not None and not isinstance(found, DESCRIPTORS):
            raise Stopped
        return getattr(owner, name)

    def read(self, owner: Any, name: str, *default: Any) -> Any:
        """Return what ``getattr`` gives."""
        try:
            return self.attribute(owner, name)
        except AttributeError:
            if not default:
                raise
            return default[0]

    # -- statements ----------------------------------------------------------------------------

    def bind(self, var: Var, value: Any, env: Env) -> None:
        env[var] = value
        self.seen.note(places(self.sites), var, type_of(value))

    def statement(self, statement: Statement, env: Env) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stopped
        self.at = getattr(statement, "origin", self.at)
        super().statement(statement, env)

    def branch(self, node: If, env: Env) -> None:
        self.seen.arms.add((node, bool(self.atom(node.condition, env))))
        super().branch(node, env)

    def within(self, node: With, env: Env) -> None:
        """Run a ``with``; contexts that are written in Python are entered and left by their text.

        An exception ends the run: nothing is told of what is done with it.
        """
        context = self.atom(node.context, env)
        if isinstance(context, CONTEXTS):
            super().within(node, env)
            return
        enter, leave = type(context).__enter__, type(context).__exit__
        entered = self.call(enter, [context], {})
        if node.target is not None:
            self.bind(node.target, entered, env)
        values = self.block(node.body, env)
        self.call(leave, [context, None, None, None], {})
        self.bind_all(node.results, values, env)

    def handled(self, error: BaseException, node: Try, env: Env) -> tuple[Any, ...]:
        if isinstance(error, Stopped):
            raise error
        return super().handled(error, node, env)

    def rows(self, value: Any) -> Any:
        """Return what a loop runs over; ``__iter__`` that is written in Python is run by its text.
        """
        method = getattr(type(value), "__iter__", None)
        found = self.call(method, [value], {}) if isinstance(method, FUNCTIONS) else value
        if not safe_to_run_over(found):
            raise Stopped
        return found

    def rhs(self, rhs: Rhs, env: Env) -> Any:
        match rhs:
            case Call(func, args, kwargs):
                function = self.atom(func, env)
                return self.call(function, self.items(args, env), self.keywords(kwargs, env))
            case Attribute(obj, name):
                return self.attribute(self.atom(obj, env), name)
            case Free(name):
                return self.looked_up(name)
        return super().rhs(rhs, env)

    def closure(self, made: Closure, env: Env) -> Any:
        scope, plain = self.scopes[-1], super().closure(made, env)
        function = made.function
        captured = [self.atom(atom, env) for atom in made.captures]
        defaults = tuple(self.atom(atom, env) for atom in made.defaults)

        @functools.wraps(plain)
        def closure(*args: Any, **kwargs: Any) -> Any:
            inner: Env = {}
            self.bind_all(function.captures, captured, inner)
            if function.itself is not None:
                inner[function.itself] = closure
            with self.called_here(), self.inside(scope):
                return self.run(
                    function, *arguments(function, args, kwargs, defaults), env=inner)

        closure.__dict__["observer"] = self
        return closure

    # -- calls ---------------------------------------------------------------------------------

    def call(self, function: Any, args: list[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call a function: by its text, or as it is where that does nothing else."""
        if function is store_global:
            self.stored[id(self.scopes[-1].function.__globals__), args[0]] = args[1]
            return None
        if hashable(function) and function in IMPORTS and not is_imported(*args):
            raise Stopped
        primal = differentiated(function, args)
        if primal is not None:
            self.call(primal[0], list(primal[1]), kwargs if is_derivative(function) else {})
            raise Stopped
        if hashable(function) and function in READING:
            return self.read(*args)
        if function is generated:
            return generated(self.rows(args[0]))
        if isinstance(function, functools.partial):
            named = {**function.keywords, **kwargs}
            first = [*map(self.copied, function.args)]
            return self.call(self.copied(function.func), [*first, *args], named)
        if isinstance(function, functools._lru_cache_wrapper):
            return self.call(function.__wrapped__, args, kwargs)
        if isinstance(function, python_types.MethodType):
            if self.is_primitive(function, args, kwargs):
                return function(*args, **kwargs)
            return self.call(function.__func__, [function.__self__, *args], kwargs)
        if isinstance(function, python_types.FunctionType) and (
            "observer" not in function.__dict__ and not self.is_primitive(function, args, kwargs)
        ):
            # What is compiled in its place has the variables; NumPy's own text differs by versions.
            function = REGISTRY.facts(function).written_as or function
            definition = self.text_of(function)
            with self.called_here():
                return self.opened(function, definition, self.bound(function, args, kwargs))
        if runs_over(function):
            args = [arg if safe_to_run_over(arg) else self.rows(arg) for arg in args]
        if is_plain_class(function) and function not in KEPT_WHOLE:
            made = object.__new__(function)
            self.call(function.__init__, [made, *args], kwargs)
            return made
        if not self.may_call(function, [*args, *kwargs.values()]):
            inside = getattr(type(function), "__call__", None)  # noqa: B004 (its code is wanted)
            if isinstance(inside, FUNCTIONS) and not isinstance(function, type):
                return self.call(inside, [function, *args], kwargs)
            wrapped = getattr(function, "__wrapped__", None)
            if isinstance(function, FUNCTIONS) or not isinstance(wrapped, FUNCTIONS):
                raise Stopped
            return self.call(wrapped, args, kwargs)
        return function(*args, **kwargs)

    @staticmethod
    def is_primitive(function: Any, args: list[Any], kwargs: Mapping[str, Any]) -> bool:
        """Say whether a Python function is called as it is."""
        if is_runtime(function) or stays_whole(function) or function in KEPT_WHOLE:
            return True
        known = REGISTRY.has_rules(function) or REGISTRY.inactive(function) is not None
        return known and REGISTRY.facts(function).is_pure

    @staticmethod
    def text_of(function: Any) -> Function:
        """Return the parsed text of a function."""
        try:
            return lower(function)
        except ADError:
            raise Stopped from None

    def bound(
        self, function: Any, args: list[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return a value for each parameter of a function; defaults are data of the module."""
        definition = lower(function)
        table = function.__kwdefaults__ or {}
        positional = iter(function.__defaults__ or ())
        defaults = [
            table[p.var.name] if p.kind == 3 else next(positional)
            for p in definition.params if p.has_default
        ]
        return arguments(definition, tuple(args), kwargs, tuple(map(self.copied, defaults)))

    def may_call(self, function: Any, given: list[Any]) -> bool:
        """Say whether calling something does nothing that is seen outside of this run."""
        if hashable(function) and function in SETTING:
            return sets_plainly(type(given[0]))
        if hashable(function) and (function in ASKING or function in KEPT_WHOLE):
            return True
        if not all(map(is_own, given)):
            return False
        if "observer" in getattr(function, "__dict__", ()) or is_runtime(function):
            return True
        owner = getattr(function, "__self__", None)
        if owner is not None and not isinstance(owner, python_types.ModuleType | type):
            name = getattr(function, "__name__", "")
            return isinstance(owner, OWN_CLASSES) and name not in ELSEWHERE
        if not hashable(function):
            return False
        if by_numba_vectorize(function):
            return True
        if function in CHANGING_FIRST:
            return True
        if isinstance(function, type) and issubclass(function, BaseException):
            return True
        facts = REGISTRY.facts(function)
        return facts.is_pure or (
            isinstance(function, python_types.FunctionType) and may_be_tried(function, ()))


def differentiated(function: Any, args: list[Any]) -> tuple[Any, Sequence[Any]] | None:
    """Return the function that a call is the derivative of, with its arguments; None for others."""
    if is_derivative(function):
        return function.primal, args
    mode = MAKERS.get(function) if hashable(function) else None
    if mode == "forward":
        return args[0], args[1]
    if mode == "vjp":
        return args[0], args[1:]
    return None


def is_imported(name: str, top: str = "", wanted: str = "", package: str | None = None) -> bool:
    """Say whether an import binds what is there already."""
    with suppress(ImportError, ValueError):
        module = sys.modules.get(importlib.util.resolve_name(name, package))
        return module is not None and (not wanted or hasattr(module, wanted))
    return False


def is_own(value: Any) -> bool:
    """Say whether operators of a value run no code of its class that is written in Python."""
    cls = type(value)
    return cls in OWN_CLASSES or isinstance(type_of(value), t.Static) or value is None or not any(
        isinstance(member, python_types.FunctionType) for name, member in vars(cls).items()
        if name.startswith("__") and name != "__init__"
    )


def safe_to_run_over(value: Any) -> bool:
    """Say whether running over a value runs no code that is written in Python."""
    return not isinstance(
        getattr(type(value), "__iter__", None), python_types.FunctionType
    ) and not isinstance(value, python_types.GeneratorType)
