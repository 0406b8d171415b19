"""Prints the figures of docs/reliability.md: ``python -m tests.reliability``.

Each is measured in a process of its own, on programs that the tests of the same thing use.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.cache.test_faults import CYCLES
from tests.costs.test_limits import IN_ARMS, ONCE, STRAIGHT, TWICE, attempts, early_returns, helpers

PROGRAMS = {
    "30 early returns": early_returns(30), "90 early returns": early_returns(90),
    "20 try": attempts(20), "300 try": attempts(300), "chain of 300 helpers": helpers(300, ONCE),
    "chain of 14 that call twice": helpers(14, TWICE),
    "chain of 30 that call in two arms": helpers(30, IN_ARMS),
}
TYPES = """
import time
from adcompiler import grad
def f(x, *rest):
    return x * len(rest)
d = grad(f)
for _ in range(2):
    start = time.perf_counter()
    for n in range(500):
        d(1.0, *[0] * (n % 25), *[0.0] * (n // 25))
    print(f"{1e3 * (time.perf_counter() - start) / 500:.3f}", end=" ")
"""


def alone(program: str, *arguments: str) -> str:
    """Return what a program prints that runs in a directory of its own, with nothing cached."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "program.py").write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "program.py", *arguments], capture_output=True, text=True,
            cwd=directory, check=True, env=os.environ | {
                "ADCOMPILER_CACHE_DIR": os.path.join(directory, "cache"), "ADCOMPILER_VERIFY": "",
            })
    return done.stdout.strip()


def of_the_cache(count: int) -> tuple[float, float]:
    """Return how long a look-up and a write take with so many entries, in microseconds."""
    from adcompiler.cache.store import Store

    keys = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(count)]
    with tempfile.TemporaryDirectory() as directory:
        store = Store(Path(directory) / "cache")
        for key in keys:
            store.write(key, "f", "x = 1\n" * 50, {})
        start = time.perf_counter()
        assert all(len(list(store.candidates(key))) == 1 for key in keys[:500])
        middle = time.perf_counter()
        for key in keys[:500]:
            store.write(key, "g", "x = 1\n", {})
        end = time.perf_counter()
    return 2e3 * (middle - start), 2e3 * (end - middle)


def compiled(text: str) -> tuple[float, float]:
    """Return seconds and megabytes that the first gradient of a program takes."""
    program = (
        f"import sys, time, resource\nopen('m.py', 'w').write({'import math' + chr(10) + text!r})\n"
        "sys.path.insert(0, '')\nfrom adcompiler import grad\nimport m\n"
        "start = time.perf_counter()\ngrad(m.f)(0.3)\n"
        "print(time.perf_counter() - start, "
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
    )
    seconds, megabytes = map(float, alone(program).split())
    return seconds, megabytes


def main() -> None:
    """Print all figures."""
    for count in (100, 10_000):
        find, write = of_the_cache(count)
        print(f"{count:6} entries: look-up {find:.0f} us, write {write:.0f} us")
    first, again = alone(TYPES).split()
    print(f"500 combinations of types: {first} ms a call at first, {again} ms then")
    off = "import os\nos.environ['ADCOMPILER_CACHE_DIR'] = 'off'"
    for said, start in (("", ""), (", no cache", off)):
        objects, lines = alone(f"{start}\n{CYCLES}").split()
        print(f"compiled and discarded{said}: {objects} objects and {lines} linecache entries stay")
    for name, text in PROGRAMS.items():
        seconds, megabytes = compiled(text)
        print(f"{name}: {seconds:.1f} s, {megabytes:.0f} MB")
    start_time = time.perf_counter()
    megabytes_of_lines = alone(STRAIGHT, "5000").split()[1]
    print(f"5000 straight lines: {time.perf_counter() - start_time:.0f} s, {megabytes_of_lines} MB")


if __name__ == "__main__":
    main()
