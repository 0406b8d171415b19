"""The error tree: every refusal says where, what was met, why, and what to write instead."""

from __future__ import annotations

import enum
import functools
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

LIMITATIONS = "docs/limitations.md"
INSTALLED = os.path.join("share", "doc", "adcompiler", "limitations.md")
"""Where a wheel puts that page, below the environment."""


@functools.cache
def limitations() -> str:
    """Return where the page on limitations is: in the checkout, or as it was installed."""
    if not os.path.isfile(os.path.join(os.path.dirname(os.path.dirname(__file__)), LIMITATIONS)):
        import sysconfig  # which takes a while, and only errors need

        page = os.path.join(sysconfig.get_path("data"), INSTALLED)
        if os.path.isfile(page):
            return page
    return LIMITATIONS


def suggestion(word: str, words: Iterable[str]) -> str:
    """Return the end of a message about a word that is none of ``words``: the one that was meant.

    It is empty where none is alike.
    """
    import difflib  # which takes a while, and only errors need

    alike = difflib.get_close_matches(word, list(words), 1)
    return f"; did you mean {alike[0]!r}?" if alike else ""


def not_one_of(what: str, word: object, words: Iterable[str]) -> str:
    """Return a message about a word that is none of ``words``."""
    known = list(words)
    meant = suggestion(word, known) if isinstance(word, str) else ""
    return f"{what} {word!r} is not one of {', '.join(known)}{meant}"


