"""Hooks that see every rule: signatures, loading, refreshing, failures, packages."""

import logging
import math
import numbers
import operator
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from adcompiler import (
    Signature, apply_frule, clear_new_rule_hooks, non_differentiable, on_new_rule, opt_out,
    refresh_rules, rrule, scalar_rule, sensitivity,
)
from adcompiler.rulekit import REGISTRY
from adcompiler.rulekit.hooks import signature_of

ROOT = Path(__file__).resolve().parents[2]


def added(x, y):
    return x + y


def subtracted(x, y):
    return x - y


def sine(x):
    return math.sin(x)


def test_E1_a_hook_sees_what_is_there_and_what_comes():
    history = []
    results = on_new_rule(lambda sig: history.append(sig.op) or len(history), rrule)
    assert results == list(range(1, len(history) + 1))
    assert {operator.mul, np.sin, math.exp, np.linalg.solve} <= set(history)
    scalar_rule(added, 1, 1)
    scalar_rule(subtracted, 1, -1)
    refresh_rules()
    assert set(history[-2:]) == {added, subtracted}


def test_B23_the_results_of_a_hook_say_whether_it_used_the_rule():
    scalar_rule(added, 1, 1)
    found = on_new_rule(lambda sig: sig.op is added, "rrule")
    assert found[-1] is True
    assert found.count(True) == 1


def test_E2_signatures_are_the_function_and_a_class_for_each_argument():
    scalar_rule(added, 1, 1)
    assert signature_of(REGISTRY.find(added)) == Signature(
        added, (numbers.Number, numbers.Number))

    @rrule(subtracted, types=(float, None))
    def of_floats(x, y):
        return x - y, lambda dz: (dz, -dz)

    assert signature_of(REGISTRY.find(subtracted, (float, int))) == Signature(
        subtracted, (float, object))

    @rrule(sine)
    def annotated(x: float, scale: "np.ndarray", *, flag: bool = False):
        return x, lambda dz: dz

    assert signature_of(REGISTRY.find(sine)) == Signature(sine, (float, np.ndarray))


def test_E3_hooks_filter_signatures():
    assert Signature(added, (numbers.Number, object)).accepts(float)
    assert not Signature(added, (np.ndarray, float)).accepts(float)
    assert Signature(added, (np.ndarray, float)).accepts(float, np.ndarray)
    seen = []

    def for_floats(sig):
        if sig.accepts(float) and not isinstance(sig.op, type):
            seen.append(sig.op)

    on_new_rule(for_floats)

    @rrule(added, types=(np.ndarray, np.ndarray))
    def of_arrays(x, y):
        return x + y, lambda dz: (dz, dz)

    scalar_rule(subtracted, 1, -1)
    refresh_rules()
    assert added not in seen
    assert subtracted in seen


def test_E3_signatures_of_shipped_rules_say_what_they_accept():
    for_floats = on_new_rule(lambda sig: sig.op if sig.accepts(float) else None)
    assert {math.sin, np.add, np.sum, np.dot, np.where} <= set(for_floats)
    arrays = {np.linalg.inv, np.linalg.solve, np.linalg.cholesky, np.matmul, np.fft.fft, np.trace}
    assert not {*arrays, np.concatenate, np.stack} & set(for_floats)
    for_arrays = on_new_rule(lambda sig: sig.op if sig.accepts(np.ndarray) else None)
    assert arrays <= set(for_arrays) and np.concatenate not in for_arrays
    assert signature_of(REGISTRY.find(np.linalg.solve)) == Signature(
        np.linalg.solve, (np.ndarray, np.ndarray))


def test_E3_annotations_that_name_no_class():
    @rrule(subtracted)
    def of_several(x: "list[float]", y: "int | float"):
        return x[0] - y, lambda dz: ([dz], -dz)

    assert signature_of(REGISTRY.find(subtracted)) == Signature(subtracted, (list, object))


def test_E4_only_new_and_changed_rules_are_shown():
    history = []
    on_new_rule(lambda sig: history.append(sig.op), rrule)
    count = len(history)
    refresh_rules()
    assert len(history) == count
    scalar_rule(added, 1, 1)
    refresh_rules(rrule)
    refresh_rules("rrule")
    assert history[count:] == [added]
    scalar_rule(added, 1, 2)
    refresh_rules()
    assert history[count:] == [added, added]
    sensitivity(sine, arg=0)(lambda p, y, y_bar, x: y_bar)
    sensitivity(sine, arg=0, inplace=True)(lambda x_bar, p, y, y_bar, x: x_bar + y_bar)
    refresh_rules()
    assert history[count + 2 :] == [sine]  # put together from two parts, shown once


def test_E5_cleared_hooks_see_nothing():
    history = []
    on_new_rule(lambda sig: history.append(sig.op), rrule)
    clear_new_rule_hooks(rrule)
    count = len(history)
    scalar_rule(sine, math.cos)
    refresh_rules()
    assert len(history) == count


def test_E6_opted_out_signatures_are_not_shown():
    history = []
    on_new_rule(lambda sig: history.append(sig.op), rrule)
    opt_out(added, (float, float))
    opt_out(sine)
    non_differentiable(subtracted)
    REGISTRY.remove(subtracted)
    count = len(history)
    refresh_rules()
    assert history[count:] == []


def test_E6_rules_that_were_opted_out_before_are_not_shown_either():
    def doubled(x):
        return 2.0 * x

    def tripled(x):
        return 3.0 * x

    for function, factor in ((doubled, 2.0), (tripled, 3.0)):
        rrule(function, types=(float,))(lambda x, k=factor: (k * x, lambda dy: k * dy))
    opt_out(doubled)
    opt_out(tripled, (int,))
    history = []
    on_new_rule(lambda sig: history.append(sig.op), rrule)
    assert doubled not in history
    assert tripled in history
    REGISTRY.remove(doubled)
    REGISTRY.remove(tripled)


