"""What is asked of the compiler for one function: mode, arguments, backend."""

from __future__ import annotations

import os

from adcompiler.compile.backends import BACKENDS
from adcompiler.compile.modes import MODES
from adcompiler.errors import not_one_of
from adcompiler.support.structs import dataclass


FALLBACKS = ("record", "refuse")


@dataclass(frozen=True)
class Options:
    """What is asked of the compiler for one function.

    ``alone`` says that the value of a pushforward is not asked for: None may stand in its place.
    In ``masked`` code derivatives that are 0 stay 0 through infinite slopes. ``fallback`` says what
    is done where the compiler refuses the function for what a run resolves: ``"record"`` or
    ``"refuse"``. With ``progress`` a terminal shows how far a call is.
    """

    mode: str
    argnums: int | str | tuple[int | str, ...]
    has_aux: bool = False
    strict_primal: bool = False
    batched: bool = False
    constant: bool = False
    backend: str = "python"
    parallel: bool = False
    debug: bool = False
    alone: bool = False
    masked: bool = False
    fallback: str = "record"
    progress: bool = False

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(not_one_of("mode", self.mode, MODES))
        if self.has_aux and not MODES[self.mode].takes_aux:
            takes = " and ".join(name for name, mode in MODES.items() if mode.takes_aux)
            raise ValueError(f"has_aux is not for the mode {self.mode}, but for {takes}")
        if self.backend not in BACKENDS:
            raise ValueError(not_one_of("backend", self.backend, BACKENDS))
        if self.parallel and BACKENDS[self.backend].write is None:
            raise ValueError('parallel=True is for backend="native" or "auto"')
        if self.fallback not in FALLBACKS:
            raise ValueError(not_one_of("fallback", self.fallback, FALLBACKS))
        if self.debug and self.backend == "native":
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
