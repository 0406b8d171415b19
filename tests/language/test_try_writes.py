"""Writes in the body of a ``try`` whose exception is caught: what ran before it counts."""

import math

import numpy as np
import pytest

from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, 1.5, 2.0])
W = np.array([0.5, -1.5, 2.0])
U = np.array([1.0, 2.0, 3.0])


@programs(2.0, 1)
@programs(2.0, 5)
def one_store(x, k):
    A = np.zeros(3)
    try:
        A[k] = x*x
    except IndexError:
        A[0] = x
    return np.sum(A*A)


@programs(2.0)
@programs(-2.0)
def store_of_what_may_raise(x):
    logs = np.zeros(1)
    try:
        logs[0] = math.log(x)
    except ValueError:
        logs[0] += 3*x
    return logs[0]


@programs(2.0)
@programs(-2.0)
def one_variable(x):
    y = x
    try:
        y = x * x
        z = math.log(x)
    except ValueError:
        z = y
    return z


@programs(np.array([1.0, 2.0, 3.0]), 1)
@programs(np.array([1.0, 2.0, -3.0]), 1)
@programs(np.array([1.0, 2.0, 3.0]), 7)
def several_writes(v, k):
    A = v * 1.0
    try:
        A[0] = A[1] * A[1]
        A[1] = math.log(A[2]) * A[0]
        A[k] = A[0] * A[1]
        A[0] *= 3.0
    except (ValueError, IndexError):
        A[1] += A[0] * 2.0
    return np.sum(A * A)


@programs(V, U)
@programs(V, W)
def a_loop_inside(v, w):
    A = v * 1.0
    B = v * 2.0
    try:
        for i in range(len(w)):
            A[i] = A[i] * math.sqrt(w[i]) + B[i - 1]
            B[i] *= A[i]
    except ValueError as e:
        A[0] += B[-1] * len(str(e))
    return np.sum(A * A) + np.sum(B * A)


@programs(V, U)
@programs(V, W)
def in_a_loop(v, w):
    A = v * 1.0
    total = 0.0
    for i in range(len(w)):
        try:
            total = total + A[i] * A[0]
            A[i] = A[i] * math.sqrt(w[i])
            A[i + 1] += A[i] * A[i]
        except ValueError:
            A[0] *= 1.1
            continue
        except IndexError:
            break
        finally:
            A[1] += 0.5 * A[0]
        total = total + A[i]
    return total + np.sum(A * A)


@programs(V, U)
@programs(V, W)
def arguments_in_a_loop(v, w):
    try:
        for i in range(3):
            v[i] = v[i] * math.log(w[i])
            w[i] = v[i] * v[0]
    except ValueError:
        v[0] = w[1]
    return np.sum(v*v)


@programs(V)
@programs(W)
def through_views(v):
    A = np.outer(v, v)
    row = A[1]
    try:
        row[0] = v[0] * 3.0
        row[1] = math.sqrt(v[1])
        A[:, 2] *= row[0]
    except ValueError:
        row[2] += A[1, 0]
    return np.sum(A * A) + np.sum(row)


@programs(V)
@programs(W)
def items_of_a_list(v):
    xs = [v[0], v[1]]
    try:
        xs.append(v[0] * v[1])
        xs[0] = math.log(v[1])
        xs.append(xs[0] * 2.0)
    except ValueError:
        xs.append(v[2] * 5.0)
    return sum(x * x for x in xs)


@programs(V, 4)
@programs(W, 4)
@programs(V, 1)
def loops(v, n):
    A = v.copy()
    out = []
    for k in range(n):
        try:
            A[k] *= A[0] + 1.0
            out.append(A[k] * A[1])
            if A[k] < 0:
                raise KeyError("neg")
            A[0] = A[0] + 0.1 * A[k]
        except IndexError:
            A[1] += 1.0
            if k > 5:
                break
        except KeyError:
            A[2] *= 2.0
            continue
        else:
            A[1] *= 1.1
        finally:
            A[2] += 0.1 * A[0]
        out.append(A[2])
    return sum(out) + np.sum(A)


@programs(V)
@programs(W)
def nested_with_finally(v):
    A = v.copy()
    B = v * 2.0
    try:
        A[0] = B[1] * 2
        try:
            B[0] = A[0] * A[1]
            A[1] = math.sqrt(v[1])
            B[2] = A[1] ** 2
        except ValueError as e:
            A[2] *= B[0]
            raise KeyError("x") from e
        finally:
            B[1] += A[2]
        A[0] *= 2
    except KeyError:
        A[1] += B[1] * B[0]
    return np.sum(A * B)


@programs(V)
@programs(W)
def stores_by_a_helper(v):
    A = v.copy()
    def put(k, t):
        A[k] = t
    try:
        put(0, v[1] * v[1])
        put(1, math.log(v[1]))
        put(7, 1.0)
    except (ValueError, IndexError):
        put(2, A[0])
    return np.sum(A * A)


@programs(V)
@programs(W)
def returns_inside(v):
    A = v.copy()
    try:
        A[0] = A[1] * A[2]
        if A[0] > 1.0:
            return A[0] * math.sqrt(v[1])
        A[1] = math.sqrt(A[0])
    except ValueError:
        A[0] += 1
        return A[0] * A[2] * 3.0
    finally:
        A[2] = 9.0
    return np.sum(A * A)


