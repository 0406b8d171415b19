"""Numbers that pass through text, bytes, memory or exact rationals and come back."""

from __future__ import annotations

import array
import ast
import ctypes
import datetime
import decimal
import fractions
import io
import json
import math
import pickle
import statistics
import string
import struct

import numpy as np

from tests.record.lost import Program


def through_str(x):
    return float(str(x * x)) * x


def through_repr_and_eval(x):
    return eval(repr(x * 2.0)) + x


def through_an_f_string(x):
    return float(f"{x * x:.17g}") + float("%.17g" % x) + float("{0:.17g}".format(x))


def through_json(x):
    return json.loads(json.dumps({"value": [x, x * x]}))["value"][1] * x


def through_hex(x):
    return float.fromhex((x * x).hex())


def through_struct(x):
    return struct.unpack("<2d", struct.pack("<2d", x, x * x))[1]


def packed_into_a_buffer(x):
    buffer = bytearray(8)
    struct.pack_into("d", buffer, 0, x * 3.0)
    return struct.unpack_from("d", buffer)[0] * x


def through_array_array(x):
    row = array.array("d", [x, x * x, 3.0])
    row.append(x)
    return row[1] * row[2] + row[3]


def numpy_over_array_array(x):
    row = array.array("d", [x, 1.0])
    view = np.frombuffer(row)
    view[1] = view[0] * 2.0
    return row[1]


def through_a_memoryview(a):
    y = a * a
    memory = memoryview(y)
    memory[0] = memory[1] * 2.0
    return y[0] + y[2]


def through_bytes(a):
    return np.sum(np.frombuffer((a * a).tobytes()))


def array_over_a_buffer(a):
    y = a * a
    same = np.ndarray((3,), float, y.data)
    same[0] *= 2.0
    return np.sum(y)


def through_integers(a):
    bits = (a * a).view(np.int64)
    return np.sum(bits.copy().view(np.float64))


def sign_bit_cleared(a):
    y = -a * a
    y.view(np.uint64)[...] &= np.uint64(0x7FFFFFFFFFFFFFFF)
    return np.sum(y)


def complex_view(a):
    y = np.concatenate([a, a[:1]]) * 2.0
    return np.sum(y.view(complex) ** 2).real


def through_ctypes(x):
    return ctypes.c_double(x * x).value + (ctypes.c_double * 2)(x, 1.0)[0]


def written_by_ctypes(a):
    y = a * a
    y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0] = 3.0
    return np.sum(y)


def moved_by_ctypes(a):
    y = np.zeros(3)
    x = a * a
    ctypes.memmove(y.ctypes.data, x.ctypes.data, x.nbytes)
    return np.sum(y)


def through_a_file(a):
    stream = io.BytesIO()
    np.save(stream, a * a)
    stream.seek(0)
    return np.sum(np.load(stream))


def through_text_of_numpy(a):
    stream = io.StringIO()
    np.savetxt(stream, a * 2.0, fmt="%.17g")
    return np.sum(np.loadtxt(io.StringIO(stream.getvalue())))


def strings_in_an_array(a):
    return np.sum((a * a).astype(str).astype(float))


def through_pickle(a):
    y = pickle.loads(pickle.dumps({"y": a * a, "z": float(a[0])}))
    return np.sum(y["y"]) + y["z"]


def through_fraction(x):
    return float(fractions.Fraction(x) * 2 + fractions.Fraction(1, 4))


def through_decimal(x):
    return float(decimal.Decimal(x) * decimal.Decimal(2)) + x


def exact_mean(x, y):
    return statistics.mean([x, y, x * y])


def exact_variance(x):
    return statistics.variance([x, 0.0, 2.0 * x])


def normal_distribution(x):
    return statistics.NormalDist(x, 2.0 * x).cdf(1.0)


def seconds_of_time(x):
    return datetime.timedelta(seconds=x).total_seconds() * x


