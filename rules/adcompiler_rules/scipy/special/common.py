"""What the rules of ``scipy.special`` and ``scipy.stats`` share: samples, a silent logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from adcompiler.rulekit import Call, Domain, call

Interval = tuple[float, float]


def log(x: Any) -> Any:
    """Return ``log(x)``, which is -inf at 0 and nan of negative numbers without a warning."""
    return sc.xlogy(np.ones_like(x), x)


def refuse_complex(a: Any, b: Any = 0, c: Any = 0, d: Any = 0, e: Any = 0) -> None:
    """Raise NotImplementedError for complex numbers, on which statistics have no rules."""
    if np.iscomplexobj(a) or np.iscomplexobj(b) or np.iscomplexobj(c) or (
        np.iscomplexobj(d) or np.iscomplexobj(e)
    ):
        raise NotImplementedError("rules of scipy.stats are for real numbers only")


def of_order(orders: tuple[int, ...], *intervals: Interval, complex_: bool = False) -> Domain:
    """Return samples of functions whose first argument is one of some whole numbers.

    The others are real, drawn from open intervals; with ``complex_`` the last is complex in some.
    """

    def calls(rng: np.random.Generator) -> list[Call]:
        def draw(*shape: int) -> list[Any]:
            return [rng.uniform(low, high, shape) for low, high in intervals]

        row = np.array([orders[i % len(orders)] for i in range(3)])
        samples = [
            *(call(n, *map(float, draw())) for n in orders[:2]),
            call(np.int64(orders[-1]), *map(np.float64, draw())),
            call(orders[-1], *map(np.asarray, draw())),
            call(row, *draw(3)), call(row[:, None], *draw(2)), call(row, *draw(2, 3)),
            call(orders[0], *draw(2, 3)), call(orders[-1], *draw(0)),
            call(row, *map(float, draw())),
        ]
        if len(intervals) > 1:
            samples.append(call(row, *draw(3)[:-1], *draw()[-1:]))
        if complex_:
            last = draw(2, 3)[-1] + 1j * rng.uniform(0.1, 0.6, (2, 3))
            samples.append(call(float(orders[-1]), *map(float, draw()[:-1]), last))
        return samples

    return Domain(calls=calls)
