"""What is registered of a callable: its rule, or that its results carry no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adcompiler.ops.domains import Domain
from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """The derivative of one callable.

    Either ``definition`` (a function returning ``(y, pullback)``) or ``partials`` (elementwise
    derivatives) is given, or only ``forward`` (a function of primals and tangents returning
    ``(y, y_dot)``), which may also stand beside them; see ``rulekit.define`` for the meaning of the
    other fields. ``parts`` is what the definition was assembled from, if it was not written as
    such. A rule that is ``opted_out`` says that for its types there is none.
    """

    function: Any
    definition: Callable[..., Any] | None = None
    partials: tuple[Any, ...] = ()
    wrt: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    types: tuple[Any, ...] | None = None
    elementwise: bool = False
    linear: tuple[int, ...] = ()
    bilinear: tuple[int, ...] = ()
    domain: Domain | None = None
    kink: str = ""
    primal_note: str = ""
    forward: Callable[..., Any] | None = None
    parts: Any = None
    opted_out: bool = False

    @property
    def reverses(self) -> bool:
        """Whether the rule says how to pull a cotangent back."""
        return self.definition is not None or bool(self.partials)

    def accepts(self, classes: tuple[type | None, ...]) -> bool:
        """Say whether positional arguments of these classes (None: unknown) follow this rule."""
        if self.types is None:
            return True
        return len(self.types) == len(classes) and all(
            wanted is None or (given is not None and issubclass(given, wanted))
            for wanted, given in zip(self.types, classes, strict=True)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Inactive:
    """The declaration that a callable's results carry no derivative."""

    function: Any
    pure: bool = True
