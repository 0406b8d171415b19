"""The public functions ``jacobian_sparsity`` and ``hessian_sparsity``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.api.argnums import Asked, of_call
from adcompiler.api.keywords import needs_arguments
from adcompiler.api.sparse.pattern_programs import (
    Compiled, Patterns, at_steps, lines_of, located, patterns_of,
)
from adcompiler.dispatch import Specialisations
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.guards import Guard
from adcompiler.dispatch.written import Written, as_called
from adcompiler.errors import (
    ADError, LocatedError, MissingPrimalError, MissingRuleError, Reason,
    SourceNotFoundError, UnsupportedError,
)
from adcompiler.plot import Pattern
from adcompiler.sparsity.interpreter.fullness import TooFullError
from adcompiler.sparsity.interpreter.machine import Machine
from adcompiler.sparsity.interpreter.pattern import hessian, jacobian
from adcompiler.sparsity.interpreter.run import too_full
from adcompiler.sparsity.interpreter.table import Refusal
from adcompiler.sparsity.tracing.detectors import (
    Global, Tracing, columns_of, is_in_place, jacobian_buffer, knowing, retold,
)
from adcompiler.support.structs import dataclass
from adcompiler.typed.derivatives import ONLY_OUTSIDE
from adcompiler.typed.options import Argnums


@with_users_frames
def jacobian_sparsity(
    function: Callable[..., Any], *args: Any, argnums: Asked = None,
    mode: str = "global", detector: Global | None = None, **kwargs: Any,
) -> Any:
    """Return the sparsity pattern of the Jacobian of ``function``.

    A function that returns None and writes into arguments has what it wrote as its result, and is
    differentiated by default with respect to the first argument that it does not write into:
    ``jacobian_sparsity(f, y, x)`` for ``f(y, x)``.

    Parameters:
        function (callable): A function of ``args`` and ``kwargs``, which returns numbers.
        args, kwargs: Its arguments.
        argnums (int, str or tuple): The arguments whose real numbers are columns; by default the
            first.
        mode (str): ``"global"``: an entry is there where the derivative may be nonzero for some
            values of these and of the other floating arguments, of which no more than the shapes is
            looked at unless a branch, a subscript or a shape needs it. ``"local"``: at the given
            ones.
        detector (Global or Local): It says the mode, and whether code without source text is run on
            tracers.

    Returns:
        csr_array: A boolean matrix with a row for each number in the result (arrays in C order,
        items of containers one after the other) and a column for each real number in the arguments.
        No entry that is needed is missing.

    Raises:
        UnsupportedError: For code that cannot be followed.
        TypeError: For arguments that carry no derivative.
        ValueError: For an unknown mode.

    Example:
        >>> import numpy as np
        >>> from adcompiler import jacobian_sparsity
        >>> jacobian_sparsity(lambda x: x[1:] * x[:-1], np.ones(3)).toarray().astype(int)
        array([[1, 1, 0],
               [0, 1, 1]])
    """
    call, asked = Written(args, kwargs), of_call(argnums, args)
    needs_arguments("jacobian_sparsity", function, call)
    function, wanted = as_called(function, 0 if asked is None else asked, call)
    asked = None if asked is None else wanted
    if detector is not None:
        return detected(
            lambda: jacobian_sparsity(
                function, *args, argnums=asked, mode=detector.mode, **kwargs),
            function, call, asked, detector, False)
    columns = default_argnums(function, call) if asked is None else asked
    value, inputs, _ = patterns_of(function, columns).run(call, mode, False)
    return finished(lambda: jacobian(value, inputs.columns), function, columns)


@with_users_frames
def hessian_sparsity(
    function: Callable[..., Any], *args: Any, argnums: Asked = 0, mode: str = "global",
    shared: bool = False, detector: Global | None = None, **kwargs: Any,
) -> Any:
    """Return the sparsity pattern of the Hessian of ``function``.

    Parameters:
        function (callable): A function that returns one number.
        args, kwargs: Its arguments.
        argnums (int, str or tuple): The arguments whose real numbers are rows and columns.
        mode, detector: As for ``jacobian_sparsity``.
        shared (bool): All nonlinear operations count, even those that the result does not depend
            on.

    Returns:
        csr_array: A symmetric boolean matrix.

    Raises:
        UnsupportedError, TypeError, ValueError: As ``jacobian_sparsity``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import hessian_sparsity
        >>> hessian_sparsity(lambda x: x[0] * x[1] + x[2], np.ones(3)).toarray().astype(int)
        array([[0, 1, 0],
               [1, 0, 0],
               [0, 0, 0]])
    """
    call = Written(args, kwargs)
    function, asked = as_called(function, of_call(... if argnums is None else argnums, args), call)
    if detector is not None:
        return detected(
            lambda: hessian_sparsity(
                function, *args, argnums=asked, mode=detector.mode,
                shared=shared or detector.shared, **kwargs),
            function, call, asked,
            replace(detector, shared=shared or detector.shared), True)
    value, inputs, machine = patterns_of(function, asked).run(call, mode, True, shared)
    return finished(lambda: hessian(machine, value, inputs.columns, shared), function, asked)


@dataclass(frozen=True, eq=False)
class Found:
    """A pattern as a ``run`` of a function found it, for which the ``guard`` has to hold.

    ``full`` are the lines that make it nearly full, if that is so.
    """

    pattern: Any
    guard: Guard
    patterns: Patterns
    compiled: Compiled
    run: Machine
    full: tuple[str, ...]


def found_pattern(
    function: Callable[..., Any], call: Written, argnums: Argnums, second: bool,
    looked: frozenset[int], mode: str,
) -> Found:
    """Return the pattern of a Jacobian or a Hessian, with what it was found by.

    The values of the arguments at the positions ``looked`` are used, and of others if need be.
    Raises UnsupportedError for a function that writes into its arguments.
    """
    guard = refuse_written(function, call, argnums)
    patterns = patterns_of(function, argnums)
    value, inputs, machine = patterns.run(call, mode, second, looked=looked)
    pattern = finished(
        lambda: hessian(machine, value, inputs.columns, False) if second
        else jacobian(value, inputs.columns), function, argnums,
    )
    compiled = patterns.compiled(patterns.values(call))
    return Found(pattern, guard, patterns, compiled, machine, tuple(lines_of(machine.full)))


def refuse_written(
    function: Callable[..., Any], call: Written, argnums: Argnums
) -> Guard:
    """Raise UnsupportedError for a function that writes into its arguments.

    Returns the test of what that was told from.
    """
    patterns = patterns_of(function, argnums)
    compiled = patterns.compiled(patterns.values(call))
    if compiled.written:
        raise writes(patterns.forms)
    return compiled.guard


def writes(forms: Specialisations) -> UnsupportedError:
    """Return the refusal of a function that writes into its arguments."""
    return UnsupportedError([located(Refusal(
        "a sparse derivative of a function that writes into its arguments",
        "return the result, and write into a copy", anchor="sparse-in-place",
    ), forms)])


def detected(
    compiled: Callable[[], Any], function: Callable[..., Any], call: Written,
    argnums: Argnums | None, detector: Global, second: bool,
) -> Any:
    """Return the pattern that a detector finds: ``compiled``, or by running on tracers."""
    if not detector.tracers:
        try:
            return compiled()
        except (SourceNotFoundError, LocatedError) as error:
            if detector.tracers is False or not is_without_source(error):
                raise
            return traced(function, call, argnums, detector, second)
    return traced(function, call, argnums, detector, second)


def is_without_source(error: Exception) -> bool:
    """Say whether a function was refused since the text of something is not available."""
    if isinstance(error, LocatedError) and not isinstance(error, MissingRuleError):
        return all(finding.reason is Reason.MISSING_RULE for finding in error.findings)
    return True


OF_OBJECTS = (
    "not supported for the input types", "dtype('O')", "object arrays are not supported",
)
"""What NumPy and SciPy say where compiled code for numbers is given an array of tracers."""


def traced(
    function: Callable[..., Any], call: Written, argnums: Argnums | None, detector: Global,
    second: bool,
) -> Any:
    """Return the pattern that a function leaves on tracers."""
    in_place = not second and is_in_place(function, *call)
    columns = argnums if argnums is not None else int(in_place)
    forms = patterns_of(function, columns).forms
    bound = call.given_to(forms.target.signature.bind)
    bound.apply_defaults()
    names = list(forms.target.signature.parameters)
    values = list(forms.values(forms.target.bound(*call)))
    run = Tracing(detector, second, columns_of(values))
    for i, steps in zip(forms.wrt, forms.parts, strict=True):
        values[i] = at_steps(values[i], steps, run.traced)
    offset = len(forms.target.first)
    if in_place:
        values[offset] = buffer_of(values[offset])
    bound.arguments.update(zip(names, values[offset:], strict=True))
    try:
        with np.errstate(all="ignore"):
            known: dict[int, Any] = {}
            result = retold(forms.target.function, known)(
                *(knowing(value, known) for value in (*values[:offset], *bound.args)),
                **{name: knowing(value, known) for name, value in bound.kwargs.items()})
    except Exception as error:
        of_ctypes = type(error).__name__ == "ArgumentError"
        if not of_ctypes and (
            not isinstance(error, (TypeError, ValueError)) or isinstance(error, ADError)
            or not any(text in str(error) for text in OF_OBJECTS)
        ):
            raise
        raise MissingPrimalError("a function written in C,") from error
    if run.space.missing:
        raise MissingPrimalError(run.space.missing)
    result = values[offset] if in_place else result
    return Pattern(run.hessian(result) if second else run.jacobian(result))


def buffer_of(value: Any) -> Any:
    """Return an array or list with the numbers of another that tracers can be written into."""
    if isinstance(value, list):
        return list(value)
    made = jacobian_buffer(value)
    made[...] = value
    return made


def default_argnums(function: Callable[..., Any], call: Written) -> Argnums:
    """Return the first argument; of functions that write into it, the first that is not written."""
    first = patterns_of(function, 0)
    compiled = first.compiled(first.values(call))
    if not compiled.is_in_place or 0 not in compiled.written:
        return 0
    offset = len(first.forms.target.first)
    others = [i - offset for i in range(offset, len(first.forms.parameters))
              if i not in compiled.written]
    if not others:
        return 0
    return others[0]


def finished(make: Callable[[], Any], function: Callable[..., Any], argnums: Argnums) -> Any:
    """Return the pattern that ``make`` gives; a refusal points at the function."""
    try:
        return Pattern(make())
    except (Refusal, TooFullError) as refusal:
        if isinstance(refusal, TooFullError):
            refusal = too_full(refusal)
        forms = patterns_of(function, argnums).forms
        raise UnsupportedError([located(refusal, forms)]) from None


ONLY_OUTSIDE.update(dict.fromkeys(
    (jacobian_sparsity, hessian_sparsity), "the pattern, detected outside of the function"
))
