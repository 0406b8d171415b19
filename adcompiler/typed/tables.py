"""The tables of one compilation, each of what one part of the compiler notes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from types import FunctionType
from typing import Any

from adcompiler.errors import Finding
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Closure, Const, Origin, Var
from adcompiler.ops.qualified_names import KERNELS
from adcompiler.ops.rules import Rule
from adcompiler.support.budget import Budget
from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee
from adcompiler.typed.options import Options

Path = tuple[tuple[str, Any], ...]
"""How a value is reached from the function being compiled: steps such as ("free", "helper").

A path may instead start at an argument, or with ("live", object) at an object that is kept alive.
"""


@dataclass(frozen=True)
class Settings:
    """What is settled of a compilation before it begins: the ``options``, and what follows of them.

    ``derive`` compiles a derivative that the code asks for. At the places in ``chosen`` a variable
    that is one of two arrays is kept apart which, and a ``try`` is specialised in parts.
    ``reads_again`` says that reading an element of an array costs less than keeping it. With
    ``tangents`` derivatives of first order are those of what is computed, from the start on; where
    their orders have no end, ``endless``. What ``runs_later`` than the forward pass has to read the
    same of that whether it is masked or not. Code that is wanted ``as_it_is`` is not
    differentiated.
    """

    options: Options = Options("grad", 0)
    derive: Callable[..., Atom] | None = None
    chosen: frozenset[Any] = frozenset()
    budget: Budget = field(default_factory=Budget.from_environment)
    reads_again: bool = False
    tangents: bool = False
    endless: bool = False
    runs_later: bool = False
    as_it_is: bool = False


@dataclass(eq=False)
class Reliance:
    """What the code relies on: values found while compiling, and the rules that were opened.

    ``facts`` maps paths to the values the code was specialised on; ``captured`` lists the data in
    closure cells of the compiled function itself, which become its last parameters, and ``cells``
    those that a function being compiled on its own is passed. ``rule_names`` maps (module, name) to
    the values that rules read by name while they were opened; ``inside_rules`` holds the functions
    among them, whose own names are of that kind too.
    """

    facts: dict[Path, Any] = field(default_factory=dict)
    paths: dict[int, Path] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    captured: dict[str, Var] = field(default_factory=dict)
    cells: dict[str, Atom] = field(default_factory=dict)
    rules_used: dict[Rule, None] = field(default_factory=dict)
    rule_names: dict[tuple[str, str], Any] = field(default_factory=dict)
    inside_rules: set[Any] = field(default_factory=set)

    def static(self, value: Any, path: Path | None) -> Const:
        """Return the constant for a value found at ``path``, and record that it was relied on."""
        if path is not None:
            self.facts[path] = value
            if id(value) not in self.paths:
                self.paths[id(value)] = path
                self.kept.append(value)
        return Const(value)

    def part(self, owner: Any, name: str, value: Callable[..., Any]) -> Const:
        """Return the constant for the attribute ``name`` of a value that was found somewhere."""
        path = self.paths.get(id(owner))
        return self.static(value, None if path is None else (*path, ("attr", name)))

    @staticmethod
    def module(name: str) -> Any:
        """Return an imported module."""
        return sys.modules[name]

    def path_of(self, function: Callable[..., Any]) -> Path | None:
        """Return how a function is reached; None inside rules, whose names readers do not know."""
        path = self.paths.get(id(function))
        if path is None and not self.is_inside_rules(function):
            path = (("live", function),)
            self.static(function, path)
        return path

    def is_inside_rules(self, function: Callable[..., Any]) -> bool:
        """Say whether a function belongs to a rule or to the compiler."""
        module = getattr(function, "__module__", None) or ""
        return function in self.inside_rules or module.startswith(("adcompiler.", KERNELS))

    def read_in_rule(self, module: str, name: str, value: Callable[..., Any]) -> None:
        """Record that a rule being opened reads a name of its module."""
        if module:
            self.rule_names[module, name] = value
        if isinstance(value, FunctionType):
            self.inside_rules.add(value)


Candidate = Atom | Closure
"""A function that may be meant: an atom, or how it is made where nothing has made it yet."""


@dataclass(frozen=True)
class OneOf:
    """Functions of which a variable is one: that at the place which ``which`` holds."""

    which: Atom
    functions: tuple[Candidate, ...]


@dataclass(eq=False)
class Calls:
    """Calls of functions that are compiled: those being opened, and those compiled on their own.

    ``sites`` are the calls around the code being specialised, ``active`` the functions;
    ``replacing`` counts those for which a replacement is being opened. ``typed`` keeps what calls
    give for arguments of one kind. ``opaque`` tells of functions why they cannot be compiled,
    ``harmless`` are those that cannot and have no effect, ``giving`` those that give instances new
    attributes, which only code that made the instance can follow. ``one_of`` has the variables
    that are one of several functions, ``apart`` counts those around that are compiled on their own.
    ``grown`` tells of functions that were opened how many statements that led to, all in all;
    ``sparse`` says whether sparse matrices of SciPy were met. ``pending`` are the functions being
    compiled on their own, from the outside in. ``attributed`` has the names of attributes that are
    given to functions made here.
    """

    callees: dict[Any, Callee] = field(default_factory=dict)
    pending: list[Callee] = field(default_factory=list)
    attributed: dict[Any, set[str]] = field(default_factory=dict)
    active: list[Any] = field(default_factory=list)
    sites: list[Origin] = field(default_factory=list)
    typed: dict[Any, tuple[Any, t.Type]] = field(default_factory=dict)
    opaque: dict[Any, Finding] = field(default_factory=dict)
    harmless: set[Any] = field(default_factory=set)
    giving: set[Any] = field(default_factory=set)
    one_of: dict[Atom, OneOf] = field(default_factory=dict)
    grown: dict[Any, int] = field(default_factory=dict)
    replacing: int = 0
    apart: int = 0
    sparse: bool = False


@dataclass(eq=False)
class Derivatives:
    """Derivatives that the code asks for: those compiled, by what they were specialised on.

    ``emitted`` holds their functions, and which of them are opened; ``around`` counts the
    derivatives around of which the code will be compiled again; ``gradients`` says whether a
    gradient is among them.
    """

    compiled: dict[Any, Any] = field(default_factory=dict)
    emitted: dict[Any, bool] = field(default_factory=dict)
    around: int = 0
    gradients: bool = False


@dataclass(eq=False)
class Sweeps:
    """What is known of the derivative that is written.

    It is ``steep`` if any slope that it computes may be infinite, ``deferred`` if the sweep runs
    some time after the forward pass; code that ``acts`` must not run twice. ``checked`` are the
    functions compiled on their own of which it was looked up what they call.
    """

    steep: bool = False
    acts: bool = False
    deferred: bool = False
    checked: set[Any] = field(default_factory=set)


@dataclass(eq=False)
class Loops:
    """Guesses about loops: what is found in one trial, to start the next one with.

    ``trial`` counts the trials around, ``around`` the loops. While ``first`` passes over the loops
    inside of an outermost one are made, each of them is tried once in a pass; ``unsettled`` says
    that the guess about one of them was not confirmed.
    """

    trial: int = 0
    around: int = 0
    first: bool = False
    unsettled: bool = False
    seen: dict[Any, Any] = field(default_factory=dict)
    types: dict[Any, list[t.Type]] = field(default_factory=dict)
    reshaped: dict[Any, set[int]] = field(default_factory=dict)
    written: dict[Any, frozenset[Any]] = field(default_factory=dict)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Write a function on its own, which is kept: its loops do not wait for those around."""
        before = self.trial, self.first, self.unsettled
        self.trial, self.first, self.unsettled = 0, False, False
        try:
            yield
        finally:
            self.trial, self.first, self.unsettled = before


