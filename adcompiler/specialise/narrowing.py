"""Types that were observed in a run, relied on where none can be told: each with a check."""

from __future__ import annotations

from collections.abc import Callable

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Do, If, Origin, Statement, Try, Var
from adcompiler.runtime import Unfit, check_type
from adcompiler.specialise.writer import Writer
from adcompiler.typed.observed import text_of

Arm = tuple[list[Statement], tuple[Atom, ...] | None]


def observed_type(s: Writer, var: Var) -> tuple[t.Type, str] | None:
    """Return what a variable of the parsed function was in the run, and how a check names it."""
    seen = s.unit.settings.observed
    if seen is None or s.caught:
        return None
    type_ = seen.type(var, s.unit.calls.sites, s.unit.calls.apart > 0)
    text = text_of(type_)
    return None if text is None else (type_, text)


def catches_all(node: Try, value: Callable[[Atom], Atom]) -> bool:
    """Say whether a handler of a ``try`` may take an ``Unfit`` for its own, and go on."""
    for handler in node.handlers:
        kind = value(handler.exception)
        kinds = kind.value if isinstance(kind, Const) else BaseException
        if not handler.body.diverges and not all(
            isinstance(one, type) and issubclass(one, Exception)
            for one in (kinds if isinstance(kinds, tuple) else (kinds,))
        ):
            return True
    return False


def place_of(origin: Origin) -> str:
    """Return the place that a failing check tells."""
    return origin.where


def narrow(s: Writer, var: Var, value: Atom, origin: Origin) -> None:
    """Write the check that a value of unknown type is of the one that was observed."""
    if not isinstance(value, Var) or not is_open(s.unit.type(value)):
        return
    known = observed_type(s, var)
    if known is None or value in s.unit.iterators.one_shot:
        return
    type_, text = known
    if not t.may_vary(type_) and not isinstance(type_, t.Dict):
        return
    place = place_of(origin)
    s.out.append(Do(Call(Const(check_type), (value, Const(text), Const(place))), origin))
    s.unit.types[value] = type_
    rely(s, f"{place}: `{var.name}` is {text}")


def is_open(type_: t.Type) -> bool:
    """Say whether nothing is known of values of a type, or of a dict not which keys it has."""
    return isinstance(type_, t.Unknown) or (isinstance(type_, t.Dict) and type_.keys is None)


def rely(s: Writer, text: str) -> None:
    """Note, for `explain`, what the code relies on."""
    seen = s.unit.settings.observed
    if seen is not None and text not in seen.relied:
        seen.relied.append(text)


def is_left_out(s: Writer, node: If, arm: bool, findings: int) -> bool:
    """Say whether an arm that the run never took is left out: what is in it is refused.

    ``findings`` were there before it was written; they are there alone afterwards.
    """
    seen = s.unit.settings.observed
    if seen is None or s.caught or not seen.never(node, arm) or not (
        seen.taken or len(s.unit.findings) > findings
    ):
        return False
    del s.unit.findings[findings:]
    return True


def left_out(s: Writer, node: If, arm: bool) -> list[Statement]:
    """Return what stands for an arm that is left out: it raises."""
    place = place_of(node.origin)
    with s.writing_to([]) as out:
        s.raise_(Unfit, (
            f"{place}: the run that the derivative was compiled by did not go this way: "
            f"{node.origin.text.strip()}"), node.origin)
    rely(s, f"{place}: the condition is {'false' if arm else 'true'}")
    return out


def cut(s: Writer, node: If, arms: list[Arm]) -> list[Arm]:
    """Return the arms of a branch, that raising which gives another type than was observed.

    Only where the two give types of which there is no common one, for what is read later on.
    """
    if s.unit.settings.observed is None or any(yields is None for _, yields in arms):
        return arms
    for index, result in enumerate(node.results):
        if s.heap is not None and result not in s.heap.live:
            continue
        types = [s.unit.type(yields[index]) for _, yields in arms if yields is not None]
        known = observed_type(s, result)
        if known is None or not isinstance(t.join(*types), t.Unknown) or known[0] not in types:
            continue
        type_, text = known
        gone = types.index(type_) ^ 1
        if isinstance(types[gone], t.Unknown):
            continue
        out, place = list(arms[gone][0]), place_of(node.origin)
        with s.writing_to(out):
            s.raise_(Unfit, (
                f"{place}: `{result.name}` is of another type here than in the run that the "
                f"derivative was compiled by, where it was {text}"), node.origin)
        rely(s, f"{place}: `{result.name}` is {text}, as one arm of the branch gives it")
        return [(out, None) if n == gone else arm for n, arm in enumerate(arms)]
    return arms
