"""Time the compiled gradients: python benchmarks/run.py [dispatch] [scalar] [arrays] [writes]
[checkpoints] [second_order] [taylor] [jacobians] [sparse].

All contenders run in one process and take turns; the best of many turns counts, and ratios of
these are what to look at. BLAS uses one thread unless the environment says otherwise.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence

MODULES = (
    "dispatch", "scalar", "arrays", "writes", "checkpoints", "second_order", "taylor", "jacobians",
    "sparse",
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that ``arguments`` ask for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="*", metavar="module", help=", ".join(MODULES))
    parser.add_argument("--json", metavar="FILE", help="also write the results as JSON")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bar is missed")
    options = parser.parse_args(arguments)
    unknown = set(options.modules) - set(MODULES)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")

    # BLAS reads these when NumPy is imported, so the modules that import it come after.
    for variable in THREADS:
        os.environ.setdefault(variable, "1")
    timing = importlib.import_module("timing")
    measurements = []
    for name in options.modules or MODULES:
        measurements += importlib.import_module(name).main()
    print(timing.table(measurements))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(timing.as_json(measurements), file, indent=2)
    return int(options.check and not timing.all_met(measurements))


if __name__ == "__main__":
    sys.exit(main())
