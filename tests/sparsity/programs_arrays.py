"""Operations on arrays: rearranging, reducing, indexing, products, blocks of linear algebra."""

import numpy as np
import scipy.sparse as sp

from tests.sparsity.programs import band, full, hessian, jacobian

RNG = np.random.default_rng(3)
X = RNG.normal(size=6)
A = RNG.normal(size=(3, 4))
S = RNG.normal(size=(3, 3))


def transposed(rows, n):
    return [{i for i, row in enumerate(rows) if j in row} for j in range(n)]


@jacobian(X, rows=lambda: band(6, 5, 0))
def running_sums(x):
    return np.cumsum(x)


@jacobian(X, rows=lambda: band(6, 0, 5))
def sums_from_the_end(x):
    return np.cumsum(x[::-1])[::-1]


@jacobian(X, rows=lambda: band(6, 5, 0))
def running_products(x):
    return np.cumprod(x)


@jacobian(A, rows=lambda: [{j, j + 4, j + 8} for j in range(4)])
def sums_of_columns(a):
    return np.sum(a, axis=0)


@jacobian(A, rows=lambda: [set(range(4 * i, 4 * i + 4)) for i in range(3)])
def norms_of_rows(a):
    return np.sqrt(np.sum(a**2, axis=1))


@jacobian(A, rows=lambda: [set(range(4 * i, 4 * i + 4)) for i in range(3) for _ in range(4)])
def softmax_of_rows(a):
    e = np.exp(a - np.max(a, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


@jacobian(A, rows=lambda: [{j, j + 4, j + 8} for _ in range(3) for j in range(4)])
def centred_columns(a):
    return a - a.mean(axis=0)


@jacobian(A, rows=lambda: [set(range(4 * i, 4 * i + 4)) for i in range(3) for _ in range(4)])
def sorted_rows(a):
    return np.sort(a)


@jacobian(A, rows=lambda: [{j, j + 4, j + 8} for j in range(4)])
def largest_of_columns(a):
    return a.max(axis=0)


@jacobian(A, rows=lambda: [{i + 4 * j for j in range(3)} for i in range(4)])
def variances_of_columns(a):
    return np.var(a, axis=0)


@jacobian(A, rows=lambda: [{i} for i in (0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)])
def transposed_and_scaled(a):
    return 2.0 * a.T


@jacobian(A, rows=lambda: [{i} for i in (11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)])
def reversed_flat(a):
    return a.reshape(-1)[::-1]


@jacobian(X, rows=lambda: [{i} for i in (5, 3, 1)])
def backwards_in_steps(x):
    return x[::-2] ** 2


@jacobian(X, rows=lambda: [{4}, {4}, {0}, {2}])
def picked(x):
    return np.sin(x[np.array([4, 4, 0, 2])])


@jacobian(X, rows=lambda: [{3}, {0}, {4}, {1}, {5}, {2}])
def scattered(x):
    y = np.zeros(6)
    y[np.array([1, 3, 5, 0, 2, 4])] = x**3
    return y


@jacobian(X, rows=lambda: [{0, 3}, {1, 4}, {2, 5}])
def added_by_position(x):
    y = np.zeros(3)
    np.add.at(y, np.arange(6) % 3, x)
    return y


@jacobian(X, rows=lambda: [{0}, {1}, set(), {3}, set(), {5}])
def masked_by_constants(x):
    return np.where(np.array([True, True, False, True, False, True]), x, 0.0)


@jacobian(X, rows=lambda: [{1}, {3}, {5}])
def selected_by_constants(x):
    return x[np.arange(6) % 2 == 1] * 2.0


@jacobian(X, rows=lambda: [{i, i + 1} for i in range(5)])
def clipped_by_the_next(x):
    return np.clip(x[:-1], None, x[1:])


@jacobian(X, rows=lambda: [{0}, {1}, {2}, {3}, {4}, {5}, set(), {0}, {1}])
def joined(x):
    return np.concatenate([x, [1.0], x[:2] ** 2])


@jacobian(X, rows=lambda: [{0}, {3}, {1}, {4}, {2}, {5}])
def interleaved(x):
    return np.stack([x[:3], x[3:]], axis=1)


@jacobian(X, rows=lambda: [{0}, {0}, {1}, {1}, {1}])
def repeated(x):
    return np.repeat(x[:2], [2, 3])


@jacobian(X, rows=lambda: [{0, 2}, {1, 3}, {0, 2}, {1, 3}])
def tiled(x):
    return np.tile(x[:2] * x[2:4], 2)


@jacobian(X, rows=lambda: [{4}, {5}, {0}, {1}, {2}, {3}])
def rolled(x):
    return np.roll(x, 2)


@jacobian(S, rows=lambda: [{0}, set(), set(), {3}, {4}, set(), {6}, {7}, {8}])
def lower_triangle(a):
    return np.tril(a)


@jacobian(S, rows=lambda: [{0, 4, 8}])
def diagonal_sum(a):
    return np.trace(a)


@jacobian(X, rows=lambda: [row for i in range(6) for j in range(6)
                           for row in [{i} if i == j else set()]])
def on_the_diagonal(x):
    return np.diag(x)


@jacobian(X, rows=lambda: [{i, j} for i in range(6) for j in range(6)])
def outer_product(x):
    return np.outer(x, x)


@jacobian(X, rows=lambda: [{i, j} for i in range(6) for j in range(6)])
def all_differences(x):
    return x[:, None] - x[None, :]


@jacobian(X, rows=lambda: band(6, 1, 2))
def banded_matrix(x):
    m = np.triu(np.tril(np.ones((6, 6)), 2), -1)
    return m @ x


@jacobian(A, rows=lambda: [{4 * k + j for k in range(i + 1)} for i in range(3) for j in range(4)])
def triangular_from_the_left(a):
    return np.tril(np.ones((3, 3))) @ a


@jacobian(A, rows=lambda: [{4 * i + k for k in range(j + 1)} for i in range(3) for j in range(4)])
def triangular_from_the_right(a):
    return a @ np.triu(np.ones((4, 4)))


@jacobian(A, rows=lambda: [{4 * i + k for k in range(4)} | {4 * j + k for k in range(4)}
                           for i in range(3) for j in range(3)])
def gram_matrix(a):
    return a @ a.T


@jacobian(A, rows=lambda: [{4 * i + k for k in range(4)} | {4 * j + k for k in range(4)}
                           for i in range(3) for j in range(3)])
def gram_by_einsum(a):
    return np.einsum("ik,jk->ij", a, a)


@jacobian(RNG.normal(size=(2, 2, 2)) + 3.0 * np.eye(2), rows=lambda: [
    set(range(4 * k, 4 * k + 4)) for k in range(2) for _ in range(4)])
def inverses_in_a_stack(a):
    return np.linalg.inv(a)


@jacobian(S + 4.0 * np.eye(3), rows=lambda: full(3, 9))
def solved(a):
    return np.linalg.solve(a, np.ones(3))


@jacobian(X, rows=lambda: [{0}, {1}, {2, 0}, {3, 0}, {4, 0}, {5, 0}])
def selected_by_constants_in_turn(x):
    k = np.arange(6)
    return np.select([k < 2, k < 9], [x**2, x[0] * x], 0.0)


@jacobian(X, rows=lambda: [{i} for i in range(6)])
def looked_up(x):
    return np.interp(x, [-1.0, 0.0, 1.0], [1.0, 0.0, 4.0])


@hessian(X, rows=lambda: [set() for _ in range(6)])
def piecewise_linear(x):
    return np.sum(np.interp(x, [-1.0, 0.0, 1.0], [1.0, 0.0, 4.0])) + np.sum(np.maximum(x, 0.0))


@jacobian(X, rows=lambda: [{1, 3}, set(), {0, 2, 4, 5}, set()])
def binned(x):
    return np.bincount(np.array([2, 0, 2, 0, 2, 2]), weights=np.sin(x), minlength=4)


SPARSE = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))