def cell_of(file: str) -> str:
    """Return what IPython calls the cell that was compiled as a file; empty for other files."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    name = None if shell is None else shell.compile.format_code_name(file)
    return "" if name is None else " ".join(name)


def place_text(file: str, line: int, column: int | None = None, short: bool = False) -> str:
    """Return a place as messages write it; ``column`` is 0-based, ``short`` without directories."""
    cell = cell_of(file)
    if cell:
        return f"{cell}, line {line}" + ("" if column is None else f", column {column + 1}")
    name = os.path.basename(file) if short else file
    return f"{name}:{line}" + ("" if column is None else f":{column + 1}")


class Reason(enum.Enum):
    """Why code is refused: the section of ``docs/limitations.md``, and what may resolve it.

    What is not known before a run, as types, classes, aliasing and which function is called, is
    known while a recording runs (``by_run``). Where there is no rule or no derivative, there is
    none then. More of it may be known when the values of options are (``by_options``).
    """

    ALIASES = "aliases", True, True
    ARRAY_WRITES = "array-writes", True
    ATTRIBUTES = "attributes", True, True
    BUDGET = "budget", True
    CALL_ARGUMENTS = "call-arguments", True, True
    CALL_ONE_ANOTHER = "call-one-another", True
    CLASSES = "classes", True
    CLOSURE_REBINDING = "closure-rebinding", True
    COLLECTIONS = "collections", True
    CONTAINERS = "in-place-containers", True, True
    DYNAMIC_NAMES = "dynamic-names", True
    FORM = "walrus-else", True
    FUNCTIONS_ALONG_ARRAYS = "functions-along-arrays", True
    GENERATORS = "generators", True
    GLOBALS = "global-nonlocal", True
    IDENTITY = "identity", True
    ITERATORS = "iterators", True
    LAYOUT = "memory-layout", True
    OPTIONS_OF_UFUNCS = "ufunc-out-where", True
    RUN_AGAIN = "run-again", True
    SETS = "set-displays", True
    STAR_ARGUMENTS = "star-arguments", True, True
    TRY = "try", True
    UNDEFINED_NAMES = "undefined-names", True, True
    UNKNOWN_CALLABLE = "unknown-callable", True, True
    UNKNOWN_CALLS = "unknown-calls", True, True
    UNKNOWN_WRITES = "unknown-writes", True, True
    WITH = "with", True
    ARGUMENT_TYPES = "argument-types", False
    ARRAY_CLASSES = "array-classes", False
    COMPLEX_OUTPUT = "complex-output", False
    DISGUISED_NUMBERS = "disguised-numbers", False
    HIGHER_ORDER = "higher-order", False
    IMPORTS = "imports", False
    LAMBDA_SOURCE = "lambda-source", False
    MEMOS = "memos", False
    MISSING_RULE = "missing-rule", False, True
    MISSING_SOURCE = "missing-source", False
    NATIVE = "native", False
    NO_GRAD = "no-grad", False
    NOT_FINITE = "not-finite", False
    RANDOM_DRAWS = "random-draws", False
    RECORDING = "recording", False
    SPARSE_IN_PLACE = "sparse-in-place", False
    SPARSE_MATRICES = "sparse-matrices", False
    SPARSITY_PATTERNS = "sparsity-patterns", False
    TAYLOR = "taylor", False
    TRACERS = "tracers", False
    NONE = "", False

    def __init__(self, section: str, by_run: bool, by_options: bool = False) -> None:
        self.section = section
        self.by_run = by_run
        self.by_options = by_options


@dataclass(frozen=True, slots=True)
class Cause:
    """Another place in the user's source, which a finding follows from, and what is met there.

    The parts are those of a ``Finding``; ``text`` is empty where the place is that of the finding.
    """

    file: str
    line: int
    column: int
    text: str
    problem: str
    width: int = 1

    def render(self) -> list[str]:
        """Return the rows of a message that tell of the cause."""
        if not self.text:
            return [f"  because {self.problem}"]
        place = place_text(self.file, self.line, self.column)
        return [f"  because {self.problem}, at {place}:", *pointed(self)]


@dataclass(frozen=True, slots=True)
class Finding:
    """One place in the user's source that cannot be differentiated.

    ``line`` and ``column`` are 1-based and 0-based, as Python reports them; a line of 0 stands for
    no place that is known. ``text`` is the source line as written. ``anchor`` names the section of
    ``docs/limitations.md``; ``callers`` are the calls through which the place is reached, innermost
    first; ``cause`` is where it starts; ``behind`` the section of what keeps the text of a function
    without a rule from being compiled.
    """

    file: str
    line: int
    column: int
    text: str
    problem: str
    hint: str = ""
    anchor: str = ""
    width: int = 1
    callers: tuple[str, ...] = ()
    cause: Cause | None = None
    behind: str = ""

    @property
    def reason(self) -> Reason:
        """Why: by what is known of the section of the documentation."""
        return REASONS[self.behind or self.anchor]

    @property
    def place(self) -> tuple[int, int]:
        """Where the finding stands in its file: sorts findings as they are read."""
        return self.line, self.column

    @property
    def where(self) -> str:
        """The place, without directories and column."""
        return place_text(self.file, self.line, short=True)

    def render(self) -> str:
        """Return the finding as compiler-style text: location, line, caret, reason, rewrite."""
        place = f"{place_text(self.file, self.line, self.column)}: " if self.line else ""
        rows = [f"{place}{self.problem}", *pointed(self)]
        rows += [f"  called from {caller}" for caller in self.callers]
        if self.cause is not None:
            rows += self.cause.render()
        if self.hint:
            rows.append(f"  instead: {self.hint}")
        if self.anchor:
            rows.append(f"  see {limitations()}#{self.anchor}")
        return "\n".join(rows)


def pointed(at: Finding | Cause) -> list[str]:
    """Return the line of a place, and carets below what is meant of it; nothing of no text."""
    stripped = at.text.lstrip()
    if not stripped:
        return []
    caret = max(at.column - (len(at.text) - len(stripped)), 0)
    width = max(1, min(at.width, len(stripped) - caret))
    return [f"    {stripped}", "    " + " " * caret + "^" * width]


class ADError(Exception):
    """Base of everything adcompiler refuses.

    Example:
        >>> import numpy as np
        >>> from adcompiler import ADError, grad
        >>> opaque = np.frompyfunc(abs, 1, 1)
        >>> try:
        ...     grad(lambda x: np.sum(opaque(x)))(np.ones(2))
        ... except ADError as error:
        ...     print(type(error).__name__)
        MissingRuleError
    """


def refused_twice(first: ADError, second: ADError) -> ADError:
    """Return the refusal of the compiler, with what the recording said."""
    said = "Recording it was refused too: " + str(second).partition("\n")[0]
    if said not in getattr(first, "__notes__", ()):
        first.add_note(said)
    return first


class LocatedError(ADError):
    """A refusal that points at places in the user's source, all of them at once."""

    def __init__(self, findings: tuple[Finding, ...] | list[Finding]) -> None:
        self.findings = in_source_order(findings)
        super().__init__("\n\n".join(finding.render() for finding in self.findings))

    def __reduce__(self) -> tuple[type[LocatedError], tuple[tuple[Finding, ...]]]:
        """Pickle by findings, so that the error crosses processes."""
        return type(self), (self.findings,)


