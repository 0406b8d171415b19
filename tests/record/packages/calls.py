"""How the calls of packages are written down: a case whose label says which name was called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.real.packages.cases import case
from tests.real.shipped import Case


@dataclass(frozen=True)
class Call(Case):
    """A case that is told by the name that its first argument is, too."""

    @property
    def label(self) -> str:
        first = self.arguments[0] if self.arguments else None
        name = super().label.rpartition(".")[2]
        return f"{name}({first})" if isinstance(first, str) else name


def of_module(module: str) -> Callable[..., Call]:
    """Return what writes down a call of a function of a module of this package."""
    def here(name: str, *arguments: Any, **rest: Any) -> Call:
        found = case(f"tests.record.packages.{module}:{name}", *arguments, **rest)
        return Call(**vars(found))

    return here
