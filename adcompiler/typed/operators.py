"""The operators of users: a row for each, read by derivatives and where compiled code calls one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from adcompiler.support.structs import dataclass
from adcompiler.typed.options import Options

PUSHED = Options("forward", 0)
PUSHED_TOGETHER = Options("forward", 0, batched=True)
PULLED_TOGETHER = Options("vjp", 0, batched=True)
SERIES = Options("taylor", 0, batched=True)
ALONG_CONSTANTS = Options("forward", 0, batched=True, constant=True, alone=True)


@dataclass(frozen=True)
class Operator:
    """One operator; ``name`` is that of its mode.

    It is told ``options`` beside the function, in the order of its parameters; what acts
    ``at_once`` is given the arguments of the function, too. A derivative calls ``parts``, each of
    which is code of a mode of the compiler: of the function or, where derivatives are ``second``
    ones, of its gradient; without parts it is code of the mode of its own name. ``said`` is what it
    calls itself where that is not the name. Where ``none_is_said`` None is no default of an option.
    """

    name: str
    options: tuple[str, ...] = ()
    parts: Mapping[str, Options] = field(default_factory=dict)
    said: str = ""
    second: bool = False
    at_once: bool = False
    none_is_said: bool = False


ROWS = (
    Operator("grad", ("argnums", "has_aux")),
    Operator("value_and_grad", ("argnums", "has_aux")),
    Operator("vjp", ("argnums",), said="augmented primal and pullback", at_once=True),
    Operator("forward", ("argnums",), said="pushforward", at_once=True),
    Operator("linearize", ("argnums",), said="linearization", at_once=True),
    Operator("primal", said="compiled form"),
    Operator("taylor", said="Taylor coefficients"),
    Operator("derivative", ("argnum",), {"push": PUSHED}),
    Operator("elementwise_grad", ("argnum",), {"push": PUSHED}),
    Operator(
        "jacobian", ("argnums", "mode", "holomorphic", "out"),
        {"pushed": PUSHED_TOGETHER, "pulled": PULLED_TOGETHER},
    ),
    Operator("jacfwd", ("argnums", "holomorphic")),
    Operator("jacrev", ("argnums", "holomorphic")),
    Operator("fmad", ("argnums",), {"pushed": PUSHED_TOGETHER}),
    Operator("hessian", ("argnums", "mode", "out"), {
        "fwd_adj": Options("forward", 0, batched=True, alone=True), "adj_adj": PULLED_TOGETHER,
        "adj_fwd": Options("grad", 0), "fwd_fwd": PUSHED,
    }, second=True),
    Operator("hvp", ("mode",), {
        "fwd_adj": PUSHED, "adj_adj": Options("vjp", 0), "adj_fwd": Options("grad", 0),
    }, second=True, at_once=True),
    Operator("vhp", second=True, at_once=True),
    Operator("gnvp", ("loss",), at_once=True),
    Operator("hessian_diagonal", ("argnum",)),
    Operator("laplacian", ("argnum",)),
    Operator("jet", ("order",), {"series": SERIES}),
    Operator("nth_derivative", ("n",), {"series": SERIES}, said="derivative"),
    Operator("sparse_jacobian", (), {
        "fixed": ALONG_CONSTANTS, "forward": PUSHED_TOGETHER, "reverse": PULLED_TOGETHER,
    }),
    Operator("sparse_hessian", (), {
        "fixed": ALONG_CONSTANTS, "products": Options("forward", 0, batched=True, alone=True),
    }, second=True),
    Operator("vmap", ("in_axes", "out_axes"), none_is_said=True),
)

OPERATORS: dict[str, Operator] = {row.name: row for row in ROWS}
