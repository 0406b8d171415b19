"""``Derivative``: what every operator makes of a function."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from adcompiler.api.shown import Code, Shown
from adcompiler.cache.keys import unspelled
from adcompiler.dispatch import Compiled
from adcompiler.dispatch.explain import Explanation, explain
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.source_text import SourceText
from adcompiler.dispatch.written import Written, as_called
from adcompiler.record.entry import explained
from adcompiler.typed.derivatives import is_derivative
from adcompiler.typed.operators import OPERATORS, Operator
from adcompiler.typed.options import Argnums, Asked

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

    from adcompiler.dispatch import Specialisations
    from adcompiler.sparsity.coloring.coloring import Coloring

P = ParamSpec("P")
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)

KEPT = "__adcompiler_kept__"
"""The attribute of a function that holds the derivatives which calls share."""

MAX_FORMS = 64
"""For how many ways of calling a function that sees them derivatives are kept."""


class Derivative(Shown[P], Generic[P, R_co]):
    """A function's derivative, as an operator makes it: called like the function.

    ``Derivative[P, R]`` takes the parameters ``P`` of the function and returns ``R``. It is
    compiled once for each combination of argument types, at the first call with them. It binds to
    instances as methods do, and is pickled by what it was made of: by its name where that is how it
    is reached, otherwise as the function and the options. Operators make it.

    Attributes:
        primal (callable): The function itself.
        source (SourceText): The emitted text.

    Raises:
        ADError: By calls, before anything runs, for what cannot be differentiated.

    Example:
        >>> from adcompiler import Derivative, grad
        >>> slope = grad(lambda x: x * x)
        >>> isinstance(slope, Derivative), slope(3.0), slope.primal(3.0)
        (True, 6.0, 9.0)
    """

    is_derivative = True
    primal: Callable[P, Any]
    options: Asked
    __name__: str
    __signature__: inspect.Signature

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__call__" in vars(cls):
            cls.__call__ = with_users_frames(cls.__call__)  # type: ignore[method-assign]

    def __init__(self, function: Callable[..., Any], options: Asked) -> None:
        functools.update_wrapper(self, function, updated=())
        if not is_derivative(function):
            vars(self).update({
                key: value for key, value in getattr(function, "__dict__", {}).items()
                if key not in (KEPT, *vars(self)) and not hasattr(type(self), key)
            })
        self.primal = function
        self.options = options
        self.operator = OPERATORS.get(options.mode) or Operator(options.mode)
        self.forms: dict[Any, Any] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the derivative at the arguments.

        Raises ADError before anything runs for what cannot be differentiated.
        """
        raise NotImplementedError

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Derivative[P, R_co]: ...
    @overload
    def __get__(
        self: Derivative[Concatenate[Any, Q], R_co], instance: object, owner: type | None = None
    ) -> Callable[Q, R_co]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind to an instance, as methods do."""
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        name = getattr(self.primal, "__qualname__", self.primal)
        recorded = "" if self.why_last_recorded() is None else ", recorded"
        said = self.operator.said or self.operator.name
        return f"<{said} of {name!s}{with_respect_to(self)}{recorded}>"

    # -- ways of calling -----------------------------------------------------------------------

    def form(self, call: Written) -> Any:
        """Return the derivative for calls that are written like this one."""
        if self.forms is None:
            return self
        found = self.forms.get(call.way)
        if found is None:
            found = self.form_of(len(call.args), tuple(call.kwargs))
            self.forms = {**dict(list(self.forms.items())[1 - MAX_FORMS :]), call.way: found}
        return found

    def form_of(self, count: int, keywords: tuple[str, ...]) -> Derivative[..., Any]:
        """Return the derivative for so many arguments by position, and those of these names."""
        raise NotImplementedError

    # -- pickling ------------------------------------------------------------------------------

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        by_value = self.__module__ == "__main__" and in_cloudpickle()
        if name and not by_value and unspelled(f"{self.__module__}:{name}") is self:
            return name  # pickled by its name, as functions are
        return self.made_of()

    def made_of(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return a function and arguments from which it makes an equal derivative."""
        raise NotImplementedError

    # -- looking inside ------------------------------------------------------------------------

    def running(self) -> Derivative[..., Any]:
        """Return the derivative whose code is this one's: the one that ran last, if of several."""
        raise NotImplementedError

    def latest(self) -> Compiled:
        """Return the code that ran last; before any call that for annotated parameter types."""
        return self.running().latest()

    def last_run(self) -> tuple[Specialisations, Compiled] | None:
        return self.running().last_run()

    @with_users_frames
    def compiled_for(self, *args: P.args, **kwargs: P.kwargs) -> Callable[..., Any]:
        """Return the emitted function for these arguments."""
        return self.code(*args, **kwargs).compiled.entry

    @with_users_frames
    def source_for(self, *args: P.args, **kwargs: P.kwargs) -> SourceText:
        """Return the text of the module that is run for these arguments.

        Where a gradient is nan or infinite at them, that is the one in which zeros stay zeros.
        """
        _, compiled, values = self.code(*args, **kwargs)
        return SourceText(compiled.run_for(values).text)

    @with_users_frames
    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        """Return what is saved, which rules are used and which kinks exist for these arguments."""
        why = self.why_recorded(*args, **kwargs)
        if why is not None:
            return explained(*self.at(Written(args, kwargs)), why)
        s, compiled, values = self.code(*args, **kwargs)
        return explain(compiled, s, values)

    @property
    @with_users_frames
    def source(self) -> SourceText:
        """The text of the emitted module: of the last call, else for annotated parameter types.

        Where the last call was recorded, it is that of the function as it is recorded.
        """
        recorded = self.why_last_recorded() is not None
        return SourceText(self.recorded_text() if recorded else self.latest().text)

    @property
    def module_path(self) -> Path | None:
        """The file of the emitted module that ran last, None if it is in memory only."""
        return self.latest().path

    @property
    def is_second(self) -> bool:
        """Whether the derivatives are second ones."""
        return self.operator.second

    def pattern(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return where the derivative may be nonzero, a ``csr_array`` of bool.

        It is that of the Hessian for operators of second derivatives, and of the Jacobian for all
        others: see ``hessian_sparsity`` and ``jacobian_sparsity``.
        """
        from adcompiler.api.sparse.patterns import hessian_sparsity, jacobian_sparsity

        detect: Any = hessian_sparsity if self.is_second else jacobian_sparsity
        return detect(self.primal, *args, argnums=self.options.argnums, **kwargs)

    def colors(self, *args: P.args, **kwargs: P.kwargs) -> Coloring:
        """Return which columns and rows of the derivative one sweep computes together.

        It is the coloring that ``sparse_jacobian``, or ``sparse_hessian``, takes for the pattern.
        """
        from adcompiler.api.sparse.structures import Settings, Structures

        call = Written(args, kwargs)
        function, argnums = as_called(self.primal, self.options.argnums, call)
        settings = Settings("star" if self.is_second else "auto")
        find = Structures(function, argnums, settings, self.is_second)
        return find.at(find.point(call)).coloring

    def as_linear_operator(self, *args: P.args, **kwargs: P.kwargs) -> LinearOperator:
        """Return the derivative at the arguments as a ``scipy.sparse.linalg.LinearOperator``.

        It is the Jacobian of the function, of shape ``(m, n)`` for ``m`` floats in the result and
        ``n`` in the arguments that are differentiated, in order; for operators of second
        derivatives it is the Hessian, ``(n, n)``. The function runs once for products with it,
        which are by forward mode, and once for those with its transpose, by reverse mode; no matrix
        is formed. Raises TypeError for complex numbers.
        """
        from adcompiler.api.linear_operators import hessian_operator, jacobian_operator

        make = hessian_operator if self.is_second else jacobian_operator
        return make(self.kept, self.primal, self.options.several, Written(args, kwargs))

    @staticmethod
    def kept(function: Callable[..., Any], mode: str, argnums: Argnums) -> Any:
        """Return the derivative of a mode that calls share."""
        raise NotImplementedError


def with_respect_to(derivative: Derivative[..., Any]) -> str:
    """Return text that tells the arguments, empty where there is no choice of them."""
    given = derivative.options.argnums
    several = given if isinstance(given, tuple) else (given,)
    names = list(derivative.__signature__.parameters)
    if not several or several == (0,) == tuple(range(len(names))):
        return ""  # of no argument, as a primal, or of the only one
    shown = [names[i] if isinstance(i, int) and i < len(names) else str(i) for i in several]
    return f" with respect to {', '.join(shown)}"


def in_cloudpickle() -> bool:
    """Say whether a pickler is at work that takes along what ``__main__`` defines.

    Such ones pickle functions of ``__main__`` by value, as other processes have another; they leave
    no other sign of it than that they run.
    """
    frame: types.FrameType | None = sys._getframe(1)  # the locals of this one would hold itself
    while frame is not None:
        pickler = type(frame.f_locals.get("self"))
        if any("cloudpickle" in base.__module__ for base in pickler.__mro__):
            return True
        frame = frame.f_back
    return False


__all__ = ["Code", "Derivative"]
