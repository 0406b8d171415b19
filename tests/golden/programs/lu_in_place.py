import numpy as np


def lu(A, weights):
    A = A.copy()
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(weights * A)


call(lu, np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]), np.arange(9.0).reshape(3, 3))
# output
import numpy as np
from adcompiler.runtime import same_shape


def lu_grad(A, weights):
    """Return the gradient of `lu` with respect to A."""
    # lu_in_place.py:5  A = A.copy()
    A = A.copy()
    # lu_in_place.py:6  n = A.shape[0]
    n = A.shape[0]
    # lu_in_place.py:7  for i in range(n):
    range_1 = range(n)
    tape_1 = []
    for i in range_1:
        # lu_in_place.py:8  for j in range(i):
        tape = []
        for j in range(i):
            # lu_in_place.py:9  A[i, j] -= A[i, :j] @ A[:j, j]
            part = A[i, j]
            A[i, j] -= A[i, :j] @ A[:j, j]
            # lu_in_place.py:10  A[i, j] /= A[j, j]
            item = A[j, j]
            new = A[i, j] / item
            tape.append((item, new, part))
            A[i, j] = new
        # lu_in_place.py:11  for j in range(i, n):
        part_tape = []
        for j in range(i, n):
            # lu_in_place.py:12  A[i, j] -= A[i, :i] @ A[:i, j]
            part = A[i, j]
            part_tape.append(part)
            A[i, j] -= A[i, :i] @ A[:i, j]
        tape_1.append((part_tape, tape))
    # lu_in_place.py:13  return np.sum(weights * A)
    same_shape(weights.shape, A.shape)

    # reverse of lu_in_place.py:7
    A_bar = np.copy(weights)
    for i, (part_tape, tape) in zip(reversed(range_1), reversed(tape_1)):
        # reverse of lu_in_place.py:11
        for j, part in zip(reversed(range(i, n)), reversed(part_tape)):
            # reverse of lu_in_place.py:12
            change_bar = A_bar[i, j]
            A[i, j] = part
            A_bar[:i, j] -= A[i, :i] * change_bar
            A_bar[i, :i] -= change_bar * A[:i, j]
        # reverse of lu_in_place.py:8
        for j, (item, new, part) in zip(reversed(range(i)), reversed(tape)):
            # reverse of lu_in_place.py:10
            old_bar = A_bar[i, j] / item
            A_bar[i, j] = old_bar
            A_bar[j, j] -= old_bar * new
            # reverse of lu_in_place.py:9
            change_bar = A_bar[i, j]
            A[i, j] = part
            A_bar[:j, j] -= A[i, :j] * change_bar
            A_bar[i, :j] -= change_bar * A[:j, j]
    return A_bar
