"""What code, or a refusal, relies on, as it is kept on disk, and the refusals that are kept.

What is too large to be compiled takes as long to find out as the largest programs take to compile:
it is kept, so that later calls, of other processes too, do not try again.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from adcompiler.cache.keys import (
    digest, fingerprint, is_unknown, names_hold, names_manifest, resolve, rules_hold,
    rules_manifest, storable,
)
from adcompiler.cache.rules_fingerprint import (
    as_loaded, in_library, is_named, is_of_rules, is_sealed, names_outside, seal,
)
from adcompiler.cache.store import Entry, Store
from adcompiler.errors import Cause, Finding, TooLargeError, TooLongError
from adcompiler.frontend.depth import deepest
from adcompiler.frontend.scope import MISSING
from adcompiler.support.budget import Budget

if TYPE_CHECKING:
    from adcompiler.typed.tables import Reliance


def reliance_manifest(relied: Sequence[Reliance]) -> dict[str, Any] | None:
    """Return what tables of what was relied on hold, as JSON can hold it.

    None if another process could not find all of it.
    """
    relied = list(relied)
    facts = [
        (storable(path), fingerprint(value), in_library(value))
        for path, value in merged(one.facts for one in relied).items()
    ]
    rules = rules_manifest(merged(one.rules_used for one in relied))
    if rules is None or any(path is None or is_unknown(text) for path, text, _ in facts):
        return None
    names = merged(one.rule_names for one in relied)
    return {
        "facts": facts, "rules": rules, "names": names_manifest(names),
        "seal": seal() if as_loaded(names) else None,
    }


def merged(tables: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    """Return one table of all entries of several."""
    return {key: value for table in tables for key, value in table.items()}


def facts_that_hold(
    entry: Entry, function: Callable[..., Any], arguments: Mapping[str, Any]
) -> dict[Any, Any] | None:
    """Return what a kept entry relies on, by path; None if any of it has changed."""
    manifest, sealed = entry.manifest, is_sealed(entry)
    facts = {}
    for path, wanted, name in manifest["facts"]:
        if sealed and is_of_rules(path):
            continue
        value = resolve(function, map(tuple, path), arguments)
        if value is MISSING or not (
            is_named(value, name) if sealed and name else fingerprint(value) == wanted
        ):
            return None
        facts[tuple(map(tuple, path))] = value
    names = names_outside(manifest["names"]) if sealed else manifest["names"]
    if not (sealed or rules_hold(manifest["rules"])) or not names_hold(names):
        return None
    return facts


# -- what is too large -----------------------------------------------------------------------------


REFUSED: weakref.WeakKeyDictionary[types.FunctionType, dict[str, tuple[Finding, ...]]] = (
    weakref.WeakKeyDictionary())
"""What is too large and cannot be kept on disk: of each function, by keys of refusals."""


def refusal_key(key: str) -> str:
    """Return the key of the refusal of what would be compiled under a key."""
    return digest("too large", key, Budget.from_environment().statements)


def kept_refusal(
    store: Store, key: str, function: Any, arguments: Mapping[str, Any]
) -> TooLargeError | None:
    """Return why what would be compiled under a key was too large before, if that still holds.

    Where another process could not check that, it holds in this one, and for this function.
    """
    here = REFUSED.get(function, {}).get(refusal_key(key))
    if here is not None:
        return TooLargeError(here)
    for entry in store.candidates(refusal_key(key)):
        try:
            findings = [read_finding(row) for row in entry.manifest["findings"]]
            holds = facts_that_hold(entry, function, arguments) is not None
        except Exception:  # it is not what was written: as good as none
            store.discard(entry)
            continue
        if holds:
            return TooLargeError(findings)
    return None


def keep_refusal(
    store: Store, key: str, function: types.FunctionType, error: TooLargeError,
    relied: Sequence[Reliance],
) -> None:
    """Keep, on disk if that is possible, that what would be compiled under a key is too large."""
    name = function.__name__
    manifest = reliance_manifest(relied)
    if manifest is None:
        REFUSED.setdefault(function, {})[refusal_key(key)] = error.findings
    else:
        manifest["findings"] = [asdict(finding) for finding in error.findings]
        text = "".join(f"# {line}\n" for line in str(error).splitlines())
        store.write(refusal_key(key), f"{name}_is_too_large", text, manifest)


def read_finding(row: dict[str, Any]) -> Finding:
    """Return a finding as it was kept."""
    cause = row["cause"]
    return Finding(**{
        **row, "callers": tuple(row["callers"]), "cause": None if cause is None else Cause(**cause),
    })


def compiled_or_refused(
    work: Callable[[], Any], budget: Budget, store: Store, key: str, function: types.FunctionType
) -> Any:
    """Return what ``work`` compiles; a refusal for size is kept, with what it relies on.

    What takes too long on this machine may not on another one, or later, and is not kept.
    """
    try:
        return work()
    except TooLongError:
        raise
    except TooLargeError as error:
        keep_refusal(store, key, function, error, budget.relied)
        raise
    except RecursionError as error:
        too_deep = TooLargeError([deepest(function)])
        keep_refusal(store, key, function, too_deep, budget.relied)
        raise too_deep from error
