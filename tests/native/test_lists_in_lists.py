"""Lists of lists in native loops: they give what Python gives, whoever holds the lists in them."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, jacfwd, jacobian, value_and_grad
from adcompiler.backends.native.ops import held
from adcompiler.errors import UnsupportedError
from tests.native.test_backends_agree import outcome, watched
from tests.native.test_lists_agree import same

ROWS = [[0.3, 0.7, 1.1], [0.9, 0.2, 0.4], [0.5, 1.3, 0.6]]
RAGGED = [[0.3], [], [0.9, 0.2, 0.4], [1.3, 0.6]]


def path_cost(costs):
    n = len(costs)
    table = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(n):
            table[i + 1][j + 1] = min(table[i][j + 1], table[i + 1][j]) + costs[i] * costs[j]
    return table[n][n]


def differences(xs):
    rows = [list(xs)]
    for k in range(1, len(xs)):
        before, row = rows[-1], []
        for i in range(len(before) - 1):
            row.append((before[i + 1] - before[i]) * xs[i] / k)
        rows.append(row)
    return sum(rows[-1]) + rows[1][0] * rows[-1][-1]


def product(a, b):
    found = [[0.0] * len(b[0]) for _ in range(len(a))]
    for i in range(len(a)):
        for j in range(len(b[0])):
            for k in range(len(b)):
                found[i][j] += a[i][k] * b[k][j]
    return sum(sum(row) for row in found)


def ragged_sum(rows):
    total = 0.0
    for i, row in enumerate(rows):
        for value in row:
            total += value * value * (i + 1.0)
    return total * len(rows[2])


def eliminated(rows):
    rows = [list(row) for row in rows]
    n, sign = len(rows), 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(rows[i][k]) > abs(rows[best][k]):
                best = i
        if best != k:
            rows[k], rows[best] = rows[best], rows[k]
            sign = -sign
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            for j in range(k, n):
                rows[i][j] -= factor * rows[k][j]
    found = sign
    for k in range(n):
        found *= rows[k][k]
    return found


def filled(x, n):
    rows = []
    for _ in range(n):
        rows.append([])
    for i in range(3 * n):
        rows[i % n].append(x * i)
    total = 0.0
    for row in rows:
        for value in row:
            total += value * value
    return total


def through_a_name(rows, x):
    rows = [list(row) for row in rows]
    for i in range(len(rows)):
        row = rows[i]
        row[0] = row[0] * x
        rows[i - 1][-1] += row[0] * row[1]
    return rows[0][0] * rows[1][-1] + rows[-1][-1]


def replaced(rows, x):
    rows = [list(row) for row in rows]
    before = rows[1]
    first = before[0] * before[1]
    rows[1] = [x * value for value in rows[0]]
    rows[1][2] = first
    return sum(rows[1]) * rows[2][0]


def shrinks(x, n):
    rows = [[x, x * x]]
    for i in range(n):
        rows.append([rows[-1][1] * x, rows[-1][0] + i])
    a, b = rows.pop()
    rows[-1][0] *= a
    return b * rows[-1][0] + len(rows)


def with_pairs(x, n):
    groups = [[(x, 1.0)] for _ in range(2)]
    for i in range(n):
        groups[i % 2] = groups[i % 2] + [(x * i, x)]
    total = 0.0
    for group in groups:
        for value, count in group:
            total += value * value * count
    return total


def three_deep(x, n):
    cube = [[[x * (i + j + k) for k in range(n)] for j in range(2)] for i in range(3)]
    cube[1][0][n - 1] = x * x
    cube[2][1] = [x] * n
    total = 0.0
    for plane in cube:
        for row in plane:
            for value in row:
                total += value * value
    return total * cube[1][0][n - 1]


def by_a_test(rows, x):
    total = 0.0
    for i in range(len(rows)):
        row = rows[i] if x > i - 0.5 else [x, x * x, x]
        total += row[0] * row[-1]
    return total


def carried(rows, x):
    row = rows[0]
    total = x
    for i in range(1, len(rows)):
        total += row[1] * rows[i][0]
        row = rows[i]
    return total * row[2]


def best_of(rows):
    best, chosen = -1e300, rows[0]
    for row in rows:
        if sum(row) > best:
            best, chosen = sum(row), row
    return chosen[0] * chosen[1] * best


def parts(rows):
    total = 0.0
    for i in range(len(rows)):
        for other in rows[i + 1 :]:
            total += rows[i][0] * other[1]
    for row in rows[::-1]:
        for value in row[1:]:
            total = total * 0.5 + value
    return total


def as_array(rows, x):
    matrix = np.array(rows)
    return np.sum(matrix @ matrix.T) * x


def whole_numbers(steps, x):
    total = 0.0
    for row in steps:
        for step in row:
            total = total * x + step
    return total


def with_tuples(items):
    total = 0.0
    for weight, values in items:
        for value in values:
            total += weight * math.sin(value)
    return total


def unpacked(rows):
    (a, b, c), second, _ = rows
    return a * second[0] + b * second[1] * c


def one_in_two(x):
    row = [x, x * x]
    rows = [row, [0.0, 0.0], row]
    return rows[0][1] * rows[2][0] + row[1]


def moved(rows, x):
    rows = [list(row) for row in rows]
    other = []
    for i in range(len(rows)):
        other.append(rows[len(rows) - 1 - i])
    total = 0.0
    for row in other:
        total = total * x + row[0] * row[1]
    return total


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    path_cost: ([0.3, 0.9, 0.5, 0.2],), differences: ([0.3, 0.9, 0.5, 0.2],),
    product: (ROWS, [row[:2] for row in ROWS]), ragged_sum: (RAGGED,), eliminated: (ROWS,),
    filled: (0.7, 3), through_a_name: (ROWS, 0.7), replaced: (ROWS, 0.7), shrinks: (0.7, 4),
    with_pairs: (0.7, 5), three_deep: (0.7, 3),
    by_a_test: (ROWS, 1.2), carried: (ROWS, 0.4), best_of: (ROWS,), parts: (ROWS,),
    whole_numbers: ([[1, 2], [], [3]], 0.5), with_tuples: ([(0.5, [0.1, 0.2]), (0.7, [])],),
    unpacked: (ROWS,), one_in_two: (0.8,), moved: (ROWS, 0.7),
}
named = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


def floats_of(args: tuple[Any, ...]) -> Any:
    """Return the positions of arguments with floats in them."""
    return tuple(i for i, arg in enumerate(args) if not isinstance(arg, int)
                 and not str(arg).startswith("[[1,"))


def nudged(value: Any, of: Any, by: float) -> Any:
    """Return a structure moved by some times another one."""
    if isinstance(value, (list, tuple)):
        return type(value)(nudged(a, b, by) for a, b in zip(value, of, strict=True))
    return value + by * of


def dot(a: Any, b: Any) -> float:
    """Return the sum of products of the floats in two structures."""
    if isinstance(a, (list, tuple)):
        return sum(map(dot, a, b))
    return a * b


@named
def test_value_and_gradient_are_the_same(program: Any, plain_loops: None) -> None:
    args = PROGRAMS[program]
    kept, argnums = copy.deepcopy(args), floats_of(args)
    native = value_and_grad(program, argnums=argnums, backend="native")
    came = watched(native, *args)
    got = native(*args)
    assert same(got, value_and_grad(program, argnums=argnums)(*copy.deepcopy(kept)))
    assert came == [True]
    assert same(args, kept)
    assert got[0] == program(*copy.deepcopy(kept))
    slope = dot(got[1], got[1])
    step = 1e-5 / math.sqrt(slope)
    ahead, behind = (
        program(*(nudged(arg, got[1][argnums.index(i)], by) if i in argnums else arg
                  for i, arg in enumerate(copy.deepcopy(kept)))) for by in (step, -step))
    assert (ahead - behind) / (2.0 * step) == pytest.approx(slope, rel=1e-6)


@named
def test_machine_code_gives_the_same(program: Any, machine_code: None) -> None:
    args = PROGRAMS[program]
    argnums = floats_of(args)
    native = value_and_grad(program, argnums=argnums, backend="native")
    came = watched(native, *args)
    assert same(native(*args), value_and_grad(program, argnums=argnums)(*copy.deepcopy(args)))
    assert came == [True]
    assert same(compiled(program)(*copy.deepcopy(args)), program(*copy.deepcopy(args)))


@pytest.mark.parametrize(("program", "args"), [
    (path_cost, ([],)), (path_cost, ([0.5],)), (differences, ([0.5],)), (product, ([], [[1.0]])),
    (product, (RAGGED, ROWS)), (ragged_sum, ([],)), (ragged_sum, ([[], [], []],)),
    (ragged_sum, ([[1.0]] * 4,)), (eliminated, ([[0.0, 1.0], [0.0, 2.0]],)), (filled, (0.5, 0)),
    (shrinks, (0.5, 0)), (with_pairs, (0.5, 0)), (three_deep, (0.5, 0)), (best_of, (RAGGED[:1],)),
    (whole_numbers, ([[2**70]], 0.5)), (unpacked, (ROWS[:2],)), (carried, (RAGGED, 0.5)),
    (path_cost, ([float("nan"), 1.0, float("inf")],)), (whole_numbers, ([[1, 2.5]], 0.5)),
    (ragged_sum, ([[1, 2.5], [1.0], [2.0]],)),
])
def test_other_arguments_and_what_goes_wrong(
    program: Any, args: Any, plain_loops: None
) -> None:
    expected = outcome(value_and_grad(program), *copy.deepcopy(args))
    try:
        got = outcome(value_and_grad(program, backend="native"), *copy.deepcopy(args))
    except UnsupportedError as error:
        assert {one.anchor for one in error.findings} == {"native"}
        return
    assert same(got, expected)


def test_rows_of_one_length_are_a_matrix(plain_loops: None) -> None:
    native = value_and_grad(as_array, argnums=(0, 1), backend="native")
    came = watched(native, ROWS, 0.7)
    (value, (of_rows, of_x)), (wanted, slopes) = native(ROWS, 0.7), value_and_grad(
        as_array, argnums=(0, 1))(ROWS, 0.7)
    assert came == [True]
    np.testing.assert_allclose(value, wanted, rtol=1e-15)
    np.testing.assert_allclose(of_rows, slopes[0], rtol=1e-14)
    np.testing.assert_allclose(of_x, slopes[1], rtol=1e-14)
    assert outcome(native, RAGGED, 0.7)[0] is ValueError


def test_lists_that_take_too_much_are_left_to_python(
    plain_loops: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "MOST", 30)
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", "off")
    native = value_and_grad(path_cost, backend="native")
    args = PROGRAMS[path_cost]
    came = watched(native, *args)
    assert same(native(*args), value_and_grad(path_cost)(*args))
    assert came == [False]


def returned(rows, x):
    found = [[x * value for value in row] for row in rows]
    found[0][0] = x
    return found


def test_lists_of_lists_that_are_returned(machine_code: None) -> None:
    run = compiled(returned)
    assert run(ROWS, 2.0) == returned(copy.deepcopy(ROWS), 2.0)
    assert run(RAGGED[:1], 2.0) == returned(copy.deepcopy(RAGGED[:1]), 2.0)


def written(rows, x):
    rows[0][0] = x * rows[1][1]
    return rows[0][0] * rows[0][1]


def along_seeds(x):
    rows = [[x[i], x[i] * x[0]] for i in range(len(x))]
    for i in range(len(x)):
        rows[i][0] = rows[i - 1][1] * x[i]
    return np.array([rows[0][0], rows[1][0]])


@pytest.mark.parametrize("operator", [jacobian, jacfwd])
def test_all_rows_or_columns_of_a_jacobian(operator: Any, machine_code: None) -> None:
    x = np.linspace(0.1, 0.9, 11)
    native = operator(along_seeds, backend="native")
    np.testing.assert_allclose(native(x), operator(along_seeds)(x), rtol=1e-15)


def test_an_argument_that_holds_lists_is_not_written_into() -> None:
    with pytest.raises(UnsupportedError) as caught:
        value_and_grad(written, argnums=1, backend="native")(copy.deepcopy(ROWS), 0.5)
    assert {one.anchor for one in caught.value.findings} == {"native"}


def test_where_a_list_stands_twice_in_one_that_is_written_into(plain_loops: None) -> None:
    rows = copy.deepcopy(ROWS)
    rows[1] = rows[0]
    got = outcome(value_and_grad(written, argnums=1, backend="auto"), rows, 0.5)
    assert got == outcome(value_and_grad(written, argnums=1), rows, 0.5)
    assert got[0].__name__ == "AliasedError"
