"""Numbers that leave as text or bits and come back: their derivative is not dropped in silence."""

from __future__ import annotations

import functools
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


def by_joined_text(x):
    return sum(float(part) for part in " ".join(map(str, x)).split())


def by_mapping(x):
    return sum(map(float, map(str, x)))


def by_a_list_of_texts(x):
    texts = []
    for v in x:
        texts.append(str(v))
    return sum([float(text) for text in texts])


def by_a_text_that_grows(x):
    text = ""
    for v in x:
        text += f"{v} "
    return sum(float(part) for part in text.split())


def by_methods(x):
    return float(x[0].__str__()) + float(x[1].__format__(".17g")) + float(x[0].item().__repr__())


def by_an_array_of_texts(x):
    return np.sum(np.array([str(v) for v in x], float))


def by_the_greatest_text(x):
    return float(max([str(v) for v in x]))


def by_pairs(x):
    return sum(float(text) * v for text, v in zip(map(str, x), x))  # noqa: B905 (equal)


def by_folding(x):
    return float(functools.reduce(lambda a, b: a, map(str, x)))


def by_an_iterator(x):
    return np.sum(np.fromiter(map(float, map(str, x)), float))


@pytest.mark.parametrize("f", [
    by_bits, by_bytes, by_a_file, by_array_of_text, by_joined_text, by_mapping, by_a_list_of_texts,
    by_a_text_that_grows, by_methods, by_an_array_of_texts, by_the_greatest_text, by_pairs,
    by_folding, by_an_iterator,
])
def test_bits_texts_and_files_of_an_array_do_not_come_back(f):
    with pytest.raises(ADError):
        grad(f)(X)
    with pytest.raises(ADError):
        jvp(f, (X,), (X,))


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


def test_texts_of_a_list_may_be_kept_and_asked():
    def f(x):
        names = [f"{v:.1f}" for v in x]
        return sum(v * len(name) for name, v in zip(names, x))  # noqa: B905 (equal)

    assert np.array_equal(grad(f)(X), [3.0, 3.0])


def test_bits_may_be_counted():
    def f(x):
        bits = x.view(np.int64)
        return np.sum(x) * (bits[0] > 0)

    assert np.array_equal(grad(f)(X), [1.0, 1.0])
