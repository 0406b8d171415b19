"""``python -m tests.mutation --count 60 --seed 1 --map FOLDER --log FILE``: the compiler's mutants.

Draws places of the compiler, changes one at a time in a copy of the tree, and runs the tests that
reach it, those on IR first. What became of each mutant is a row of the log; one that is there is
not tried again, unless ``--again`` names its outcome. Survivors are judged by people, with a
reason.
"""

from __future__ import annotations

import argparse
import collections
import difflib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from tests.mutation.operators import Mutation, sites
from tests.mutation.places import Places
from tests.mutation.reached import Reached, sources
from tests.mutation.trying import Tree

Row = dict[str, Any]


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    path: str
    kind: str
    mutation: Mutation
    source: str
    mutated: str

    @property
    def key(self) -> str:
        """What tells a mutant from others of the same tree."""
        operator = type(self.mutation.operator).__name__
        return f"{self.path}:{self.mutation.at[0]}:{self.mutation.at[1]} {operator}"

    def shown(self) -> list[str]:
        """The lines that differ."""
        lines = difflib.unified_diff(
            self.source.splitlines(), self.mutated.splitlines(), lineterm="", n=0)
        return [line for line in lines if line[:3] not in ("---", "+++") and line[0] in "+-"]

    def lines(self) -> tuple[range, range]:
        """The lines whose tests may tell, and the function around them.

        They are those of a statement, or all for what runs once, when the module is imported.
        """
        places = Places.of(self.source)
        around = places.function(self.mutation.at[0])
        if len(around) == 1:
            return range(1, len(places.lines) + 1), around
        return places.statement(self.mutation.at), around


def drawn(seed: int) -> Iterator[Mutant]:
    """Mutants without an end, each once: modules by their sites, and sites alike."""
    rng, texts, done = Random(seed), sources(), set()
    weights = [len(text.splitlines()) for text in texts.values()]
    known: dict[str, list[tuple[str, list[Mutation]]]] = {}
    while True:
        (path,) = rng.choices(list(texts), weights)
        found = known.setdefault(path, sites(texts[path])) if path not in known else known[path]
        if not found:
            continue
        place = rng.randrange(len(found))
        kind, mutations = found[place]
        mutation = rng.choice(mutations)
        mutated = None if (path, place) in done else mutation.apply(texts[path])
        done.add((path, place))
        if mutated is not None:
            yield Mutant(path, kind, mutation, texts[path], mutated)


def of_lines(places: list[str]) -> Iterator[Mutant]:
    """All mutants of some lines, ``FILE:LINE``."""
    texts = sources()
    for place in places:
        path, _, line = place.partition(":")
        for kind, mutations in sites(texts[path]):
            for mutation in mutations:
                mutated = mutation.apply(texts[path]) if mutation.at[0] == int(line) else None
                if mutated is not None:
                    yield Mutant(path, kind, mutation, texts[path], mutated)


def read(log: Path) -> tuple[dict[str, Row], dict[str, Row]]:
    """The last row of each mutant of a log, and the last judgement of each."""
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return ({row["mutant"]: row for row in rows if "status" in row},
            {row["mutant"]: row for row in rows if "judged" in row})


def write(log: Path, row: Row) -> None:
    """Add a row to the log."""
    with log.open("a") as file:
        print(json.dumps(row), file=file)


def run(options: argparse.Namespace) -> None:
    """Try the mutants of a seed that the log does not tell of yet, or that are to be tried again.

    Those that were judged equivalent are not.
    """
    reached, work = Reached.read(options.map), options.work
    work.mkdir(parents=True, exist_ok=True)
    tree, (seen, judged) = Tree(work), read(options.log)
    mutants = of_lines(options.at) if options.at else islice(drawn(options.seed), options.count)
    part, parts = map(int, options.part.split("/"))
    for number, mutant in enumerate(mutants):
        if number % parts != part % parts:
            continue
        before = seen.get(mutant.key)
        if judged.get(mutant.key, {"judged": ""})["judged"] == "equivalent":
            continue
        if before is not None and before["status"] not in options.again.split(","):
            continue
        tests = reached.tests(mutant.path, mutant.source, *mutant.lines())
        verdict = tree.verdict(mutant.path, mutant.mutated, tests, reached, options.budget)
        row = {"number": number, "mutant": mutant.key, "kind": mutant.kind,
               "change": mutant.shown(), "reached": len(tests), **asdict(verdict)}
        write(options.log, row)
        print(f"{number} {verdict.status} {mutant.key} ({verdict.seconds:.0f} s) {verdict.by}",
              flush=True)


def tally(log: Path) -> None:
    """Print what became of the mutants of a log, and the survivors."""
    rows, judged = read(log)
    counts = collections.Counter(row["status"] for row in rows.values())
    for key, row in rows.items():
        if row["status"] in ("survived", "unreached"):
            verdict = judged.get(key, {"judged": "not examined", "why": ""})
            counts[verdict["judged"]] += 1
            print(f"{row['number']} {row['status']} {key}: {verdict['judged']}. {verdict['why']}")
            print(f"  ran {row['ran']} of {row['reached']} tests", *row["change"], sep="\n  ")
    found = counts["killed"] + counts["timeout"]
    others = [f"{n} {what}" for what, n in counts.items() if what not in ("killed", "timeout")]
    slow = f"{counts['timeout']} by the limit of time"
    print(f"{len(rows)} mutants, {found} killed ({slow})", *others, sep=", ")
    alike = counts["equivalent"]
    print(f"killed: {100 * found / max(len(rows), 1):.1f} %, of those that are not equivalent "
          f"{100 * found / max(len(rows) - alike, 1):.1f} %")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.mutation")
    parser.add_argument("--log", type=Path, required=True, help="what became of each mutant")
    parser.add_argument("--map", type=Path, help="what tests.mutation.reached has written")
    parser.add_argument("--count", type=int, default=0, help="how many; 0 only shows a log")
    parser.add_argument("--at", nargs="*", metavar="FILE:LINE", help="all mutants of these lines")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="1/1", help="one of several shares, such as 1/2 and 2/2")
    parser.add_argument("--budget", type=float, default=240.0, help="seconds of tests per mutant")
    parser.add_argument("--again", default="", help="outcomes to try again: survived,unreached")
    parser.add_argument("--work", type=Path, default=Path("/tmp/adcompiler-mutation"))
    parser.add_argument("--judge", nargs=3, metavar=("NUMBER", "VERDICT", "WHY"),
                        help="write what a survivor is: equivalent, cost, or hole")
    options = parser.parse_args()
    if options.count or options.at:
        run(options)
    if options.judge:
        number, verdict, why = options.judge
        key = next(k for k, row in read(options.log)[0].items() if str(row["number"]) == number)
        write(options.log, {"mutant": key, "judged": verdict, "why": why})
    tally(options.log)


if __name__ == "__main__":
    main()
