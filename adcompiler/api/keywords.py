"""What is said of keywords, arguments and names that other systems have."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from adcompiler.dispatch.arguments import described
from adcompiler.dispatch.written import Written
from adcompiler.errors import suggestion
from adcompiler.ops.qualified_names import display_name
from adcompiler.support.signatures import signature as signature_of

P = ParamSpec("P")
R = TypeVar("R")
UNEXPECTED = re.compile(r".* got an unexpected keyword argument '(\w+)'")
MEANT = {
    "argnum": "argnums names the arguments",
    "wrt": "argnums names the arguments",
    "holomorphic": "jacobian(f, holomorphic=True) and holomorphic_derivative(f, z) are for those",
    "allow_int": "integers count as floats",
    "create_graph": "derivatives can be differentiated again",
    "reduce_axes": "take the gradient of a sum",
}
"""What to write instead of keywords that other systems have."""
NAMES = {
    "hessian_vector_product": "hvp(f, x, v) is that product",
    "hessian_tensor_product": "hvp(f, x, v) is that product",
    "make_hvp": "hvp(f, x, v) is the product; hessian(f).as_linear_operator(x) keeps the point",
    "make_ggnvp": "gnvp(f, x, v, loss=loss) is the product",
    "make_vjp": "vjp(f, x) returns the value and the pullback",
    "make_jvp": "jvp(f, (x,), (v,)) returns the value and the tangent",
    "vector_jacobian_product": "vjp(f, x) returns the value and the pullback",
    "jacobian_vector_product": "jvp(f, (x,), (v,)) returns the value and the tangent",
    "deriv": "derivative(f)(x) is the derivative of f at x",
    "holomorphic_grad": "holomorphic_derivative(f)(z) is the derivative of f at z",
    "grad_and_aux": "value_and_grad(f, has_aux=True) returns other results, too",
    "gradient": "grad(f)(x) is the gradient of f at x",
    "jit": "nothing has to be compiled by hand; compiled(f) and backend='native' make machine code",
    "pmap": "adcompiler.parallel runs derivatives in several processes",
    "custom_vjp": "rrule registers the derivative of a function",
    "custom_jvp": "frule registers the derivative of a function along tangents",
    "custom_gradient": "rrule registers the derivative of a function",
    "primitive": "rrule registers the derivative of a function",
    "defvjp": "rrule registers the derivative of a function",
    "defjvp": "frule registers the derivative of a function along tangents",
    "stop_grad": "stop_gradient(x) is x, without a derivative",
    "detach": "stop_gradient(x) is x, without a derivative",
    "numpy": "the functions are those of NumPy itself: import numpy as np",
    "lax": "loops and branches are those of Python",
    "tensor": "arrays are those of NumPy",
    "Tensor": "arrays are those of NumPy",
    "backward": "grad(f)(x) returns the gradient",
    "remat": "checkpoint(f) computes again what it does not keep",
    "make_jaxpr": "grad(f).source is the code of the derivative",
    "check_grads": "adcompiler.testing and `adcompiler check` compare derivatives with differences",
}
"""What to use instead of what other systems have, by the names that it has there."""


def suggesting(operator: Callable[P, R]) -> Callable[P, R]:
    """Return an operator that says what may have been meant where it is called as no operator is.

    It has been given a keyword that it does not have, or the arguments of the function.
    """
    chooses = {"argnums", "argnum"} & set(list(signature_of(operator).parameters)[1:2])

    @functools.wraps(operator)
    def calling(*args: P.args, **kwargs: P.kwargs) -> R:
        if args and args[0] is not None and not callable(args[0]):
            raise TypeError(
                f"{operator.__name__} takes a function, not {described(args[0])}: write "
                f"{operator.__name__}(f)(x)")
        if chooses and len(args) > 1 and not names_arguments(args[1]):
            name = display_name(args[0]).rpartition(".")[2]
            raise TypeError(
                f"{operator.__name__}({name}) returns a function: write "
                f"{operator.__name__}({name})(x). What else it takes, {', '.join(chooses)}, is the "
                f"position or name of an argument, not {described(args[1])}")
        try:
            return operator(*args, **kwargs)
        except TypeError as error:
            found = UNEXPECTED.match(str(error))
            inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            if found is None or inside:
                raise
            name = found[1]
            meant = f"; {MEANT[name]}" if name in MEANT else suggestion(
                name, signature_of(operator).parameters)
            raise TypeError(found[0] + meant) from None

    return calling


def names_arguments(value: Any) -> bool:
    """Say whether a value may be what ``argnums`` takes: positions, names, None or ``...``."""
    if isinstance(value, (tuple, list)):
        return all(map(names_arguments, value))
    return value is None or value is ... or isinstance(value, (str, int, np.integer))


def needs_arguments(
    operator: str, function: Callable[..., Any], call: Written
) -> None:
    """Raise TypeError where an operator at given arguments is called without any."""
    if any(call) or not callable(function):
        return
    try:
        signature = signature_of(function)
    except (TypeError, ValueError):  # which cannot be told
        return
    try:
        signature.bind()
    except TypeError:
        name = display_name(function).rpartition(".")[2]
        raise TypeError(
            f"{operator} takes the arguments, too: write {operator}({name}, x), which returns the "
            "value there, and a function") from None


def first_argument_only(
    operator: str, function: Callable[..., Any], call: Written
) -> None:
    """Raise TypeError where ``argnums`` is neither the operator's nor the function's."""
    given = [name for name in ("argnums", "argnum") if name in call.kwargs]
    if not given:
        return
    try:
        parameters = signature_of(function).parameters
    except (TypeError, ValueError):  # which cannot be told
        return
    if given[0] in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    raise TypeError(
        f"{operator} takes no {given[0]}: {operator}(f, x, v, ...) differentiates the first "
        "argument; for another one write hessian(f, argnums=1).as_linear_operator(x, y) @ v")


def unknown_name(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about a name that adcompiler does not have."""
    return f"; {NAMES[name]}" if name in NAMES else suggestion(name, known)
