"""Options that users give: whether there are such, and how they tell code apart in the cache."""

from __future__ import annotations

import os

from adcompiler.compile.backends import BACKENDS
from adcompiler.compile.modes import MODES
from adcompiler.errors import not_one_of
from adcompiler.typed.options import Options

FALLBACKS = ("record", "refuse")


def check_options(options: Options) -> None:
    """Raise ValueError for options that there are not, or not together."""
    mode, backend = MODES.get(options.mode), BACKENDS.get(options.backend)
    if mode is None:
        raise ValueError(not_one_of("mode", options.mode, MODES))
    if options.has_aux and not mode.takes_aux:
        takes = " and ".join(name for name, mode in MODES.items() if mode.takes_aux)
        raise ValueError(f"has_aux is not for the mode {options.mode}, but for {takes}")
    if backend is None:
        raise ValueError(not_one_of("backend", options.backend, BACKENDS))
    if options.parallel and backend.write is None:
        raise ValueError('parallel=True is for backend="native" or "auto"')
    if options.fallback not in FALLBACKS:
        raise ValueError(not_one_of("fallback", options.fallback, FALLBACKS))
    if options.debug and options.backend == "native":
        raise ValueError('debug=True is for backend="python" or "auto"')


def debugging(options: Options) -> bool:
    """Say whether emitted code checks what it computes: if that is asked for, here or for all.

    For all functions it is if ADCOMPILER_DEBUG is set, not to 0.
    """
    return options.debug or os.environ.get("ADCOMPILER_DEBUG", "0") not in ("", "0")


def backend_key(backend: str, parallel: bool = False) -> tuple[str, ...]:
    """Return what tells code of a backend from that of others."""
    threads = ("parallel",) if parallel else ()
    return () if backend == "python" else (backend, BACKENDS[backend].state(), *threads)
