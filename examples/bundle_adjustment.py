"""Cameras and points from their pictures: least squares with a sparse Jacobian.

Every residual depends on one camera and one point only. The cameras are pinholes with a rotation
vector (Rodrigues' formula), a translation and a focal length, as in B. Triggs et al., "Bundle
adjustment - a modern synthesis" (2000).

    python examples/bundle_adjustment.py [FILE]

draws the pattern into FILE.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from adcompiler import sparse_jacobian
from adcompiler.plot import save

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
CAMERA = 7  # numbers of one camera: rotation, translation, logarithm of the focal length


def rotated(points: Array, turns: Array) -> Array:
    """Return points turned about the axes ``turns`` by their lengths."""
    angle = np.sqrt(np.sum(turns * turns, axis=1))[:, None]
    axis = turns / angle
    along = np.sum(points * axis, axis=1)[:, None]
    return (
        np.cos(angle) * points + np.sin(angle) * np.cross(axis, points)
        + (1.0 - np.cos(angle)) * along * axis
    )


def projected(unknowns: Array, cameras: int, camera: Integers, point: Integers) -> Array:
    """Return where each observation's camera sees its point, two numbers each."""
    poses = unknowns[: CAMERA * cameras].reshape(cameras, CAMERA)[camera]
    points = unknowns[CAMERA * cameras :].reshape(-1, 3)[point]
    seen = rotated(points, poses[:, :3]) + poses[:, 3:6]
    focal = np.exp(poses[:, 6])
    u = focal * seen[:, 0] / seen[:, 2]
    v = focal * seen[:, 1] / seen[:, 2]
    return np.concatenate([u, v])


def residuals(
    unknowns: Array, cameras: int, camera: Integers, point: Integers, measured: Array
) -> Array:
    """Return how far the pictures are from what was measured."""
    return projected(unknowns, cameras, camera, point) - measured


jacobian = sparse_jacobian(residuals)


def main(path: str | None = None, cameras: int = 6, points: int = 60) -> dict[str, Any]:
    """Solve a problem whose solution is known; draw the pattern."""
    rng = np.random.default_rng(0)
    poses = np.concatenate([
        0.3 * rng.normal(size=(cameras, 3)) + 0.1, rng.normal(size=(cameras, 2)),
        10.0 + rng.random((cameras, 1)), 0.1 * rng.normal(size=(cameras, 1)),
    ], axis=1)
    truth = np.concatenate([poses.ravel(), rng.normal(size=3 * points)])
    camera, point = np.divmod(np.arange(cameras * points), points)
    visible = rng.random(camera.size) < 0.7
    camera, point = camera[visible], point[visible]
    measured = projected(truth, cameras, camera, point)
    start = truth + 0.02 * rng.normal(size=truth.size)
    others = (cameras, camera, point, measured)

    structure = jacobian.structure(start, *others)
    if path is not None:
        save(structure.pattern, path, f"{cameras} cameras, {points} points")

    found = least_squares(
        residuals, start, jac=jacobian, args=others, method="trf", x_scale="jac", max_nfev=50,
        ftol=1e-14, xtol=1e-14, gtol=1e-14,
    )
    height, width = structure.pattern.shape
    print(f"{height} residuals of {width} unknowns, {structure.pattern.nnz} nonzeros, "
          f"{structure.coloring.count} colors")
    largest = float(np.max(np.abs(found.fun)))
    print(f"largest residual {np.max(np.abs(residuals(start, *others))):.1e} at the start, "
          f"{largest:.1e} after {found.nfev} evaluations")
    return {"largest": largest, "structure": structure, "path": path,
            "point": start, "others": others}


if __name__ == "__main__":
    main(*sys.argv[1:2])
