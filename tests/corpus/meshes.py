"""Finite volumes and elements, sparse matrices, and sums that are scattered into bins."""

import numpy as np

from tests.corpus.program import Program

# -- sparse matrices ------------------------------------------------------------------------------


def matvec_csr(data, columns, starts, x):
    """Multiply by a matrix in compressed rows."""
    rows = len(starts) - 1
    y = np.zeros(rows)
    for i in range(rows):
        for k in range(starts[i], starts[i + 1]):
            y[i] += data[k] * x[columns[k]]
    return y


def matvec_csr_transposed(data, columns, starts, x):
    """Multiply by the transpose, which scatters."""
    y = np.zeros(columns.max() + 1)
    for i in range(len(starts) - 1):
        part = slice(starts[i], starts[i + 1])
        y[columns[part]] += data[part] * x[i]
    return y


def matvec_coo(data, rows, columns, x):
    """Multiply by a matrix of triplets, of which some have the same place."""
    y = np.zeros(rows.max() + 1)
    np.add.at(y, rows, data * x[columns])
    return np.sum(y * y)


def matvec_ell(data, columns, x):
    """Multiply by a matrix with the same number of elements in each row."""
    rows, width = data.shape
    y = np.zeros(rows)
    for k in range(width):
        y += data[:, k] * x[columns[:, k]]
    return y


def sparse_gauss_seidel(data, columns, starts, diagonal, b):
    """Relax with a sparse matrix whose diagonal is stored apart."""
    n = len(b)
    x = np.zeros(n)
    for _ in range(3):
        for i in range(n):
            s = b[i]
            for k in range(starts[i], starts[i + 1]):
                s -= data[k] * x[columns[k]]
            x[i] = s / diagonal[i]
    return x


def csr_from_triplets(values, rows, columns, x):
    """Sort triplets into compressed rows by counting, then multiply twice."""
    n = len(x)
    starts = np.zeros(n + 1, dtype=int)
    for r in rows:
        starts[r + 1] += 1
    for i in range(n):
        starts[i + 1] += starts[i]
    following = starts.copy()
    data = np.zeros(len(values))
    indices = np.zeros(len(values), dtype=int)
    for v, r, c in zip(values, rows, columns, strict=True):
        k = following[r]
        data[k] = v
        indices[k] = c
        following[r] += 1
    y = matvec_csr(data, indices, starts, x)
    return x @ matvec_csr(data, indices, starts, y)


# -- bins -----------------------------------------------------------------------------------------


def weighted_histogram(values, weights, bins):
    """Return the sums of weights in bins; the places of the values are fixed."""
    counts = np.zeros(bins)
    for value, weight in zip(values, weights, strict=True):
        counts[min(int(value * bins), bins - 1)] += weight
    return counts / counts.sum()


def group_variances(x, labels, groups):
    """Return the variance within each group."""
    count = np.zeros(groups)
    mean = np.zeros(groups)
    variance = np.zeros(groups)
    for value, label in zip(x, labels, strict=True):
        count[label] += 1.0
        mean[label] += value
    mean /= count
    for i in range(len(x)):
        variance[labels[i]] += (x[i] - mean[labels[i]]) ** 2
    return variance / count


def angle_histogram(gx, gy, bins):
    """Return a normalised histogram of directions, shared between neighbouring bins."""
    histogram = np.zeros(bins)
    for x, y in zip(gx.ravel(), gy.ravel(), strict=True):
        position = (np.arctan2(y, x) / (2.0 * np.pi) % 1.0) * bins
        low = int(position)
        weight = position - low
        magnitude = np.hypot(x, y)
        histogram[low % bins] += (1.0 - weight) * magnitude
        histogram[(low + 1) % bins] += weight * magnitude
    histogram /= np.sqrt(np.sum(histogram**2) + 0.01)
    return histogram


def segment_softmax(scores, segments, count):
    """Return the softmax within segments, with maxima and sums that are scattered."""
    largest = np.full(count, -1e30)
    for i, s in enumerate(segments):
        largest[s] = max(largest[s], scores[i])
    weights = np.exp(scores - largest[segments])
    total = np.zeros(count)
    np.add.at(total, segments, weights)
    return weights / total[segments]


def rasterised_points(x, y, size):
    """Return an image of points, each spread over the four pixels around it."""
    image = np.zeros((size, size))
    i = np.floor(y).astype(int)
    j = np.floor(x).astype(int)
    fy, fx = y - i, x - j
    np.add.at(image, (i, j), (1.0 - fy) * (1.0 - fx))
    np.add.at(image, (i, j + 1), (1.0 - fy) * fx)
    np.add.at(image, (i + 1, j), fy * (1.0 - fx))
    np.add.at(image, (i + 1, j + 1), fy * fx)
    return np.log(1.0 + image)


def graph_laplacian_energy(x, weights, edges):
    """Return x^T L x with the Laplacian of a weighted graph assembled edge by edge."""
    n = len(x)
    L = np.zeros((n, n))
    for w, (i, j) in zip(weights, edges, strict=True):
        L[i, i] += w
        L[j, j] += w
        L[i, j] -= w
        L[j, i] -= w
    return x @ L @ x


