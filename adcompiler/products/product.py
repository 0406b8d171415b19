"""A product: the emitted functions that a user asks for, and those that they call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Const, Function, Origin, Pack
from adcompiler.ir.visit import direct_uses, walk
from adcompiler.optimise.passes import optimise
from adcompiler.products.finish import own_arrays
from adcompiler.products.specialised import Typed, all_params
from adcompiler.support.structs import dataclass
from adcompiler.typed.builder import Builder
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit


@dataclass(eq=False)
class Product:
    """The emitted functions, main one first, with what ``explain`` reports.

    ``together`` lists those that were optimised with their other half before the two were parted.
    ``effects`` is ``by call`` where the user's function has to be called for what it does to its
    arguments. ``tangents`` counts the parameters of the main function that come after the user's.
    ``constants`` names the function that computes what the main one takes of constant seeds, and
    tells whether that gives the value too. ``writes`` tells whether the functions may write into
    the arguments, or what these hold.
    """

    functions: list[Function]
    docs: dict[str, str] = field(default_factory=dict)
    residuals: list[str] = field(default_factory=list)
    together: tuple[str, ...] = ()
    effects: str = "written"
    tangents: int = 0
    constants: tuple[str, ...] = ()
    writes: bool = True


def optimised(product: Product, unit: Unit) -> Product:
    """Return ``product`` with its functions optimised, each by itself."""
    functions = [
        function if function.name in product.together
        else replace(function, body=optimise(function.body, unit))
        for function in product.functions
    ]
    main = functions[0]
    if main.name not in product.together and main.name in product.docs:
        foreign = {param.var for param in main.params}
        functions[0] = replace(main, body=own_arrays(main.body, unit, foreign, main.origin))
    return replace(product, functions=functions)


def as_it_is(unit: Unit, typed: Typed, what: str, tangents: int = 0) -> Product:
    """Return a typed function as it is, with what it calls by name.

    ``what`` tells what it computes of another function, whose name it starts with; ``tangents``
    counts the last of its parameters, which the user's function has not.
    """
    if typed.written or typed.lost:
        unit.findings.append(typed.origin.finding(
            "a function that writes into its arguments", "let it write into copies", "array-writes",
        ))
    name = typed.function.name
    params = all_params(unit, typed)
    count = len(typed.params) - tangents
    params = (*params[:count], *params[len(typed.params):], *params[count : len(typed.params)])
    main = Function(name, params, Block(typed.statements, (typed.value,)), typed.origin)
    along = "".join(f" with {var.name}" for var in typed.params[count:])
    docs = {name: f"Return the {what} of `{name.rpartition('_')[0]}`{along}."}
    return Product([main, *plain_functions([main])], docs, tangents=tangents)


def pack(s: Builder, atoms: list[Atom], origin: Origin) -> Atom:
    """Write a tuple of results."""
    return s.let(Pack("tuple", tuple(atoms)), t.UNKNOWN, "gradients", origin.reversed())


def plain_functions(functions: list[Function]) -> list[Function]:
    """Return the functions compiled on their own that are called without a derivative."""
    found: dict[Callee, Function] = {}
    helpers: dict[str, Function] = {}
    waiting = list(functions)
    while waiting:
        for callee in plain_callees(waiting.pop().body):
            if callee not in found and callee.function is not None:
                f = callee.function
                found[callee] = Function(callee.primal_name, f.params, f.body, f.origin, doc=f.doc)
                waiting.append(found[callee])
                helpers.update((helper.name, helper) for helper in callee.helpers)
    names = {function.name for function in (*functions, *found.values())}
    return [*found.values(), *(one for name, one in helpers.items() if name not in names)]


def plain_callees(body: Block) -> Iterator[Callee]:
    """Iterate over the functions compiled on their own that ``body`` itself calls."""
    for statement in walk(body):
        for atom in direct_uses(statement):
            if isinstance(atom, Const) and isinstance(atom.value, Callee):
                yield atom.value
