from dataclasses import dataclass

import numpy as np


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray
    name: str = "layer"

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


def loss(layer, xs):
    total = 0.0
    for x in xs:
        total = total + np.sum(layer(x))
    return total


call(loss, Layer(np.ones((2, 3)), np.zeros(2)), np.ones((4, 3)))
# output
import numpy as np
from adcompiler.runtime import as_gradient, as_rows, record, same_extent


def loss_grad(layer, xs):
    """Return the gradient of `loss` with respect to layer."""
    # dataclass_model.py:16  def loss(layer, xs):
    w = layer.w
    b = layer.b
    # dataclass_model.py:19  total = total + np.sum(layer(x))
    same_extent(w.shape[0], b.shape[0])
    # dataclass_model.py:18  for x in xs:
    tanh_tape = [np.tanh(w @ x + b) for x in xs]

    # reverse of dataclass_model.py:18
    w_bar_columns = []
    xs_1 = []
    for tanh, x in zip(reversed(tanh_tape), reversed(xs)):
        xs_1.append(x)
        # reverse of dataclass_model.py:19
        difference = 1.0 - tanh * tanh
        w_bar_columns.append(difference)
    w_bar_columns_as_rows = as_rows(w_bar_columns, b.shape[0])
    b_bar = np.sum(w_bar_columns_as_rows, axis=0)
    w_bar = w_bar_columns_as_rows.T @ as_rows(xs_1, w.shape[1])
    # reverse of dataclass_model.py:16
    layer_bar = record(w=w_bar, b=b_bar, name=None)
    layer_bar = as_gradient(layer_bar, layer)
    return layer_bar
