"""First calls in a new process: ``python -m benchmarks.fresh CLASS PROGRAM ENGINE``.

Prints as JSON how long importing the engine, the first call and another one took. Run twice with
one cache directory, the second process finds what the first one has compiled.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time


def main(family: str, name: str, engine_name: str) -> None:
    """Print the seconds."""
    import numpy  # noqa: F401 - is not what is measured

    from benchmarks.engines import ENGINES

    programs = importlib.import_module(f"benchmarks.programs.{family}").PROGRAMS
    program = next(program for program in programs if program.name == name)
    args = program.at(program.sizes[0])
    start = time.perf_counter()
    importlib.import_module({"python": "adcompiler", "native": "adcompiler", "JAX": "jax"}.get(
        engine_name, "numpy"))
    imported = time.perf_counter()
    made = ENGINES[engine_name].ready(program, args)
    if made is None:
        print("null")
        return
    derivative, given = made
    derivative(*given)
    first = time.perf_counter()
    derivative(*given)
    again = time.perf_counter()
    print(json.dumps({"import": imported - start, "first": first - imported,
                      "again": again - first}))


def first_calls(family: str, name: str, engine: str) -> dict[str, dict[str, float]] | None:
    """Return the seconds without and with what an earlier process has compiled."""
    with tempfile.TemporaryDirectory() as cache:
        found = {}
        for kind in ("cold", "cached"):
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.fresh", family, name, engine],
                env={**os.environ, "ADCOMPILER_CACHE_DIR": cache},
                capture_output=True, text=True, check=False,
            )
            answer = done.stdout.strip().splitlines()
            if done.returncode or not answer or answer[-1] == "null":
                return None
            found[kind] = json.loads(answer[-1])
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