@jacobian(A, rows=lambda: [*({j, 8 + j} for j in range(4)), *({4 + j} for j in range(4))])
def sparse_times_matrix(a):
    return SPARSE @ a


@jacobian(X, rows=lambda: [{0}, {2}, {0}, {1}, {3}, {1}])
def vectors_times_sparse(x):
    return np.concatenate([x[0:4:2] @ SPARSE, x[1:4:2] @ SPARSE])


@hessian(A, rows=lambda: [row for i in range(3) for j in range(4)
                          for row in [{j, 8 + j} if i != 1 else {4 + j}]])
def sparse_form(a):
    return np.sum((SPARSE @ a) ** 2)


@jacobian(A, rows=lambda: [{j, 4 + j, 8 + j} for _ in range(3) for j in range(4)])
def solved_by_columns(b):
    m = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, 1.0], [0.2, 1.0, 6.0]])
    return np.linalg.solve(m, b)


@jacobian(X, rows=lambda: [{0, 1}, {0, 1}, {2, 3}, {2, 3}, {4, 5}, {4, 5}])
def block_diagonal(x):
    m = np.array([[2.0, 1.0], [1.0, 3.0]])
    return (x.reshape(3, 2) @ m).ravel() ** 2


@jacobian(X, rows=lambda: [{i % 2 + 2 * k for k in range(3)} for i in range(6)])
def kronecker_structure(x):
    m = np.kron(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]), np.eye(2))
    return m @ x


@jacobian(X, rows=lambda: band(6, 0, 2)[:4])
def weighted_windows(x):
    return np.convolve(x, [1.0, -2.0, 1.0], "valid")


@jacobian(X, rows=lambda: [{1, 2, 4, 5}, {0, 2, 3, 5}, {0, 1, 3, 4}])
def cross_product(x):
    return np.cross(x[:3], x[3:])


@jacobian({"w": np.ones((2, 3)), "b": np.ones(2)}, rows=lambda: [{0, 1, 2, 6}, {3, 4, 5, 7}])
def dense_layer(p):
    return np.tanh(p["w"] @ np.array([1.0, 2.0, 3.0]) + p["b"])


@jacobian((X, 2.0, [1.0, 3.0]), rows=lambda: [{0, 6}, {1, 6, 8}, {7}])
def parts_of_a_tuple(p):
    x, scale, (a, b) = p
    return {"first": x[0] * scale, "rest": (x[1] + scale * b, a)}


@hessian(A, rows=lambda: [{4 * i + k for k in range(4)} for i in range(3) for _ in range(4)])
def log_of_row_sums(a):
    return np.sum(np.log(np.sum(np.exp(a), axis=1)))


@hessian(X, rows=lambda: [{0, 3}, {1, 4}, {2, 5}, {0, 3}, {1, 4}, {2, 5}])
def sums_of_pairs_squared(x):
    return np.sum((x[:3] + x[3:]) ** 2)


@hessian(X, rows=lambda: [{3}, {4}, {5}, {0}, {1}, {2}])
def dot_of_halves(x):
    return x[:3] @ x[3:]


@hessian(S, rows=lambda: [{i + 3 * k for k in range(3)} for _ in range(3) for i in range(3)])
def squared_column_products(a):
    return np.einsum("ij,kj->", a, a)


@hessian(X, rows=lambda: [{1}, {0}, {3}, {2}, {5}, {4}])
def product_of_reshaped(x):
    m = x.reshape(3, 2)
    return np.sum(np.prod(m, axis=1))
