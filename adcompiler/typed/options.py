"""What is asked of the compiler for a function: which derivative, and how its code is."""

from __future__ import annotations

from adcompiler.support.structs import dataclass

Argnums = int | str | tuple[int | str, ...]


@dataclass(frozen=True)
class Asked:
    """A derivative that is asked for: of which mode, in which arguments, beside a second result."""

    mode: str
    argnums: Argnums
    has_aux: bool = False

    @property
    def single(self) -> bool:
        """Whether the derivative is by one argument, and no tuple."""
        return not isinstance(self.argnums, (tuple, list))

    @property
    def several(self) -> tuple[int | str, ...]:
        """The arguments, also where only one is asked for."""
        return self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)


@dataclass(frozen=True)
class Options(Asked):
    """What is asked of the compiler for one function.

    With ``strict_primal`` values are computed by the functions themselves even where a rule has
    another way; with ``debug`` emitted code checks what rules return, with ``progress`` a terminal
    shows how far a call is. ``backend`` names what runs it: see ``compile/backends.py``; with
    ``parallel`` in threads, where that is proved to make no difference. ``fallback`` says what is
    done where the compiler refuses the function for what a run resolves: ``"record"`` or
    ``"refuse"``.

    If ``batched``, cotangents or tangents have a leading axis, one row for each seed; if they are
    ``constant``, what they decide alone is computed by a function of its own. If derivatives are
    wanted ``alone``, None may stand in the place of the value. With ``each`` the backend's code
    takes many tangents, and computes for one after the other what Python's does. With ``for_loops``
    whoever asks writes loops of the result himself, which is then what they are made of for any
    backend. With ``by_entries`` sparse matrices are followed entry by entry; ``by_symmetry``
    derivatives of gradients along tangents: a Hessian is symmetric. In ``masked`` code derivatives
    that are 0 stay 0 through infinite slopes, in ``careful`` code where slopes may be such.
    """

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
    each: bool = False
    for_loops: bool = False
    by_entries: bool = False
    by_symmetry: bool = False
    careful: bool = False
