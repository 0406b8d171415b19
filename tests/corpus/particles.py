"""Bodies and molecules: pairwise forces in loops, neighbour lists, constraints."""

import math

import numpy as np

from tests.corpus.program import Program


def gravity_kick(positions, velocities, masses, dt):
    """Change the velocities by the attraction of all pairs."""
    n = len(masses)
    for i in range(n):
        for j in range(i + 1, n):
            d = positions[j] - positions[i]
            inverse_cube = (d @ d + 0.05) ** -1.5
            velocities[i] += dt * masses[j] * inverse_cube * d
            velocities[j] -= dt * masses[i] * inverse_cube * d


def n_body_leapfrog(positions, velocities, masses, steps):
    """Return where some bodies are after leapfrog steps; the helper writes the velocities."""
    dt = 0.05
    gravity_kick(positions, velocities, masses, 0.5 * dt)
    for step in range(steps):
        positions += dt * velocities
        gravity_kick(positions, velocities, masses, dt if step < steps - 1 else 0.5 * dt)
    return positions


def n_body_energy_in_lists(bodies, steps):
    """Return the energy of planar bodies, each a list ``[x, y, vx, vy, mass]`` of floats."""
    bodies = [list(body) for body in bodies]
    dt = 0.02
    for _ in range(steps):
        for i in range(len(bodies)):
            one = bodies[i]
            for other in bodies[i + 1 :]:
                dx = one[0] - other[0]
                dy = one[1] - other[1]
                magnitude = dt * (dx * dx + dy * dy) ** -1.5
                one[2] -= dx * other[4] * magnitude
                one[3] -= dy * other[4] * magnitude
                other[2] += dx * one[4] * magnitude
                other[3] += dy * one[4] * magnitude
        for body in bodies:
            body[0] += dt * body[2]
            body[1] += dt * body[3]
    energy = 0.0
    for i, (x, y, vx, vy, mass) in enumerate(bodies):
        energy += 0.5 * mass * (vx * vx + vy * vy)
        for other in bodies[i + 1 :]:
            energy -= mass * other[4] / math.hypot(x - other[0], y - other[1])
    return energy


def lennard_jones_forces(x, epsilon, sigma):
    """Return energy and forces of a cluster; each pair is visited once."""
    n = x.shape[0]
    forces = np.zeros_like(x)
    energy = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            r = x[i] - x[j]
            r2 = np.sum(r * r)
            s6 = (sigma * sigma / r2) ** 3
            energy += 4.0 * epsilon * (s6 * s6 - s6)
            pull = 24.0 * epsilon * (2.0 * s6 * s6 - s6) / r2 * r
            forces[i] += pull
            forces[j] -= pull
    return energy, forces


def lennard_jones_verlet(x, v, epsilon, sigma, steps):
    """Return potential and kinetic energy after velocity-Verlet steps."""
    dt = 0.01
    energy, forces = lennard_jones_forces(x, epsilon, sigma)
    for _ in range(steps):
        v += 0.5 * dt * forces
        x += dt * v
        energy, forces = lennard_jones_forces(x, epsilon, sigma)
        v += 0.5 * dt * forces
    return energy + 0.5 * np.sum(v**2)


def periodic_box(x, box, steps):
    """Move repelling particles in a periodic box with minimum images."""
    n = x.shape[0]
    for _ in range(steps):
        force = np.zeros((n, 2))
        for i in range(n):
            d = x[i] - x
            d -= box * np.round(d / box)
            r2 = np.sum(d * d, axis=1)
            r2[i] = 1.0
            force[i] = np.sum(np.exp(-r2)[:, None] * d, axis=0)
        x += 0.1 * force
        x %= box
    return np.sum(np.sin(2.0 * np.pi * x / box))


def verlet_list_energy(x, cutoff, skin):
    """Return a pair energy with a neighbour list that is built first, in lists."""
    n = len(x)
    neighbours = []
    for i in range(n):
        near = []
        for j in range(i + 1, n):
            if np.sqrt(np.sum((x[i] - x[j]) ** 2)) < cutoff + skin:
                near.append(j)
        neighbours.append(near)
    energy = np.zeros(n)
    for i in range(n):
        for j in neighbours[i]:
            r = np.sqrt(np.sum((x[i] - x[j]) ** 2))
            if r < cutoff:
                half = 0.5 * (1.0 - r / cutoff) ** 2
                energy[i] += half
                energy[j] += half
    return energy


