"""Products with Hessians through every rule: all combinations of modes give the same numbers."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import hvp
from adcompiler.errors import ADError
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.testing import rule_function, rule_name, sample_calls
from tests.rules.kinds import draws
from tests.lanes import one_in
from tests.rules.shares import OURS, share
from tests.rules.test_compiled_rules import (
    LOST, NOT_COMPILED, Written, cotangents_by_parameter, real_call,
)

MODES = ("adj_adj", "fwd_adj", "adj_fwd")
REFUSED = {"math.prod": ("fwd_adj",), "numpy.gradient": ("fwd_adj", "adj_fwd")}
"""Combinations that are refused for some arguments, beside those of SciPy and of adjoints."""


def functions_of(rule: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yield sums of squares of sample calls, with each float argument in turn as the first one."""
    seen = set()
    for call in map(real_call, sample_calls(rule, np.random.default_rng(0))[:6]):
        if NOT_COMPILED.get((rule_name(rule), False), lambda *_: False)(*call.args):
            continue
        written = Written(rule.function, call)
        y = written.compiled()(*written.values)
        if isinstance(y, (list, tuple, dict)) or np.asarray(y).dtype.kind != "f":
            continue
        _, pullback = rule_function(rule)(*call.args, **call.kwargs)
        ones = np.ones_like(y) if isinstance(y, np.ndarray) else type(y)(1.0)
        bars = cotangents_by_parameter(rule, call, written, pullback(ones))
        body = written.text.split("return ", 1)[1].strip()
        for i, (name, x) in enumerate(zip(written.names, written.values, strict=True)):
            known = bars[i] is not LOST and bars[i] is not None
            array = isinstance(x, np.ndarray) and x.dtype == np.float64 and x.size > 0
            if not known or not (array or type(x) is float) or (i, np.ndim(x)) in seen:
                continue
            seen.add((i, np.ndim(x)))
            first = copy.copy(written)
            names = [name, *(n for n in written.names if n != name)]
            first.text = f"def f({', '.join(names)}):\n    return np.sum(({body}) * ({body}))\n"
            rest = [v for j, v in enumerate(written.values) if j != i]
            yield first.compiled(), [x, *rest]


def problems_of(rule: Any) -> Iterator[str]:
    """Yield how the combinations differ."""
    for function, (x, *rest) in functions_of(rule):
        v = np.random.default_rng(1).normal(size=np.shape(x))
        found = {}
        for mode in MODES:
            try:
                found[mode] = hvp(function, x, v if np.ndim(x) else float(v), *rest, mode=mode)
            except ADError as error:
                if mode not in REFUSED.get(rule_name(rule), ()) and not (
                    rule_name(rule).startswith(("scipy.", "cmath.", *OURS))
                ):
                    yield f"{mode} of {x!r}: {error}"
        for mode, product in found.items():
            wanted = next(iter(found.values()))
            size = float(np.nanmax(np.abs(wanted), initial=1.0))
            if not np.allclose(product, wanted, rtol=1e-6, atol=1e-8 * size, equal_nan=True):
                yield f"{mode} of {x!r}: {product}, not {wanted}"


RULES = [rule for rule in REGISTRY.rules() if rule_name(rule) not in (
    "adcompiler.runtime.containers.append", "adcompiler.runtime.functionals.symmetric"
) and not rule_name(rule).startswith("adcompiler.runtime.adjoints.kinks.") and not draws(rule)]


@pytest.mark.parametrize("rule", one_in(9, share(RULES, 30)), ids=rule_name)
def test_products_with_hessians_agree(rule: Any) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        problems = list(problems_of(rule))
    assert not problems, "\n".join(problems)