# -- finite elements ------------------------------------------------------------------------------


def bar_elements(nodes, stiffness, load):
    """Solve a bar that is fixed at its left end, with elements of different lengths."""
    n = len(nodes)
    K = np.zeros((n, n))
    f = np.zeros(n)
    for e in range(n - 1):
        h = nodes[e + 1] - nodes[e]
        ke = stiffness[e] / h * np.array([[1.0, -1.0], [-1.0, 1.0]])
        K[e : e + 2, e : e + 2] += ke
        f[e : e + 2] += 0.5 * h * load
    K[0, :] = 0.0
    K[0, 0] = 1.0
    f[0] = 0.0
    return np.linalg.solve(K, f)


def beam_deflection(stiffness, length, force):
    """Return the deflection at the end of a clamped beam with cubic elements."""
    elements = len(stiffness)
    K = np.zeros((2 * elements + 2, 2 * elements + 2))
    h = length / elements
    ke = np.zeros((4, 4))
    ke[0] = [12.0, 6.0 * h, -12.0, 6.0 * h]
    ke[1] = [6.0 * h, 4.0 * h * h, -6.0 * h, 2.0 * h * h]
    ke[2] = -ke[0]
    ke[3] = [6.0 * h, 2.0 * h * h, -6.0 * h, 4.0 * h * h]
    for e in range(elements):
        dofs = np.arange(2 * e, 2 * e + 4)
        K[np.ix_(dofs, dofs)] += stiffness[e] / h**3 * ke
    f = np.zeros(2 * elements + 2)
    f[-2] = force
    u = np.zeros_like(f)
    u[2:] = np.linalg.solve(K[2:, 2:], f[2:])
    return u[-2]


def triangle_stiffness(points):
    """Return stiffness matrix and area of a linear triangle."""
    b = np.empty(3)
    c = np.empty(3)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        b[i] = points[j, 1] - points[k, 1]
        c[i] = points[k, 0] - points[j, 0]
    area = 0.5 * (b[0] * c[1] - b[1] * c[0])
    return (np.outer(b, b) + np.outer(c, c)) / (4.0 * area), area


def poisson_on_triangles(points, triangles, free, conductivity):
    """Return the dissipation of a heated plate, differentiable in the places of its nodes."""
    n = len(points)
    K = np.zeros((n, n))
    f = np.zeros(n)
    for e, triangle in enumerate(triangles):
        ke, area = triangle_stiffness(points[triangle])
        for a in range(3):
            f[triangle[a]] += area / 3.0
            for b in range(3):
                K[triangle[a], triangle[b]] += conductivity[e] * ke[a, b]
    u = np.zeros(n)
    u[free] = np.linalg.solve(K[np.ix_(free, free)], f[free])
    return f @ u


def mass_matrix_scatter(points, triangles):
    """Return the total and the norm of lumped masses, added up with repeated indices."""
    corners = points[triangles]
    e1 = corners[:, 1] - corners[:, 0]
    e2 = corners[:, 2] - corners[:, 0]
    areas = 0.5 * (e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0])
    mass = np.zeros(len(points))
    for corner in range(3):
        np.add.at(mass, triangles[:, corner], areas / 3.0)
    return np.sum(mass) + np.sqrt(np.sum(mass**2))


def truss_compliance(points, members, areas, loads):
    """Return the compliance of a plane truss whose first two joints are fixed."""
    n = len(points)
    K = np.zeros((2 * n, 2 * n))
    for (i, j), area in zip(members, areas, strict=True):
        d = points[j] - points[i]
        length = np.sqrt(d @ d)
        k = area / length**3 * np.outer(d, d)
        K[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] += k
        K[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] += k
        K[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] -= k
        K[2 * j : 2 * j + 2, 2 * i : 2 * i + 2] -= k
    u = np.linalg.solve(K[4:, 4:], loads)
    return loads @ u


# -- finite volumes -------------------------------------------------------------------------------


def face_loop_diffusion(u, owners, neighbours, coefficients, steps):
    """Step diffusion on an unstructured mesh by a loop over faces."""
    for _ in range(steps):
        residual = np.zeros_like(u)
        for f in range(len(owners)):
            left, right = owners[f], neighbours[f]
            flux = coefficients[f] * (u[right] - u[left])
            residual[left] += flux
            residual[right] -= flux
        u += 0.1 * residual
    return u


def finite_volume_traffic(density, limit, steps):
    """Step traffic through cells of a road, by demand and supply of neighbours."""
    n = len(density)
    for _ in range(steps):
        flux = np.zeros(n + 1)
        for i in range(n + 1):
            demand = limit * density[i - 1] * (1.0 - 0.4 * density[i - 1]) if i > 0 else 0.1
            supply = limit * (1.0 - density[i]) if i < n else 0.3
            flux[i] = min(demand, supply)
        density += 0.3 * (flux[:-1] - flux[1:])
    return density


