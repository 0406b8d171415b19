"""Everything known while one function is compiled."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from adcompiler.errors import Finding
from adcompiler.support.structs import dataclass
from adcompiler.typed.shapes import Shapes
from adcompiler.typed.tables import (
    Calls, Derivatives, Globals, Iterators, Layouts, Loops, Naming, Reliance, Settings, Sweeps,
    Writes,
)


@dataclass(eq=False)
class Unit(Shapes):
    """What is known of variables, and a table for each part of the compiler that notes something.

    ``root`` is the Python function being compiled, from which paths start; ``said`` is what a
    backend has ``explain`` say.
    """

    root: Any = None
    settings: Settings = field(default_factory=Settings)
    said: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    relied: Reliance = field(default_factory=Reliance)
    calls: Calls = field(default_factory=Calls)
    derivatives: Derivatives = field(default_factory=Derivatives)
    sweeps: Sweeps = field(default_factory=Sweeps)
    loops: Loops = field(default_factory=Loops)
    globals: Globals = field(default_factory=Globals)
    iterators: Iterators = field(default_factory=Iterators)
    naming: Naming = field(default_factory=Naming)
    writes: Writes = field(default_factory=Writes)
    layouts: Layouts = field(default_factory=Layouts)
