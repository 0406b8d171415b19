"""Derivatives that are nan or infinite are computed once more, by code in which zeros stay zeros.

Code as it is compiled first multiplies without looking. Where it meets an infinite slope, what it
returns is not finite: that is tested, and only then is masked code compiled, and run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from adcompiler.dispatch.calling import of_each
from adcompiler.dispatch.compiled import Compiled
from adcompiler.dispatch.finite import is_finite
from adcompiler.dispatch.linear_maps import Half
from adcompiler.errors import ADError
from adcompiler.runtime import own
from adcompiler.runtime.batches import pulled_each
from adcompiler.runtime.native import Arguments, finite_test

PLACES = {"grad": 0, "value_and_grad": 1, "forward": 1, "linearize": 1, "taylor": 1}
"""Where the derivative is in what the code of a mode returns."""


ROLES = frozenset({"augmented", "pullback", "linearized", "tangent", "pushforward", "loops"})
"""What names of emitted functions say of them."""


class Masked:
    """The masked form of some compiled code, compiled when it is first asked for.

    ``compiled`` is None before, and where the compiler refuses it. It is code ``of_one`` seed where
    loops go over many: what they leave to Python has the residuals of such code.
    """

    __slots__ = ("compile", "compiled", "is_known", "of_one")

    def __init__(self, compile_masked: Callable[[], Compiled], of_one: bool) -> None:
        self.compile = compile_masked
        self.of_one = of_one
        self.compiled: Compiled | None = None
        self.is_known = False

    def form(self) -> Compiled | None:
        """Return the masked form, None where the compiler refuses it."""
        if not self.is_known:
            try:
                self.compiled = self.compile()
            except ADError:
                self.compiled = None
            self.is_known = True
        return self.compiled


def run_masked(
    run: Callable[..., Any], place: int | None, masked: Masked, seeds: int, native: bool = False
) -> tuple[Callable[..., Any], Callable[..., Compiled | None]]:
    """Return ``run``, followed by the masked form where the derivative that it gives is not finite.

    The second result tells, for the same arguments, whether it is that: it returns it, or None.
    The derivative is the item at ``place`` of the result, or the result itself. If the masked form
    is code of one seed, it gets the last ``seeds`` arguments one by one. After ``native`` loops
    machine code looks at the derivative first.
    """
    looks: Callable[[Any], bool] | None = None

    def chosen(*args: Any) -> Compiled | None:
        found = run(*args)
        return None if is_finite(found if place is None else found[place]) else masked.form()

    def running(*args: Any) -> Any:
        nonlocal looks
        found = run(*args)
        derivative = found if place is None else found[place]
        if native:
            looks = looks or finite_test()
            if looks(derivative):
                return found
        if derivative - derivative == 0.0 if type(derivative) is float else is_finite(derivative):
            return found
        form = masked.form()
        if form is None or form.run is None:
            return found
        again = form.run
        if seeds and form.report.get("seeds"):
            again = partial(of_each, again, seeds)
        return again(*args)

    return running, chosen


def masked_half(plain: Half, masked: Masked, first: str, one_by_one: bool) -> Half | None:
    """Return the masked form of the second of two functions, of what the first one has saved.

    ``first`` is the name of that. None where the compiler refuses it, or has the first function of
    masked code save anything else; of arguments that loops have saved, it saves that anew.
    ``one_by_one`` says that the second function is for one seed.
    """
    form = masked.form()
    name = plain.name.removesuffix("_native")
    second = None if form is None else form.entry.__globals__.get(name)
    if form is None or second is None:
        return None
    fits = firsts_of(plain.text, first) == firsts_of(form.text, first)
    if not fits and name == plain.name:
        return None
    each = (masked.of_one or bool(form.report.get("seeds"))) and not one_by_one

    def call(residuals: Any, *seeds: Any) -> Any:
        if isinstance(residuals, Arguments):  # which loops would have computed the rest of
            _, residuals = form.entry(*own(residuals.values))
        elif not fits:
            return plain.call(residuals, *seeds)
        return pulled_each(second, residuals, *seeds) if each else second(residuals, *seeds)

    return Half(call, form.text, name, form.bound, plain.of)


def firsts_of(text: str, first: str) -> list[str]:
    """Return the functions of a module that save residuals, without their comments.

    They are those of the role that the ``first`` one has: the last role in a name counts.
    """
    role = first.rpartition("_")[2]
    return [
        ast.dump(node) for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and not node.name.endswith("_native")
        and [part for part in node.name.split("_") if part in ROLES][-1:] == [role]
    ]


__all__ = ["Masked", "masked_half", "run_masked"]