@dataclass(eq=False)
class Globals:
    """Global variables that the code assigns, reads, and that have a known value meanwhile.

    ``held`` are those of which the object is read where the code begins, with whether that is asked
    for in a loop.
    """

    stores: dict[tuple[int, str], list[tuple[Atom, Origin]]] = field(default_factory=dict)
    reads: dict[Var, tuple[int, str]] = field(default_factory=dict)
    constants: dict[tuple[int, str], Any] = field(default_factory=dict)
    held: dict[tuple[int, str], bool] = field(default_factory=dict)


GlobalName = tuple[int, str]
"""A variable of a module."""


@dataclass(eq=False)
class Iterators:
    """Values that stand for iterators, which Python runs over only once.

    ``reused`` are the variables of the functions being read that may be read more than once.
    ``by_function`` has those that generator functions made, with whether their text tells that
    they end, and the global variables that they read; ``interleaved`` those variables of which
    it matters when they are read, and where. ``early`` has those whose items have effects, with
    what is recorded of that, and the number of statements written when they were made.
    """

    one_shot: set[Atom] = field(default_factory=set)
    reused: set[Var] = field(default_factory=set)
    generators: dict[Var, int | None] = field(default_factory=dict)
    by_function: dict[Var, tuple[bool, tuple[GlobalName, ...]]] = field(default_factory=dict)
    interleaved: list[tuple[GlobalName, Origin]] = field(default_factory=list)
    early: dict[Atom, tuple[Finding, int]] = field(default_factory=dict)


