"""Arrays made like lists, lists in instances that grow, slices that raise, tables of classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import adcompiler.compile.pipeline
from adcompiler import grad, value_and_grad, vjp
from tests.language.check import check


def zeros_like_a_list(x: Any) -> Any:
    items = [x, x * x]
    z = np.zeros_like(items)
    z[...] = x * x
    return np.sum(z * np.array(items) * x)


def ones_like_a_tuple(x: Any) -> Any:
    items = (x, x * x, 2.0)
    z = np.ones_like(items)
    z[0] = x
    return np.sum(z * np.array(items) * x)


def empty_like_rows(x: Any) -> Any:
    rows = [[x, x], [x, x * x]]
    z = np.empty_like(rows)
    z[...] = np.array(rows)
    return np.sum(z * np.array(rows))


def full_like_a_tuple(x: Any) -> Any:
    return np.sum(np.full_like((x, x, 1.0), fill_value=x * x) * x)


@pytest.mark.parametrize("f", [
    zeros_like_a_list, ones_like_a_tuple, empty_like_rows, full_like_a_tuple,
], ids=lambda f: f.__name__)
def test_arrays_like_lists(f: Any) -> None:
    check(f, 1.5)


@dataclass
class Log:
    scale: float
    items: list[float] = field(default_factory=list)

    def add(self, x: Any) -> None:
        self.items.append(x * self.scale)


def logged(log: Any, x: Any) -> Any:
    for k in range(3):
        log.items.append(x * k * log.scale)
    return sum(v * v for v in log.items)


def logged_by_methods(log: Any, x: Any) -> Any:
    log.add(x)
    log.add(x * x)
    return sum(v * v for v in log.items) * log.scale


@pytest.mark.parametrize("start", [[1.0], []])
@pytest.mark.parametrize("f", [logged, logged_by_methods])
def test_the_gradient_of_an_instance_is_of_what_it_held(f: Any, start: list[float]) -> None:
    plain = Log(2.0, list(start))
    wanted = f(plain, 1.5)
    log = Log(2.0, list(start))
    value, pullback = vjp(f, log, 1.5)
    assert (value, log) == (wanted, plain)
    log_bar, x_bar = pullback(1.0)
    assert len(log_bar.items or []) == len(start)
    slopes = []
    for h in (1e-6, -1e-6):
        slopes.append((f(Log(2.0 + h, list(start)), 1.5), f(Log(2.0, list(start)), 1.5 + h)))
    (up, right), (down, left) = slopes
    assert log_bar.scale == pytest.approx((up - down) / 2e-6, rel=1e-6)
    assert x_bar == pytest.approx((right - left) / 2e-6, rel=1e-6)
    assert value_and_grad(f, argnums=(0, 1))(Log(2.0, list(start)), 1.5)[1] == (log_bar, x_bar)


def list_without_a_step(x: Any) -> Any:
    return sum([x, x][::0])


def tuple_without_a_step(x: Any) -> Any:
    return sum((x, x)[::0])


def tuple_from_a_text(x: Any) -> Any:
    return sum((x, x)["a":])  # noqa: RUF016 (raises)


@pytest.mark.parametrize("f", [list_without_a_step, tuple_without_a_step, tuple_from_a_text])
def test_slices_that_raise(f: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as wanted:
        f(1.5)
    with pytest.raises(type(wanted.value), match=str(wanted.value)) as caught:
        value_and_grad(f)(1.5)
    assert type(caught.value) is type(wanted.value)


@dataclass
class Model:
    factor: float
    name: str
    TABLE = {"a": 1.0, "b": 2.0}  # noqa: RUF012 (the table is what is tested)

    @classmethod
    def named(cls, name: str) -> Any:
        return cls(cls.TABLE[name], name)

    def at(self, x: Any) -> Any:
        return x * self.factor * self.TABLE[self.name]


def by_name(x: Any) -> Any:
    return Model.named("b").at(x) * x


def by_method(x: Any, made: Any) -> Any:
    return made("b").at(x) * x


def test_methods_of_classes_are_one_object_for_the_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = []
    real = adcompiler.compile.pipeline.compile_request

    def counted(request: Any) -> Any:
        compiled.append(request)
        return real(request)

    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    monkeypatch.setattr(adcompiler.compile.pipeline, "compile_request", counted)
    first, second = grad(by_name), grad(by_method)
    for _ in range(4):
        assert first(2.0) == 16.0
        assert second(2.0, Model.named) == 16.0
    assert len(compiled) == 2
