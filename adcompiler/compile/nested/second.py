"""Derivatives of which no matrix is formed: diagonals, Laplacians, Gauss-Newton products."""

from __future__ import annotations

from adcompiler.compile.nested import entries
from adcompiler.compile.nested.asked import Asked
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom
from adcompiler.typed.derivatives import maker_of

DIAGONAL = """def {what}({parameters}):
    gradient = lambda x: grad(function, argnums=argnum)({at})
    units = np.eye({x}.size, dtype={x}.dtype).reshape(({x}.size, *{x}.shape))
    slopes = vmap(lambda unit: np.sum(jvp(gradient, ({x},), (unit,))[1] * unit))(units)
    return {result}
"""

OF_NUMBER = """def {what}({parameters}):
    return jvp(lambda x: grad(function, argnums=argnum)({at}), ({x},), (1.0,))[1]
"""

PRODUCT = """def product({parameters}):
    value, along = jvp(function, ({arguments}), (v,), argnums=(0,))
    return vjp(function, {arguments} argnums=(0,))[1]({cotangent})[0]
"""


def diagonal(asked: Asked) -> Atom:
    """``hessian_diagonal`` and ``laplacian``: derivatives of the gradient along unit vectors."""
    what, argnum, s = asked.wanted.mode, asked.wanted.argnums, asked.s
    if type(argnum) is not int or not 0 <= argnum < len(asked.args):
        return asked.reject(
            f"{what}() in the argument {argnum!r}", "the position of an argument that is given")
    type_ = s.unit.type(asked.args[argnum])
    if not isinstance(type_, (t.Array, t.Scalar)) or type_.kind not in ("float", "int"):
        return asked.reject(
            f"{what}() in an argument of type {type_}", "real numbers, or an array of these")
    names = [f"a{i}" for i in range(len(asked.args))]
    x = names[argnum]
    keywords = [f"{key}={key}" for key in asked.kwargs]
    text = (DIAGONAL if isinstance(type_, t.Array) else OF_NUMBER).format(
        what=what, parameters=", ".join(("function", *names, *asked.kwargs)), x=x,
        at=", ".join((*("x" if name == x else name for name in names), *keywords)),
        result="np.sum(slopes)" if what == "laplacian" else f"slopes.reshape({x}.shape)",
    ).replace("argnum)", f"{argnum})")
    known = {**entries.NAMES, **{
        name: maker_of(mode) for name, mode in (("grad", "grad"), ("jvp", "forward"),
                                                ("vmap", "vmap"))}}
    args = list(asked.args)
    if type_.kind == "int":
        args[argnum] = asked.call(
            "def real(x):\n    return 1.0 * x\n", entries.NAMES, [args[argnum]])
    return asked.call(text, known, [asked.func, *args, *asked.kwargs.values()])


def gauss_newton(asked: Asked) -> Atom:
    """``gnvp``: the tangent along a direction, pulled back."""
    if len(asked.args) < 2 or asked.kwargs:
        return asked.reject("gnvp() without a direction, or with keywords", "gnvp(f, x, v)")
    if asked.wanted.option("loss") is not None:
        return asked.reject(
            "gnvp() with loss= inside of a function that is compiled",
            "vjp(f, x)[1](hvp(loss, f(x), jvp(f, (x,), (v,))[1]))[0]")
    x, v, *rest = asked.args
    names = ["x", *(f"a{i}" for i in range(len(rest)))]
    text = PRODUCT.format(
        parameters=", ".join(("function", "v", *names)),
        arguments="".join(f"{name}, " for name in names), cotangent="along")
    known = {**entries.NAMES, "jvp": maker_of("forward"), "vjp": maker_of("vjp")}
    return asked.call(text, known, [asked.func, v, x, *rest])


__all__ = ["diagonal", "gauss_newton"]