def cell_list_density(x, width):
    """Return smoothed densities of particles on a line, with the particles sorted into cells."""
    cells = {}
    for i in range(len(x)):
        key = int(x[i] // width)
        if key not in cells:
            cells[key] = []
        cells[key].append(i)
    density = np.zeros(len(x))
    for key, members in cells.items():
        for neighbour in (key - 1, key, key + 1):
            for i in members:
                for j in cells.get(neighbour, []):
                    q = abs(x[i] - x[j]) / width
                    if q < 1.0:
                        density[i] += (1.0 - q * q) ** 3
    return density


def spring_chain(x, v, stiffness, steps):
    """Step a chain that hangs from its first mass, with symplectic Euler."""
    n = len(x)
    for _ in range(steps):
        a = np.zeros_like(x)
        a[:, 1] -= 1.0
        for i in range(n - 1):
            d = x[i + 1] - x[i]
            length = np.sqrt(d @ d)
            f = stiffness[i] * (length - 1.0) * d / length
            a[i] += f
            a[i + 1] -= f
        a[0] = 0.0
        v += 0.05 * a
        v *= 0.99
        x += 0.05 * v
    return x[-1]


def cloth(points, steps):
    """Step a cloth by Verlet's position method, and relax its threads after each step."""
    x = points.copy()
    old = points.copy()
    rows, columns, _ = x.shape
    for _ in range(steps):
        moved = 2.0 * x - old
        moved[..., 1] -= 0.02
        old, x = x, moved
        x[0] = points[0]
        for i in range(rows):
            for j in range(columns):
                for k, m in ((i + 1, j), (i, j + 1)):
                    if k < rows and m < columns:
                        d = x[k, m] - x[i, j]
                        correction = 0.25 * (1.0 - 1.0 / np.sqrt(np.sum(d * d))) * d
                        x[i, j] += correction
                        x[k, m] -= correction
        x[0, 0] = points[0, 0]
    return np.sum(x[..., 1])


def rattle_rod(x, v, steps):
    """Step two masses that are joined by a rod, by corrections of their distance (SHAKE)."""
    dt = 0.05
    length2 = np.sum((x[0] - x[1]) ** 2)
    for _ in range(steps):
        before = x.copy()
        v[:, 1] -= dt * 9.81
        v -= dt * 0.1 * x
        x += dt * v
        for _ in range(3):
            d = x[0] - x[1]
            g = (d @ d - length2) / (2.0 * d @ (before[0] - before[1]))
            shift = 0.5 * g * (before[0] - before[1])
            x[0] -= shift
            x[1] += shift
        v[:] = (x - before) / dt
    return np.sum(x**2)


def smoothed_particles(x, v, smoothing, steps):
    """Step a gas of smoothed particles on a line."""
    n = len(x)
    for _ in range(steps):
        rho = np.zeros(n)
        for i in range(n):
            for j in range(n):
                rho[i] += math.exp(-(((x[i] - x[j]) / smoothing) ** 2)) / smoothing
        pressure = rho**1.4
        a = np.zeros(n)
        for i in range(n):
            for j in range(n):
                if i != j:
                    q = (x[i] - x[j]) / smoothing
                    slope = -2.0 * q * math.exp(-q * q) / smoothing**2
                    a[i] -= (pressure[i] / rho[i] ** 2 + pressure[j] / rho[j] ** 2) * slope
        v += 0.05 * a
        x += 0.05 * v
    return x


def particle_in_cell(x, v, cells, steps):
    """Step charges whose density is gathered on a mesh, and whose field comes from the mesh."""
    for _ in range(steps):
        rho = np.zeros(cells)
        left = np.floor(x).astype(int)
        right_weight = x - left
        for p in range(len(x)):
            rho[left[p] % cells] += 1.0 - right_weight[p]
            rho[(left[p] + 1) % cells] += right_weight[p]
        rho -= np.mean(rho)
        E = np.cumsum(rho)
        E -= E.mean()
        for p in range(len(x)):
            k = left[p]
            v[p] += 0.1 * (
                (1.0 - right_weight[p]) * E[k % cells] + right_weight[p] * E[(k + 1) % cells]
            )
        x += 0.1 * v
    return np.sum(v**2)


def ewald_like_sum(charges, positions, waves):
    """Return a reciprocal-space energy from structure factors gathered particle by particle."""
    cosines = np.zeros(waves)
    sines = np.zeros(waves)
    for q, r in zip(charges, positions, strict=True):
        for k in range(waves):
            cosines[k] += q * math.cos((k + 1) * r)
            sines[k] += q * math.sin((k + 1) * r)
    energy = 0.0
    for k in range(waves):
        energy += math.exp(-0.1 * (k + 1) ** 2) / (k + 1) ** 2 * (cosines[k] ** 2 + sines[k] ** 2)
    return energy


def flocking(x, v, steps):
    """Step a flock that aligns with its neighbours, with weights that fall off smoothly."""
    n = x.shape[0]
    for _ in range(steps):
        new_v = v.copy()
        for i in range(n):
            pull = np.zeros(2)
            weights = 0.0
            for j in range(n):
                w = 1.0 / (1.0 + np.sum((x[i] - x[j]) ** 2))
                pull += w * v[j]
                weights += w
            new_v[i] += 0.3 * (pull / weights - v[i])
        v[:, :] = new_v
        x += 0.1 * v
    return x, v


def lattice(rng, rows, columns):
    """Return points of a plane that are about 1.2 apart."""
    points = np.array([[1.2 * i, 1.2 * j] for i in range(rows) for j in range(columns)])
    return points + 0.05 * rng.normal(size=points.shape)


def planets(rng):
    return [
        [0.0, 0.0, 0.0, 0.1, 10.0],
        [2.0 + 0.1 * rng.normal(), 0.1, 0.0, 2.0, 0.2],
        [0.2, -3.0 + 0.1 * rng.normal(), 1.8, 0.0, 0.1],
    ]


def hanging_cloth(rng):
    i, j = np.meshgrid(np.arange(3.0), np.arange(4.0), indexing="ij")
    return np.stack([j, -i, np.zeros_like(i)], axis=-1) + 0.05 * rng.normal(size=(3, 4, 3))


PROGRAMS = (
    Program(
        n_body_leapfrog,
        lambda rng: (lattice(rng, 2, 2), rng.normal(size=(4, 2)), rng.uniform(1.0, 2.0, 4), 3),
        (0, 1, 2),
    ),
    Program(n_body_energy_in_lists, lambda rng: (planets(rng), 4)),
    Program(
        lennard_jones_verlet,
        lambda rng: (lattice(rng, 2, 3), 0.1 * rng.normal(size=(6, 2)), 0.8, 1.0, 2),
        (0, 1, 2, 3),
    ),
    Program(periodic_box, lambda rng: (0.3 + lattice(rng, 2, 2), 2.9, 2), (0, 1)),
    Program(verlet_list_energy, lambda rng: (lattice(rng, 2, 3), 2.0, 0.3), (0, 1)),
    Program(
        cell_list_density,
        lambda rng: (0.5 + 0.35 * np.arange(6) + rng.uniform(-0.02, 0.02, 6), 0.9),
        step=1e-4,
    ),
    Program(
        spring_chain,
        lambda rng: (
            np.stack([1.1 * np.arange(4), np.zeros(4)], axis=1), 0.1 * rng.normal(size=(4, 2)),
            rng.uniform(5.0, 9.0, 3), 4,
        ),
        (0, 1, 2),
    ),
    Program(cloth, lambda rng: (hanging_cloth(rng), 2)),
    Program(
        rattle_rod,
        lambda rng: (np.array([[0.0, 0.0], [1.0, 0.2]]), 0.2 * rng.normal(size=(2, 2)), 3),
        (0, 1),
    ),
    Program(
        smoothed_particles,
        lambda rng: (np.arange(5) + 0.1 * rng.normal(size=5), rng.normal(size=5), 1.3, 2),
        (0, 1, 2),
    ),
    Program(
        particle_in_cell,
        lambda rng: (np.arange(5) + rng.uniform(0.3, 0.7, 5), 0.2 * rng.normal(size=5), 6, 3),
        (0, 1),
    ),
    Program(
        ewald_like_sum, lambda rng: (rng.normal(size=5), rng.uniform(0.0, 6.0, 5), 4), (0, 1)
    ),
    Program(flocking, lambda rng: (rng.normal(size=(4, 2)), rng.normal(size=(4, 2)), 2), (0, 1)),
)
