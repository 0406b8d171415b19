"""``scipy.spatial.transform.Rotation``: rotations that are made of what is differentiated.

An instance that is made in compiled code is one of a class written here, whose methods are opened
as a user's are; it counts as one of SciPy's. It has a unit quaternion, or rows of them, as SciPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import polar
from scipy.spatial.transform import Rotation

from adcompiler.rulekit import call, facts, rrule
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime import unbroadcast
from adcompiler.runtime.adjoints.shaping import like
from adcompiler.runtime.substitutes import STAND_FOR

SMALL = 1e-6
"""Squares of angles up to this are taken by their series, as SciPy takes them."""
RADIANS = np.pi / 180.0


QUARTER = Rotation.from_matrix([[0.0, -0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.5]]).magnitude()
NEAREST = bool(abs(QUARTER - 0.5 * np.pi) < 1e-6)
"""Whether SciPy takes the rotation nearest to a matrix: early versions read it as it is."""


def normalised(q: Any) -> Any:
    """Return quaternions of length 1."""
    return q / np.sqrt(np.sum(q * q, axis=-1, keepdims=True))


def composed(p: Any, q: Any) -> Any:
    """Return the product of quaternions, with the number last."""
    cross = np.cross(p[..., :3], q[..., :3])
    vector = p[..., 3:] * q[..., :3] + q[..., 3:] * p[..., :3] + cross
    number = p[..., 3:] * q[..., 3:] - np.sum(p[..., :3] * q[..., :3], axis=-1, keepdims=True)
    return np.concatenate((vector, number), axis=-1)


def canonical(q: Any) -> Any:
    """Return quaternions of the same rotations, of which the number is not negative."""
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    turned = (w < 0) | ((w == 0) & ((x < 0) | ((x == 0) & ((y < 0) | ((y == 0) & (z < 0))))))
    return np.where(np.expand_dims(turned, -1), -q, q)


class Turn:
    """``Rotation``."""

    def __init__(
        self, quat: Any, normalize: bool = True, copy: bool = True, scalar_first: bool = False
    ) -> None:
        q = np.asarray(quat) * np.ones(1)
        if scalar_first:
            q = np.roll(q, -1, axis=-1)
        self.q = normalised(q) if normalize else q

    @property
    def single(self) -> bool:
        """Whether this is one rotation."""
        return np.ndim(self.q) == 1

    def __len__(self) -> int:
        if np.ndim(self.q) == 1:
            raise TypeError("Single rotation has no len().")
        return len(self.q)

    def __getitem__(self, index: Any) -> Any:
        if np.ndim(self.q) == 1:
            raise TypeError("Single rotation is not subscriptable.")
        return Turn(self.q[index], False)

    def __mul__(self, other: Any) -> Any:
        return Turn(composed(self.q, other.q), False)

    def __pow__(self, n: Any) -> Any:
        return Turn(of_vectors(n * vectors_of(self.q, False), False), False)

    def inv(self) -> Any:
        """Return the rotation backwards."""
        return Turn(self.q * np.array([-1.0, -1.0, -1.0, 1.0]), False)

    def magnitude(self) -> Any:
        """Return the angle of the rotation."""
        length = np.sqrt(np.sum(self.q[..., :3] ** 2, axis=-1))
        return 2.0 * np.arctan2(length, np.abs(self.q[..., 3]))

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Any:
        """Return the quaternions."""
        q = to_canonical(self.q) if canonical else self.q * 1.0
        return np.roll(q, 1, axis=-1) if scalar_first else q

    def as_matrix(self) -> Any:
        """Return the matrices."""
        return matrices(self.q)

    def as_rotvec(self, degrees: bool = False) -> Any:
        """Return the axes, as long as the angles."""
        return vectors_of(self.q, degrees)

    def as_euler(self, seq: str, degrees: bool = False) -> Any:
        """Return three angles; there is no derivative where two of the axes fall together."""
        return angles_of(self.q, seq, degrees)

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        """Return vectors that are turned."""
        matrix = matrices(self.q)
        matrix = np.swapaxes(matrix, -1, -2) if inverse else matrix
        v = np.asarray(vectors)
        return np.squeeze(matrix @ np.expand_dims(v, -1), -1)


def matrices(q: Any) -> Any:
    """Return the matrices."""
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    rows = (
        np.stack((x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)), -1),
        np.stack((2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)), -1),
        np.stack((2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w), -1),
    )
    return np.stack(rows, axis=-2)


def vectors_of(q: Any, degrees: bool) -> Any:
    """Return the axes, as long as the angles."""
    q = canonical(q)
    square = np.sum(q[..., :3] ** 2, axis=-1, keepdims=True)
    small = 4.0 * square <= SMALL
    length = np.sqrt(np.where(small, 1.0, square))
    scale = np.where(
        small, 2.0 + square / 3.0 + 3.0 * square**2 / 20.0,
        2.0 * np.arctan2(length, q[..., 3:]) / length)
    found = scale * q[..., :3]
    return found / RADIANS if degrees else found


def angles_of(q: Any, seq: str, degrees: bool) -> Any:
    """Return three angles; there is no derivative where two of the axes fall together."""
    order = axes_of(seq)
    outer = seq == seq.lower()
    i, j, k = (order[0], order[1], order[2]) if outer else (order[2], order[1], order[0])
    same = i == k
    k = 3 - i - j if same else k
    sign = (i - j) * (j - k) * (k - i) // 2
    x, y, z, w = q[..., i], q[..., j], q[..., k] * sign, q[..., 3]
    a, b, c, d = (w, x, y, z) if same else (w - y, x + z, y + w, z - x)
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    if np.any((np.abs(middle) <= 1e-7) | (np.abs(middle - np.pi) <= 1e-7)):
        raise UncoveredError("angles of Euler have no derivative at a gimbal lock")
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    first, third = half_sum - half_difference, half_sum + half_difference
    if not same:
        middle = middle - np.pi / 2.0
    if outer:
        third = third if same else third * sign
        angles = np.stack((first, middle, third), axis=-1)
    else:
        third = third if same else third * sign
        angles = np.stack((third, middle, first), axis=-1)
    angles = (angles + np.pi) % (2.0 * np.pi) - np.pi
    return angles / RADIANS if degrees else angles


def to_canonical(q: Any) -> Any:
    """As ``canonical``, which is an option of ``as_quat``."""
    return canonical(q)


def axes_of(seq: str) -> Any:
    """Return the numbers of the axes that letters name."""
    return ["xyz".index(letter) for letter in seq.lower()]


def from_quat(quat: Any, scalar_first: bool = False) -> Any:
    """As ``Rotation.from_quat``."""
    return Turn(quat, True, True, scalar_first)


def from_rotvec(rotvec: Any, degrees: bool = False) -> Any:
    """As ``Rotation.from_rotvec``."""
    return Turn(of_vectors(rotvec, degrees), False)


def of_vectors(rotvec: Any, degrees: bool) -> Any:
    """Return the quaternions of rotations about axes by their lengths."""
    v = np.asarray(rotvec) * np.ones(1)
    v = v * RADIANS if degrees else v
    square = np.sum(v * v, axis=-1, keepdims=True)
    small = square <= SMALL
    angle = np.sqrt(np.where(small, 1.0, square))
    scale = np.where(small, 0.5 - square / 48.0 + square**2 / 3840.0, np.sin(0.5 * angle) / angle)
    number = np.where(small, 1.0 - square / 8.0 + square**2 / 384.0, np.cos(0.5 * angle))
    return np.concatenate((v * scale, number), axis=-1)


def from_matrix(matrix: Any, assume_valid: bool = False) -> Any:
    """As ``Rotation.from_matrix``: of the nearest rotation, unless SciPy is old."""
    return Turn(of_matrices(matrix, assume_valid))


def of_matrices(matrix: Any, assume_valid: bool) -> Any:
    """Return quaternions, of any length, of matrices."""
    m = np.asarray(matrix) * np.ones(1)
    if NEAREST and np.any(np.linalg.det(m) <= 0.0):
        raise ValueError("Non-positive determinant in a rotation matrix")
    if NEAREST and not assume_valid:
        m = polar(m)[0] if np.ndim(m) == 2 else np.stack([polar(one)[0] for one in m])
    a, b, c = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    trace = a + b + c
    x, y, z = m[..., 2, 1], m[..., 0, 2], m[..., 1, 0]
    u, v, w = m[..., 1, 2], m[..., 2, 0], m[..., 0, 1]
    choice = np.argmax(np.stack((a, b, c, trace), -1), axis=-1)
    choice = np.expand_dims(choice, -1)
    q = np.where(
        choice == 0, np.stack((1.0 - trace + 2.0 * a, z + w, v + y, x - u), -1), np.where(
            choice == 1, np.stack((z + w, 1.0 - trace + 2.0 * b, x + u, y - v), -1), np.where(
                choice == 2, np.stack((v + y, x + u, 1.0 - trace + 2.0 * c, z - w), -1),
                np.stack((x - u, y - v, z - w, 1.0 + trace), -1))))
    return q


def from_euler(seq: str, angles: Any, degrees: bool = False) -> Any:
    """As ``Rotation.from_euler``."""
    return Turn(of_angles(seq, angles, degrees), False)


def of_angles(seq: str, angles: Any, degrees: bool) -> Any:
    """Return the quaternions of angles about axes."""
    given = np.asarray(angles) * 1.0
    given = given * RADIANS if degrees else given
    order = axes_of(seq)
    outer = seq == seq.lower()
    if len(seq) == 1 and np.ndim(given) < 2:
        return elementary(order[0], given)
    q = elementary(order[0], given[..., 0])
    for i in range(1, len(seq)):
        other = elementary(order[i], given[..., i])
        q = composed(other, q) if outer else composed(q, other)
    return q


def elementary(axis: int, angle: Any) -> Any:
    """Return the quaternion of a rotation about an axis."""
    unit = np.array([axis == 0, axis == 1, axis == 2, False])
    half = np.expand_dims(0.5 * angle, -1)
    return np.sin(half) * unit + np.cos(half) * np.array([0.0, 0.0, 0.0, 1.0])


def identity(num: Any = None) -> Any:
    """As ``Rotation.identity``."""
    unit = np.array([0.0, 0.0, 0.0, 1.0])
    return Turn(unit if num is None else np.ones((num, 1)) * unit, False)


for _made, _written in {
    Rotation: Turn, Rotation.from_quat: from_quat, Rotation.from_rotvec: from_rotvec,
    Rotation.from_matrix: from_matrix, Rotation.from_euler: from_euler,
    Rotation.identity: identity,
}.items():
    facts(_made, written_as=_written)
STAND_FOR[Turn] = Rotation


# --- rotations that were there before -------------------------------------------------------------


@rrule(Rotation.apply, wrt=("vectors",), linear=(1,), domain=lambda rng: [
    call(Rotation.from_quat(rng.normal(size=4)), rng.normal(size=3)),
    call(Rotation.from_quat(rng.normal(size=4)), rng.normal(size=(2, 3))),
    call(Rotation.from_quat(rng.normal(size=(2, 4))), rng.normal(size=3)),
    call(Rotation.from_quat(rng.normal(size=(2, 4))), rng.normal(size=(2, 3)), inverse=True),
])
def apply_rule(self, vectors: np.ndarray, inverse=False):
    def apply_pullback(dy):
        turned = Rotation.apply(self, np.array(dy), not inverse)  # Cython takes no read-only ones
        return like(unbroadcast(turned, np.shape(vectors)), vectors)

    return Rotation.apply(self, vectors, inverse), apply_pullback
