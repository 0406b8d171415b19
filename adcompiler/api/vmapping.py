"""``vmap``: a function of one example as a function of many, along axes of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adcompiler.api.derivative import Code, Derivative, P
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.api.fallback import because, types_key
from adcompiler.api.keywords import suggesting
from adcompiler.dispatch import Options
from adcompiler.dispatch.arguments import described, refuse_foreign
from adcompiler.dispatch.targets import find_target, named_forward
from adcompiler.dispatch.trees import children
from adcompiler.dispatch.written import STARS, Written
from adcompiler.errors import ADError
from adcompiler.runtime.records import is_record, record
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.axes import Axes, axes_as_given, axes_of_call, axes_of_parts, axis_within
from adcompiler.typed.derivatives import MAKERS, Wanted

MAX_FORMS = 64
"""How many ways of calling it a mapped function keeps code for."""


class Vmapped(Derivative[P, Any]):
    """A function mapped over examples; see ``vmap``.

    Calls run compiled code where there is some, and else the function for one example after the
    other.
    """

    def __init__(self, function: Callable[..., Any], in_axes: Axes, out_axes: Axes) -> None:
        self.in_axes, self.out_axes = axes_as_given(in_axes), axes_as_given(out_axes)
        super().__init__(function, Wanted(
            "vmap", (), False, (("in_axes", self.in_axes), ("out_axes", self.out_axes))))
        try:
            self.__signature__ = signature_of(function, follow_wrapped=False)
        except (TypeError, ValueError):
            self.__signature__ = find_target(function).signature
        self.sees_calls = not any(
            p.kind in STARS for p in self.__signature__.parameters.values())
        self.forms = {}
        self._last: EmittedDerivative[..., Any] | None = None
        self._refused: dict[Any, ADError] = {}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the results for all examples, stacked."""
        axes = axes_of_call(self.in_axes, len(args), list(kwargs))
        given = [*zip(args, axes[0], map("argument {}".format, range(len(args))), strict=True),
                 *((kwargs[key], axis, key) for key, axis in axes[1].items())]
        extents = [found for value, axis, what in given for found in extents_of(value, axis, what)]
        count = number_of_examples(extents)
        call = Written(args, kwargs)
        form: EmittedDerivative[..., Any] = self.form(call)
        s = form.specialisations
        values = s.values(s.target.bound(args, kwargs))
        key = (form.__name__, *call.way, *types_key(values))
        if count and key not in self._refused:
            try:
                compiled, _ = s.find(values)
            except ADError as error:
                while len(self._refused) >= MAX_FORMS:
                    del self._refused[next(iter(self._refused))]
                self._refused[key] = error
            else:
                self._last = form
                return s.run(compiled, values)
        return self.one_by_one(count, call, *axes)

    def one_by_one(
        self, count: int, call: Written, axes: Sequence[Axes], named: Mapping[str, Axes]
    ) -> Any:
        """Return what the function gives for one example after the other, stacked."""
        if not count:
            raise ValueError(
                "vmap over no examples: what the function returns is known by calling it")
        found = [
            self.primal(
                *(example(x, axis, i) for x, axis in zip(call.args, axes, strict=True)),
                **{key: example(call.kwargs[key], axis, i) for key, axis in named.items()})
            for i in range(count)
        ]
        return stacked(found, self.out_axes)

    kept = staticmethod(EmittedDerivative.kept)

    def form_of(self, count: int, keywords: tuple[str, ...]) -> Derivative[..., Any]:
        """Return what calls this with arguments so many by position, and these.

        An argument that is left to its default is none of them.
        """
        parameters = self.__signature__.parameters.values()
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY,
                                                          p.POSITIONAL_OR_KEYWORD)][:count]
        if len(names) < count:
            names = [f"x{i}" for i in range(count)]
        given = [*names, *keywords]
        arguments = [*names, *(f"{key}={key}" for key in keywords)]
        name = getattr(self, "__name__", "function")
        name = f"{'lambda' if name == '<lambda>' else name}_of_examples"
        made = named_forward(name, ", ".join(given), ", ".join(arguments), self, given)
        return EmittedDerivative(made, Options("primal", ()))

    def made_of(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Vmapped, (self.primal, self.in_axes, self.out_axes)

    def code(self, *args: Any, **kwargs: Any) -> Code:
        found: Code = self.form(Written(args, kwargs)).code(*args, **kwargs)
        return found

    def running(self) -> Derivative[..., Any]:
        if self._last is None:
            raise ADError(
                f"there is no compiled code of {self!r}: no call of it was compiled"
                + "".join(f" ({because(e)})" for e in list(self._refused.values())[-1:]))
        return self._last


def extents_of(value: Any, axes: Axes, what: str) -> Iterator[tuple[int, str]]:
    """Yield the extents of the axes that a value is mapped over, with what they are of."""
    if axes is None or value is None:
        return
    if isinstance(value, np.ndarray) and isinstance(axes, int):
        yield value.shape[axis_within(axes, value.ndim, what)], what
        return
    refuse_foreign(value, what, differentiated=True)
    if not isinstance(value, (tuple, list, dict)) and not is_record(value):
        raise ValueError(
            f"vmap is to map {what} over axis {axes}, but it is {described(value)}, no array; "
            "in_axes says None for what is the same for all examples")
    parts = children(value)
    for part, axis, key in zip(
        parts.values(), axes_of_parts(axes, list(parts), what), parts, strict=True
    ):
        yield from extents_of(part, axis, f"{what}[{key!r}]")


def number_of_examples(extents: Sequence[tuple[int, str]]) -> int:
    """Return how many examples there are; raise ValueError if arguments are of different numbers.
    """
    if not extents:
        raise ValueError("vmap needs an argument that is mapped over an axis")
    if len({extent for extent, _ in extents}) > 1:
        shown = ", ".join(f"{what}: {extent}" for extent, what in extents)
        raise ValueError(f"vmap over different numbers of examples: {shown}")
    return extents[0][0]


def example(value: Any, axes: Axes, i: int) -> Any:
    """Return one example of a value: rows of arrays are views."""
    if axes is None or value is None:
        return value
    if isinstance(value, np.ndarray) and isinstance(axes, int):
        return value[(slice(None),) * (axes % value.ndim) + (i,)]
    parts = children(value)
    found = {
        key: example(part, axis, i) for (key, part), axis in
        zip(parts.items(), axes_of_parts(axes, list(parts), "it"), strict=True)
    }
    return rebuilt(value, found)


def rebuilt(like: Any, parts: dict[Any, Any]) -> Any:
    """Return a container or instance like another one that holds these parts."""
    if isinstance(like, dict):
        return type(like)(parts) if type(like) is dict else {**parts}
    if is_record(like):
        return record(type(like), **parts)
    if hasattr(like, "_fields"):
        return type(like)(*parts.values())
    return type(like)(parts.values())


def stacked(found: Sequence[Any], axes: Axes, what: str = "the result") -> Any:
    """Return results of all examples as one; raise ValueError or TypeError if they do not fit."""
    first = found[0]
    if first is None and all(one is None for one in found):
        return None
    if all(isinstance(one, (np.ndarray, np.generic, int, float, complex)) for one in found):
        arrays = [np.asanyarray(one) for one in found]
        if len({one.shape for one in arrays}) > 1:
            raise ValueError(
                f"vmap: {what} is of different shapes for different examples: "
                + ", ".join(str(s) for s in dict.fromkeys(one.shape for one in arrays)))
        if any(type(one) is not np.ndarray for one in arrays):
            raise TypeError(f"vmap: {what} is a {type(arrays[0]).__name__}, which has no stack")
        if axes is None:
            if not all(np.array_equal(one, arrays[0], equal_nan=one.dtype.kind in "fc")
                       for one in arrays):
                raise ValueError(f"vmap: {what} is not the same for all examples (out_axes=None)")
            return first
        if not isinstance(axes, int):
            raise ValueError(f"out_axes has a container where {what} is {described(first)}")
        return np.stack(arrays, axis_within(axes, arrays[0].ndim + 1, f"{what}, stacked,"))
    keys = list(children(first))
    if not isinstance(first, (tuple, list, dict)) and not is_record(first):
        raise TypeError(f"vmap: {what} is {described(first)}, which is not stacked")
    if any(type(one) is not type(first) or list(children(one)) != keys for one in found):
        raise ValueError(f"vmap: {what} is of different structures for different examples")
    parts = {
        key: stacked([children(one)[key] for one in found], axis, f"{what}[{key!r}]")
        for key, axis in zip(keys, axes_of_parts(axes, keys, what), strict=True)
    }
    return rebuilt(first, parts)


@suggesting
def vmap(function: Callable[P, Any], in_axes: Axes = 0, out_axes: Axes = 0) -> Derivative[P, Any]:
    """Return ``function`` mapped over axes of its arguments: called once for many examples.

    It does what a loop over the examples does, of which the results are stacked; what a function
    with effects does to the outside it does in this order. It may be mapped, differentiated and
    compiled like any function, and ``function`` may be a derivative: ``vmap(grad(loss), (None, 0,
    0))`` gives gradients of each example.

    Parameters:
        function (callable): A function of one example.
        in_axes (int, None or container): Along which axis each argument that is given by position
            holds the examples: an int for all, or a tuple with an int, None (the same for all
            examples) or a container of these for each; what holds for a container holds for all in
            it. Arguments given by name are mapped over their first axis.
        out_axes (int, None or container): Along which axis the results of all examples are stacked;
            in the structure of the result, if it is a container. None is for what is the same for
            all.

    Returns:
        Derivative: A function of the same arguments, with the axes of examples.

    Raises:
        ValueError: For axes that an argument has not, different numbers of examples, none of them
            where what is returned is not known, and results of different shapes.
        UnsupportedError: Where the loop is compiled and refused.

    Example:
        >>> import numpy as np
        >>> from adcompiler import grad, vmap
        >>> vmap(grad(lambda x: np.sum(x**2)))(np.array([[1.0, 2.0], [3.0, 4.0]]))
        array([[2., 4.],
               [6., 8.]])
    """
    return Vmapped(function, in_axes, out_axes)


MAKERS[vmap] = "vmap"

__all__ = ["Vmapped", "vmap"]