def in_source_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings file by file, as the files were met, and by line within a file.

    Of findings at one place with one problem, reached by several calls, the first is kept, and of
    those with one cause.
    """
    unique: dict[tuple[str, int, int, str], Finding] = {}
    for finding in findings:
        at = finding.cause or finding
        unique.setdefault((at.file, at.line, at.column, at.problem), finding)
    files = list(dict.fromkeys(finding.file for finding in unique.values()))
    return tuple(sorted(unique.values(), key=lambda f: (files.index(f.file), *f.place)))


REASONS: dict[str, Reason] = {reason.section: reason for reason in Reason}
"""Reasons by section."""


class UnsupportedError(LocatedError):
    """The function uses forms that adcompiler cannot differentiate (yet).

    Attributes:
        findings (tuple): Each place, with its file, line and column, the problem and what to write.

    Example:
        >>> import numpy as np
        >>> from adcompiler import UnsupportedError, grad
        >>> def shuffled(x):
        ...     np.random.shuffle(x)
        ...     return x[0]
        >>> try:
        ...     grad(shuffled, fallback="refuse")(np.ones(2))
        ... except UnsupportedError as error:
        ...     print(error.findings[0].text.strip())
        np.random.shuffle(x)
    """


class RunsAgainError(UnsupportedError):
    """The function would run once for each of many tangents, and draw other numbers each time."""


class TooLargeError(UnsupportedError):
    """Compiling would take more than `ADCOMPILER_BUDGET` allows, or is nested too deeply."""


class TooLongError(TooLargeError):
    """Compiling takes more seconds than `ADCOMPILER_BUDGET` allows.

    Nothing else is tried then, nor is it remembered: the next call may have the time.
    """


class NotCompiledError(UnsupportedError):
    """There are native loops for a function, which the machine's compiler does not compile."""


class MissingRuleError(LocatedError):
    """A differentiable value reaches a function that has neither a rule nor readable source.

    Attributes:
        findings (tuple): Each place, with its file, line and column, the problem and what to write.

    Example:
        >>> import numpy as np
        >>> from adcompiler import MissingRuleError, grad
        >>> opaque = np.frompyfunc(abs, 1, 1)
        >>> try:
        ...     grad(lambda x: np.sum(opaque(x)))(np.ones(2))
        ... except MissingRuleError as error:
        ...     print(error.findings[0].problem)
        abs (vectorized)() has no rule, and no Python source that could be compiled
    """


class RuleError(LocatedError):
    """A rule is malformed: raised where it is registered, or when it is first used.

    Attributes:
        findings (tuple): Each place, with its file, line and column, the problem and what to write.

    Example:
        >>> import math
        >>> from adcompiler import RuleError, scalar_rule
        >>> try:
        ...     scalar_rule(math.hypot, lambda: 1.0)
        ... except RuleError as error:
        ...     print("hypot" in str(error))
        True
    """


