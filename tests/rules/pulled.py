"""Which rules have a pullback that can be differentiated, and its derivative there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.api.grad import vjp
from adcompiler.cache.modules import load_module
from adcompiler.cli.check_classification import differentiated
from adcompiler.errors import ADError
from adcompiler.ops.domains import Call
from adcompiler.ops.rules import Rule
from adcompiler.rulekit.comparison import is_inexact, numbers
from adcompiler.rulekit.samples import rule_name, sample_calls
from adcompiler.support.structs import dataclass

LITERALS = (bool, int, str, type(None), type(Ellipsis))


@dataclass(frozen=True)
class Pulled:
    """One call of a rule's function, and what its pullback makes of a fixed cotangent.

    ``function`` takes the arguments ``values``, those that hold floats, and returns the tuple of
    their cotangents, as a function with readable source.
    """

    function: Callable[..., Any]
    values: tuple[Any, ...]
    cotangents: tuple[Any, ...]

    @property
    def argnums(self) -> tuple[int, ...]:
        """The positions of all arguments."""
        return tuple(range(len(self.values)))


def pulled(rule: Rule, call: Call, cotangent: Callable[[Any], Any]) -> Pulled | None:
    """Return the pullback of one sample call, None if the call has no real argument.

    ``cotangent`` gives the cotangent to be pulled back for the value of the call.
    """
    values: list[Any] = []
    names: list[str] = []
    given: dict[str, Any] = {"function": rule.function}

    def text_of(x: Any, wanted: bool = True) -> str:
        if type(x) in LITERALS:
            return f"({x!r})"
        if wanted and is_one_argument(x):
            values.append(x)
            names.append(f"x{len(names)}")
            return names[-1]
        if isinstance(x, tuple) and type(x) is tuple:
            return f"({''.join(f'{text_of(item, wanted)}, ' for item in x)})"
        if type(x) is list:
            return f"[{', '.join(text_of(item, wanted) for item in x)}]"
        given[f"given_{len(given)}"] = x
        return f"given_{len(given) - 1}"

    active = differentiated(rule, call)
    args = [text_of(x, i in active) for i, x in enumerate(call.args)]
    args += [f"{key}={text_of(x, key in active)}" for key, x in call.kwargs.items()]
    if not values or any(np.iscomplexobj(x) for value in values for x in numbers(value)):
        return None
    parameters = ", ".join(names)
    called = f"function({', '.join(args)})"
    called = f"list({called})" if rule.function is reversed else called
    wanted = tuple(range(len(names)))
    text = (
        f"def called({parameters}):\n    return {called}\n\n\n"
        f"def pulled({parameters}):\n"
        f"    return vjp(called, {parameters}, argnums={wanted})[1](cotangent)\n"
    )
    namespace = load_module(None, text, f"adcompiler_pulled_{rule_name(rule)}").__dict__
    namespace.update(given, vjp=vjp)
    value = namespace["called"](*values)
    namespace["cotangent"] = cotangent(value)
    bars = namespace["pulled"](*values)
    return Pulled(namespace["pulled"], tuple(values), bars)


def is_one_argument(x: Any) -> bool:
    """Say whether floats are given as a parameter; with integers beside them they are written out.

    For a function that is differentiated with respect to a container, its integers count as floats.
    """
    return not isinstance(x, type) and any(map(is_inexact, numbers(x))) and not has_integer(x)


def has_integer(x: Any) -> bool:
    """Say whether a plain tuple or list has an integer in it, at any depth."""
    if type(x) in (tuple, list):
        return any(map(has_integer, x)) or any(type(item) is int for item in x)
    return False


def second_order(rule: Rule, rng: np.random.Generator) -> str:
    """Say whether the pullback of ``rule`` can be differentiated: ``yes``, or why not.

    ``untested`` if its domain has no sample with real arguments only.
    """
    for call in sample_calls(rule, rng):
        try:
            found = pulled(rule, call, ones_like)
            if found is not None:
                vjp(found.function, *found.values, argnums=found.argnums)
                return "yes"
        except ADError as error:
            return str(error).partition("\n")[0]
    return "untested"


def ones_like(y: Any) -> Any:
    """Return a cotangent of ``y`` made of ones."""
    if isinstance(y, tuple) and hasattr(y, "_fields"):
        return type(y)(*map(ones_like, y))
    if isinstance(y, (tuple, list)):
        return type(y)(map(ones_like, y))
    if isinstance(y, dict):
        return {key: ones_like(item) for key, item in y.items()}
    if isinstance(y, np.ndarray):
        return np.ones(y.shape, y.dtype)
    return type(y)(1) if isinstance(y, (complex, np.inexact)) else 1.0

