"""How instances of classes are made: ``__new__`` and ``__init__`` in their rewritten forms."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ops.registry import REGISTRY
from adcompiler.record.functions import HOOKS
from adcompiler.record.library.derived import derived, plain
from adcompiler.record.library.known import UNRULED, by_rule, is_native, unknown
from adcompiler.record.library.movers import MOVERS
from adcompiler.record.library.special import SPECIAL
from adcompiler.record.library.trees import Tree, is_tree
from adcompiler.record.protocols import followed, method_of
from adcompiler.record.tape import RECORDING, refused
from adcompiler.runtime.records import CLASS_KIND, OF_PYTHON
from adcompiler.support.signatures import signature as signature_of


def of_class(cls: type, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Make an instance of a class."""
    plain = SPECIAL.get(cls) or MOVERS.get(cls)
    if plain is not None:
        return plain(*args, **kwargs)
    if is_tree(cls) and RECORDING.tape.holds((args, kwargs)):
        return Tree(cls, kwargs.pop("data", None) if not args else args[0], args[1:], kwargs)
    if cls.__flags__ & CLASS_KIND != OF_PYTHON:
        if issubclass(cls, BaseException):
            return cls(*args, **kwargs)
        known = by_rule(cls, args, kwargs)
        return unknown(cls, args, kwargs) if known is UNRULED else known
    of: Any = type(cls)
    meta = method_of(of, "__call__")
    if meta is not None:
        if is_native(meta.__module__ or ""):
            return cls(*args, **kwargs)  # an enumeration
        return HOOKS["call"](meta, cls, *args, **kwargs)
    if REGISTRY.is_registered(cls):
        known = by_rule(cls, args, kwargs)
        if known is not UNRULED:
            return known
    return made_of(cls, args, kwargs)


def made_of(cls: type, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Return what ``__new__`` of a class gives, initialised."""
    if method_of(cls, "__del__") is not None:
        raise refused(
            f"an instance of `{cls.__name__}`, whose `__del__` the interpreter runs unseen",
            "make it outside of the function", "recording")
    made = made_anew(cls, args, kwargs)
    if isinstance(made, cls):
        initialise(type(made), made, args, kwargs)
    return made


def made_anew(cls: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Return what ``__new__`` of a class gives."""
    new = next(vars(base)["__new__"] for base in cls.__mro__ if "__new__" in vars(base))
    new = getattr(new, "__func__", new)
    if isinstance(new, types.FunctionType):
        made_of_text = new.__code__.co_filename.startswith("<")
        if made_of_text and issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return new(cls, *args, **kwargs)  # that of a named tuple
        return HOOKS["call"](new, cls, *args, **kwargs)
    init = method_of(cls, "__init__")
    if new is object.__new__:
        if init is None and (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError(f"{cls.__name__}() takes no arguments")
        return object.__new__(cls)
    return made_by_new(new, new.__self__, (cls, *args), kwargs)


def initialise(
    cls: Any, made: Any, args: tuple[object, ...], kwargs: dict[str, object]
) -> None:
    """Call ``__init__`` of an instance that was made."""
    init = method_of(cls, "__init__")
    if init is not None:
        if init.__code__.co_filename == "<string>" and hasattr(cls, "__dataclass_fields__"):
            initialise_fields(cls, made, init, args, kwargs)
        else:
            HOOKS["call"](init, made, *args, **kwargs)
        return
    found = cls.__init__
    if found is object.__init__ or isinstance(made, (tuple, str, bytes, int, frozenset)):
        return
    if isinstance(made, (float, complex)):
        return
    if isinstance(made, (list, dict, set)):
        found(made, *map(HOOKS["iterate"], args), **kwargs)
    else:
        found(made, *args, **kwargs)


def initialise_fields(
    cls: Any, made: Any, init: Callable[..., Any], args: tuple[object, ...],
    kwargs: dict[str, object],
) -> None:
    """Do what the ``__init__`` of a dataclass does."""
    import dataclasses

    given = signature_of(init).bind(made, *args, **kwargs)
    given.apply_defaults()
    values = dict(list(given.arguments.items())[1:])
    after = []
    for name, field in cls.__dataclass_fields__.items():
        kind = field._field_type.name if hasattr(field._field_type, "name") else ""
        if kind == "_FIELD_CLASSVAR":
            continue
        value = values.get(name, dataclasses.MISSING)
        factory = field.default_factory
        if factory is not dataclasses.MISSING and (
            value is dataclasses.MISSING or type(value).__name__ == "_HAS_DEFAULT_FACTORY_CLASS"
        ):
            value = HOOKS["call"](factory)
        if kind == "_FIELD_INITVAR":
            after.append(value)
        elif value is not dataclasses.MISSING:
            if cls.__dataclass_params__.frozen:
                object.__setattr__(made, name, value)
            else:
                HOOKS["set_attribute"](value, made, name)
    post = followed(made, "__post_init__")
    if post is not None:
        post(made, *after)


def made_by_new(
    function: Callable[..., Any], owner: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call ``__new__`` of a built-in class."""
    cls = args[0] if args else owner
    if owner is object:
        return object.__new__(cls)
    if owner in (tuple, list, dict, set, frozenset, str, bytes, int, bool):
        items = [HOOKS["iterate"](arg) for arg in args[1:]]
        return function(cls, *items, **kwargs)
    if owner in (float, complex) and not RECORDING.tape.holds(args[1:]):
        return function(*args, **kwargs)
    if owner is float and issubclass(cls, float):
        return HOOKS["renewed"](function(*args, **kwargs), args[1])
    if issubclass(cls, BaseException):
        return function(*args, **kwargs)
    if owner is np.ndarray:
        made = np.ndarray.__new__(np.ndarray, *map(plain, args[1:]), **kwargs)
        return derived(made, cls, None)
    if owner.__module__.rpartition(".")[2] == "_wrappers" and hasattr(owner, "__wrapped__") and (
        not RECORDING.tape.holds((args[1:], kwargs))
    ):
        return function(*args, **kwargs)  # a proxy of `wrapt`: calls of its wrappers are followed
    return unknown(function, args, kwargs)
