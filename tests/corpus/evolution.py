"""Evolution equations on grids: heat, waves, reactions."""

import numpy as np

from tests.corpus.program import Program
from tests.corpus.triangular_systems import thomas

# -- heat -----------------------------------------------------------------------------------------


def heat_explicit(u, diffusivity, steps):
    """Step the heat equation with slices, in place."""
    for _ in range(steps):
        u[1:-1] += diffusivity * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def heat_two_buffers(u0, diffusivity, steps):
    """Step the heat equation point by point between two buffers."""
    n = len(u0)
    now = u0.copy()
    then = np.empty(n)
    for _ in range(steps):
        then[0] = now[0]
        then[n - 1] = now[n - 1]
        for i in range(1, n - 1):
            then[i] = now[i] + diffusivity * (now[i - 1] - 2.0 * now[i] + now[i + 1])
        now, then = then, now
    return now


def heat_all_times(u0, conductivity, steps):
    """Fill the rows of a space-time array, with a conductivity that depends on temperature."""
    U = np.zeros((steps + 1, u0.size))
    U[0] = u0
    for n in range(steps):
        k = conductivity * (1.0 + 0.1 * U[n] ** 2)
        flux = 0.5 * (k[1:] + k[:-1]) * (U[n, 1:] - U[n, :-1])
        U[n + 1] = U[n]
        U[n + 1, 1:-1] += flux[1:] - flux[:-1]
        U[n + 1, 0] = U[n + 1, 1]
        U[n + 1, -1] = U[n + 1, -2]
    return np.mean(U[1:] ** 2)


def heat_2d_cooling(T, source, steps):
    """Step heat on a plate that is heated inside and loses heat at its edges."""
    for step in range(steps):
        laplacian = np.zeros_like(T)
        laplacian[1:-1, 1:-1] = (
            T[:-2, 1:-1] + T[2:, 1:-1] + T[1:-1, :-2] + T[1:-1, 2:] - 4.0 * T[1:-1, 1:-1]
        )
        T += 0.2 * laplacian
        T[2:4, 2:4] += source * np.exp(-0.1 * step)
        T[0, :] = 0.9 * T[1, :]
        T[-1, :] = 0.9 * T[-2, :]
        T[:, 0] = 0.9 * T[:, 1]
        T[:, -1] = 0.9 * T[:, -2]
    return T


def crank_nicolson(u, r, steps):
    """Step the heat equation implicitly, with a tridiagonal solve at each step."""
    n = len(u)
    off = np.full(n, -0.5 * r)
    off_left, off_right = off.copy(), off.copy()
    diagonal = np.full(n, 1.0) + r
    diagonal[0] = diagonal[-1] = 1.0
    off_right[0] = 0.0
    off_left[-1] = 0.0
    for _ in range(steps):
        right = u.copy()
        right[1:-1] += 0.5 * r * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[:] = thomas(off_left, diagonal, off_right, right)
    return u


def sweep_lines(u, out, r):
    """Write into ``out`` one implicit half step along the rows of ``u``."""
    rows, columns = u.shape
    lower = np.full(columns, -r)
    upper = np.full(columns, -r)
    diagonal = np.full(columns, 1.0 + 2.0 * r)
    for i in range(rows):
        right = (1.0 - 2.0 * r) * u[i]
        if i > 0:
            right += r * u[i - 1]
        if i < rows - 1:
            right += r * u[i + 1]
        out[i] = thomas(lower, diagonal, upper, right)


def alternating_directions(u, r, steps):
    """Step heat on a plate by Peaceman-Rachford; the second half step works on transposes."""
    half = np.zeros_like(u)
    for _ in range(steps):
        sweep_lines(u, half, r)
        sweep_lines(half.T, u.T, r)
    return np.sum(u * u)


# -- waves ----------------------------------------------------------------------------------------


def wave_leapfrog(u0, speed, steps):
    """Step the wave equation with three arrays that change places."""
    n = len(u0)
    previous = u0.copy()
    current = u0.copy()
    following = np.zeros(n)
    for _ in range(steps):
        following[1:-1] = (
            2.0 * current[1:-1] - previous[1:-1]
            + speed[1:-1] ** 2 * (current[2:] - 2.0 * current[1:-1] + current[:-2])
        )
        previous, current, following = current, following, previous
    return np.sum(current**2)