class NoHashError(ADError, TypeError):
    """A rule, or facts, for a function that cannot be looked up: as those of ctypes."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{name} has no hash, so nothing that is said about it is found\n"
            "  instead: write a function of your own that calls it, and say it of that\n"
            f"  see {limitations()}#missing-rule")

    def __reduce__(self) -> tuple[type[NoHashError], tuple[str]]:
        """Pickle by the name, so that the error crosses processes."""
        return type(self), (self.name,)


class NotFiniteError(ADError, ArithmeticError):
    """A derivative is not finite, or cannot be computed, where the value is finite."""

    def __init__(self, place: str, problem: str, hint: str) -> None:
        self.parts = place, problem, hint
        super().__init__(f"{place}: {problem}\n  instead: {hint}\n  see {limitations()}#not-finite")

    def __reduce__(self) -> tuple[type[NotFiniteError], tuple[str, str, str]]:
        """Pickle by what was said, so that the error crosses processes."""
        return type(self), self.parts


class UncoveredError(ADError, NotImplementedError):
    """What the rule of a function does not cover, as turns out when the derivative runs."""

    def __init__(self, problem: str, place: str = "", text: str = "") -> None:
        self.parts = problem, place, text
        where = f"{place}: {problem}\n    {text}" if place else problem
        super().__init__(
            f"{where}\n  instead: use other arguments, or register a rule of your own\n"
            f"  see {limitations()}#missing-rule"
        )

    def __reduce__(self) -> tuple[type[UncoveredError], tuple[str, str, str]]:
        """Pickle by what was said, so that the error crosses processes."""
        return type(self), self.parts


class RecordedWarning(UserWarning):
    """A function is recorded in each call, as the compiler refuses it: which line, and why."""


class FullPatternWarning(UserWarning):
    """The pattern of a large sparse derivative is nearly full: which lines make it so."""


class LargeGradientWarning(UserWarning):
    """A gradient will hold more than half of the memory that is free: how to hold less."""


class WrongPatternError(ADError, ValueError):
    """The sparsity pattern that a user states lacks nonzeros of the derivative."""


class SourceNotFoundError(ADError):
    """A function's source text is not available, so it cannot be compiled.

    Example:
        >>> from adcompiler import SourceNotFoundError, grad
        >>> namespace = {}
        >>> exec("def hidden(x): return x * x", namespace)
        >>> try:
        ...     grad(namespace["hidden"], fallback="refuse")(2.0)
        ... except SourceNotFoundError as error:
        ...     print("compile_text" in str(error))
        True
    """


class MissingPrimalError(ADError, TypeError):
    """A tracer, which stands for all values, meets something that needs one.

    Example:
        >>> from adcompiler import ADError, MissingPrimalError
        >>> issubclass(MissingPrimalError, ADError)
        True
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(
            f"{what} needs the value of a tracer, which stands for all values or whose dependence "
            "would be lost: compile the function instead (no tracers), or write it with NumPy's "
            f"functions\n  see {limitations()}#tracers"
        )

    def __reduce__(self) -> tuple[type[MissingPrimalError], tuple[str]]:
        """Pickle by what needs the value, so that the error crosses processes."""
        return type(self), (self.what,)


class InternalError(ADError):
    """A broken invariant inside adcompiler: a bug to report, never the user's fault.

    Users see it ``located``: with the line that was being compiled, raised from what went wrong.

    Example:
        >>> from adcompiler import ADError, InternalError
        >>> issubclass(InternalError, ADError)
        True
    """

    def __init__(self, message: str, located: bool = False) -> None:
        self.located = located
        super().__init__(message)

    def __reduce__(self) -> tuple[type[InternalError], tuple[str, bool]]:
        """Pickle with what ``located`` is, so that the error crosses processes."""
        return type(self), (str(self), self.located)


class ArgumentsError(ADError, TypeError):
    """Arguments or results of kinds that have no derivative."""


class ArgnumsError(ADError, ValueError):
    """``argnums`` that do not fit the function."""


class NotBatchable(Exception):
    """Code that has to be run for one seed after another."""


class Declined(Exception):
    """A backend has nothing for a form; ``problem`` says for which one, ``origin`` where.

    With a ``hint`` the problem is the user's to mend, and the whole of what is said.
    """

    def __init__(self, problem: str, origin: Any = None, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.origin = origin
        self.hint = hint