def test_E7_a_hook_that_fails_is_logged_and_others_run(caplog):
    good = []

    def bad(sig):
        if sig.op is added:
            raise ValueError("no such overload")

    on_new_rule(bad)
    on_new_rule(lambda sig: good.append(sig.op))
    scalar_rule(added, 1, 1)
    scalar_rule(subtracted, 1, -1)
    with caplog.at_level(logging.ERROR, "adcompiler"):
        refresh_rules()
    assert good[-2:] == [added, subtracted]
    (record,) = caplog.records
    assert "the rule of added" in record.getMessage()
    assert record.exc_info[0] is ValueError


def test_E8_hooks_for_rules_that_push_forward():
    def curved(x):
        return x * x

    forward = on_new_rule(lambda sig: sig.op, "frule")
    assert {np.sin, operator.matmul, np.sum} <= set(forward)
    assert np.linalg.det not in forward
    history = []
    on_new_rule(lambda sig: history.append(sig.op), apply_frule)
    scalar_rule(added, 1, 1)

    @rrule(curved)
    def curved_rule(x):
        return x * x, lambda dy: 2.0 * x * dy

    refresh_rules("frule")
    assert history[-1] is added
    assert curved not in history


def test_E8_rules_push_tangents_as_plain_functions():
    assert apply_frule(math.sin, (0.5,), (2.0,)) == (math.sin(0.5), 2.0 * math.cos(0.5))
    assert apply_frule(np.multiply, (2.0, 3.0), (1.0, None)) == (6.0, 3.0)
    assert apply_frule(np.multiply, (2.0, 3.0), (None, None)) == (6.0, None)
    a, b, v = np.arange(4.0).reshape(2, 2), np.ones((2, 2)), np.eye(2)
    y, y_dot = apply_frule(np.matmul, (a, b), (v, 2.0 * v))
    assert np.array_equal(y, a @ b)
    assert np.array_equal(y_dot, v @ b + a @ (2.0 * v))
    y, y_dot = apply_frule(np.sum, (a,), (b,), axis=0)
    assert np.array_equal(y_dot, [2.0, 2.0])
    assert apply_frule(np.argmax, (a,), (b,)) == (3, None)
    assert apply_frule(np.linalg.det, (a,), (b,)) is None
    assert apply_frule(textwrap.dedent, ("",), (None,)) is None


def test_kinds_of_rules_are_checked():
    with pytest.raises(ValueError, match="is no kind of rules"):
        on_new_rule(print, "jrule")


def test_E4_rules_of_an_installed_package_arrive_by_its_entry_point(tmp_path):
    (tmp_path / "orbits.py").write_text("def kepler(e):\n    return int(1000 * e) * 0.001\n")
    (tmp_path / "orbits_rules.py").write_text(textwrap.dedent("""\
        import orbits
        from adcompiler.rulekit import scalar_rule

        scalar_rule(orbits.kepler, 42.0)
        """))
    info = tmp_path / "orbits_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: orbits-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[adcompiler.rules]\norbits = orbits_rules\n")
    (tmp_path / "program.py").write_text(textwrap.dedent("""\
        import sys
        from adcompiler import grad, on_new_rule
        from adcompiler.rulekit import REGISTRY, hooks
        import orbits

        shown = []
        hooks._hooks["rrule"] = [hooks._Registered(lambda sig: shown.append(sig.op), "rrule")]
        assert "orbits_rules" not in sys.modules

        @grad
        def f(e):
            return 2.0 * orbits.kepler(e)

        print(f(0.5), shown.count(orbits.kepler))
        print(sum(on_new_rule(lambda sig: sig.op is orbits.kepler)))
        """))
    path = os.pathsep.join([str(tmp_path), str(ROOT), str(ROOT / "rules")])
    run = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path, "ADCOMPILER_CACHE_DIR": "off"},
    )
    assert run.stdout.split() == ["84.0", "1", "1"], run.stderr


def test_E11_a_changed_rule_makes_emitted_code_anew():
    from adcompiler import grad

    slope = grad(lambda x: sine(x))
    scalar_rule(sine, math.cos)
    assert slope(0.0) == 1.0
    scalar_rule(sine, lambda x: 5.0)
    assert slope(0.0) == 5.0
    REGISTRY.withdraw(REGISTRY.find(sine))
    assert slope(0.0) == 1.0


def test_E3_operators_with_rules_of_numbers_take_floats():
    for kind in ("rrule", "frule"):
        seen = on_new_rule(lambda sig: sig.op if sig.accepts(float) else None, kind)
        assert {operator.add, operator.mul, operator.truediv, operator.pow, operator.neg} <= set(
            seen)


def test_pushforwards_by_pullbacks_of_elementwise_functions():
    assert apply_frule(operator.truediv, (2.0, 4.0), (1.0, 0.5)) == (0.5, 0.1875)
    y, y_dot = apply_frule(operator.pow, (2.0, 3.0), (1.0, 1.0))
    assert y == 8.0 and y_dot == pytest.approx(12.0 + 8.0 * math.log(2.0), rel=1e-15)
    x = np.array([1.0, 4.0])
    y, y_dot = apply_frule(operator.truediv, (x, 2.0 * x), (x, None))
    np.testing.assert_allclose(y_dot, [0.5, 0.5])
    assert apply_frule(operator.truediv, (x, 2.0), (x, 1.0)) is None
    assert apply_frule(operator.truediv, (1.0, 2.0 + 1.0j), (1.0, 1.0)) is None
