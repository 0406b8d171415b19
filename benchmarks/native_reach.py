"""Tallies why programs of the corpus stay in Python: ``python benchmarks/native_reach.py``.

Prints how many programs have native loops, and each reason for which others have none, most
frequent first, with programs as examples; with ``--all`` each program and its reason.
"""

from __future__ import annotations

import collections
import os
import sys
from pathlib import Path

os.environ["ADCOMPILER_NATIVE"] = "plain"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from adcompiler import value_and_grad
from adcompiler.errors import ADError, UnsupportedError
from tests.corpus.test_corpus import PROGRAMS


def reason(program: object) -> tuple[str, str]:
    """Return why a program has no loops, and on which line; empty strings if it has."""
    native = value_and_grad(program.function, argnums=program.argnums, backend="native")
    try:
        native.compiled_for(*program.samples(np.random.default_rng(0)))
    except UnsupportedError as error:
        finding = error.findings[0]
        return finding.problem.partition("nothing for this: ")[2], str(finding)
    except ADError as error:
        return type(error).__name__, str(error)
    return "", ""


def main(every: bool) -> None:
    """Print the tally."""
    found = collections.defaultdict(list)
    for program in PROGRAMS:
        problem, where = reason(program)
        found[problem].append((program, where))
        if every:
            print(f"{program.function.__name__}: {problem or 'loops'}")
    print(f"{len(found.pop('', []))} of {len(PROGRAMS)} programs have native loops")
    for problem, programs in sorted(found.items(), key=lambda pair: -len(pair[1])):
        names = ", ".join(sorted(p.function.__name__ for p, _ in programs)[:4])
        print(f"{len(programs):4}  {problem}  ({names})")


if __name__ == "__main__":
    main("--all" in sys.argv[1:])
