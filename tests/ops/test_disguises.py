"""Numbers that leave as text or bits and come back: their derivative is not dropped in silence."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest

from adcompiler import ADError, grad, jvp, stop_gradient

X = np.array([0.5, 0.7])


def by_text(x):
    return float(str(x)) * x


def by_formatting(x):
    return float(f"{x:.17g}") * x


def by_percent(x):
    return float("%.17g" % x) * x  # noqa: UP031 (the operator is what is tested)


def by_hex(x):
    return float.fromhex(x.hex()) * x


def by_repr(x):
    text = repr(x)
    return complex(text).real * x


def by_packing(x):
    return struct.unpack("d", struct.pack("d", x))[0] * x


def by_a_loop(x):
    text = "1.0"
    total = 0.0
    for _ in range(3):
        total = total + float(text) * x
        text = str(x)
    return total


def by_bits(x):
    return np.sum(x.view(np.int64).view(float) * x)


def by_bytes(x):
    return np.sum(np.frombuffer(x.tobytes()) * x)


def by_a_file(x):
    file = io.StringIO()
    np.savetxt(file, x)
    file.seek(0)
    return np.sum(np.loadtxt(file) * x)


def by_array_of_text(x):
    return np.sum(np.array([str(x[0]), "1.0"]).astype(float) * x)


@pytest.mark.parametrize("f", [
    by_text, by_formatting, by_percent, by_hex, by_repr, by_packing, by_a_loop,
])
def test_text_of_a_number_does_not_come_back(f):
    with pytest.raises(ADError):
        grad(f)(0.5)
    with pytest.raises(ADError):
        jvp(f, (0.5,), (1.0,))


@pytest.mark.parametrize("f", [by_bits, by_bytes, by_a_file, by_array_of_text])
def test_bits_and_files_of_an_array_do_not_come_back(f):
    with pytest.raises(ADError):
        grad(f)(X)


def test_what_is_dropped_on_purpose_may_be_read():
    def f(x):
        return float(str(stop_gradient(x))) * x

    assert grad(f)(0.5) == 0.5


def test_text_may_decide_and_be_printed(capsys):
    def f(x):
        print(f"{x} {x!s}")
        if str(x).startswith("0"):
            return x * x
        return x

    assert grad(f)(0.5) == 1.0
    assert capsys.readouterr().out == "0.5 0.5\n"


def test_text_of_constants_is_read():
    def f(x, names):
        return x * float(names[0]) * float("2" + names[1])

    assert grad(f)(0.5, ["1.5", "1"]) == 31.5


def test_bits_may_be_counted():
    def f(x):
        bits = x.view(np.int64)
        return np.sum(x) * (bits[0] > 0)

    assert np.array_equal(grad(f)(X), [1.0, 1.0])
