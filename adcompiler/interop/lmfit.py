"""Jacobians for lmfit: of residuals of named parameters, and of its models.

Both take parameters that an expression makes of others (``expr=``) along; what bounds do to
derivatives, lmfit sees to itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from adcompiler.api.grad import grad
from adcompiler.api.seeds import batched_jvp
from adcompiler.api.texts import compile_text

REAL = ("derivatives are those of real residuals; put real and imaginary parts side by side, in a "
        "function for adcompiler.interop.lmfit.residual")


def residual(function: Callable[..., Any]) -> Residual:
    """Return ``function``, of a dict of numbers, as a residual of ``lmfit.Parameters``.

    Parameters:
        function (callable): ``function(p, *args, **kwargs)`` returns a real array, or a number;
            ``p`` has the value of each parameter under its name.

    Returns:
        Residual: What ``lmfit.Minimizer`` and ``lmfit.minimize`` take. Its method ``jacobian`` is
        for ``Dfun=``, and for ``jac=`` of ``least_squares``: an array with a row for each number of
        the residual and a column for each parameter that varies. Of a number it is the gradient.

    Raises:
        ADError: At the first call of ``jacobian``, for what the compiler refuses.
        TypeError: By ``jacobian``, for complex residuals.

    Example:
        >>> import lmfit, numpy as np
        >>> from adcompiler.interop.lmfit import residual
        >>> misfit = residual(lambda p, t, y: p["scale"] * np.exp(-p["rate"] * t) - y)
        >>> t = np.linspace(0.0, 2.0, 9)
        >>> params = lmfit.create_params(scale=1.0, rate={"value": 1.0, "min": 0.0})
        >>> fit = lmfit.Minimizer(misfit, params, (t, 3.0 * np.exp(-0.5 * t)))
        >>> found = fit.leastsq(Dfun=misfit.jacobian).params
        >>> round(found["scale"].value, 6), round(found["rate"].value, 6)
        (3.0, 0.5)
    """
    return Residual(function)


class Residual:
    """A residual of named parameters; see ``residual``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.directions = Directions()

    def __reduce__(self) -> Any:
        return type(self), (self.function,)

    def __call__(self, params: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the residual."""
        return self.function(dict(params.valuesdict()), *args, **kwargs)

    def jacobian(self, params: Any, *args: Any, **kwargs: Any) -> np.ndarray:
        """Return the derivatives by the parameters that vary."""
        columns = self.directions.of(params)
        _, found = batched_jvp(
            self.function, (dict(params.valuesdict()), *args), (columns,), argnums=(0,), **kwargs)
        return by_rows(found)


def model_jacobian(model: Any) -> ModelJacobian:
    """Return the Jacobian of the residual of an ``lmfit.Model``.

    Parameters:
        model (lmfit.Model): A model of a function whose source can be read, of real values; or
            models that operators combine.

    Returns:
        ModelJacobian: A function for ``model.fit(..., fit_kws={"Dfun": model_jacobian(model)})``,
        which returns an array with a row for each number of the data and a column for each
        parameter that varies.

    Raises:
        ADError: At the first call, for what the compiler refuses.
        TypeError: At the first call, for models with complex values.

    Example:
        >>> import lmfit, numpy as np
        >>> from adcompiler.interop.lmfit import model_jacobian
        >>> peak = lmfit.models.GaussianModel()
        >>> x = np.linspace(-3.0, 3.0, 31)
        >>> y = np.exp(-x**2 / 2.0) / np.sqrt(2.0 * np.pi)
        >>> start = peak.make_params(center=0.5, sigma=2.0, amplitude=2.0)
        >>> fit = peak.fit(y, start, x=x, fit_kws={"Dfun": model_jacobian(peak)})
        >>> round(fit.params["sigma"].value, 6), round(fit.params["amplitude"].value, 6)
        (1.0, 1.0)
    """
    return ModelJacobian(model)


class ModelJacobian:
    """The Jacobian of a model's residual; see ``model_jacobian``."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.directions = Directions()

    def __reduce__(self) -> Any:
        return type(self), (self.model,)

    def __call__(
        self, params: Any, data: np.ndarray, weights: np.ndarray | None, **kwargs: Any
    ) -> np.ndarray:
        """Return the derivatives of ``(data - model) * weights`` by the parameters that vary."""
        value, along = along_directions(self.model, params, self.directions.of(params), kwargs)
        if np.iscomplexobj(data) or (weights is not None and np.iscomplexobj(weights)):
            raise TypeError(REAL)
        found = -along * (1.0 if weights is None else np.asarray(weights))
        return by_rows(np.broadcast_to(found, (len(found), *np.shape(data - value))))


def along_directions(
    model: Any, params: Any, columns: dict[str, np.ndarray], kwargs: dict[str, Any]
) -> tuple[Any, np.ndarray]:
    """Return the value of a model and its derivatives along the directions of parameters."""
    if hasattr(model, "op"):
        values, slopes = zip(*(
            along_directions(one, params, columns, kwargs) for one in (model.left, model.right)
        ), strict=True)
        found: tuple[Any, np.ndarray] = batched_jvp(model.op, values, slopes)
        return found
    given = model.make_funcargs(params, kwargs)
    names = {name: model._strip_prefix(name) for name in model.param_names if name in params}
    names = {name: short for name, short in names.items() if short in given}
    if fixed := [name for name in names if name in kwargs or names[name] in kwargs]:
        raise TypeError(f"a value for the parameter {fixed[0]} is given beside the parameters; "
                        f"set params[{fixed[0]!r}].value, and vary=False")
    value, along = batched_jvp(
        model.func, (), [columns[name] for name in names], argnums=tuple(names.values()), **given)
    return value, along


def by_rows(along: np.ndarray) -> np.ndarray:
    """Return derivatives with one row for each number, in place of one for each direction."""
    if np.iscomplexobj(along):
        raise TypeError(REAL)
    flat = np.array(along, dtype=float)
    if flat.ndim > 1:
        flat = flat.reshape(len(flat), -1).T
    return flat


class Directions:
    """How all parameters go with those that vary; compiles expressions once."""

    def __init__(self) -> None:
        self.compiled: dict[Any, tuple[Any, Any]] = {}

    def of(self, params: Any) -> dict[str, np.ndarray]:
        """Return the derivatives of each parameter by those that vary."""
        varying = [name for name, one in params.items() if one.vary and not one.expr]
        found: dict[str, np.ndarray] = dict(zip(varying, np.eye(len(varying)), strict=True))

        def direction(name: str) -> np.ndarray:
            if name not in found:
                found[name] = np.zeros(len(varying))
                if params[name].expr:
                    others = names_in(params[name].expr, params)
                    slopes = self.slopes(params, params[name].expr, others)
                    for other, slope in zip(others, slopes, strict=True):
                        found[name] = found[name] + slope * direction(other)
            return found[name]

        return {name: direction(name) for name in params}

    def slopes(self, params: Any, expression: str, others: Sequence[str]) -> Any:
        """Return the derivatives of an expression by the parameters in it."""
        if not others:
            return ()
        known = params._asteval.symtable
        used = {name: known[name] for name in names_in(expression, known) if name not in others}
        key = expression, tuple(others), tuple(map(id, used.values()))
        if key not in self.compiled:
            text = f"def expression({', '.join(others)}):\n    return ({expression})\n"
            every = tuple(range(len(others)))
            self.compiled[key] = grad(compile_text(text, names=used), every), used
        return self.compiled[key][0](*(float(params[name].value) for name in others))


def names_in(expression: str, known: Container[str]) -> list[str]:
    """Return the names in an expression that are known, in order."""
    found = (node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name))
    return [name for name in dict.fromkeys(found) if name in known]


__all__ = ["model_jacobian", "residual"]
