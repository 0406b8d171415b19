"""What is asked of the compiler for one function: mode, arguments, backend."""

from __future__ import annotations

import os
from dataclasses import dataclass

from adcompiler.compile.backends import BACKENDS
from adcompiler.compile.modes import MODES


@dataclass(frozen=True)
class Options:
    """What is asked of the compiler for one function."""

    mode: str
    argnums: int | str | tuple[int | str, ...]
    has_aux: bool = False
    strict_primal: bool = False
    batched: bool = False
    constant: bool = False
    backend: str = "python"
    parallel: bool = False
    strict_types: bool = False

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode {self.mode!r} is not one of {', '.join(MODES)}")
        if self.has_aux and not MODES[self.mode].takes_aux:
            takes = " and ".join(name for name, mode in MODES.items() if mode.takes_aux)
            raise ValueError(f"has_aux is not for the mode {self.mode}, but for {takes}")
        if self.backend not in BACKENDS:
            raise ValueError(f"backend {self.backend!r} is not one of {', '.join(BACKENDS)}")
        if self.parallel and BACKENDS[self.backend].write is None:
            raise ValueError('parallel=True is for backend="native" or "auto"')


def debugging() -> bool:
    """Say whether emitted code checks what rules return: if ADCOMPILER_DEBUG is set, not to 0."""
    return os.environ.get("ADCOMPILER_DEBUG", "0") not in ("", "0")


def strict_types(options: Options) -> bool:
    """Say whether no type is taken from a run: if that is asked for, here or for all functions.

    For all it is if ADCOMPILER_STRICT_TYPES is set, not to 0.
    """
    if options.strict_types:
        return True
    return os.environ.get("ADCOMPILER_STRICT_TYPES", "0") not in ("", "0")


def backend_key(backend: str, parallel: bool = False) -> tuple[str, ...]:
    """Return what tells code of a backend from that of others."""
    threads = ("parallel",) if parallel else ()
    return () if backend == "python" else (backend, BACKENDS[backend].state(), *threads)