def reservoir_network(levels, conductances, pipes, steps):
    """Step levels of reservoirs joined by pipes; levels and flows are lists in a dict."""
    state = {"level": list(levels), "flow": [0.0] * len(pipes)}
    for _ in range(steps):
        for k, (i, j) in enumerate(pipes):
            drop = state["level"][i] - state["level"][j]
            state["flow"][k] = conductances[k] * drop / np.sqrt(1.0 + drop * drop)
        for k, (i, j) in enumerate(pipes):
            state["level"][i] -= 0.2 * state["flow"][k]
            state["level"][j] += 0.2 * state["flow"][k]
    total = 0.0
    for level, flow in zip(state["level"], state["flow"], strict=False):
        total += level * level + flow
    return total


# -- samples --------------------------------------------------------------------------------------

STARTS = np.array([0, 2, 3, 3, 6])
COLUMNS = np.array([0, 3, 1, 0, 2, 3])
OFF_DIAGONAL = np.array([1, 3, 0, 2, 3, 1])
ROWS = np.array([0, 0, 1, 3, 3, 3, 1, 0])
PLACES = np.array([1, 2, 1, 0, 3, 2, 1, 1])
TRIANGLES = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [1, 5, 2]])
EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
MEMBERS = [(0, 2), (1, 2), (1, 3), (2, 3), (0, 3)]


def plate(rng):
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5], [1.8, 0.5]])
    return points + 0.05 * rng.normal(size=points.shape)


def joints(rng):
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    return points + 0.05 * rng.normal(size=points.shape)


PROGRAMS = (
    Program(
        matvec_csr, lambda rng: (rng.normal(size=6), COLUMNS, STARTS, rng.normal(size=4)), (0, 3)
    ),
    Program(
        matvec_csr_transposed,
        lambda rng: (rng.normal(size=6), COLUMNS, STARTS, rng.normal(size=4)),
        (0, 3),
    ),
    Program(
        matvec_coo, lambda rng: (rng.normal(size=8), ROWS, PLACES, rng.normal(size=4)), (0, 3)
    ),
    Program(
        matvec_ell,
        lambda rng: (rng.normal(size=(5, 2)), rng.integers(0, 4, (5, 2)), rng.normal(size=4)),
        (0, 2),
    ),
    Program(
        sparse_gauss_seidel,
        lambda rng: (
            rng.normal(size=6), OFF_DIAGONAL, STARTS, rng.uniform(4.0, 6.0, 4), rng.normal(size=4)
        ),
        (0, 3, 4),
    ),
    Program(
        csr_from_triplets,
        lambda rng: (rng.normal(size=8), ROWS, PLACES, rng.normal(size=4)),
        (0, 3),
    ),
    Program(
        weighted_histogram, lambda rng: (rng.uniform(size=12), rng.uniform(1.0, 2.0, 12), 4), 1
    ),
    Program(
        group_variances,
        lambda rng: (rng.normal(size=9), np.array([0, 1, 2, 0, 1, 2, 2, 1, 0]), 3),
    ),
    Program(
        angle_histogram,
        lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), 6),
        (0, 1),
        step=1e-4,
    ),
    Program(segment_softmax, lambda rng: (rng.normal(size=8), ROWS, 4)),
    Program(
        rasterised_points,
        lambda rng: (
            rng.integers(0, 4, 7) + rng.uniform(0.2, 0.8, 7),
            rng.integers(0, 4, 7) + rng.uniform(0.2, 0.8, 7),
            6,
        ),
        (0, 1),
    ),
    Program(
        graph_laplacian_energy, lambda rng: (rng.normal(size=4), rng.normal(size=5), EDGES), (0, 1)
    ),
    Program(
        bar_elements,
        lambda rng: (np.arange(6) + 0.1 * rng.normal(size=6), rng.uniform(1.0, 2.0, 5), 0.7),
        (0, 1, 2),
    ),
    Program(beam_deflection, lambda rng: (rng.uniform(1.0, 2.0, 4), 2.0, -0.3), (0, 1, 2)),
    Program(
        poisson_on_triangles,
        lambda rng: (plate(rng), TRIANGLES, np.array([1, 2, 4, 5]), rng.uniform(1.0, 2.0, 5)),
        (0, 3),
    ),
    Program(mass_matrix_scatter, lambda rng: (plate(rng), TRIANGLES)),
    Program(
        truss_compliance,
        lambda rng: (joints(rng), MEMBERS, rng.uniform(1.0, 2.0, 5), rng.normal(size=4)),
        (0, 2, 3),
    ),
    Program(
        face_loop_diffusion,
        lambda rng: (rng.normal(size=4), ROWS[:6], PLACES[:6], rng.uniform(0.5, 1.0, 6), 3),
        (0, 3),
    ),
    Program(finite_volume_traffic, lambda rng: (rng.uniform(0.1, 0.9, 7), 0.9, 3), (0, 1)),
    Program(
        reservoir_network,
        lambda rng: (rng.normal(size=4), rng.uniform(0.5, 1.0, 5), EDGES, 3),
        (0, 1),
    ),
)
