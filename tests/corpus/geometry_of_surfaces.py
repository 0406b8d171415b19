"""Geometry of polygons, surfaces, rays and joints."""

import math

import numpy as np

from tests.corpus.program import Program


def polygon_area_and_centroid(vertices):
    area = cx = cy = 0.0
    n = len(vertices)
    for i in range(n):
        x0, y0 = vertices[i]
        x1, y1 = vertices[(i + 1) % n]
        cross = x0 * y1 - x1 * y0
        area += cross
        cx += (x0 + x1) * cross
        cy += (y0 + y1) * cross
    area *= 0.5
    return area, cx / (6.0 * area), cy / (6.0 * area)


def clipped_polygon_area(polygon, a, b, c):
    """Sutherland-Hodgman against the half-plane a x + b y <= c."""
    output = []
    for i in range(len(polygon)):
        current, previous = polygon[i], polygon[i - 1]
        d1 = a * current[0] + b * current[1] - c
        d0 = a * previous[0] + b * previous[1] - c
        if (d1 <= 0) != (d0 <= 0):
            t = d0 / (d0 - d1)
            crossing = (
                previous[0] + t * (current[0] - previous[0]),
                previous[1] + t * (current[1] - previous[1]),
            )
            output.append(crossing)
        if d1 <= 0:
            output.append((current[0], current[1]))
    area = 0.0
    for (x0, y0), (x1, y1) in zip(output, output[1:] + output[:1]):
        area += x0 * y1 - x1 * y0
    return 0.5 * area


def vertex_normals(V, F):
    normals = np.zeros_like(V)
    face_normals = np.cross(V[F[:, 1]] - V[F[:, 0]], V[F[:, 2]] - V[F[:, 0]])
    for corner in range(3):
        np.add.at(normals, F[:, corner], face_normals)
    return normals / np.linalg.norm(normals, axis=1)[:, None]


def ray_sphere_shading(origin, direction, center, radius, light):
    direction = direction / np.linalg.norm(direction)
    oc = origin - center
    b = np.dot(oc, direction)
    c = np.dot(oc, oc) - radius**2
    discriminant = b * b - c
    if discriminant < 0:
        return 0.0
    t = -b - math.sqrt(discriminant)
    hit = origin + t * direction
    normal = (hit - center) / radius
    to_light = light - hit
    return max(float(np.dot(normal, to_light) / np.linalg.norm(to_light)), 0.0)


def render_spheres(centers, radii, light, size=3):
    """A tiny ray tracer: the nearest sphere decides, the background is a gradient."""
    image = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            d = np.array([(j - 1) * 0.3, (i - 1) * 0.3, 1.0])
            d /= np.linalg.norm(d)
            nearest, index = np.inf, -1
            for k, (center, radius) in enumerate(zip(centers, radii)):
                b = d @ center
                disc = b**2 - center @ center + radius**2
                if disc > 0 and b - np.sqrt(disc) < nearest:
                    nearest, index = b - np.sqrt(disc), k
            if index < 0:
                image[i, j] = 0.1 * d[1] * light[0]
                continue
            normal = (nearest * d - centers[index]) / radii[index]
            image[i, j] = max(normal @ light, 0.0) + 0.05
    return image


def two_link_arm(angles, lengths, target):
    x = y = heading = 0.0
    for angle, length in zip(angles, lengths):
        heading += angle
        x += length * math.cos(heading)
        y += length * math.sin(heading)
    return math.hypot(x - target[0], y - target[1])


def denavit_hartenberg(joints, table):
    """Position of the end effector; the table has rows (d, a, alpha)."""
    T = np.eye(4)
    for theta, (d, a, alpha) in zip(joints, table):
        ct, st = np.cos(theta), np.sin(theta)
        ca, sa = np.cos(alpha), np.sin(alpha)
        link = np.eye(4)
        link[0] = [ct, -st * ca, st * sa, a * ct]
        link[1] = [st, ct * ca, -ct * sa, a * st]
        link[2, 1:] = sa, ca, d
        T = T @ link
    return T[:3, 3]


def inverse_kinematics_damped(angles, target, damping, steps=3):
    """Damped least squares with a geometric Jacobian of a planar arm of unit links."""
    q = np.array(angles)
    n = len(q)
    for _ in range(steps):
        total = np.cumsum(q)
        joints = np.zeros((n + 1, 2))
        for i in range(n):
            joints[i + 1] = joints[i] + np.array([np.cos(total[i]), np.sin(total[i])])
        error = target - joints[-1]
        J = np.empty((2, n))
        for i in range(n):
            lever = joints[-1] - joints[i]
            J[:, i] = -lever[1], lever[0]
        q += J.T @ np.linalg.solve(J @ J.T + damping * np.eye(2), error)
    return q


