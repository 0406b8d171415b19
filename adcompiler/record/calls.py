"""The hook for calls: what a callable is decides how the call is followed.

A function in Python runs in its rewritten form. What is written in C is a mover, which hands on
what it is given, or inert, or has a rule; anything else is refused as soon as an active value is
found in its arguments.
"""

from __future__ import annotations

import functools
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.dispatch.trees import leaves
from adcompiler.errors import ADError, SourceNotFoundError
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.record.attributes import OF_OBJECTS
from adcompiler.record.checkpoints import CHECKPOINTS
from adcompiler.record.classes import made_by_new, made_of, of_class
from adcompiler.record.entries import Elementwise, mapped
from adcompiler.record.functions import HOOKS, MADE, hooked, is_rewritten, rewritten
from adcompiler.record.library.arrays import of_ufunc
from adcompiler.record.library.derived import holds_derived, is_transparent, leading, through
from adcompiler.record.library.draws import RANDOM
from adcompiler.record.library.known import (
    UNRULED, by_rule, captures, captures_active, constant, is_native, unknown,
)
from adcompiler.record.library.methods import of_array_method, ufunc_method
from adcompiler.record.library.movers import MOVERS, OF_METHODS, moved
from adcompiler.record.library.special import SPECIAL
from adcompiler.record.operators import NUMERIC, enter
from adcompiler.record.protocols import UFUNCS, by_its_rule, method_of, natively
from adcompiler.record.single import recorded
from adcompiler.record.slopes import BINARY, UNARY
from adcompiler.record.tape import RECORDING, refused
from adcompiler.runtime.external import ExternalFunction
from adcompiler.runtime.records import CLASS_KIND, OF_PYTHON
from adcompiler.typed.derivatives import MAKERS, is_derivative

FUNCTIONS = frozenset({
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MethodWrapperType, types.ClassMethodDescriptorType})
DISPATCHER = type(np.concatenate)
"""The class of NumPy's functions that look for ``__array_function__``."""


OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": HOOKS[name] for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos",
        "lt", "le", "gt", "ge", "eq", "ne")},
    **{f"__r{name}__": lambda a, b, hook=HOOKS[name]: hook(b, a) for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")},
    "__abs__": SPECIAL[abs], "__float__": SPECIAL[float],
}
"""Methods of numbers and arrays whose hooks are those of operators."""


@hooked
def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Return ``function(*args, **kwargs)``."""
    kind = type(function)
    if kind is types.FunctionType:
        if is_rewritten(function.__code__):
            return function(*args, **kwargs)
        return of_function(function, args, kwargs)
    if kind is types.MethodType:
        return of_method(function, args, kwargs)
    if kind.__flags__ & CLASS_KIND != OF_PYTHON:
        if kind in FUNCTIONS:
            return of_builtin(function, args, kwargs)
        if kind is np.ufunc:
            return of_ufunc(function, args, kwargs)
        if kind is DISPATCHER:
            return of_dispatched(function, args, kwargs)
    if issubclass(kind, type):
        return of_class(function, args, kwargs)
    return of_object(function, args, kwargs)


# -- functions in Python ---------------------------------------------------------------------------


def of_function(
    function: types.FunctionType, args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a function that is written in Python."""
    plain = SPECIAL.get(function) or MOVERS.get(function)
    if plain is not None:
        return plain(*args, **kwargs)
    if function in MADE and function in PLAIN_FUNCTIONS.known():
        return rewritten(function)(*args, **kwargs)
    known = by_rule(function, args, kwargs)
    if known is not UNRULED:
        return known
    module = function.__module__ or ""
    given = (*args, *kwargs.values())
    if is_native(module) and not RECORDING.tape.holds(given) and not any(
        map(captures_active, given)
    ):
        return about_objects(function, args, kwargs)
    if module.partition(".")[0] in ("adcompiler", "adcompiler_rules"):
        if function in MAKERS and not RECORDING.tape.holds(given) and not any(
            map(captures_active, given)
        ):
            return function(*args, **kwargs)
        return unknown(function, args, kwargs)
    try:
        form = rewritten(function)
    except SourceNotFoundError:
        return unknown(function, args, kwargs)
    PLAIN_FUNCTIONS.known().add(function)
    return form(*args, **kwargs)