@programs(V, 3)
@programs(W, 3)
@programs(np.array([0.5,0.5,0.1]), 20)
def a_while_inside(v, n):
    A = v.copy()
    k = 0
    try:
        while A[k] < 100.0:
            A[k] = A[k] * 2.0 + math.sqrt(A[k])
            k += 1
            if k == n:
                break
    except IndexError:
        A[0] *= A[1]
    except ValueError:
        A[k] = A[0] * 3
    return np.sum(A * A)


@programs(V)
@programs(W)
def in_place_operators(v):
    A = v.copy()
    B = np.ones(4) * v[0]
    try:
        A += np.linalg.inv(np.array([[v[0], v[1]], [1.0, v[2]]]))[0, 0]
        A *= v
        A += B
    except ValueError:
        A -= 2 * B[:3]
    return np.sum(A ** 3)


@programs(np.eye(2) * 2.0)
def by_what_numpy_raises(m):
    out = np.zeros((2, 2))
    try:
        out[0] = m[0] * 2
        out[:] += np.linalg.inv(m)
        out[1] = out[0]
    except np.linalg.LinAlgError:
        out += m @ m
    return np.sum(out * out)


@programs(V)
@programs(W)
def entries_of_a_dict(v):
    d = {"a": v[0], "b": v * 2}
    try:
        d["a"] = v[1] * v[0]
        d["b"][1] = 3.0 * d["a"]
        d["c"] = math.log(v[1])
    except ValueError:
        d["c"] = d["a"] * 2
    return d["a"] + np.sum(d["b"]) + d["c"] ** 2


class Pair:
    def __init__(self, x):
        self.x = x
        self.y = x * 2.0


@programs(V)
@programs(W)
def attributes(v):
    p = Pair(v[0])
    try:
        p.x = v[1] * v[1]
        p.y = math.log(v[1])
        p.x = p.y * 2
    except ValueError:
        p.y += p.x
    return p.x * p.y


@programs(V, W)
def arguments(v, w):
    try:
        v[0] = w[2] * v[1]
        w[1] = math.log(w[1])
        v[1] = 5.0
    except ValueError:
        w[2] = v[0] * v[0]
    return v[0] * w[2] + np.sum(v) * w[1]


@programs(V)
@programs(W)
def inside_a_handler(v):
    A = v.copy()
    try:
        raise KeyError("a")
    except KeyError:
        try:
            A[0] = A[1] * 2
            A[1] = math.log(v[1])
            A[2] = 1.0
        except ValueError:
            A[2] = A[0] * 2
    return np.sum(A * A)


@programs(V)
@programs(W)
def several_variables(v):
    a = v[0]
    b = v[1]
    try:
        a = a * b
        b = b + a
        c = math.log(b) * a
        a = c * c
    except ValueError:
        c = a * b * 2
    return a * b * c


@programs(V, 5)
@programs(V, 2)
def recursive(v, n):
    A = v.copy()
    try:
        A[n % 3] = A[0] * 2.0
        if n == 0:
            raise ValueError
        r = recursive(A * 1.1, n - 1)
        A[0] = r
        A[n] = 1.5 * r
    except (ValueError, IndexError):
        A[1] *= A[0]
    return np.sum(A * v)


@programs(V)
@programs(W)
def unset_before(v):
    try:
        y = v[0] * 2
        z = math.sqrt(v[1]) * y
    except ValueError:
        z = 3.0 * y
    return y * z


@programs(V)
@programs(W)
def comprehensions(v):
    A = v.copy()
    try:
        A[0] = sum(t * t for t in v)
        A[1:] = [math.sqrt(t) for t in v[1:]]
        A[0] *= A[1]
    except ValueError:
        A[2] += A[0]
    return np.sum(A * A)


@programs(V)
@programs(W)
def in_a_context(v):
    A = v.copy()
    try:
        A[0] = A[1] * A[1]
        with np.errstate(all="raise"):
            A[1] = np.sqrt(v[1])
        A[2] = A[1] * A[0]
    except FloatingPointError:
        A[2] *= A[0]
    return np.sum(A * A)


@programs(V)
@programs(W)
def sorted_in_place(v):
    A = v.copy()
    try:
        A.sort()
        A[0] = math.sqrt(A[0])
        np.add.at(A, [0, 1, 1], v)
        A[[0, 7]] = 1.0
    except ValueError:
        A[1] *= A[0]
    except IndexError:
        A[2] *= A[0]
    return np.sum(A * v)


@programs(V)
@programs(W)
def pops(v):
    xs = [v[0], v[1], v[2]]
    total = 0.0
    try:
        while True:
            x = xs.pop()
            total = total + x * x
            if x < 0.0:
                raise ValueError
    except IndexError:
        total = total * v[0]
    except ValueError:
        total = total * xs[0] * len(xs)
    return total


@programs(V)
@programs(W)
def else_inside(v):
    a = v * 1.0
    try:
        a[0] *= a[1]
        try:
            a[2] = math.sqrt(v[1])
        except KeyError:
            a[1] = 7.0
        else:
            a[1] += a[2] * a[0]
        finally:
            a[0] *= 1.5
    except ValueError:
        a[1] *= a[2]
    return np.sum(a * a)


@pytest.mark.parametrize("case", programs, ids=str)
def test_program(case):
    programs.check(case)
