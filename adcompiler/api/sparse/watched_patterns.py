"""Patterns with what they depend on, kept as long as that holds: in memory, and on disk.

An entry on disk is found by the text of the function, the types and shapes of arguments, and what
is asked for. It holds what else the pattern depends on, as code in the cache does: what the text
reaches, the rules, and a digest of the values of all variables that were read, and of the other
arguments as far as they were looked at. What another process could not check is not kept.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adcompiler.api.fallback import users_level
from adcompiler.cache.keys import is_unknown, primary_key, resolve, storable, type_text
from adcompiler.cache.rules_fingerprint import libraries, present_seal
from adcompiler.cache.store import Entry, Store, default_directory
from adcompiler.dispatch import Specialisations
from adcompiler.dispatch.guards import Guard, guard
from adcompiler.dispatch.keeping import facts_that_hold, reliance_manifest
from adcompiler.dispatch.written import Written
from adcompiler.errors import ADError, FullPatternWarning
from adcompiler.frontend.scope import MISSING
from adcompiler.ir import types as t
from adcompiler.ops.qualified_names import root_module
from adcompiler.plot import Pattern
from adcompiler.sparsity.coloring.flattening import is_column, real_dtype
from adcompiler.sparsity.coloring.kept import has_room, numbers_of, text_of
from adcompiler.sparsity.dependences.fingerprints import PLAIN, Read, Reads, lasting, shape_of
from adcompiler.sparsity.dependences.structures import structure_of
from adcompiler.sparsity.interpreter.fullness import FULL, LARGE
from adcompiler.support.structs import dataclass
from adcompiler.typed.options import Argnums
from adcompiler.typed.values import type_of

if TYPE_CHECKING:
    from adcompiler.api.sparse.pattern_programs import Compiled

SHOWN = 5
"""Lines that a warning names."""
MAX_VARIANTS = 4
"""Patterns of one function and shapes that are kept, for different values of other variables."""


class Point(NamedTuple):
    """Where a derivative is asked for: a call, all arguments, and those that are differentiated."""

    call: Written
    values: tuple[Any, ...]
    wanted: list[Any]

    @property
    def dtype(self) -> type:
        """The dtype of what is differentiated."""
        found: type = real_dtype(self.wanted, is_column)
        return found


@dataclass(frozen=True, eq=False)
class Watched:
    """A pattern, and what it depends on beside the arguments.

    With ``why`` the function is recorded, for that reason, as it is not compiled. ``looked`` are
    the positions of the other arguments whose values were looked at: it is that of all values of
    the other floating ones. ``full`` are the lines that make it nearly full, if that is so.
    """

    pattern: Any
    guard: Guard
    reads: Reads
    fingerprint: Any
    why: str = ""
    looked: frozenset[int] = frozenset()
    full: tuple[str, ...] = ()

    def holds(self) -> bool:
        """Say whether nothing that the pattern depends on has changed."""
        if not self.guard.holds():
            return False
        return not self.reads.readers or self.reads.fingerprint() == self.fingerprint


def watched_pattern(
    forms: Specialisations, function: Callable[..., Any], call: Written, argnums: Argnums,
    second: bool, looked: frozenset[int] = frozenset(), mode: str = "global",
) -> Watched:
    """Return the pattern of a Jacobian or a Hessian, and how to tell whether it still holds.

    ``forms`` are the specialisations of the function with these ``argnums``. The values of the
    arguments at the positions ``looked`` are used, and of others if need be; where none is known of
    to be, an earlier process may have found the pattern. Raises UnsupportedError for a function
    that writes into its arguments.
    """
    disk = None
    if mode == "global" and not looked:
        disk = OnDisk(forms, forms.values(forms.target.bound(*call)), second)
        kept = disk.found()
        if kept is not None:
            return kept
    from adcompiler.api.sparse.patterns import found_pattern  # loads the compiler

    found = found_pattern(function, call, argnums, second, looked, mode)
    run = found.run
    assert run.sources is not None
    watched = Watched(
        found.pattern, found.guard, run.reads, run.reads.fingerprint(),
        looked=run.sources.every - run.generic, full=found.full)
    if disk is not None and run.is_lasting:
        disk.keep(watched, found.compiled)
    return watched


def is_full(pattern: Pattern) -> bool:
    """Say whether a pattern of a large matrix has more than a tenth of all entries."""
    entries = pattern.shape[0] * pattern.shape[1]
    return bool(entries >= LARGE**2 and pattern.nnz > FULL * entries)


def warn_if_full(pattern: Pattern, lines: Sequence[str]) -> None:
    """Warn of a pattern that is nearly full, and name the lines that make it so."""
    if not is_full(pattern):
        return
    height, width = pattern.shape
    made_so = "".join(f"\n  {line}" for line in lines[:SHOWN])
    warnings.warn(
        f"the pattern of a {height} x {width} matrix has {pattern.nnz:,} entries, "
        f"{100 * pattern.nnz / (height * width):.0f} % of all; a dense derivative, or products "
        "with it, may take less time"
        + (f". It is made so by\n{made_so.lstrip(chr(10))}" if made_so else ""),
        FullPatternWarning, stacklevel=users_level())


class OnDisk:
    """The patterns that are kept for a function with arguments of some shapes."""

    def __init__(self, forms: Specialisations, values: Sequence[Any], second: bool) -> None:
        self.forms = forms
        self.function = forms.target.function
        self.others = {i: one for i, one in enumerate(values) if i not in self.forms.wrt}
        self.values = values
        self.types = tuple(map(type_of, values))
        self.arguments = self.forms.arguments(self.types)
        self.seal = present_seal()
        self.store = Store(default_directory())
        self.entries: list[Entry] = []
        self.key = self.key_of(second) if self.seal is not None else None

    def key_of(self, second: bool) -> str | None:
        """Return the key of the entries; None if not all that they depend on is known."""
        texts = [*map(type_text, self.types), *map(type_text, self.forms.captured_types())]
        shapes = lasting([shape_of(list(self.values))])
        if self.store.directory is None or shapes is None or any(map(is_unknown, texts)):
            return None
        try:
            return primary_key(self.function, (
                "pattern", second, self.forms.wrt, self.forms.parts, self.seal, shapes, *texts))
        except ADError:  # a function without text, which is refused
            return None

    def told(self, looked: Iterable[int]) -> str | None:
        """Return what the pattern depends on of the other arguments, as text."""
        return lasting([
            value if i in looked else structure_of(value) for i, value in self.others.items()])

    def found(self) -> Watched | None:
        """Return the pattern that an entry holds, of which all that it depends on still holds."""
        if self.key is None:
            return None
        for entry in self.store.candidates(self.key):
            try:
                found = self.read(entry)
            except Exception:  # it is not what was written: as good as none
                self.store.discard(entry)
                continue
            if found is not None:
                return found
            self.entries.append(entry)
        return None

    def read(self, entry: Entry) -> Watched | None:
        """Return the pattern of an entry, None if what it depends on has changed."""
        manifest = entry.manifest
        if self.told(manifest["looked"]) != manifest["others"]:
            return None
        facts = facts_that_hold(entry, self.function, self.arguments)
        if facts is None:
            return None
        reads = Reads()
        for kind, path, name in manifest["reads"]:
            owner = resolve(self.function, map(tuple, path), self.arguments)
            if owner is MISSING:
                return None
            reads.readers[kind, id(owner), name] = Read(kind, owner, name)
        try:
            if lasting(reads.values()) != manifest["values"]:
                return None
        except (AttributeError, IndexError, KeyError, ValueError):
            return None  # a variable that is gone
        pattern = Pattern((
            np.ones(manifest["size"], bool), np.cumsum(numbers_of(manifest["indices"])),
            np.cumsum(numbers_of(manifest["indptr"]))), shape=tuple(manifest["shape"]))
        pattern.check_format()
        return Watched(
            pattern, guard(self.function, facts, self.arguments), reads, reads.fingerprint(),
            looked=frozenset(manifest["looked"]), full=tuple(manifest["full"]))

    def keep(self, watched: Watched, compiled: Compiled) -> None:
        """Keep a pattern that was found, if another process can check what it depends on."""
        if self.key is None or compiled.unit.layouts.read or not all(
            is_known(value, compiled) for program in (compiled.program, *compiled.callees.values())
            for value in program.values
        ):
            return
        relied = reliance_manifest([compiled.unit.relied])
        paths = compiled.unit.relied.paths
        reads = [
            (one.kind, storable(
                () if one.owner is self.function
                else paths.get(id(one.owner), (("live", one.owner),))), one.name)
            for one in watched.reads.readers.values()]
        values, others = lasting(watched.reads.values()), self.told(watched.looked)
        if None in (relied, values, others) or any(path is None for _, path, _ in reads) or (
            watched.reads.fingerprint() != watched.fingerprint or not watched.holds()
            or present_seal() != self.seal
        ):
            return
        assert relied is not None
        indices, indptr = (
            text_of(np.diff(one, prepend=0))
            for one in (watched.pattern.indices, watched.pattern.indptr))
        if not has_room(indices, indptr):
            return
        for entry in self.entries[MAX_VARIANTS - 1 :]:
            self.store.discard(entry)
        self.store.write(self.key, f"pattern_of_{self.function.__name__}", "", {
            **relied, "looked": sorted(watched.looked), "others": others, "reads": reads,
            "values": values, "indices": indices, "indptr": indptr, "full": watched.full,
            "shape": watched.pattern.shape, "size": int(watched.pattern.nnz)})


def is_known(value: Any, compiled: Compiled) -> bool:
    """Say whether a constant of a pattern program is the same in each process that finds it.

    It is plain, the compiler's or a library's, or an object that the facts tell from others: data
    count by their type there. Functions of the user's that others are given may read anything.
    """
    if isinstance(value, (tuple, frozenset)):
        return all(is_known(one, compiled) for one in value)
    if type(value) in PLAIN or isinstance(value, (np.generic, np.dtype, slice)):
        return True
    is_found = id(value) in compiled.unit.relied.paths
    if isinstance(value, (type, types.ModuleType)):
        return is_found or root_of(value) in known_roots()
    if callable(value):
        return root_module(value) in known_roots()
    return root_of(value) in OURS or (is_found and isinstance(type_of(value), t.Static))


OURS = frozenset({"adcompiler", "adcompiler_rules"})


def known_roots() -> set[str]:
    """Return the packages whose functions read nothing that may change."""
    return libraries() | OURS


def root_of(value: Any) -> str:
    """Return the root of the module that a class or module, or the class of a value, is of."""
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0]
    return root_module(value if isinstance(value, type) else type(value))
