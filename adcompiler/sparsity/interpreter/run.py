"""One run of a pattern program: calls of functions on values that depend on the inputs."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adcompiler.ir.nodes import Origin
from adcompiler.ops.classify import Classification, of_letters
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime.functionals import passive
from adcompiler.sparsity.dependences.index_sets import Shape
from adcompiler.sparsity.dependences.sets import size_of, union
from adcompiler.sparsity.dependences.values import (
    NOTHING, DType, DecisionError, Dependent, Either, Relation, UnknownLengthError,
    UnknownList, UnknownShape, Value, has_dependents, identity, is_complex, primal,
)
from adcompiler.sparsity.interpreter.fullness import (
    LARGE, TooFullError, bring_many, makes_full,
)
from adcompiler.sparsity.interpreter.table import (
    ALWAYS, DTYPE, KIND, LAYOUT, STRUCTURAL, TRANSFERS, Refusal, Transfer, find_transfer, may_vary,
    transfer_of,
)
from adcompiler.sparsity.interpreter.varying import (
    drawing_apart, is_harmless, unknown_like,
)

CROWDED = 32
"""From so many operations on, a number refers to one record that stands for all of them."""


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
    ``origin`` the place that is being run, and ``full`` those that make arrays depend on many.
    """

    classifications: Callable[..., tuple[Classification, ...]]

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
        self.origin: Origin | None = None
        self.full: list[Origin] = []
        self.is_lasting = True

    def failed(self, error: Exception, origin: Origin | None) -> None:
        """Note where the pattern cannot be computed."""
        if origin is not None and isinstance(error, (Refusal, DecisionError)):
            error.origins.append(origin)

    def note_full(self, result: Value, args: Sequence[Value]) -> None:
        """Note the line that is being run if it makes a full array of others."""
        if self.columns >= LARGE and makes_full(result, args, self.columns):
            self.note_line()

    def note_line(self) -> None:
        """Note which line is being run."""
        if self.origin is not None and self.origin not in self.full:
            self.full.append(self.origin)

    def may_fail_by(self, error: Exception) -> None:
        """Refuse an exception that says that an operation was not understood.

        In an arm that may not be taken, other exceptions are the program's own.
        """
        if isinstance(error, RecursionError):
            raise error
        if isinstance(error, (TypeError, AttributeError, NameError)) and (
            error is not self.raised
        ):
            raise Refusal(f"this cannot be followed: {type(error).__name__}: {error}") from error

    def looked(self, origins: frozenset[int]) -> None:
        """Raise LookedError if arguments that decide something are generic numbers."""
        if not self.generic.isdisjoint(origins):
            raise LookedError(self.generic & origins)

    # -- making values -----------------------------------------------------------------------

    def made(
        self, shape: Shape | None, dtype: DType, first: Relation = NOTHING,
        second: Relation = NOTHING, value: Value = None,
    ) -> Any:
        """Return a value that depends on the inputs; at a point, one that does not is itself."""
        if self.local and first == NOTHING and second == NOTHING:
            return value
        return Dependent(shape, dtype, first, second, value)

    def value(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Value],
    ) -> Any:
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
        if self.columns >= LARGE and bring_many(pairs, self.columns):
            self.note_line()
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

    def call(self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Value]) -> Any:
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
        args: tuple[Value, ...], kwargs: Mapping[str, Value],
    ) -> Any:
        """Return what a transfer gives; what it cannot do is a refusal, never a missing entry."""
        if any(isinstance(arg, Either) for arg in (*args, *kwargs.values())) and (
            transfer_of(function) not in IDENTITIES
        ):
            raise Refusal(
                "a value is of one kind or another, depending on the inputs", 'mode="local"')
        try:
            result = found(self, function, *args, **kwargs)
            self.note_full(result, args)
            if self.layouts:
                TRANSFERS[LAYOUT](self, result, found, function, args, kwargs)
            return result
        except (Refusal, IndexError, ValueError, ArithmeticError, RecursionError):
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
        self, function: Callable[..., Any], args: tuple[Value, ...], kwargs: Mapping[str, Value]
    ) -> Any:
        """Return the result of a call of which every argument is known."""
        if function is passive:
            raise Refusal("what a solution depends on is not known")
        self.is_lasting = self.is_lasting and is_harmless(function)
        return self.varying(function, args, kwargs) if may_vary(function) else (
            called(function, args, kwargs))

    def varying(
        self, function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value],
    ) -> Any:
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


IDENTITIES = ("is", "equal")
"""Transfers of functions that tell which of several kinds a value is of."""

LITTLE_KNOWN = frozenset({Dependent, Either, UnknownList, UnknownShape})
PLAIN = frozenset({int, float})
CONSTANT = Dependent((), float)
EXPONENTS = {0: of_letters("zzz"), 1: of_letters("fzz")}
CURVED = of_letters("szz")


def called(function: Callable[..., Any], args: Sequence[Value], kwargs: Mapping[str, Value]) -> Any:
    """Return the result of a call; methods of arrays are those of numbers too."""
    owner = getattr(function, "__objclass__", None)
    if args and owner in (np.ndarray, np.generic) and not isinstance(args[0], owner):
        first = np.asarray(args[0])
        args = (first if owner is np.ndarray else first[()], *args[1:])
    return function(*args, **kwargs)
