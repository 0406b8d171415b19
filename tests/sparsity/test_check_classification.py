"""Classifications against derivatives (A21), and the command that does it.

In the default run a quarter of the functions are checked, chosen by name;
``ADCOMPILER_ALL_RULES=1`` checks all.
"""

import cmath
import operator
import os
import re
import zlib

import numpy as np
import pytest
import scipy.special

from adcompiler import classify
from adcompiler.cli import main
from adcompiler.cli.check_classification import check, classified_rules
from adcompiler.ops.classify import DECLARED, LOCAL
from adcompiler.rulekit.samples import rule_name
from adcompiler.sparsity.interpreter.machine import classifications_of
from adcompiler.tracers import is_der1_zero_local
from tests.lanes import one_in

EVERY = 1 if os.environ.get("ADCOMPILER_ALL_RULES") else 4
CLASSIFIED = classified_rules()
CHECKED = [rules for rules in CLASSIFIED if zlib.crc32(rule_name(rules[0]).encode()) % EVERY == 0]


@pytest.fixture
def _forget():
    kept = dict(DECLARED), dict(LOCAL)
    yield
    for table, before in zip((DECLARED, LOCAL), kept, strict=True):
        table.clear()
        table.update(before)


@pytest.mark.parametrize(
    "rules", one_in(6, CHECKED, whole=True), ids=lambda rules: rule_name(rules[0]))
def test_a21_what_is_classified_as_zero_is_zero(rules):
    for found in check(rules, np.random.default_rng(0)):
        assert found.wrong == ()
        assert found.points == 20 or found.note


def test_a21_nearly_all_are_checked():
    found = [each for rules in CHECKED for each in check(rules, np.random.default_rng(1))]
    assert [each.note for each in found if each.note] == []


@pytest.mark.parametrize("function", [
    complex.conjugate, np.float32, np.ndarray.conj, np.ndarray.conjugate, cmath.sqrt,
    scipy.special.ellipk,
])
def test_a21_functions_that_need_other_numbers_or_differences(function):
    rules = next(rules for rules in CLASSIFIED if rules[0].function == function)
    for found in check(rules, np.random.default_rng(0)):
        assert (found.points, found.wrong, found.note) == (20, (), "")


def test_a11_every_elementwise_rule_is_classified():
    for rules in CLASSIFIED:
        for rule in rules:
            if rule.elementwise and rule.function not in DECLARED:
                (kind,) = classifications_of(rule.function, len(rule.partials))
                assert len(kind.der1_zero) == len(rule.partials)
                assert not any(
                    zero for zero, partial in zip(kind.der1_zero, rule.partials, strict=True)
                    if partial is None)


@pytest.mark.usefixtures("_forget")
def test_wrong_declarations_of_what_a_rule_does_not_give_are_found(capsys):
    assert main(["check-classification", "scipy.special.gammainc"]) == 0
    assert re.search(r"gammainc +ssc +20 +ok$", capsys.readouterr().out, re.M)
    classify(scipy.special.gammainc, "2-1", "zsz")
    assert main(["check-classification", "scipy.special.gammainc"]) == 1
    assert "wrong: d/dx0, d2/dx0dx0, d2/dx0dx1" in capsys.readouterr().out
    classify(scipy.special.gammainc, "2-1", "fsc")
    assert main(["check-classification", "scipy.special.gammainc"]) == 1
    assert "wrong: d2/dx0dx0" in capsys.readouterr().out


@pytest.mark.usefixtures("_forget")
def test_wrong_declarations_are_found(capsys):
    classify(np.sin, "1-1", "f")
    assert main(["check-classification", "numpy.sin", "operator.mul"]) == 1
    text = capsys.readouterr().out
    assert re.search(r"^numpy\.sin +f +20 +wrong: d2/dx0dx0$", text, re.M)
    assert re.search(r"^operator\.mul +ffc +20 +ok$", text, re.M)
    assert text.endswith("2 classifications, 1 wrong, 0 not fully checked\n")
    classify(np.sin, "1-1", "z")
    assert main(["check-classification", "numpy.sin"]) == 1
    assert "wrong: d/dx0, d2/dx0dx0" in capsys.readouterr().out
    classify(operator.mul, "2-1", "ffz")
    assert main(["check-classification", "operator.mul"]) == 1
    assert "wrong: d2/dx0dx1" in capsys.readouterr().out


@pytest.mark.usefixtures("_forget")
def test_wrong_predicates_and_loose_declarations_are_found(capsys):
    is_der1_zero_local.register(np.exp)(lambda x: x < 1.0)
    assert main(["check-classification", "numpy.exp", "--seed", "3"]) == 1
    assert "wrong: d/dx0 at a point" in capsys.readouterr().out
    classify(np.negative, "1-1", "s")
    assert main(["check-classification", "numpy.negative"]) == 0
    assert "ok, but zero: d2/dx0dx0" in capsys.readouterr().out


def test_unknown_names_are_refused(capsys):
    assert main(["check-classification", "numpy.linalg.det"]) == 2
    assert "numpy.linalg.det is not classified" in capsys.readouterr().err
