import numpy as np


def rnn(W, U, b, inputs):
    h = np.zeros(3)
    for x in inputs:
        h = np.tanh(W @ h + U @ x + b)
    return h @ h


rng = np.random.default_rng(0)
inputs = [rng.normal(size=2) for _ in range(4)]
call(rnn, rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), rng.normal(size=3), inputs, argnums=(0, 1, 2))
# output
import numpy as np
from adcompiler.runtime import as_rows, same_extent


def rnn_grad(W, U, b, inputs):
    """Return the gradient of `rnn` with respect to W, U, b."""
    # rnn.py:5  h = np.zeros(3)
    h_1 = np.zeros(3)
    # rnn.py:6  for x in inputs:
    same_extent(3, W.shape[0], U.shape[0], b.shape[0])
    tape = []
    for x in inputs:
        # rnn.py:7  h = np.tanh(W @ h + U @ x + b)
        h = np.tanh(W @ h_1 + U @ x + b)
        tape.append((h, h_1))
        h_1 = h

    # reverse of rnn.py:8
    h_bar = 2.0 * h_1
    # reverse of rnn.py:6
    U_bar_columns = []
    xs = []
    hs = []
    for (h, h_1), x in zip(reversed(tape), reversed(inputs)):
        xs.append(x)
        hs.append(h_1)
        # reverse of rnn.py:7
        total_bar = h_bar * (1.0 - h * h)
        U_bar_columns.append(total_bar)
        h_bar = W.T @ total_bar
    U_bar_columns_as_rows = as_rows(U_bar_columns, b.shape[0])
    b_bar = np.sum(U_bar_columns_as_rows, axis=0)
    U_bar = U_bar_columns_as_rows.T @ as_rows(xs, U.shape[1])
    W_bar = U_bar_columns_as_rows.T @ as_rows(hs, W.shape[1])
    return W_bar, U_bar, b_bar