class PlainFunctions:
    """Functions of which no rule is known, as long as no rule is registered."""

    def __init__(self) -> None:
        self.generation = -1
        self.functions: weakref.WeakSet[Any] = weakref.WeakSet()

    def known(self) -> weakref.WeakSet[Any]:
        """Return them; none once rules have changed."""
        if self.generation != REGISTRY.generation:
            self.generation, self.functions = REGISTRY.generation, weakref.WeakSet()
        return self.functions


PLAIN_FUNCTIONS = PlainFunctions()


def about_objects(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a function of the standard library that is about objects."""
    if function.__module__ in ("logging", "warnings", "traceback", "string", "textwrap"):
        RECORDING.tape.texts = RECORDING.tape.texts or any(
            map(RECORDING.tape.holds, (*args, *kwargs.values())))
    return function(*args, **kwargs)


# -- functions in C --------------------------------------------------------------------------------


def of_builtin(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a function or method that is written in C."""
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        return of_c_function(function, args, kwargs)
    if isinstance(owner, type):
        plain = MOVERS.get(function)
        if plain is not None:
            return plain(*args, **kwargs)
        if function.__name__ == "__call__":
            return made_of(owner, args, kwargs)
        if function.__name__ == "__new__":
            return made_by_new(function, owner, args, kwargs)
        known = by_rule(function, args, kwargs)
        return unknown(function, args, kwargs) if known is UNRULED else known
    if function.__name__ == "__pow__" and args[1:] == (None,):
        args = args[:1]
    if isinstance(owner, NUMERIC) or (isinstance(owner, np.ndarray) and args):
        hook = OPERATORS.get(function.__name__)
        if hook is not None and len(args) <= 1 and not kwargs:
            if isinstance(owner, np.ndarray) and args and type(owner) is not np.ndarray:
                return of_slot(function.__name__.strip("_"), owner, args[0])
            if type(owner).__flags__ & CLASS_KIND == OF_PYTHON:
                return by_slot(function, owner, args)
            return hook(owner, *args)
    if isinstance(owner, np.ndarray):
        if function.__name__[2:-2] in HOOKS and function.__name__.startswith("__i") and args:
            return HOOKS[function.__name__[2:-2]](owner, *args)
        return of_array_method(function, owner, args, kwargs)
    if isinstance(owner, np.ufunc):
        return ufunc_method(function.__name__, owner, args, kwargs)
    if type(function) is types.MethodWrapperType and getattr(
        type_with(owner), function.__name__, None) is getattr(object, function.__name__, ()):
        own = OF_OBJECTS.get(function.__name__)  # as super().__init__() of a class without bases
        return natively(function, *args, **kwargs) if own is None else own(owner, *args)
    if isinstance(owner, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        return function(*args, **kwargs)  # an attribute, which a slot keeps
    if function.__name__ in next((names for cls, names in KEEPING if isinstance(owner, cls)), ()):
        return function(*args, **kwargs)
    plain = OF_METHODS.get((type_with(owner), function.__name__))
    if plain is not None:
        return plain(function, *args, **kwargs)
    if isinstance(owner, np.generic) and RECORDING.tape.is_active(owner):
        return of_array_method(function, owner, args, kwargs)
    return of_bound(function, owner, args, kwargs)


KEEPING: tuple[tuple[type, tuple[str, ...]], ...] = (
    (BaseException, ("__init__", "with_traceback", "add_note")),
    (types.FunctionType, ("__get__",)),
)
"""Methods in C that only keep what they are given, by the class of their objects."""


def by_slot(function: Callable[..., Any], owner: Any, args: tuple[object, ...]) -> Any:
    """Call the method in C of an operator for an instance whose class has one of its own."""
    tape = RECORDING.tape
    made = function(*args)
    if function.__name__ in ("__float__", "__pos__", "__complex__"):
        return HOOKS["renewed"](made, owner)
    if not tape.holds((owner, *args)) or made is NotImplemented or isinstance(made, bool):
        return made
    name = function.__name__.strip("_")
    op = getattr(operator, name, None) or getattr(operator, name[1:], None)
    given = (*args, owner) if op is not None and not hasattr(operator, name) else (owner, *args)
    slopes = BINARY.get(op) or ((UNARY[op],) if op in UNARY else None)
    if op is None or slopes is None or not isinstance(made, (np.ndarray, *NUMERIC)):
        raise refused(f"`{function.__qualname__}` of a `{type(owner).__name__}` that carries a "
                      "derivative", "use the operator", "recording")
    enter(Elementwise(op, given, made, slopes))
    return made


def of_slot(name: str, owner: np.ndarray, other: Any) -> Any:
    """Call the method in C of an operator for an array of a derived class."""
    swapped = name not in UFUNCS and name[1:] in UFUNCS
    ufunc = UFUNCS[name[1:] if swapped else name]
    if getattr(type(other), "__array_ufunc__", owner) is None:
        return NotImplemented
    return call(ufunc, other, owner) if swapped else call(ufunc, owner, other)


def type_with(owner: Any) -> Any:
    """Return the built-in class that the class of an object derives from."""
    for base in type(owner).__mro__:
        if base.__flags__ & CLASS_KIND != OF_PYTHON:
            return base
    return object


def of_bound(
    function: Callable[..., Any], owner: Any, args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a method written in C of an object of some other class."""
    tape = RECORDING.tape
    descriptor = getattr(type_with(owner), function.__name__, None)
    if tape.holds(owner) and descriptor is not None:
        known = by_rule(descriptor, (owner, *args), kwargs)
        if known is not UNRULED:
            return known
    if isinstance(owner, RANDOM):
        known = by_rule(function, args, kwargs)
        return unknown(function, args, kwargs) if known is UNRULED else known
    if isinstance(owner, (str, bytes)):
        HOOKS["note_text"]((args, kwargs))
        return natively(function, *args, **kwargs)
    return unknown(function, (owner, *args), kwargs, lambda: function(*args, **kwargs))


def of_c_function(function: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a function of a module, or a method given as a function of its class."""
    special = SPECIAL.get(function)
    if special is not None:
        return special(*args, **kwargs)
    plain = MOVERS.get(function)
    if plain is not None:
        return plain(*args, **kwargs)
    kind = type(function)
    if kind in (types.MethodDescriptorType, types.WrapperDescriptorType) and args and (
        issubclass(type(args[0]), function.__objclass__)
    ):
        return of_builtin(function.__get__(args[0]), args[1:], kwargs)
    if function.__module__ == "scipy.sparse._sparsetools":
        return of_sparse_tool(function, args)
    known = by_rule(function, args, kwargs)
    if known is UNRULED and str(function.__module__).partition(".")[0] == "numpy":
        public: Any = getattr(np, function.__name__, None)
        if getattr(public, "_implementation", None) is function:
            return of_ruled(public, args, kwargs)
    return unknown(function, args, kwargs) if known is UNRULED else known


# -- methods, classes, objects ---------------------------------------------------------------------


def of_method(method: types.MethodType, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a bound method."""
    function = method.__func__
    if type(function) is not types.FunctionType:
        return call(function, method.__self__, *args, **kwargs)
    if is_rewritten(function.__code__):
        return function(method.__self__, *args, **kwargs)
    if REGISTRY.has_rules(method) or REGISTRY.inactive(method) is not None:
        known = by_rule(method, args, kwargs)
        if known is not UNRULED:
            return known
    return call(function, method.__self__, *args, **kwargs)


def of_object(function: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call an object that is callable."""
    if not callable(function):
        return function(*args, **kwargs)  # raises
    kind: Any = type(function)
    if issubclass(kind, functools.partial):
        return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})
    if kind is functools._lru_cache_wrapper:
        return remembered(function, args, kwargs)
    if issubclass(kind, ExternalFunction):
        return of_external(function, args, kwargs)
    if all(hasattr(kind, name) for name in ("_self_wrapper", "_self_instance", "_self_binding")):
        return of_wrapper(function, args, kwargs)
    own = method_of(kind, "__call__")
    if own is not None and not is_derivative(function) and not (
        REGISTRY.is_registered(own)) and keeps_identity(function) is False:
        return call(own, function, *args, **kwargs)
    special = SPECIAL.get(function) if hashable(function) else None
    if special is not None:
        return special(*args, **kwargs)
    if is_derivative(function):
        return recorded(function, args, kwargs) if RECORDING.tape.holds(
            (args, kwargs)) else by_its_rule(function, *args, **kwargs)
    if kind.__module__ == "functools" and hasattr(function, "func"):  # singledispatch
        return call(function.func, *args, **kwargs)
    if (kind.__module__ or "").partition(".")[0] == "numba":
        return of_numba(function, args, kwargs)
    known = by_rule(function, args, kwargs)
    if known is not UNRULED:
        return known
    if kind in moved:
        return of_getter(function, *args)
    method = method_of(kind, "__call__")
    if method is not None:
        return call(method, function, *args, **kwargs)
    return unknown(function, args, kwargs)


def of_dispatched(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a function of NumPy that asks the classes of its arguments for their own."""
    given = (*args, *kwargs.values())
    for value in given:
        for each in value if type(value) is list or type(value) is tuple else (value,):
            own = method_of(type(each), "__array_function__")
            if own is not None:
                found = call(own, each, function, classes_in(given), args, kwargs)
                if found is not NotImplemented:
                    return found
    inside = getattr(function, "_implementation", None)
    if holds_derived(given) and any(map(RECORDING.tape.holds, given)):
        cls: Any = type(leading(given))
        if not isinstance(inside, types.FunctionType) or is_independent(function) or (
            REGISTRY.has_rules(function) and is_transparent(cls)
        ):
            return through(function, args, kwargs)
        return of_function(inside, args, kwargs)
    return of_ruled(function, args, kwargs)


def of_ruled(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a function of NumPy with arguments whose classes have no other."""
    plain = SPECIAL.get(function) or MOVERS.get(function)
    if plain is not None:
        return plain(*args, **kwargs)
    known = by_rule(function, args, kwargs)
    if known is not UNRULED:
        return known
    inside = getattr(function, "_implementation", None)
    if isinstance(inside, types.FunctionType):
        return of_function(inside, args, kwargs)
    return unknown(function, args, kwargs)


def is_independent(function: Callable[..., Any]) -> bool:
    """Say whether a function of NumPy takes arrays of derived classes for plain ones."""
    return function.__module__ == "numpy.linalg" or function.__name__ in ("unique", "broadcast_to")


def of_sparse_tool(function: Callable[..., Any], args: tuple[object, ...]) -> Any:
    """Call a function in C below SciPy's sparse matrices."""
    from adcompiler.record.library.sparse_tools import hook_of  # imports them

    hook = hook_of(function)
    return unknown(function, args, {}) if hook is None else hook(*args)


def classes_in(given: tuple[object, ...]) -> tuple[Any, ...]:
    """Return the classes of arguments that have ``__array_function__``, each once."""
    found = {
        type(each): None for value in given
        for each in (value if type(value) is list or type(value) is tuple else (value,))
        if hasattr(type(each), "__array_function__")}
    return tuple(found)


def of_numba(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call what numba compiled: its text in Python, where that gives the same numbers."""
    inside = getattr(function, "py_func", None)
    if not isinstance(inside, types.FunctionType):
        return unknown(function, args, kwargs)
    if not RECORDING.tape.holds((args, kwargs)) and not captures(inside):
        return constant(function, args, kwargs)
    copies, named = mapped(apart, (args, kwargs))
    try:
        wanted = function(*copies, **named)
    except Exception:
        return of_function(inside, args, kwargs)  # which raises, too
    problem = ""
    try:
        found = of_function(inside, args, kwargs)
    except ADError:
        raise
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    if problem or not agrees((found, args, kwargs), (wanted, copies, named)):
        raise refused(
            f"`{function.__name__}`, which numba compiled: its text in Python does something else "
            f"{f'({problem})' if problem else ''}", "call the function in Python", "recording")
    return found


def apart(value: Any) -> Any:
    """Return a copy of what numba may write into."""
    return np.array(value) if isinstance(value, np.ndarray) else value


def agrees(one: Any, two: Any) -> bool:
    """Say whether two values hold the same numbers, but for rounding."""
    ours, theirs = list(leaves(one)), list(leaves(two))
    return len(ours) == len(theirs) and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-9, atol=1e-300, equal_nan=True)
        for a, b in zip(ours, theirs, strict=True))


def of_wrapper(function: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a wrapper of ``wrapt``, whose class in C hands a call on to a function in Python."""
    inside, instance = function.__wrapped__, function._self_instance
    if instance is None:
        bound = getattr(function, "_self_parent", None) is not None
        if bound and function._self_binding in ("function", "instancemethod", "callable"):
            instance, args = args[0], args[1:]
            inside = functools.partial(inside, instance)
        else:
            instance = getattr(inside, "__self__", None)
    return call(function._self_wrapper, inside, instance, args, kwargs)


def keeps_identity(function: Callable[..., Any]) -> bool:
    """Say whether an object is looked up by what it is, and by no code of its class."""
    cls: Any = type(function)
    return method_of(cls, "__hash__") is None and method_of(cls, "__eq__") is None


def of_getter(function: Any, obj: Any) -> Any:
    """Call what picks items or attributes of an object, or calls a method of it."""
    kind, given = function.__reduce__()[:2]
    if isinstance(kind, functools.partial):  # a method called with keywords
        return call(HOOKS["attribute"](obj, kind.args[0]), *given[1:], **kind.keywords)
    if isinstance(function, operator.methodcaller):
        return call(HOOKS["attribute"](obj, given[0]), *given[1:])
    if isinstance(function, operator.itemgetter):
        found = [HOOKS["getitem"](obj, key) for key in given]
    else:
        found = [functools.reduce(HOOKS["attribute"], name.split("."), obj) for name in given]
    return found[0] if len(found) == 1 else tuple(found)


def remembered(function: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a function that keeps its results: within one recording, by the values that are active.
    """
    tape = RECORDING.tape
    if not tape.holds((args, kwargs)) and not captures(function.__wrapped__):
        return function(*args, **kwargs)  # its results may be there from before
    key: Any = (
        id(function), *(id(a) if tape.is_active(a) else a for a in args),
        *((k, id(v) if tape.is_active(v) else v) for k, v in kwargs.items()))
    natively(hash, key)
    if key not in tape.memos:
        tape.memos[key] = call(function.__wrapped__, *args, **kwargs)
    return tape.memos[key]


def of_external(
    function: ExternalFunction, args: tuple[object, ...], kwargs: dict[str, object]
) -> Any:
    """Call a function that comes with its derivative, whatever it does."""
    if not RECORDING.tape.holds((args, kwargs)):
        return function(*args, **kwargs)
    if function.fills:
        raise refused("an external function that fills an array", "return the array", "recording")
    return recorded(function, args, kwargs, lambda: function(*args, **kwargs))


SPECIAL.update(CHECKPOINTS)
