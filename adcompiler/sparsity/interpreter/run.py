"""One run of a pattern program: calls of functions on values that depend on the inputs."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.analyses.foreign import computed_elsewhere
from adcompiler.ops.classify import DECLARED, Classification, of_letters
from adcompiler.ops.homes import display_name
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime.functionals import passive
from adcompiler.sparsity.dependences.index_sets import Shape
from adcompiler.sparsity.dependences.sets import size_of, union
from adcompiler.sparsity.dependences.values import (
    NOTHING, Dependent, Either, Relation, UnknownLengthError, UnknownList, UnknownShape,
    has_dependents, identity, is_complex, primal,
)
from adcompiler.sparsity.interpreter.fullness import LARGE, TooFullError, note_full, note_pairs
from adcompiler.sparsity.interpreter.varying import (
    GENERATORS, drawing_apart, is_harmless, unknown_like,
)

if TYPE_CHECKING:
    from adcompiler.sparsity.interpreter.lanes.lane_values import Lane, Sum

Transfer = Callable[..., Any]
TRANSFERS: dict[Any, Transfer] = {}
"""What functions do to dependences: called with the run, the function and its arguments."""

ALWAYS: set[Any] = set()
"""Functions that write into their first argument, so that it matters who else has it."""

STRUCTURAL: set[Any] = set()
"""Functions that only move the items of containers, which they are called with as they are."""

CROWDED = 32
"""From so many operations on, a number refers to one record that stands for all of them."""


class Refusal(Exception):
    """The pattern cannot be computed: the problem, and what to write instead."""

    def __init__(self, problem: str, hint: str = "", anchor: str = "sparsity-patterns") -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint
        self.anchor = anchor


class LookedError(BaseException):
    """Values of arguments decide something: ``origins`` are the positions of these."""

    def __init__(self, origins: frozenset[int]) -> None:
        super().__init__("values of arguments were looked at")
        self.origins = origins


class Record:
    """A nonlinear operation, or a place where values meet: what second derivatives come from.

    It stands for numbers from ``start`` on, one for each element of an array of ``shape``. Each
    carries on what flows into it (``children``: relations to other such numbers), and adds
    the second derivatives that the ``pairs`` of relations to the inputs give.
    """

    __slots__ = ("children", "pairs", "shape", "size", "start")

    def __init__(
        self, start: int, shape: Shape, children: list[Relation],
        pairs: Sequence[tuple[Relation, Relation]],
    ) -> None:
        self.start = start
        self.shape = shape
        self.size = math.prod(shape)
        self.children = children
        self.pairs = pairs


class Bound:
    """A method of an array that depends on the inputs, looked up but not called yet."""

    def __init__(self, function: Callable[..., Any], owner: Dependent) -> None:
        self.function = function
        self.owner = owner


class Run:
    """The state of one run.

    ``local``: values are known, and the pattern holds at this point only. ``second``: second
    derivatives are wanted; ``records`` collects what they come from. ``token`` names the arm
    of a branch that is being followed, ``owned`` what was copied in it: nothing else may be
    written into there. ``doubts`` counts what might raise an exception, as values are not known.
    ``stored`` holds what was assigned to global variables, which stay as they are. ``layouts``:
    the meaning of the program depends on how arrays lie in memory. ``generic`` are the positions
    of the arguments in the place of which are generic numbers. ``columns`` is the number of inputs,
    ``full`` the lines of programs that make arrays depend on many of these.
    """

    def __init__(self, local: bool, second: bool) -> None:
        self.local = local
        self.generic: frozenset[int] = frozenset()
        self.layouts = False
        self.second = second
        self.records: list[Record] = []
        self.numbers = 0
        self.token = 0
        self.tokens = 0
        self.owned: dict[int, Any] | None = None
        self.doubts = 0
        self.kept: list[Dependent] = []
        self.raised: BaseException | None = None
        self.stored: dict[tuple[int, str], Any] = {}
        self.kinds: dict[Any, Classification | None] = {}
        self.columns = 0
        self.full: list[tuple[str, int]] = []
        self.is_lasting = True

    def may_fail_by(self, error: Exception) -> None:
        """Refuse an exception that says that an operation was not understood.

        In an arm that may not be taken, other exceptions are the program's own.
        """
        if isinstance(error, (TypeError, AttributeError, NameError, RecursionError)) and (
            error is not self.raised
        ):
            raise Refusal(f"this cannot be followed: {type(error).__name__}: {error}") from error

    def looked(self, origins: frozenset[int]) -> None:
        """Raise LookedError if arguments that decide something are generic numbers."""
        if not self.generic.isdisjoint(origins):
            raise LookedError(self.generic & origins)

    # -- making values -----------------------------------------------------------------------

    def made(
        self, shape: Shape | None, dtype: Any, first: Relation = NOTHING,
        second: Relation = NOTHING, value: Any = None,
    ) -> Any:
        """Return a value that depends on the inputs; at a point, one that does not is itself."""
        if self.local and first == NOTHING and second == NOTHING:
            return value
        return Dependent(shape, dtype, first, second, value)

    def value(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Return the value of a call at the point, None if there is none."""
        if not self.local:
            return None
        with np.errstate(all="ignore"):
            return called(function, primal(tuple(args)), primal(dict(kwargs)))

    def note(
        self, shape: Shape | None, children: list[Relation],
        pairs: Sequence[tuple[Relation, Relation]],
    ) -> Relation:
        """Enter a nonlinear operation; return the relation to what now stands for it."""
        if self.columns >= LARGE:
            note_pairs(self, pairs)
        record = Record(self.numbers, shape or (), children, pairs)
        self.records.append(record)
        self.numbers += record.size
        return identity(record.start, record.shape)

    def thinned(self, second: Relation) -> Relation:
        """Return the relation of a number with one record in the place of many."""
        if second.own is None and size_of(second.common) > CROWDED:
            return self.note((), [second], ())
        return second

    # -- numbers, for code that works element by element --------------------------------------

    def kind(self, function: Callable[..., Any], count: int) -> Classification | None:
        """Return the classification of a function of numbers with one result, None for others."""
        try:
            return self.kinds[function, count]
        except TypeError:  # a function without a hash
            return None
        except KeyError:
            found: Classification | None = TRANSFERS[KIND](self, function, count)
            self.kinds[function, count] = found
            return found

    def of_number(
        self, function: Callable[..., Any], a: Dependent, kind: Classification
    ) -> Dependent:
        """Return the result of a function of one number that depends on the inputs."""
        dtype = TRANSFERS[DTYPE](function, (a.dtype,))
        if kind.der1_zero[0]:
            return Dependent((), dtype)
        second = a.second
        if self.second and not kind.der2_zero[0] and a.first.common:
            second = self.note((), [second] if second.common else [], [(a.first, a.first)])
        return Dependent((), dtype, a.first, second)

    def of_numbers(
        self, function: Callable[..., Any], a: Any, b: Any, kind: Classification
    ) -> Dependent:
        """Return the result of a function of two numbers, one of which depends on the inputs."""
        left = a if type(a) is Dependent else CONSTANT
        right = b if type(b) is Dependent else CONSTANT
        dtype = TRANSFERS[DTYPE](function, (
            type(a) if left is CONSTANT else a.dtype, type(b) if right is CONSTANT else b.dtype))
        zero = kind.der1_zero
        x = NOTHING if zero[0] else left.first
        y = NOTHING if zero[1] else right.first
        common = union(x.common, y.common)
        first = x if common is x.common else y if common is y.common else Relation(common, None)
        if not self.second:
            return Dependent((), dtype, first)
        p, q = left.first, right.first
        pairs = []
        if p.common and not kind.der2_zero[0]:
            pairs.append((p, p))
        if q.common and not kind.der2_zero[1]:
            pairs.append((q, q))
        if p.common and q.common and not kind.cross_zero:
            pairs.append((p, q))
        x = NOTHING if zero[0] else left.second
        y = NOTHING if zero[1] else right.second
        second = Relation(union(x.common, y.common), None)
        if pairs:
            second = self.note((), [second] if second.common else [], pairs)
        return Dependent((), dtype, first, self.thinned(second))

    # -- calls -------------------------------------------------------------------------------

    def call(self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the result of a call whose arguments may depend on the inputs."""
        if isinstance(function, Bound):
            args = (function.owner, *args)
            function = function.function
        if any(isinstance(arg, Iterator) for arg in args) and REGISTRY.facts(function).iterates:
            args = tuple(list(arg) if isinstance(arg, Iterator) else arg for arg in args)
        if hashable(function) and function in ALWAYS:
            return TRANSFERS[function](self, function, *args, **kwargs)
        if not kwargs and not self.local:
            found = self.called_with_numbers(function, args)
            if found is not None:
                return found
        if not any(type(arg) in LITTLE_KNOWN for arg in args):
            if hashable(function) and function in STRUCTURAL:
                return function(*args, **kwargs)
            asked = args
            if args and type(args[0]) is dict and transfer_of(function) == "contains":
                asked = args[1:]  # whatever the values are
            if not has_dependents(asked) and not (kwargs and has_dependents(dict(kwargs))):
                return self.concrete(function, args, kwargs)
        self.doubts += 1
        return self.transferred(find_transfer(function), function, args, kwargs)

    def called_with_numbers(self, function: Any, args: tuple[Any, ...]) -> Dependent | None:
        """Return the result of an elementwise function of one or two numbers, else None."""
        if len(args) == 2:
            a, b = args
            if type(a) is Dependent:
                if a.shape != () or not (type(b) in PLAIN or (
                    type(b) is Dependent and b.shape == ()
                )):
                    return None
            elif type(b) is not Dependent or b.shape != () or type(a) not in PLAIN:
                return None
            kind: Classification | None
            if function is operator.pow and type(b) in PLAIN:
                kind = EXPONENTS.get(b, CURVED)
            else:
                kind = self.kind(function, 2)
            self.doubts += 1
            return None if kind is None else self.of_numbers(function, a, b, kind)
        if len(args) == 1 and type(args[0]) is Dependent and args[0].shape == ():
            if args[0].dtype is not float and is_complex(args[0].dtype):
                return None
            kind = self.kind(function, 1)
            self.doubts += 1
            return None if kind is None else self.of_number(function, args[0], kind)
        return None

    def transferred(
        self, found: Transfer, function: Callable[..., Any],
        args: tuple[Dependent | Lane | Sum, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Return what a transfer gives; what it cannot do is a refusal, never a missing entry."""
        if any(isinstance(arg, Either) for arg in (*args, *kwargs.values())) and (
            transfer_of(function) not in IDENTITIES
        ):
            raise Refusal(
                "a value is of one kind or another, depending on the inputs", 'mode="local"')
        try:
            result = found(self, function, *args, **kwargs)
            if self.columns >= LARGE:
                note_full(self, result, args)
            if self.layouts:
                TRANSFERS[LAYOUT](self, result, found, function, args, kwargs)
            return result
        except (Refusal, IndexError, ValueError, ArithmeticError):
            raise
        except TooFullError as error:
            raise too_full(error) from None
        except UnknownLengthError:
            raise Refusal(
                f"{getattr(function, '__name__', function)}() of an array whose shape depends on "
                "the values of the inputs", 'mode="local", or np.where in place of selections',
            ) from None
        except Exception as error:
            raise Refusal(
                f"what the result of {getattr(function, '__name__', function)}() depends on is "
                f"not known for these arguments ({type(error).__name__}: {error})",
            ) from error

    def concrete(
        self, function: Any, args: tuple[Dependent | Lane | Sum, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Return the result of a call of which every argument is known."""
        if function is passive:
            raise Refusal("what a solution depends on is not known")
        self.is_lasting = self.is_lasting and is_harmless(function)
        return self.varying(function, args, kwargs) if may_vary(function) else (
            called(function, args, kwargs))

    def varying(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return the result of a call that may give something else another time.

        Unless the pattern is that of this point, nothing is known of it but its shape and dtype,
        which may be others in another process.
        """
        self.is_lasting = False
        if self.local:
            return called(function, args, kwargs)
        before = random.getstate(), np.random.get_state()
        try:
            return unknown_like(called(*drawing_apart(function, args, kwargs)))
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])


def too_full(error: TooFullError) -> Refusal:
    """Return the refusal of a pattern that takes too much memory."""
    return Refusal(
        str(error), "products with the derivative (jvp, vjp, hvp, as_linear_operator), a sparse "
        "matrix in place of a full one, or pattern=... if it is known")


LITTLE_KNOWN = frozenset({Dependent, Either, UnknownList, UnknownShape})


PLAIN = frozenset({int, float})
CONSTANT = Dependent((), float)
EXPONENTS = {0: of_letters("zzz"), 1: of_letters("fzz")}
CURVED = of_letters("szz")


def called(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the result of a call; methods of arrays are those of numbers too."""
    owner = getattr(function, "__objclass__", None)
    if args and owner in (np.ndarray, np.generic) and not isinstance(args[0], owner):
        first = np.asarray(args[0])
        args = (first if owner is np.ndarray else first[()], *args[1:])
    return function(*args, **kwargs)


def may_vary(function: Callable[..., Any]) -> bool:
    """Say whether a second call with the same arguments may give something else.

    That is so for functions of random generators, clocks and the like, and for all of which nothing
    is known.
    """
    if isinstance(getattr(function, "__self__", None), GENERATORS):
        return True
    if isinstance(function, type):
        return False
    if not hashable(function):
        return True
    if function in TRANSFERS or function in STRUCTURAL or function is passive:
        return False
    return not REGISTRY.facts(function).is_pure


FOUND: dict[Any, tuple[Any, Transfer]] = {}


def find_transfer(function: Callable[..., Any]) -> Transfer:
    """Return what a function does to dependences; raises Refusal if it is not known."""
    if not hashable(function):
        raise without_rule(function)
    direct = TRANSFERS.get(function)
    if direct is not None:
        return direct
    said = transfer_of(function)
    if said is not None:
        return TRANSFERS[said]
    owner = getattr(function, "__self__", None)
    if issubclass(type(owner), (list, tuple, dict, str)):
        return without_owner(function, owner)
    if getattr(function, "__objclass__", None) is str:
        return TRANSFERS[INACTIVE]
    if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
        return constructed
    resolved = REGISTRY.resolve(function)
    if resolved in TRANSFERS:
        return TRANSFERS[resolved]
    if resolved in DECLARED:
        return TRANSFERS[ELEMENTWISE]
    if REGISTRY.inactive(resolved) is not None or (isinstance(function, type) and issubclass(
        function, BaseException
    )):
        return TRANSFERS[INACTIVE]
    rules = REGISTRY.rules_of(resolved)
    if any(rule.elementwise for rule in rules):
        return TRANSFERS[ELEMENTWISE]
    if rules:
        return TRANSFERS[DENSE]
    if isinstance(function, np.ufunc) and function.signature is None and function.nout == 1:
        return TRANSFERS[ELEMENTWISE]
    raise without_rule(function)


def without_owner(function: Callable[..., Any], owner: Any) -> Transfer:
    """Return what a method of a container does to dependences."""
    plain = getattr(type(owner), function.__name__)
    if isinstance(owner, str):
        return TRANSFERS[INACTIVE]
    found = find_transfer(plain)
    return lambda run, _, *args, **kwargs: found(run, plain, owner, *args, **kwargs)


def constructed(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A named tuple."""
    return function(*args, **kwargs)


ELEMENTWISE, INACTIVE, DENSE = "elementwise", "inactive", "dense"
KIND, DTYPE, LAYOUT = "kind", "dtype of result", "layout"
LINEARLY, GROUPED, SYSTEM, STATED = "linearly", "grouped", "system", "stated"
"""Keys of the transfers for functions that have none of their own."""


BY_ELEMENTS = tuple(f"scipy.sparse._{part}" for part in ("lil", "dok", "index", "csparsetools"))
"""The modules of sparse matrices that are filled element by element, in place."""


def without_rule(function: Callable[..., Any]) -> Refusal:
    """Return the refusal of a function that nothing is known of."""
    if str(getattr(function, "__module__", "")).startswith(BY_ELEMENTS):
        return Refusal(
            "a sparse matrix that is filled element by element with what depends on the inputs",
            "coo_array((np.array(values), (rows, columns)), shape=...) of lists", "missing-rule")
    elsewhere = computed_elsewhere(function)
    if elsewhere is not None:
        return Refusal(*elsewhere, "missing-rule")
    return Refusal(
        f"{display_name(function)}() has neither a rule nor readable source, so what its result "
        "depends on is not known",
        "write a rule for it, or declare it non_differentiable", "missing-rule",
    )


def transfer_of(function: Callable[..., Any]) -> str | None:
    """Return the word for what a function does to dependences, if the facts have one."""
    return REGISTRY.facts(function).transfer


def transfer(*functions: Any) -> Callable[[Transfer], Transfer]:
    """Register what functions do to dependences: those of which the facts say one of these words.

    Functions of the runtime, and classes, are given themselves.
    """

    def register(given: Transfer) -> Transfer:
        for function in functions:
            TRANSFERS[function] = given
        return given

    return register


IDENTITIES = ("is", "equal")
"""Transfers of functions that tell which of several kinds a value is of."""