def heron_tetrahedron(edges):
    """Volume from six edge lengths by the Cayley-Menger determinant."""
    M = np.ones((5, 5))
    M[0, 0] = 0.0
    k = 0
    for i in range(1, 5):
        M[i, i] = 0.0
        for j in range(i + 1, 5):
            M[i, j] = M[j, i] = edges[k] ** 2
            k += 1
    return math.sqrt(np.linalg.det(M) / 288.0)


def great_circle_path(points, radius):
    """Length of a route of (latitude, longitude) pairs in degrees."""
    total = 0.0
    for (lat1, lon1), (lat2, lon2) in zip(points, points[1:]):
        p1, p2 = math.radians(lat1), math.radians(lat2)
        dp, dl = p2 - p1, math.radians(lon2 - lon1)
        h = math.sin(dp / 2) ** 2 + math.cos(p1) * math.cos(p2) * math.sin(dl / 2) ** 2
        total += 2 * radius * math.asin(math.sqrt(h))
    return total


def homography_transfer(H, points):
    homogeneous = np.hstack([points, np.ones((len(points), 1))])
    mapped = homogeneous @ H.T
    mapped[:, :2] /= mapped[:, 2:]
    return mapped[:, :2]


def bilinear_sample(image, xs, ys):
    """Values between pixels, as when warping an image."""
    out = np.zeros(len(xs))
    for k in range(len(xs)):
        x0, y0 = int(np.floor(xs[k])), int(np.floor(ys[k]))
        wx, wy = xs[k] - x0, ys[k] - y0
        out[k] += (1 - wx) * (1 - wy) * image[y0, x0]
        out[k] += wx * (1 - wy) * image[y0, x0 + 1]
        out[k] += (1 - wx) * wy * image[y0 + 1, x0]
        out[k] += wx * wy * image[y0 + 1, x0 + 1]
    return out
OCTAHEDRON = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
FACES = np.array(
    [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]]
)


PROGRAMS = (
    Program(
        polygon_area_and_centroid,
        lambda rng: (
            np.array([[0.0, 0.0], [2.0, 0.3], [2.5, 1.7], [0.4, 2.1]]) + rng.random((4, 2)) / 5,
        ),
        argnums=0,
    ),
    Program(
        clipped_polygon_area,
        lambda rng: (
            np.array([[0.0, 0.0], [2.0, 0.3], [2.5, 1.7], [0.4, 2.1]]),
            1.0,
            0.5,
            1.6 + 0.2 * rng.random(),
        ),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        vertex_normals, lambda rng: (OCTAHEDRON + 0.1 * rng.normal(size=(6, 3)), FACES), argnums=0
    ),
    Program(
        ray_sphere_shading,
        lambda rng: (
            np.array([0.1, -0.1, -4.0]) + 0.1 * rng.normal(size=3),
            np.array([0.02, 0.03, 1.0]),
            np.array([0.0, 0.1, 1.0]),
            1.1,
            np.array([2.0, 2.0, -3.0]),
        ),
        argnums=(0, 1, 2, 3, 4),
    ),
    Program(
        render_spheres,
        lambda rng: (
            np.array([[-0.4, 0.1, 3.0], [0.7, 0.2, 4.1]]) + 0.02 * rng.normal(size=(2, 3)),
            np.array([0.7, 0.8]),
            np.array([0.3, 0.4, -0.8]),
        ),
        argnums=(0, 1, 2),
        step=3e-4,
    ),
    Program(
        two_link_arm,
        lambda rng: (rng.normal(size=2).tolist(), [1.0, 0.7], (0.3, 2.5)),
        argnums=(0, 1, 2),
    ),
    Program(
        denavit_hartenberg,
        lambda rng: (
            rng.normal(size=3),
            [(0.3, 0.1, 1.2), (0.0, 0.8, 0.2), (0.1, 0.5, -0.7)],
        ),
        argnums=(0, 1),
    ),
    Program(
        inverse_kinematics_damped,
        lambda rng: ([0.4, 0.5, -0.3], np.array([1.2, 1.5]) + 0.2 * rng.normal(size=2), 0.3),
        argnums=(0, 1, 2),
    ),
    Program(heron_tetrahedron, lambda rng: (1.0 + 0.1 * rng.random(6),), argnums=0),
    Program(
        great_circle_path,
        lambda rng: ([(48.1, 11.6), (52.5, 13.4), (55.7, 12.6 + rng.random())], 6371.0),
        argnums=(0, 1),
    ),
    Program(
        homography_transfer,
        lambda rng: (np.eye(3) + 0.1 * rng.normal(size=(3, 3)), rng.random((3, 2))),
        argnums=(0, 1),
    ),
    Program(
        bilinear_sample,
        lambda rng: (rng.normal(size=(4, 5)), np.array([0.3, 2.6, 3.5]), np.array([1.2, 0.7, 2.4])),
        argnums=(0, 1, 2),
    ),
)
