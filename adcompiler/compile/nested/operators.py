"""The operators of a user in compiled code, each written with the halves of a function.

An operator has one row in ``OPERATORS``. No row compiles the code that runs when the operator is
called from outside: what is written is the emitted code of a transform, and a few lines around it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from adcompiler.compile.nested import entries
from adcompiler.compile.nested.asked import Asked, first_accepted
from adcompiler.compile.nested.primal_and_pullback import Half, gradient_apart, half
from adcompiler.compile.nested.mapping import mapped
from adcompiler.compile.nested.second import diagonal, gauss_newton
from adcompiler.compile.nested.trees import Leaf, NoStructure, form_of, function_of_text, leaves_of
from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Call, Const, Origin
from adcompiler.runtime.functionals import symmetric
from adcompiler.infer.calls.callees import write_call
from adcompiler.infer.calls.functionals import effects
from adcompiler.infer.interface import Operations
from adcompiler.typed.derivatives import Wanted, holds_floats, maker_of


# -- one transform ------------------------------------------------------------------------------


def joint(asked: Asked) -> Atom:
    """``grad`` and ``value_and_grad``."""
    unit, is_gradient = asked.s.unit, asked.wanted.mode in ("grad", "value_and_grad")
    unit.derivatives.gradients |= is_gradient
    if unit.settings.options.by_symmetry and is_gradient:
        found = with_symmetry(replace(asked, wanted=replace(asked.wanted, mode="grad")))
        if found is not None and asked.wanted.mode == "value_and_grad":
            value = asked.s.call(asked.func, asked.args, asked.kwargs, asked.origin, asked.name)
            return asked.s.pack("tuple", (value, found), asked.name, asked.origin)
        if found is not None:
            return found
    return result_of(half(
        asked.s, asked.wanted, asked.func, asked.args, asked.kwargs, asked.origin, asked.name
    ))


def with_symmetry(asked: Asked) -> Atom | None:
    """Write a gradient whose own derivative is that along a tangent; None where it has to be swept.

    It is called by name. What is differentiated must be whole arguments, and nothing may be written
    into.
    """
    s, wanted = asked.s, asked.wanted
    if wanted.has_aux or s.unit.settings.endless:
        return None
    parts = gradient_apart(s, wanted, asked.func, asked.args, asked.kwargs, asked.origin)
    if parts is None or "draws random numbers" in effects(s.unit, parts.gradient, set()):
        return None  # the tangent would be that of other numbers, drawn again
    value = write_call(s, parts.gradient, parts.atoms, asked.origin, asked.name)
    single = not isinstance(wanted.argnums, tuple)
    known = tuple(map(Const, (parts.primal, parts.active, parts.wanted, single)))
    call = Call(Const(symmetric), (value, *known, *parts.atoms))
    return s.let(call, s.unit.type(value), asked.name, asked.origin)


def hessian_product(asked: Asked, tangents: Sequence[Atom]) -> Atom:
    """Write the gradient of the derivative of a function along tangents of its arguments."""
    active, along = asked.wanted.several, asked.wanted.option("along")
    names = [f"a{i}" for i in range(len(asked.args))]
    given = [f"t{i}" for i in range(len(tangents))]
    inner = ", ".join(names[i] for i in active if isinstance(i, int))
    text = (
        f"def product({', '.join(('function', *given, *names))}):\n"
        f"    return grad(lambda {inner}: jvp(function, {tuple_text(names)}, {tuple_text(given)}, "
        f"argnums={along!r})[1], argnums={tuple(range(len(active)))!r})({inner})\n"
    )
    known = {**entries.NAMES, "jvp": maker_of("forward"), "grad": maker_of("grad")}
    function = function_of_text(asked.s.unit, text, known, asked.origin)
    found = asked.s.call(
        Const(function), [asked.func, *tangents, *asked.args], {}, asked.origin, asked.name)
    if function in asked.s.unit.calls.opaque:
        asked.s.report(asked.s.unit.calls.opaque[function])
        return UNDEF
    return found


def linearized(asked: Asked) -> Atom:
    """``linearize``: the pushforward takes tangents of what is differentiated, None for zero."""
    chosen = asked
    inside = [True] * len(asked.wanted.several)
    if asked.wanted.option("all"):
        inside = [holds_floats(asked.s.unit.type(arg)) for arg in asked.args]
        inside = inside if any(inside) else [True] * len(inside)
        argnums = tuple(i for i, one in enumerate(inside) if one)
        chosen = replace(asked, wanted=Wanted("linearize", argnums))
    found, push = linear_map(chosen)
    if found is None or push is None:
        return UNDEF
    tangents = [f"t{i}" for i in range(len(inside))]
    taken = [tangents[i] for i, one in enumerate(inside) if one]
    inputs = [f"x{i}" for i in range(len(taken))]
    given = ", ".join(
        f"zeros_like({x}) if {d} is None else as_cotangent({d}, {x})"
        for d, x in zip(taken, inputs, strict=True)
    )
    text = (
        f"def linearized({', '.join(('value', 'push', *inputs))}):\n"
        f"    return value, lambda {', '.join(tangents)}: push({given})\n"
    )
    return asked.call(text, entries.NAMES, [value_of(asked, found), push, *found.inputs])


def result_of(found: Half | None) -> Atom:
    """Return what is written of a half."""
    return UNDEF if found is None or found.result is None else found.result


# -- along a direction --------------------------------------------------------------------------


def slope(asked: Asked) -> Atom:
    """``derivative``: the tangent along 1.0 of a function of one number."""
    refused: list[Atom] = []

    def unit(inputs: Sequence[Atom]) -> list[Atom]:
        (x,) = inputs
        type_ = asked.s.unit.type(x)
        array = isinstance(type_, t.Array) and type_.ndim == 0
        if not array and not (isinstance(type_, t.Scalar) and type_.kind == "float"):
            refused.append(asked.reject(
                f"derivative() in the argument {asked.wanted.argnums!r}, which is of type {type_}",
                "jacobian is for arrays; derivative needs a real number",
            ))
        return [ones_like(asked, x) if array else Const(1.0)]

    found = result_of(asked.half("forward", unit))
    return UNDEF if refused or found is UNDEF else asked.item(found, 1)


def elementwise(asked: Asked) -> Atom:
    """``elementwise_grad``: the tangent along ones."""
    found = result_of(asked.half("forward", lambda inputs: [ones_like(asked, x) for x in inputs]))
    return UNDEF if found is UNDEF else asked.item(found, 1)


def ones_like(asked: Asked, x: Atom) -> Atom:
    """Write ones in the structure of a value."""
    return asked.call(*entries.ones(form_of(asked.s.unit, x)), [x])


def higher(asked: Asked) -> Atom:
    """``nth_derivative``: the slope of the slope of ..."""
    order = asked.wanted.option("n", 0)
    if type(order) is not int or order < 0:
        return asked.reject(
            f"the order {order!r} of a derivative", "the order of a derivative is 0, 1, 2, ...")
    if order == 0:
        return asked.s.call(asked.func, asked.args, asked.kwargs, asked.origin, asked.name)
    inner = asked
    for _ in range(order - 1):
        inner = inner.of(inner.derivative("derivative", 0))
    return slope(inner)


def jets(asked: Asked) -> Atom:
    """``jet``: the derivatives up to an order as a tuple."""
    order = asked.wanted.option("order", 0)
    if type(order) is not int or order < 0:
        return asked.reject(
            f"the order {order!r} of a derivative", "the order of a derivative is 0, 1, 2, ...")
    parts = tuple(higher(asked.of(asked.func, n=k)) for k in range(order + 1))
    if any(part is UNDEF for part in parts):
        return UNDEF
    return asked.s.pack("tuple", parts, asked.name, asked.origin)


# -- along all directions -----------------------------------------------------------------------


def jacobian(asked: Asked) -> Atom:
    """``jacobian``, ``jacfwd`` and ``jacrev``: a linear map of all unit vectors."""
    mode = {"jacfwd": "forward", "jacrev": "reverse"}.get(asked.wanted.mode)
    mode = mode or asked.wanted.option("mode", "auto")
    if asked.wanted.option("out") is not None:
        return asked.reject(
            "a derivative that is written into out=, inside of a function that is compiled",
            "copy what it returns: out[...] = jacobian(f)(x)",
        )
    if mode not in ("auto", "forward", "reverse"):
        return asked.reject(f"jacobian() with mode={mode!r}", "auto, forward or reverse")
    if mode != "auto":
        return jacobian_by(asked, mode)
    first, second = ("forward", "reverse") if of_one_number(asked) else ("reverse", "forward")
    return first_accepted(asked, [
        lambda: jacobian_by(asked, first), lambda: jacobian_by(asked, second)])


def jacobian_by(asked: Asked, mode: str) -> Atom:
    """Write a Jacobian by one of the two modes."""
    holomorphic = bool(asked.wanted.option("holomorphic", False))
    several = isinstance(asked.wanted.argnums, tuple)
    if mode == "reverse":
        found = asked.half("vjp", checked=False)
        linear = None if found is None else asked.item(result_of(found), 1)
    else:
        found, linear = linear_map(asked)
    if found is None or linear is None:
        return UNDEF
    value = value_of(asked, found)
    form = form_of(asked.s.unit, value, True)
    inputs = [form_of(asked.s.unit, x) for x in found.inputs]
    for one in (form, *inputs):
        for _, leaf in leaves_of(one, ""):
            if not leaf.is_either and (leaf.kind == "complex") != holomorphic:
                return refuse_kind(asked, leaf, holomorphic)
    text, names = entries.rows(form, inputs, several, holomorphic) if mode == "reverse" else (
        entries.columns(form, inputs, several)
    )
    return asked.call(text, names, [value, linear, *found.inputs])


def refuse_kind(asked: Asked, leaf: Leaf, holomorphic: bool) -> Atom:
    """Report a Jacobian of complex numbers of a function that is not said to be holomorphic."""
    problem = f"the Jacobian of a function of, or with a result of, {leaf.kind} numbers"
    if holomorphic:
        return asked.reject(
            f"{problem}, with holomorphic=True", "leave holomorphic=True away for real numbers")
    return asked.reject(
        problem, "holomorphic=True, for holomorphic functions of complex arguments")


def of_one_number(asked: Asked) -> bool:
    """Say whether all that is differentiated is one positional argument, a number."""
    argnums = asked.wanted.several
    if len(argnums) != 1 or not isinstance(argnums[0], int) or argnums[0] >= len(asked.args):
        return False
    return isinstance(asked.s.unit.type(asked.args[argnums[0]]), t.Scalar)


def forward_gradient(asked: Asked) -> Atom:
    """``fmad``: the gradient by forward mode."""
    found, linear = linear_map(asked)
    if found is None or linear is None:
        return UNDEF
    value = value_of(asked, found)
    form = form_of(asked.s.unit, value, True)
    inputs = [form_of(asked.s.unit, x) for x in found.inputs]
    if not isinstance(form, Leaf):
        return asked.reject(
            "fmad() of a function whose result is no number", "jacobian is for other results")
    for one in (form, *inputs):
        for _, leaf in leaves_of(one, ""):
            if leaf.kind == "complex":
                return refuse_kind(asked, leaf, False)
    several = isinstance(asked.wanted.argnums, tuple)
    text, names = entries.slopes(form, inputs, several, shown(asked.func))
    return asked.call(text, names, [value, linear, *found.inputs])


def shown(func: Atom) -> str:
    """Return what messages call a function."""
    name = getattr(func.value, "__name__", "") if isinstance(func, Const) else func.name
    return name if str(name).isidentifier() else "the function"


def linear_map(asked: Asked) -> tuple[Half | None, Atom | None]:
    """Write the pushforward; return it beside what is written with it. None after a report.

    Where it cannot be parted from the primal, it computes that again each time.
    """
    found = asked.half("linearize")
    if found is None:
        return None, None
    if found.result is not None:
        return found, asked.item(found.result, 1)
    names = [f"a{i}" for i in range(len(asked.args))]
    tangents = [f"t{i}" for i in range(len(found.inputs))]
    keywords = [f"{key}={key}" for key in asked.kwargs]
    text = (
        f"def in_one_piece({', '.join(('function', *names, *asked.kwargs))}):\n"
        f"    return lambda {', '.join(tangents)}: jvp(function, {tuple_text(names)}, "
        f"{tuple_text(tangents)}, {', '.join((f'argnums={asked.wanted.several!r}', *keywords))})\n"
    )
    known = {**entries.NAMES, "jvp": maker_of("forward")}
    both = asked.call(text, known, [asked.func, *asked.args, *asked.kwargs.values()])
    zeros = [asked.call(*entries.zeros(form_of(asked.s.unit, x)), [x]) for x in found.inputs]
    first = asked.s.call(both, zeros, {}, asked.origin, asked.name)
    only = "def pushed(both):\n    return lambda *tangents: both(*tangents)[1]\n"
    return Half(first, found.inputs), asked.call(only, entries.NAMES, [both])


def tuple_text(names: Sequence[str]) -> str:
    """Return text of a tuple."""
    return f"({''.join(f'{name}, ' for name in names)})"


def value_of(asked: Asked, found: Half) -> Atom:
    """Write the value of the function."""
    return asked.item(result_of(found), 0)


# -- second derivatives -------------------------------------------------------------------------


def hessian(asked: Asked) -> Atom:
    """``hessian``: the Jacobian of the gradient, by the modes that are asked for."""
    if asked.wanted.option("out") is not None:
        return asked.reject(
            "a derivative that is written into out=, inside of a function that is compiled",
            "copy what it returns: out[...] = hessian(f)(x)",
        )
    mode = asked.wanted.option("mode")
    if mode is None:
        return first_accepted(asked, [
            functools.partial(hessian_by, asked, one) for one in COMBINATIONS])
    if mode not in COMBINATIONS:
        return asked.reject(f"hessian() with mode={mode!r}", f"one of {', '.join(COMBINATIONS)}")
    return hessian_by(asked, mode)


COMBINATIONS = ("fwd_adj", "adj_fwd", "adj_adj", "fwd_fwd")
"""How second derivatives are computed, the outer mode first, in the order they are tried in."""


def hessian_by(asked: Asked, mode: str) -> Atom:
    """Write a Hessian by one combination of modes."""
    outer, inner = mode.split("_")
    gradient = asked.derivative("grad" if inner == "adj" else "fmad", asked.wanted.argnums)
    return jacobian(asked.of(gradient, "jacfwd" if outer == "fwd" else "jacrev"))


def along(asked: Asked) -> Atom:
    """``hvp`` and ``vhp``: the derivative of the gradient along a direction."""
    if len(asked.args) < 2:
        return asked.reject("hvp() without a direction", "hvp(f, x, v)")
    mode = "adj_adj" if asked.wanted.mode == "vhp" else asked.wanted.option("mode")
    if mode is None:
        return first_accepted(asked, [
            functools.partial(along_by, asked, one)
            for one in COMBINATIONS[:3] if one != "adj_fwd" or not asked.kwargs
        ])
    return along_by(asked, mode)


def along_by(asked: Asked, mode: str) -> Atom:
    """Write the product of the Hessian with a direction by one combination of modes."""
    x, v, *rest = asked.args
    inner = replace(asked, args=[x, *rest], wanted=Wanted(mode, (0,)))
    if mode == "adj_fwd" and not asked.kwargs:
        names = [f"a{i}" for i in range(len(rest))]
        text = (
            f"def product({', '.join(('function', 'x', 'v', *names))}):\n"
            f"    return grad(lambda x: jvp(function, {tuple_text(['x', *names])}, (v,), "
            "argnums=(0,))[1])(x)\n"
        )
        known = {**entries.NAMES, "jvp": maker_of("forward"), "grad": maker_of("grad")}
        return asked.call(text, known, [asked.func, x, v, *rest])
    gradient = inner.of(asked.derivative("grad", 0))
    if mode == "fwd_adj":
        found = result_of(gradient.half("forward", lambda inputs: [v]))
        return UNDEF if found is UNDEF else asked.item(found, 1)
    if mode == "adj_adj":
        found = result_of(gradient.half("vjp"))
        if found is UNDEF:
            return UNDEF
        pullback = asked.item(found, 1)
        return asked.item(
            asked.s.call(pullback, [v], {}, asked.origin, asked.name), 0)
    return asked.reject(f"hvp() with mode={mode!r}", "fwd_adj, adj_adj or adj_fwd")


def itself(asked: Asked) -> Atom:
    """Write a call of the function: of one that is compiled as it is."""
    return asked.s.call(asked.func, asked.args, asked.kwargs, asked.origin, asked.name)


def refused(asked: Asked) -> Atom:
    """Report a sparse derivative: its code is for calls from outside."""
    mode = asked.wanted.mode
    return asked.reject(
        f"{mode}() inside of a function that is compiled", mode.removeprefix("sparse_"))


OPERATORS: dict[str, Callable[[Asked], Atom]] = {
    "primal": itself,
    "grad": joint,
    "value_and_grad": joint,
    "vjp": joint,
    "linearize": linearized,
    "derivative": slope,
    "elementwise_grad": elementwise,
    "nth_derivative": higher,
    "jet": jets,
    "jacobian": jacobian,
    "jacfwd": jacobian,
    "jacrev": jacobian,
    "fmad": forward_gradient,
    "hessian": hessian,
    "hvp": along,
    "vhp": along,
    "vmap": mapped,
    "hessian_diagonal": diagonal,
    "laplacian": diagonal,
    "gnvp": gauss_newton,
    "sparse_jacobian": refused,
    "sparse_hessian": refused,
}
"""How each mode is written; ``forward``, which is given its tangents, is written by ``derive``."""


def derive(
    s: Operations, wanted: Wanted, func: Atom, args: list[Atom], kwargs: dict[str, Atom],
    origin: Origin, name: str, tangents: Sequence[Atom] = (),
) -> Atom:
    """Write the derivative of ``func`` at the arguments; of ``vjp``, the pair that it returns.

    For ``jvp`` there is a tangent for each argument wanted.
    """
    asked = Asked(s, wanted, func, args, kwargs, origin, name)
    try:
        if wanted.mode == "hessian_product":
            return hessian_product(asked, tangents)
        if wanted.mode == "forward":
            return result_of(asked.half("forward", lambda inputs: tangents))
        return OPERATORS[wanted.mode](asked)
    except NoStructure as error:
        return asked.reject(
            f"{wanted.mode}() where it is not known when compiling what numbers and arrays a value "
            f"of type {error.args[0]} holds",
            "pass and return arrays, numbers, tuples or dicts of these",
        )