@dataclass(eq=False)
class Naming:
    """What emitted code calls values, and how it takes them apart.

    ``names`` are those of the user, ``hints`` those of rules; ``opened`` tells of tuples how many
    variables they are taken apart into, ``anonymous`` are items that have no name. ``bound`` are
    the values that the text of the module has names for which no import reaches, by these.
    """

    bound: dict[str, Any] = field(default_factory=dict)
    names: dict[Var, str] = field(default_factory=dict)
    hints: dict[Var, str] = field(default_factory=dict)
    opened: dict[Atom, int] = field(default_factory=dict)
    anonymous: set[Var] = field(default_factory=set)


@dataclass(eq=False)
class Writes:
    """What writes into storage leave behind for later stages.

    ``merges`` are the places where a variable is one of two arrays, ``attempts`` the ``try``
    statements of which it matters how far they came: see ``Settings.chosen``. ``in_place`` holds
    the values of arrays that an operation of NumPy writes which may raise when it has.
    ``copied_for_writes`` holds the copies that spare the caller's arrays; ``replacing`` the results
    of in-place operators that are new arrays here. ``written_inside`` says that some store writes
    into what a container holds; ``taken_out`` tells in which container an object was before its
    place was given to another one, ``popped`` holds those that a method has removed;
    ``stored_copies`` maps copies that containers got to what they are copies of; ``rearranged``
    tells what lists are made of, objects and (if True) the items of others, that are written as
    sums of parts. ``spared`` holds what a write computes itself, ``checks`` the results of checks
    that are wanted for what they raise. ``caught`` are the variables defined where a handler
    catches whatever there is. ``detached`` are the variables defined inside ``with no_grad()``,
    ``detached_writes`` the values of outer storage that is written into there.
    ``memos`` are what values are computed from that memos keep (``infer/memos.py``), and where
    they are stored; ``made_inside`` are parameters of functions compiled on their own for what
    their caller made. ``kept_results`` are what functions under a cache return.
    """

    merges: set[Any] = field(default_factory=set)
    attempts: set[Any] = field(default_factory=set)
    in_place: set[Var] = field(default_factory=set)
    copied_for_writes: set[Var] = field(default_factory=set)
    replacing: set[Var] = field(default_factory=set)
    written_inside: bool = False
    taken_out: dict[Var, Var] = field(default_factory=dict)
    popped: set[Var] = field(default_factory=set)
    stored_copies: dict[Var, Var] = field(default_factory=dict)
    rearranged: dict[Var, tuple[tuple[Atom, bool], ...]] = field(default_factory=dict)
    spared: set[Atom] = field(default_factory=set)
    checks: set[Var] = field(default_factory=set)
    caught: set[Var] = field(default_factory=set)
    detached: set[Var] = field(default_factory=set)
    detached_writes: list[tuple[Atom, Origin]] = field(default_factory=list)
    memos: list[tuple[tuple[Atom, ...], Origin]] = field(default_factory=list)
    made_inside: set[Var] = field(default_factory=set)
    kept_results: set[Var] = field(default_factory=set)


@dataclass(eq=False)
class Layouts:
    """How arrays lie in memory, where that decides what the code computes.

    ``read`` are the values of which it does (see ``analyses.layouts``): code keeps them laid out as
    NumPy lays them out. ``unknown`` holds results of calls that the compiler writes in another way
    than the library, so that they may be laid out otherwise, with what was called.
    """

    read: set[Atom] = field(default_factory=set)
    unknown: dict[Var, tuple[Origin, str]] = field(default_factory=dict)