def literal(x):
    return ast.literal_eval(f"[{x!r}, 2.0]")[0] * x


def template(x):
    return float(string.Template("$v").substitute(v=x)) * 2.0


def digits(x):
    whole, _, rest = str(x).partition(".")
    return float(whole) + float(rest) * 10.0 ** -len(rest)


def written_and_parsed(x):
    out = io.StringIO()
    print(x * x, file=out)
    return float(out.getvalue()) + x


def to_an_int_and_back(x):
    return x * int(x * 10.0) + round(x, 1) * x + math.floor(x) + x // 0.3 + x % 0.3


def dates_as_numbers(x):
    start = datetime.datetime(2020, 1, 1)
    return (start + datetime.timedelta(days=x) - start) / datetime.timedelta(days=1)


A = np.array([0.3, 0.5, 0.7])


def text(name, function, gradient, args=(0.7,), **rest):
    return Program(name, function, args, gradient, no_derivative=True, **rest)


PROGRAMS = [
    text("str and float", through_str, lambda x: 3.0 * x * x),
    text("repr and eval", through_repr_and_eval, 3.0),
    text("f-strings", through_an_f_string, lambda x: 2.0 * x + 2.0),
    text("json", through_json, lambda x: 3.0 * x * x),
    text("hex", through_hex, lambda x: 2.0 * x),
    text("struct", through_struct, lambda x: 2.0 * x),
    text("pack_into", packed_into_a_buffer, lambda x: 6.0 * x),
    text("array.array", through_array_array, lambda x: 6.0 * x + 1.0),
    text("an array over array.array", numpy_over_array_array, 2.0),
    text("memoryview", through_a_memoryview, lambda a: a * [0.0, 4.0, 2.0], (A,)),
    text("tobytes and frombuffer", through_bytes, lambda a: 2.0 * a, (A,)),
    text("an array over the memory of another", array_over_a_buffer, lambda a: a * [4.0, 2.0, 2.0],
         (A,)),
    text("a view as integers", through_integers, lambda a: 2.0 * a, (A,)),
    text("a sign bit cleared", sign_bit_cleared, lambda a: 2.0 * a, (A,)),
    text("a view as complex", complex_view,
         lambda a: 8.0 * np.array([a[0] - a[0], -a[1], a[2]]), (A,)),
    text("ctypes", through_ctypes, lambda x: 2.0 * x + 1.0),
    text("a write by ctypes", written_by_ctypes, lambda a: a * [0.0, 2.0, 2.0], (A,)),
    text("memmove", moved_by_ctypes, lambda a: 2.0 * a, (A,)),
    text("np.save and np.load", through_a_file, lambda a: 2.0 * a, (A,)),
    text("np.savetxt and np.loadtxt", through_text_of_numpy, np.full(3, 2.0), (A,)),
    text("astype(str)", strings_in_an_array, lambda a: 2.0 * a, (A,)),
    text("pickle", through_pickle, lambda a: 2.0 * a + [1.0, 0.0, 0.0], (A,)),
    text("Fraction", through_fraction, 2.0),
    text("Decimal", through_decimal, 3.0),
    text("statistics.mean", exact_mean, lambda x, y: ((1.0 + y) / 3.0, (1.0 + x) / 3.0),
         (0.7, 0.4)),
    text("statistics.variance", exact_variance, lambda x: 2.0 * x),
    text("statistics.NormalDist", normal_distribution, None),
    text("timedelta", seconds_of_time, lambda x: 2.0 * x, (0.75,)),
    text("literal_eval", literal, lambda x: 2.0 * x),
    text("string.Template", template, 2.0),
    text("the digits of a number", digits, 1.0, jumps=True),
    text("print into a file", written_and_parsed, lambda x: 2.0 * x + 1.0),
    Program("whole numbers of a float", to_an_int_and_back, (0.77,), 8.8),
    text("days", dates_as_numbers, 1.0, (0.75,), tolerance=1e-4, step=1e-2),
]
