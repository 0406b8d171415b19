"""Derivatives inside of code that is compiled: the compiler, applied to a part of a program.

``grad(f)(x)`` in a program stands for the code that the compiler emits for it. So that is what is
made of it here: ``f`` is specialised for the types at hand, differentiated, optimised and printed;
the text is read again, as the source of a function of the user's would be, and opened where the
derivative is called. What ``f`` captured becomes arguments of the emitted function, so that a
derivative may be taken with respect to it as well.

``called`` finds what is differentiated, ``compiling`` compiles one transform of it, ``halves``
writes that where it is called, and ``operators`` has the operators of the user, written with these;
``entries`` has the text of Jacobians, for the structures that ``trees`` finds.
"""

from adcompiler.compile.nested.operators import derive

__all__ = ["derive"]
