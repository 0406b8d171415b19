import numpy as np


def lu(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return A


call(lu, np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]), mode="vjp")
# output
import numpy as np
from adcompiler.runtime import give_back


def lu_augmented(A):
    """Return the value of `lu` and what its pullback needs."""
    # lu_in_place_pair.py:5  n = A.shape[0]
    n = A.shape[0]
    # lu_in_place_pair.py:6  for i in range(n):
    range_1 = range(n)
    A_2 = np.copy(A)
    tape = []
    for i in range_1:
        # lu_in_place_pair.py:7  for j in range(i):
        tape_1 = []
        for j in range(i):
            # lu_in_place_pair.py:8  A[i, j] -= A[i, :j] @ A[:j, j]
            part = A_2[i, j]
            A_2[i, j] -= A_2[i, :j] @ A_2[:j, j]
            # lu_in_place_pair.py:9  A[i, j] /= A[j, j]
            item = A_2[j, j]
            new = A_2[i, j] / item
            tape_1.append((item, new, part))
            A_2[i, j] = new
        # lu_in_place_pair.py:10  for j in range(i, n):
        part_tape = []
        for j in range(i, n):
            # lu_in_place_pair.py:11  A[i, j] -= A[i, :i] @ A[:i, j]
            part = A_2[i, j]
            part_tape.append(part)
            A_2[i, j] -= A_2[i, :i] @ A_2[:i, j]
        tape.append((part_tape, tape_1))
    # lu_in_place_pair.py:4  def lu(A):
    A_1 = np.copy(A_2)
    give_back(A, A_2)
    return A_2, (A_1, range_1, tape, n)


def lu_pullback(residuals, A_bar):
    """Pull a cotangent of the value of `lu` back to A."""
    # reverse of lu_in_place_pair.py:4
    A, range_1, tape_1, n = residuals
    # reverse of lu_in_place_pair.py:6
    A_bar = np.copy(A_bar)
    A = np.copy(A)
    for i, (part_tape, tape) in zip(reversed(range_1), reversed(tape_1)):
        # reverse of lu_in_place_pair.py:10
        for j, part in zip(reversed(range(i, n)), reversed(part_tape)):
            # reverse of lu_in_place_pair.py:11
            change_bar = A_bar[i, j]
            A[i, j] = part
            A_bar[:i, j] -= A[i, :i] * change_bar
            A_bar[i, :i] -= change_bar * A[:i, j]
        # reverse of lu_in_place_pair.py:7
        for j, (item, new, part) in zip(reversed(range(i)), reversed(tape)):
            # reverse of lu_in_place_pair.py:9
            old_bar = A_bar[i, j] / item
            A_bar[i, j] = old_bar
            A_bar[j, j] -= old_bar * new
            # reverse of lu_in_place_pair.py:8
            change_bar = A_bar[i, j]
            A[i, j] = part
            A_bar[:j, j] -= A[i, :j] * change_bar
            A_bar[i, :j] -= change_bar * A[:j, j]
    return A_bar
