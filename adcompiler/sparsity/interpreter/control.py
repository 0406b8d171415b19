"""Control flow of pattern programs: where a condition is not known, every way is followed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.sparsity.dependences.values import (
    Dependent, Either, UnknownList, Value, dependents_in, map_dependents,
)
from adcompiler.sparsity.interpreter.joining import covers, join
from adcompiler.sparsity.interpreter.run import Record, Run
from adcompiler.sparsity.interpreter.table import Refusal
from adcompiler.sparsity.transfers.movement import rows_of

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array

Values = tuple[Any, ...]
Arm = Callable[[], Values]
Handler = tuple[type[BaseException], Callable[[Any], Values]]
UNROLLED = 3
"""So many iterations of a loop without a known end are followed one by one."""
TRIED = 16
"""After so many iterations that may not be reached, it is tried whether the others add anything."""


class UnreachedError(Exception):
    """What a recursive call gives is not known yet: nothing comes of it so far."""


class UnknownError(Exception):
    """One of several exceptions, or none: any handler may take it."""


class Follower:
    """Follows the arms of branches; what they write stays theirs."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __enter__(self) -> Follower:
        self.before = self.run.token, self.run.owned
        self.run.tokens += 1
        self.run.token, self.run.owned = self.run.tokens, {}
        return self

    def __exit__(self, *exception: object) -> None:
        self.run.token, self.run.owned = self.before


def truth(run: Run, condition: Value) -> bool | None:
    """Return whether a condition holds, None if that depends on the inputs."""
    if isinstance(condition, Dependent):
        return None if condition.value is None else bool(condition.value)
    if isinstance(condition, (Either, UnknownList)):
        return None
    if isinstance(condition, (list, tuple, dict)):
        return bool(len(condition))
    return bool(condition)


def branch(run: Run, condition: Dependent | bool, then: Arm, orelse: Arm) -> tuple[Any, ...]:
    """Return what a branch yields: of both arms, unless the condition is known."""
    known = truth(run, condition)
    if known is not None:
        return then() if known else orelse()
    return either(run, (then, orelse))


def either(run: Run, arms: Iterable[Arm]) -> tuple[Any, ...]:
    """Return the join of what arms yield; those that raise an exception yield nothing."""
    run.doubts += 1
    found: tuple[Any, ...] | None = None
    failure: Exception | None = None
    for arm in arms:
        try:
            with Follower(run):
                results = arm()
        except Refusal:
            raise
        except Exception as error:  # the program's own, in an arm that may not be taken
            run.may_fail_by(error)
            failure = error
            continue
        found = results if found is None else joined(found, results)
    if found is None:
        assert failure is not None
        raise failure
    return found


def joined(a: Sequence[Value], b: Sequence[Value]) -> tuple[Any, ...]:
    """Return the join of two states, variable by variable."""
    return tuple(map(join, a, b))


def iterate(run: Run, iterable: Value) -> Any:
    """Return what a loop runs over: a list of items, of which the length may not be known."""
    if isinstance(iterable, Dependent) and iterable.shape is None:
        return UnknownList(iterable)
    if isinstance(iterable, Dependent):
        return rows_of(run, iterable)
    if isinstance(iterable, Either):
        raise Refusal("a loop over one of several things", 'mode="local"')
    return iterable


