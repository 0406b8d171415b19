"""Runs a generator of small programs from the command line, with a tally of what happened."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from adcompiler import ADError, InternalError


class Refusal(Exception):
    """The compiler refuses a program; a defect of the compiler is none."""


@contextmanager
def refusals() -> Iterator[None]:
    """Turn errors that refuse a program into ``Refusal``, and let all others pass."""
    try:
        yield
    except InternalError:
        raise
    except ADError as error:
        raise Refusal(str(error)) from error


def run(doc: str | None, outcome: Callable[[int], str]) -> int:
    """Run the programs of seeds; print how many are clean, refused, discarded and wrong."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        try:
            counts[outcome(seed)] += 1
        except Exception as error:
            counts["failed"] += 1
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
    print(", ".join(f"{number} {word}" for word, number in counts.most_common()))
    return 1 if counts["failed"] else 0