def wave_ring_buffer(u0, courant, steps):
    """Step the wave equation in a buffer of three rows, addressed modulo three."""
    n = len(u0)
    u = np.zeros((3, n))
    u[0] = u0
    u[1] = u0
    for t in range(1, steps):
        old, now, new = u[(t - 1) % 3], u[t % 3], u[(t + 1) % 3]
        for i in range(1, n - 1):
            new[i] = 2.0 * now[i] - old[i] + courant**2 * (now[i + 1] - 2.0 * now[i] + now[i - 1])
    return u[steps % 3]


def wave_inversion_misfit(speed, source, recorded):
    """Return the misfit of a seismogram: a wave is sent, and recorded at one point."""
    n = len(speed)
    steps = len(source)
    u_old, u, u_new = np.zeros(n), np.zeros(n), np.zeros(n)
    trace = []
    for t in range(steps):
        for i in range(1, n - 1):
            u_new[i] = 2.0 * u[i] - u_old[i] + speed[i] ** 2 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u_new[2] += source[t]
        u_old, u, u_new = u, u_new, u_old
        trace.append(u[n - 3])
    misfit = 0.0
    for value, observed in zip(trace, recorded, strict=True):
        misfit += 0.5 * (value - observed) ** 2
    return misfit


def maxwell_fdtd(permittivity, steps):
    """Step electric and magnetic fields in one dimension, with a pulse and an absorbing end."""
    n = len(permittivity)
    E = np.zeros(n)
    H = np.zeros(n - 1)
    end = 0.0
    for t in range(steps):
        H += 0.5 * (E[1:] - E[:-1])
        E[1:-1] += 0.5 / permittivity[1:-1] * (H[1:] - H[:-1])
        E[n // 3] += np.exp(-0.5 * ((t - 4.0) / 2.0) ** 2)
        E[-1] = end
        end = E[-2]
    return 0.5 * np.sum(permittivity * E**2) + 0.5 * np.sum(H**2)


def yee_2d(Hz, Ex, Ey, steps):
    """Step the fields of Yee's grid in two dimensions, all in place."""
    for _ in range(steps):
        Hz += 0.4 * (Ex[1:, :] - Ex[:-1, :] - Ey[:, 1:] + Ey[:, :-1])
        Ex[1:-1, :] += 0.4 * (Hz[1:, :] - Hz[:-1, :])
        Ey[:, 1:-1] -= 0.4 * (Hz[:, 1:] - Hz[:, :-1])
    return np.sum(Hz**2) + np.sum(Ex**2) + np.sum(Ey**2)


def shallow_water(h, hu, steps):
    """Step the shallow-water equations by Lax-Friedrichs with mirrored walls."""
    g, ratio = 9.81, 0.05
    for _ in range(steps):
        f_h = hu
        f_hu = hu * hu / h + 0.5 * g * h * h
        h_new = np.empty_like(h)
        hu_new = np.empty_like(hu)
        h_new[1:-1] = 0.5 * (h[2:] + h[:-2]) - 0.5 * ratio * (f_h[2:] - f_h[:-2])
        hu_new[1:-1] = 0.5 * (hu[2:] + hu[:-2]) - 0.5 * ratio * (f_hu[2:] - f_hu[:-2])
        h_new[0], h_new[-1] = h_new[1], h_new[-2]
        hu_new[0], hu_new[-1] = -hu_new[1], -hu_new[-2]
        h, hu = h_new, hu_new
    return 0.5 * np.sum(hu**2 / h) + 0.5 * g * np.sum(h**2)


def korteweg_de_vries(u, steps):
    """Step the KdV equation by the scheme of Zabusky and Kruskal, three levels in a list."""
    levels = [u, u.copy(), np.zeros_like(u)]
    for _ in range(steps):
        old, now, new = levels
        right, left = np.roll(now, -1), np.roll(now, 1)
        new[:] = old - 0.02 * (left + now + right) * (right - left)
        new -= 0.005 * (np.roll(now, -2) - 2.0 * right + 2.0 * left - np.roll(now, 2))
        levels = [now, new, old]
    return levels[1]


def schroedinger(real, imaginary, potential, steps):
    """Step a wave function kept as two real arrays, staggered in time; return a mean position."""
    n = len(real)
    for _ in range(steps):
        for i in range(1, n - 1):
            kinetic = imaginary[i + 1] - 2.0 * imaginary[i] + imaginary[i - 1]
            real[i] += 0.1 * (-0.5 * kinetic + potential[i] * imaginary[i])
        for i in range(1, n - 1):
            kinetic = real[i + 1] - 2.0 * real[i] + real[i - 1]
            imaginary[i] -= 0.1 * (-0.5 * kinetic + potential[i] * real[i])
    density = real**2 + imaginary**2
    return np.sum(np.arange(n) * density) / np.sum(density)


# -- patterns -------------------------------------------------------------------------------------


def periodic_laplacian(field, out):
    out[:] = -4.0 * field
    out[1:] += field[:-1]
    out[0] += field[-1]
    out[:-1] += field[1:]
    out[-1] += field[0]
    out[:, 1:] += field[:, :-1]
    out[:, 0] += field[:, -1]
    out[:, :-1] += field[:, 1:]
    out[:, -1] += field[:, 0]


def gray_scott(U, V, feed, kill, steps):
    """Step two reacting substances; a helper fills the arrays of the Laplacians."""
    LU = np.empty_like(U)
    LV = np.empty_like(V)
    for _ in range(steps):
        periodic_laplacian(U, LU)
        periodic_laplacian(V, LV)
        reaction = U * V * V
        U += 0.16 * LU - reaction + feed * (1.0 - U)
        V += 0.08 * LV + reaction - (feed + kill) * V
    return np.sum(V**2)


def cahn_hilliard(c, mobility, steps):
    """Step a separating mixture; the chemical potential is an array that is reused."""
    mu = np.empty_like(c)
    laplacian = np.empty_like(c)
    for _ in range(steps):
        periodic_laplacian(c, laplacian)
        mu[...] = c**3 - c - 0.5 * laplacian
        periodic_laplacian(mu, laplacian)
        c += mobility * laplacian
    return c


def fisher_front(u, rate, steps):
    """Step a spreading population, and return where its front is."""
    n = u.size
    for _ in range(steps):
        diffused = np.copy(u)
        for i in range(1, n - 1):
            diffused[i] += 0.2 * (u[i + 1] - 2 * u[i] + u[i - 1])
        u = diffused + rate * diffused * (1.0 - diffused)
    position = 0.0
    for i in range(n):
        position += i * u[i] * (1.0 - u[i])
    return position


# -- samples ---------------------------------------------------------------------------------------


def field(rng, *shape):
    return rng.normal(size=shape)


def light_wave(rng, n=9):
    return field(rng, n), field(rng, n), field(rng, n), 4


def substances(rng):
    return rng.uniform(0.5, 1.0, size=(4, 5)), rng.uniform(0.1, 0.5, size=(4, 5)), 0.035, 0.06, 5


PROGRAMS = (
    Program(heat_explicit, lambda rng: (field(rng, 9), 0.3, 6), (0, 1)),
    Program(heat_two_buffers, lambda rng: (field(rng, 8), 0.25, 5), (0, 1)),
    Program(heat_all_times, lambda rng: (field(rng, 8), 0.2, 5), (0, 1)),
    Program(heat_2d_cooling, lambda rng: (field(rng, 6, 6), 0.7, 4), (0, 1)),
    Program(crank_nicolson, lambda rng: (field(rng, 7), 0.8, 3), (0, 1)),
    Program(alternating_directions, lambda rng: (field(rng, 4, 5), 0.3, 2), (0, 1)),
    Program(wave_leapfrog, lambda rng: (field(rng, 9), rng.uniform(0.3, 0.9, 9), 5), (0, 1)),
    Program(wave_ring_buffer, lambda rng: (field(rng, 8), 0.8, 6), (0, 1)),
    Program(
        wave_inversion_misfit,
        lambda rng: (rng.uniform(0.5, 0.9, 8), field(rng, 9), field(rng, 9)),
        (0, 1, 2),
    ),
    Program(maxwell_fdtd, lambda rng: (rng.uniform(1.0, 3.0, 10), 9)),
    Program(
        yee_2d, lambda rng: (field(rng, 4, 5), field(rng, 5, 5), field(rng, 4, 6), 3), (0, 1, 2)
    ),
    Program(
        shallow_water, lambda rng: (rng.uniform(1.0, 2.0, 8), 0.3 * field(rng, 8), 4), (0, 1)
    ),
    Program(korteweg_de_vries, lambda rng: (field(rng, 9), 4)),
    Program(schroedinger, light_wave, (0, 1, 2)),
    Program(gray_scott, substances, (0, 1, 2, 3)),
    Program(
        cahn_hilliard, lambda rng: (0.3 * field(rng, 4, 5), 0.05, 4), (0, 1), step=2e-4
    ),
    Program(fisher_front, lambda rng: (rng.uniform(0.0, 1.0, 8), 0.4, 4), (0, 1)),
)
