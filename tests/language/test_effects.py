"""print, assert, raise and f-strings stay in the primal, in order; docstrings and hints do no harm."""

import logging

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp
from tests.language.check import check


def prints(x):
    print("start", x)
    total = 0.0
    for i in range(3):
        total += x * i
        print(f"{i}: {total:.3f} {x!r:>6} {i + 1 = }")
    if total > 1.0:
        print("large", end="!\n", sep="-")
    return total * total


def test_prints_are_those_of_the_primal(capsys):
    wanted = prints(1.5), capsys.readouterr().out
    value, slope = value_and_grad(prints)(1.5)
    assert (value, capsys.readouterr().out) == wanted
    grad(prints)(1.5)
    assert capsys.readouterr().out == wanted[1]
    value, pullback = vjp(prints, 1.5)
    assert (value, capsys.readouterr().out) == wanted
    assert pullback(1.0) == (slope,) == (27.0,)
    assert capsys.readouterr().out == ""


def asserts(x):
    assert x > 0.0, f"{x} must be positive"
    assert x < 10.0
    return x * x


def test_asserts():
    check(asserts, 1.5)
    with pytest.raises(AssertionError, match=r"-1.0 must be positive"):
        grad(asserts)(-1.0)
    with pytest.raises(AssertionError):
        grad(asserts)(11.0)


class OwnError(Exception):
    pass


def raises(x, kind=0):
    if x < 0.0:
        raise ValueError(f"negative: {x}")
    if kind == 1:
        raise OwnError
    if kind == 2:
        raise RuntimeError("outer") from KeyError("inner")
    for i in range(3):
        if x > 100.0 * i + 50.0 and i == 2:
            raise OwnError("in a loop", i)
    return x * x


def test_raise():
    assert grad(raises)(3.0) == 6.0
    with pytest.raises(ValueError, match=r"negative: -1.0"):
        grad(raises)(-1.0)
    with pytest.raises(OwnError):
        grad(raises)(1.0, 1)
    with pytest.raises(RuntimeError, match="outer") as caught:
        grad(raises)(1.0, 2)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(OwnError) as caught:
        grad(raises)(1000.0)
    assert caught.value.args == ("in a loop", 2)


def raises_in_every_branch(x):
    if x > 0.0:
        return x * x
    elif x < -5.0:
        raise ValueError("low")
    else:
        raise ValueError("negative")


def test_raise_in_branches():
    check(raises_in_every_branch, 2.0)
    with pytest.raises(ValueError, match="low"):
        grad(raises_in_every_branch)(-6.0)


def primal_errors(x, xs=(1.0,)):
    return x * xs[3] + x / 0.0


def test_errors_of_the_program_are_pythons():
    with pytest.raises(IndexError):
        grad(primal_errors)(1.0)
    with pytest.raises(ZeroDivisionError):
        grad(primal_errors)(1.0, (1.0,) * 4)


def documented(x: "float", scale: float = 2.0) -> "float":
    """Return the square.

    Not the cube.
    """
    result: float = scale * x * x  # a comment
    "a string by itself"
    ...
    pass
    return result


def test_annotations_and_docstrings():
    check(documented, 1.5)


logger = logging.getLogger("effects")


def logs(x):
    logger.warning("x is %s", x)
    return x * x


def test_logging(caplog):
    assert grad(logs)(3.0) == 6.0
    assert [record.getMessage() for record in caplog.records] == ["x is 3.0"]


def formats(x):
    name = f"{x:.2f}" + "s".upper() + ", ".join(["a", "b"]) + "%d" % 3 + "{}".format(x)
    return x * x + len(name)


def test_text_is_not_differentiated():
    check(formats, 1.25)


def swallowed(x):
    y = x * 3.0
    print(y)
    return 2.0


def test_effects_of_unused_values_stay(capsys):
    assert grad(swallowed)(1.0) == 0.0
    assert capsys.readouterr().out == "3.0\n"


def warns(x):
    return np.log(x)


def test_warnings_come_from_the_user_program():
    with pytest.warns(RuntimeWarning):
        grad(warns)(np.float64(0.0))
