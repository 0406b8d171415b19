"""A function of the C library, called through ctypes, with its derivative given by hand."""

from __future__ import annotations

import ctypes
import ctypes.util

import numpy as np

from adcompiler import ExternalFunction, value_and_grad

libm = ctypes.CDLL(ctypes.util.find_library("m"))
libm.cbrt.restype = ctypes.c_double
libm.cbrt.argtypes = [ctypes.c_double]


class CubeRoot(ExternalFunction):
    """The C library's cube root, element by element."""

    returns = np.empty(0)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return the cube roots, and keep them: the slopes are made of them."""
        self.root = np.array([libm.cbrt(value) for value in x])
        return self.root

    def adjoint(self, y_bar: np.ndarray) -> np.ndarray:
        """Return the cotangent of ``x``: the slope of the cube root ``y`` is ``1 / (3 y**2)``."""
        return y_bar / (3.0 * self.root**2)


cube_root = CubeRoot()


@value_and_grad
def loss(x: np.ndarray) -> float:
    """Return a number that is made of cube roots."""
    y = cube_root(x * x)
    return np.sum(y * np.cos(y))


def main() -> list[tuple[float, float]]:
    """Print and return pairs of compiled slopes and finite differences."""
    x = np.array([0.5, 1.0, 2.0, 8.0])
    value, gradient = loss(x)
    print(f"value {value:.12f}")
    results = []
    for i, slope in enumerate(gradient):
        step = 1e-5 * np.eye(4)[i]
        difference = (loss(x + step)[0] - loss(x - step)[0]) / 2e-5
        print(f"x = {x[i]:4.1f}   slope {slope: .12f}   difference {difference: .12f}")
        results.append((float(slope), float(difference)))
    return results


if __name__ == "__main__":
    main()
