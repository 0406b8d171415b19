"""Lowers ``match``: every case becomes a branch on whether its pattern fits.

What a pattern captures is bound once all of it fits, as in Python. Tests of classes, lengths and
keys are folded where types decide them, so that only the cases that are possible remain.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import gast

from adcompiler.frontend.lowering import Part
from adcompiler.frontend.names import assigned_names
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Item, Pack
from adcompiler.runtime import is_mapping, is_sequence, pattern_argument, unpack, without_keys

Captures = dict[str, Atom]
Fits = Callable[[Captures], Atom]
"""Lowers what follows if a pattern fits, and returns whether all does."""
TRUE, FALSE = Const(True), Const(False)


class PatternTest(gast.expr):
    """The test of one case: whether the subject fits the pattern, and then the guard holds."""

    _fields = ("subject", "pattern", "guard")
    subject: str
    pattern: gast.pattern
    guard: gast.expr | None

    def __init__(self, *parts: str | gast.AST | None) -> None:
        super().__init__(*parts)


class Captured(gast.stmt):
    """Stands where what a pattern captured is known to have a value."""

    _fields = ("names",)
    names: list[str]

    def __init__(self, *parts: list[str]) -> None:
        super().__init__(*parts)


class Patterns(Part):
    """Lowers ``match`` statements."""

    def match_as_branches(self, node: gast.Match) -> list[gast.stmt]:
        """Bind the subject, and return the cases as nested branches."""
        name = self.names.fresh("subject")
        self.out.bind(name, self.lower.expression(node.subject))
        branches: list[gast.stmt] = []
        for case in reversed(node.cases):
            test = gast.copy_location(PatternTest(name, case.pattern, case.guard), case.pattern)
            if is_wildcard(case.pattern) and case.guard is None:
                branches = case.body
            else:
                names = list(assigned_names(case.pattern))
                body = [gast.copy_location(Captured(names), case.pattern), *case.body]
                branches = [gast.copy_location(gast.If(test, body, branches), case.pattern)]
        return branches

    def parse_Captured(self, node: Captured) -> None:
        self.out.checked |= {self.out.env[name] for name in node.names}

    def parse_PatternTest(self, node: PatternTest) -> Atom:
        def fits(captures: Captures) -> Atom:
            for name, value in captures.items():
                self.out.bind(name, value)
            return TRUE if node.guard is None else self.lower.expression(node.guard)

        return self.pattern(node.pattern, self.out.load(node.subject), {}, fits)

    def pattern(
        self, node: gast.pattern, subject: Atom, captures: Captures, fits: Fits
    ) -> Atom:
        """Lower the test of a pattern, with ``fits`` for what follows if it fits."""
        self.out.origin = self.out.locate(node)
        match node:
            case gast.MatchValue():
                value = self.lower.expression(node.value)
                return self.both(self.called(operator.eq, subject, value), lambda: fits(captures))
            case gast.MatchSingleton():
                same = self.called(operator.is_, subject, Const(node.value))
                return self.both(same, lambda: fits(captures))
            case gast.MatchAs():
                name = node.name

                def named(inner: Captures) -> Atom:
                    return fits({**inner, name: subject} if name else inner)

                if node.pattern is None:
                    return named(captures)
                return self.pattern(node.pattern, subject, captures, named)
            case gast.MatchOr():
                return self.alternatives(node, subject, captures, fits)
            case gast.MatchSequence():
                return self.both(
                    self.called(is_sequence, subject),
                    lambda: self.sequence_pattern(node, subject, captures, fits),
                )
            case gast.MatchMapping():
                return self.both(
                    self.called(is_mapping, subject),
                    lambda: self.mapping_pattern(node, subject, captures, fits),
                )
        assert isinstance(node, gast.MatchClass)
        return self.class_pattern(node, subject, captures, fits)

    def both(self, test: Atom, more: Callable[[], Atom]) -> Atom:
        """Lower ``test and more``."""
        return self.out.choose(test, more, lambda: FALSE)

    def called(self, function: Callable[..., object], *args: Atom) -> Atom:
        return self.out.let(Call(Const(function), args), "fits")

    def all_of(
        self, parts: Sequence[tuple[gast.pattern, Callable[[], Atom]]], captures: Captures,
        fits: Fits,
    ) -> Atom:
        """Lower the test that every pattern fits its part of the subject."""
        if not parts:
            return fits(captures)
        (pattern, part), *rest = parts
        return self.pattern(
            pattern, part(), captures, lambda found: self.all_of(rest, found, fits)
        )

    def alternatives(
        self, node: gast.MatchOr, subject: Atom, captures: Captures, fits: Fits
    ) -> Atom:
        """Lower ``a | b``; what either captures is kept in variables that no other code has."""
        places: dict[str, str] = {}

        def noted(found: Captures) -> Atom:
            for name, value in found.items():
                if name not in captures:
                    places.setdefault(name, self.names.fresh(name))
                    self.out.env[places[name]] = value
            return TRUE

        def from_(position: int) -> Atom:
            test = self.pattern(node.patterns[position], subject, captures, noted)
            if position + 1 == len(node.patterns):
                return test
            return self.out.choose(test, lambda: TRUE, lambda: from_(position + 1))

        def chosen() -> Atom:
            found = {name: self.out.env[place] for name, place in places.items()}
            self.out.checked |= set(found.values())
            return fits({**captures, **found})

        return self.both(from_(0), chosen)

    def sequence_pattern(
        self, node: gast.MatchSequence, subject: Atom, captures: Captures, fits: Fits
    ) -> Atom:
        """Lower the tests of a sequence: its length, then its elements."""
        stars = [i for i, p in enumerate(node.patterns) if isinstance(p, gast.MatchStar)]
        star, count = (stars[0] if stars else -1), len(node.patterns)
        length = self.out.let(Call(Const(len), (subject,)), "length")
        enough = self.called(
            operator.ge if stars else operator.eq, length, Const(count - len(stars))
        )

        def elements() -> Atom:
            taken = self.out.let(
                Call(Const(unpack), (subject, Const(count), Const(star))), "parts"
            )
            parts = []
            for position, pattern in enumerate(node.patterns):
                inner = pattern
                if isinstance(pattern, gast.MatchStar):
                    inner = gast.copy_location(gast.MatchAs(None, pattern.name), pattern)
                parts.append((inner, lambda position=position: self.out.let(
                    Item(taken, Const(position)), "part"
                )))
            return self.all_of(parts, captures, fits)

        return self.both(enough, elements)

    def mapping_pattern(
        self, node: gast.MatchMapping, subject: Atom, captures: Captures, fits: Fits
    ) -> Atom:
        """Lower the tests of a mapping: that it has the keys, then their values."""
        keys = [self.lower.expression(key) for key in node.keys]

        def whole(found: Captures) -> Atom:
            if node.rest is None:
                return fits(found)
            given = self.out.let(Pack("tuple", tuple(keys)), "keys")
            rest = self.out.let(Call(Const(without_keys), (subject, given)), node.rest)
            return fits({**found, node.rest: rest})

        def values() -> Atom:
            parts = [
                (pattern, lambda key=key: self.out.let(Item(subject, key), "entry"))
                for pattern, key in zip(node.patterns, keys, strict=True)
            ]
            return self.all_of(parts, captures, whole)

        def present(position: int) -> Atom:
            if position == len(keys):
                return values()
            return self.both(
                self.called(operator.contains, subject, keys[position]),
                lambda: present(position + 1),
            )

        return present(0)

    def class_pattern(
        self, node: gast.MatchClass, subject: Atom, captures: Captures, fits: Fits
    ) -> Atom:
        """Lower the tests of an instance: its class, then its attributes."""
        cls = self.lower.expression(node.cls)

        def argument(position: int) -> Callable[[], Atom]:
            given = (cls, subject, Const(position))
            return lambda: self.out.let(Call(Const(pattern_argument), given), "part")

        parts = [(pattern, argument(position)) for position, pattern in enumerate(node.patterns)]

        def keywords(position: int, found: Captures) -> Atom:
            if position == len(node.kwd_attrs):
                return fits(found)
            name = node.kwd_attrs[position]
            return self.both(
                self.called(hasattr, subject, Const(name)),
                lambda: self.pattern(
                    node.kwd_patterns[position],
                    self.out.let(Attribute(subject, name), name), found,
                    lambda more: keywords(position + 1, more),
                ),
            )

        return self.both(
            self.called(isinstance, subject, cls),
            lambda: self.all_of(parts, captures, lambda found: keywords(0, found)),
        )


def is_wildcard(pattern: gast.pattern) -> bool:
    """Say whether a pattern is ``_``."""
    return isinstance(pattern, gast.MatchAs) and pattern.pattern is None and pattern.name is None
