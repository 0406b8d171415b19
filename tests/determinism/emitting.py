"""Emits the golden programs in a process of its own and prints what comes out, as JSON.

    python tests/determinism/emitting.py [FIRST_IMPORTS [HOW]]

imports the modules named first, which are separated by commas; ``HOW`` is ``forward``, ``backward``
or ``threads``. Texts come as they are, gradients by the bits of their numbers.
"""

from __future__ import annotations

import importlib
import json
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parents[1] / "golden" / "programs"


def bits(value: Any) -> Any:
    """Return the numbers of a gradient as JSON can hold them, to the last bit."""
    import numpy as np

    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), value.tobytes().hex()]
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    if isinstance(value, (tuple, list)):
        return [bits(item) for item in value]
    if isinstance(value, dict):
        return {str(key): bits(item) for key, item in value.items()}
    held = vars(value) if hasattr(value, "__dict__") else None
    return repr(value) if held is None else {name: bits(item) for name, item in held.items()}


def emitted(path: Path) -> tuple[str, Any]:
    """Return the text that is emitted for a program, and its gradient in bits."""
    import numpy as np

    from adcompiler import grad, source

    calls: list[tuple[str, Any]] = []

    def call(function: Any, *arguments: Any, argnums: Any = 0, mode: str = "grad") -> None:
        text = source(function, *arguments, argnums=argnums, mode=mode)
        found = None
        if mode == "grad":
            with np.errstate(all="ignore"):
                found = bits(grad(function, argnums)(*arguments))
        calls.append((text, found))

    runpy.run_path(str(path), init_globals={"call": call}, run_name=f"golden_{path.stem}")
    return calls[0]


def main(first: str = "", how: str = "forward") -> None:
    """Print texts and gradients by the names of the programs."""
    for name in filter(None, first.split(",")):
        importlib.import_module(name)
    paths = sorted(PROGRAMS.glob("*.py"), reverse=how == "backward")
    if how == "threads":
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(emitted, paths))
    else:
        found = [emitted(path) for path in paths]
    print(json.dumps({path.stem: one for path, one in zip(paths, found, strict=True)},
                     sort_keys=True))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main(*sys.argv[1:])
