"""The modes: what can be asked of the compiler for one function, one row for each.

A row says what is built, what it is given and what it returns; the pipeline, derivatives inside of
compiled code, dispatch, ``source`` and the command line read it. A new mode is a row here and the
product that it names. Products are imported when they are built: a process that finds all it needs
in the cache loads no compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from adcompiler.support.structs import dataclass

if TYPE_CHECKING:
    from adcompiler.products.product import Product
    from adcompiler.products.specialised import Typed
    from adcompiler.typed.options import Options
    from adcompiler.typed.unit import Unit


Build = Callable[["Unit", "Typed", "Options"], "Product"]
"""Makes a product of a typed function."""


@dataclass(frozen=True)
class Mode:
    """One mode; ``name`` is also what its code is cached under, and ``doc`` what it writes.

    ``seeds`` are what the code is given beside the arguments: ``cotangents``, ``tangents`` or
    ``coefficients`` (of all orders at once). ``halves`` are the ends of the names of two functions,
    the second of which is given seeds and what the first one saves; without them it is one function
    of both. ``returns_value`` says that the function's value is returned, so that whatever the
    function raises is raised; ``has_effects`` that arguments are left as the function leaves them;
    ``batches`` that there may be many seeds, ``takes_aux`` that it may be without the derivative
    of a second result, ``has_loops`` that it may be compiled to loops of machine numbers.
    ``operator`` names the operator of the user that is called, where it is that.
    """

    name: str
    doc: str
    build: Build
    seeds: str = ""
    halves: tuple[str, ...] = ()
    returns_value: bool = False
    has_effects: bool = False
    batches: bool = False
    takes_aux: bool = False
    has_loops: bool = False
    operator: str = ""

    @property
    def is_reverse(self) -> bool:
        """Whether values are saved for a reverse sweep."""
        return self.takes_aux or self.seeds == "cotangents"


def build_gradient(unit: Unit, typed: Typed, options: Options) -> Product:
    """Build the joint function, with the value where that is asked for."""
    from adcompiler.products.joint import gradient

    with_value = MODES[options.mode].returns_value
    return gradient(unit, typed, with_value, options.has_aux, options.single)


def build_primal(unit: Unit, typed: Typed, options: Options) -> Product:
    """Build the function itself."""
    from adcompiler.products.product import as_it_is

    name = f"{typed.function.name}_primal"
    return as_it_is(unit, replace(typed, function=replace(typed.function, name=name)), "value")


def build_pair(unit: Unit, typed: Typed, options: Options) -> Product:
    """Build the augmented primal and the pullback."""
    from adcompiler.products.pair import split

    return split(unit, typed, options.single, options.batched)


def build_pushforward(unit: Unit, typed: Typed, options: Options) -> Product:
    """Build the pushforward, of tangents or of Taylor coefficients."""
    from adcompiler.products.pushforward import pushforward

    series = options.mode == "taylor"
    return pushforward(unit, typed, options.batched or series, options.constant, series)


def build_linearization(unit: Unit, typed: Typed, options: Options) -> Product:
    """Build the primal, and the derivative along tangents there."""
    from adcompiler.products.linearization import linearization

    return linearization(unit, typed)


def build_examples(unit: Unit, typed: Typed, options: Options) -> Product:
    """Build the function of many examples."""
    from adcompiler.products.examples import of_examples

    return of_examples(unit, typed)


def applied_as(what: str, tangents: int = 0) -> Build:
    """Return what builds a function that calls an operator, with directions as last parameters."""

    def build_applied(unit: Unit, typed: Typed, options: Options) -> Product:
        from adcompiler.products.product import as_it_is

        return as_it_is(unit, typed, what, tangents)

    return build_applied


ROWS = (
    Mode("grad", "the gradient", build_gradient, takes_aux=True, has_loops=True),
    Mode(
        "value_and_grad", "the value and the gradient", build_gradient,
        returns_value=True, takes_aux=True, has_loops=True,
    ),
    Mode("primal", "the value", build_primal, returns_value=True, has_loops=True),
    Mode(
        "vjp", "the augmented primal and the pullback", build_pair, "cotangents",
        ("augmented", "pullback"), returns_value=True, has_effects=True, batches=True,
        has_loops=True,
    ),
    Mode(
        "forward", "the pushforward", build_pushforward, "tangents", returns_value=True,
        has_effects=True, batches=True, has_loops=True,
    ),
    Mode(
        "taylor", "Taylor coefficients from those of arguments", build_pushforward, "coefficients",
        returns_value=True, has_effects=True,
    ),
    Mode(
        "linearize", "the primal, and the derivative along tangents there", build_linearization,
        "tangents", ("linearized", "tangent"), returns_value=True, has_effects=True,
    ),
    Mode("jacobian", "the Jacobian", applied_as("Jacobian"), operator="jacobian"),
    Mode("hessian", "the Hessian", applied_as("Hessian"), operator="hessian"),
    Mode(
        "hvp", "the Hessian's product with a tangent", applied_as("product of the Hessian", 1),
        "tangents", operator="hvp",
    ),
    Mode(
        "hessian_diagonal", "the diagonal of the Hessian", applied_as("diagonal of the Hessian"),
        operator="hessian_diagonal",
    ),
    Mode("laplacian", "the Laplacian", applied_as("Laplacian"), operator="laplacian"),
)

MODES: dict[str, Mode] = {mode.name: mode for mode in ROWS}
EXAMPLES = Mode("vmap", "the values for many examples", build_examples, returns_value=True)
INSIDE = {**MODES, EXAMPLES.name: EXAMPLES}
"""The modes of code inside of compiled code: what ``vmap`` calls is no derivative of its own."""
ALIASES = {"reverse": "grad"}
"""Other names of modes, where a user writes one."""


def named(name: str) -> str:
    """Return the mode that a user's name for it means."""
    return ALIASES.get(name, name)
