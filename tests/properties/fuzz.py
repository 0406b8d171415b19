"""Long runs of random programs, in several processes, with a tally of what happened.

    python -m tests.properties.fuzz 20000 --workers 2 --seed 1
    python -m tests.properties.fuzz 5000 --plain      # the programs only, without compiling

A program is clean, refused by the compiler, discarded (it raises, overflows, or is not smooth), or
a failure. Of each kind of failure the smallest program found is made smaller and printed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.properties.checking import AND, Refused, Skip, check, check_plainly
from tests.properties.features import WRITES
from tests.properties.minimise import minimise
from tests.properties.programs import EVERYTHING, WRITING, Program, random_program

CHUNK = 40
KINDS = ("long", "all", "everyday", "writing", "write-free")


@dataclass
class Tally:
    """What happened to the programs of a run."""

    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    discarded: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    clean_features: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[tuple[int, Program]]] = field(default_factory=dict)

    @property
    def refused_share(self) -> float:
        """The part of the programs with writes and aliases that were refused."""
        return self.counts["refused"] / max(1, self.counts["clean"] + self.counts["refused"])

    def merge(self, other: Tally) -> None:
        for name in ("counts", "refused", "discarded", "features", "clean_features"):
            getattr(self, name).update(getattr(other, name))
        for kind, found in other.failures.items():
            self.failures.setdefault(kind, []).extend(found)

    def __str__(self) -> str:
        rows = [", ".join(f"{self.counts[word]} {word}" for word in
                          ("programs", "clean", "refused", "discarded", "failed"))
                + f"; refused share {self.refused_share:.1%}"]
        for title, counts in (("refused", self.refused), ("discarded", self.discarded)):
            rows += [f"  {title}: {count:6d}  {reason}" for reason, count in counts.most_common(40)]
        rows += ["  kinds of statements: programs, clean ones"]
        rows += [f"    {count:6d} {self.clean_features[name]:6d}  {name}"
                 for name, count in self.features.most_common()]
        rows += [f"  FAILED: {len(found):6d}  {kind}  (seeds {[s for s, _ in found[:5]]})"
                 for kind, found in self.failures.items()]
        return "\n".join(rows)


def program_of(seed: int, kinds: str = "all") -> Program:
    """Return the program of a seed: one in four without writes, if ``kinds`` is "all".

    Of the others every second one holds statements of everyday code too, in long runs.
    """
    if kinds == "everyday" or (kinds == "long" and seed % 4 in (1, 3)):
        return random_program(seed, 9, EVERYTHING)
    if kinds == "write-free" or (kinds in ("all", "long") and seed % 4 == 0):
        return random_program(seed, 6)
    return random_program(seed, 9, WRITING)


def outcome(program: Program, plain: bool = False) -> tuple[str, str]:
    """Return what happens to a program, and the reason or the kind of failure."""
    try:
        if plain:
            check_plainly(program)
        else:
            check(program, texts=zlib.crc32(program.source.encode()) % 4 == 0)
    except Skip as skip:
        return "discarded", str(skip)
    except Refused as refused:
        if not program.features & WRITES:
            return "failed", f"refused without a write: {refused}"
        return "refused", str(refused)
    except Exception as error:
        return "failed", kind_of(error)
    return "clean", ""


def kind_of(error: Exception) -> str:
    """Return an exception's type, where it was raised, and its words without numbers."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = trace.tb_frame.f_code.co_name if trace is not None else ""
    if isinstance(error, AssertionError) and str(error):
        words = str(error).partition("\n")[0].partition(":")[0]
        words = re.sub(r"(np\.float64\()?-?\b[\d.]+(e[-+]?\d+)?\)?", "#", words)
        return f"wrong in {where}: {words[:70]}"
    return f"{type(error).__name__} in {where}"


def run_chunk(work: tuple[range, str, bool]) -> Tally:
    seeds, kinds, plain = work
    tally = Tally()
    for seed in seeds:
        program = program_of(seed, kinds)
        verdict, reason = outcome(program, plain)
        tally.counts.update(["programs", verdict])
        tally.features.update(program.features)
        match verdict:
            case "clean":
                tally.clean_features.update(program.features)
            case "refused":
                tally.refused.update(reason.split(AND))
            case "discarded":
                tally.discarded[reason] += 1
            case "failed":
                tally.failures.setdefault(reason, []).append((seed, program))
    return tally


def run(
    count: int, seed: int, workers: int = 1, kinds: str = "all", plain: bool = False
) -> Iterator[Tally]:
    """Iterate over the growing tally of ``count`` programs from ``seed`` on."""
    tally = Tally()
    chunks = [
        (range(first, min(first + CHUNK, seed + count)), kinds, plain)
        for first in range(seed, seed + count, CHUNK)
    ]
    if workers == 1:
        for chunk in chunks:
            tally.merge(run_chunk(chunk))
            yield tally
        return
    with multiprocessing.get_context("spawn").Pool(workers, maxtasksperchild=25) as pool:
        for part in pool.imap_unordered(run_chunk, chunks):
            tally.merge(part)
            yield tally


def smallest(tally: Tally, seconds: float = 60.0, kinds: int = 5) -> Iterator[str]:
    """Iterate over small programs, one for each of the first kinds of failure."""
    for kind, found in list(tally.failures.items())[:kinds]:
        seed, program = min(found, key=lambda pair: len(pair[1].source))
        small = minimise(program, lambda p, kind=kind: outcome(p) == ("failed", kind), 3, seconds)
        yield f"seed {seed}: {kind}\n{small}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 10**6)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--kinds", choices=KINDS, default="long")
    parser.add_argument("--plain", action="store_true", help="do not compile the programs")
    parser.add_argument("--most-refused", type=float, default=1.0, help="share that may be refused")
    parser.add_argument("--minimise", type=int, default=5, help="how many kinds of failure")
    parser.add_argument("--show", type=int, metavar="SEED", help="print the program of a seed")
    options = parser.parse_args()
    if options.show is not None:
        print(program_of(options.show, options.kinds))
        return 0
    os.environ.setdefault("ADCOMPILER_CACHE_DIR", "off")
    started, tally = time.perf_counter(), Tally()
    for number, tally in enumerate(run(
        options.count, options.seed, options.workers, options.kinds, options.plain
    )):
        if number % 25 == 24:
            print(dict(tally.counts), {
                kind: [seed for seed, _ in found] for kind, found in tally.failures.items()
            }, flush=True)
    took = time.perf_counter() - started
    print(f"seed {options.seed}, {took:.0f} s, {options.count / took:.1f} programs a second")
    print(tally, flush=True)
    for text in smallest(tally, kinds=options.minimise):
        print("\n" + text, flush=True)
    return int(bool(tally.failures) or tally.refused_share > options.most_refused)


if __name__ == "__main__":
    sys.exit(main())