class Loop:
    """A loop: its body and condition as functions, and what is known of where it ends."""

    def __init__(
        self, run: Run, body: Callable[..., Values],
        condition: Callable[..., Any] | None, count: int, collects: int, stops: bool,
    ) -> None:
        self.run = run
        self.body = body
        self.condition = condition
        self.count = count
        self.collects = collects
        self.stops = stops
        self.exits: tuple[Any, ...] | None = None
        self.lists: tuple[list[Any], ...] = tuple([] for _ in range(collects))
        self.exit_lists: tuple[Any, ...] | None = None
        self.uncertain = 0

    def __call__(
        self, iterables: Sequence[Any], inits: tuple[Dependent | Array, ...]
    ) -> tuple[Any, ...]:
        """Return the carried values after the loop, then what it collected."""
        rows, endless = self.rows(iterables)
        before = self.run.token, self.run.owned
        try:
            state = self.follow(rows, endless, tuple(inits))
        finally:
            self.run.token, self.run.owned = before
        if state is not None:
            self.leave(state)
        assert self.exits is not None and self.exit_lists is not None
        return (*self.exits, *self.exit_lists)

    def rows(self, iterables: Sequence[Value]) -> tuple[Iterator[tuple[Any, ...]], bool]:
        """Return the tuples of items of the iterations, and whether they may go on for ever."""
        given = [iterate(self.run, iterable) for iterable in iterables]
        if any(isinstance(one, UnknownList) for one in given):
            self.may_end_anywhere = True
            given = [
                itertools.repeat(one.item) if isinstance(one, UnknownList) else one
                for one in given
            ]
            return zip(*given), True  # noqa: B905 (as far as the shortest)
        self.may_end_anywhere = False
        if not given:
            return itertools.repeat(()), True
        endless = all(isinstance(one, (itertools.count, itertools.repeat)) for one in given)
        return zip(*given), endless  # noqa: B905

    def leave(self, state: Sequence[Dependent]) -> None:
        """Enter a state in which the loop may be left."""
        lists = tuple(list(each) for each in self.lists)
        if self.exits is None:
            self.exits, self.exit_lists = tuple(state), lists
        else:
            self.exits = joined(self.exits, state)
            assert self.exit_lists is not None
            self.exit_lists = joined(self.exit_lists, lists)

    def doubt(self, state: Sequence[Any]) -> None:
        """Enter that the loop may be left here; from now on nothing is written into in place."""
        self.leave(state)
        self.uncertain += 1
        self.run.doubts += 1
        self.run.tokens += 1
        self.run.token, self.run.owned = self.run.tokens, {}

    def follow(
        self, rows: Iterator[tuple[Value, ...]], endless: bool, state: tuple[Dependent | Array, ...]
    ) -> tuple[Any, ...] | None:
        """Run iterations; return the state in the end, None if the end is not reached."""
        next_try = TRIED
        for items in rows:
            if self.may_end_anywhere:
                self.doubt(state)
            going = self.goes_on(state)
            if going is False:
                return state
            if going is None:
                self.doubt(state)
            if self.uncertain > UNROLLED and endless:
                self.widen(items, state)
                return None
            if self.uncertain > next_try:
                if self.adds_nothing(items, state):
                    return state
                next_try *= 4
            found = self.iteration(items, state)
            if found is None:
                return None
            state, stopping = found
            if stopping is True:
                return state
            if stopping is None:
                self.doubt(state)
        return state

    def goes_on(self, state: tuple[Dependent | Array, ...]) -> bool | None:
        """Return whether the condition of the loop holds, None if that is not known."""
        if self.condition is None:
            return True
        try:
            return truth(self.run, self.condition(*state)[0])
        except Refusal:
            raise
        except Exception as error:
            if not self.uncertain:
                raise
            self.run.may_fail_by(error)
            return False

    def iteration(
        self, items: Sequence[Value], state: tuple[Dependent | Array, ...]
    ) -> tuple[tuple[Any, ...], bool | None] | None:
        """Run the body; None if it raises where it may not be reached."""
        try:
            results = self.body(*items, *state)
        except Refusal:
            raise
        except Exception as error:
            if not self.uncertain:
                raise
            self.run.may_fail_by(error)
            return None
        for each, value in zip(self.lists, results[self.count :], strict=False):
            each.append(value)
        stopping = truth(self.run, results[-1]) if self.stops else False
        return results[: self.count], stopping

    def adds_nothing(self, items: Sequence[Value], state: tuple[Dependent | Array, ...]) -> bool:
        """Say whether no further iteration, whatever its items, changes what is known."""
        if self.collects or self.run.second or not all(
            isinstance(i, (int, np.integer)) for i in items
        ):
            return False
        unknown = [Dependent((), int) for _ in items]
        try:
            with Follower(self.run):
                results = self.body(*unknown, *state)
        except Exception:  # anything: the iterations are then followed one by one
            return False
        return covers(state, joined(state, results[: self.count]))

    # -- loops without a known end -----------------------------------------------------------

    def widen(self, items: tuple[Value, ...], state: Sequence[Value]) -> None:
        """Join the states of all further iterations, until nothing new comes."""
        meets: dict[int, Record] = {}
        for _ in range(10_000):
            state = meeting(self.run, state, meets)
            self.doubt(state)
            unknown = tuple(
                Dependent((), int) if isinstance(i, (int, np.integer)) else i for i in items
            )
            if self.goes_on(state) is False:
                return
            found = self.iteration(unknown, state)
            if found is None:
                return
            after, stopping = found
            if stopping is not False:
                self.leave(after)
            wider = joined(state, after)
            if covers(state, wider):
                flow_back(wider, state, meets)
                self.leave(state)
                return
            state = wider
        raise Refusal("a loop that does not settle", 'mode="local"')


def meeting(run: Run, state: Sequence[Any], meets: dict[int, Record]) -> tuple[Any, ...]:
    """Return a state whose second relations are records that more can flow into later."""
    if not run.second:
        return tuple(state)

    def enter(d: Dependent) -> Dependent:
        second = run.note(d.shape, [d.second], ())
        made = Dependent(d.shape, d.dtype, d.first, second)
        run.kept.append(made)
        meets[id(made)] = run.records[-1]
        return made

    return tuple(map_dependents(enter, value) for value in state)


def flow_back(wider: Value, state: Value, meets: dict[int, Record]) -> None:
    """Let second relations that were joined to a state flow into the records it begins with."""
    if meets:
        for new, old in zip(dependents_in(wider), dependents_in(state), strict=True):
            meets[id(old)].children.append(new.second)


def attempt(
    run: Run, body: Arm, handlers: Sequence[Handler]
) -> tuple[Any, ...]:
    """Return what a ``try`` yields: handlers are followed where something may be raised.

    What is raised then is not known, and a handler that asks for it cannot be followed.
    """
    doubts = run.doubts
    arms: list[Arm] = []
    try:
        if run.local:
            results = body()
        else:
            with Follower(run):
                results = body()
    except (Refusal, UnreachedError):
        raise
    except Exception as error:
        if not isinstance(error, UnknownError) and (run.doubts == doubts or run.local):
            return handled(error, handlers)
        caught = error

        def take() -> tuple[Any, ...]:
            return handled(caught, handlers)

        if not isinstance(error, UnknownError):
            arms.append(take)
    else:
        if run.doubts == doubts or run.local:
            return results
        arms.append(lambda: results)
    for _, handler in handlers:
        arms.append(lambda h=handler: h(Either()))  # type: ignore[misc]
    return either(run, arms)


def handled(
    error: Exception, handlers: Sequence[Handler]
) -> tuple[Any, ...]:
    """Return what the handler of an exception yields; raise it again if there is none."""
    for classes, handler in handlers:
        if isinstance(error, classes):
            return handler(error)
    raise error


def note(run: Run, place: list[Value], value: Array) -> None:
    """Note the value of a variable for handlers, which may run after any of those noted."""
    place[0] = value if run.local else join(place[0], value)


