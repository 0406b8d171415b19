"""Statistics and time series: moments, densities, likelihoods, smoothing."""

import math

import numpy as np

from tests.corpus.program import Program


def welford(values):
    """Mean and variance in one pass."""
    count, mean, m2 = 0, 0.0, 0.0
    for x in values:
        count += 1
        delta = x - mean
        mean += delta / count
        m2 += delta * (x - mean)
    return mean, m2 / (count - 1)


def pearson_correlation(xs, ys):
    n = len(xs)
    mx, my = sum(xs) / n, sum(ys) / n
    cov = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    vx = sum((x - mx) ** 2 for x in xs)
    vy = sum((y - my) ** 2 for y in ys)
    return cov / math.sqrt(vx * vy)


def covariance_matrix(X):
    n, d = X.shape
    means = [sum(X[i, j] for i in range(n)) / n for j in range(d)]
    C = np.zeros((d, d))
    for i in range(d):
        for j in range(i, d):
            total = 0.0
            for row in X:
                total += (row[i] - means[i]) * (row[j] - means[j])
            C[i, j] = total / (n - 1)
            C[j, i] = C[i, j]
    return C


def kernel_density(x, samples, bandwidth):
    density = 0.0
    for s in samples:
        u = (x - s) / bandwidth
        density += math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    return density / (len(samples) * bandwidth)


def soft_histogram(x, edges, sharpness):
    """Counts that pass smoothly from bin to bin."""
    counts = np.zeros(len(edges) - 1)
    for value in x:
        for b in range(len(counts)):
            above = 1.0 / (1.0 + math.exp(-sharpness * (value - edges[b])))
            below = 1.0 / (1.0 + math.exp(-sharpness * (value - edges[b + 1])))
            counts[b] += above - below
    return counts / counts.sum()


def linear_binning(x, weights, low, width, bins=5):
    """Mass shared between the two nearest grid points."""
    mass = np.zeros(bins)
    for value, weight in zip(x, weights):
        position = (value - low) / width
        left = int(math.floor(position))
        fraction = position - left
        if 0 <= left < bins - 1:
            mass[left] += weight * (1.0 - fraction)
            mass[left + 1] += weight * fraction
    return mass


def soft_ranks(x, temperature):
    n = len(x)
    ranks = np.ones(n)
    for i in range(n):
        for j in range(n):
            if i != j:
                ranks[i] += 1.0 / (1.0 + np.exp((x[j] - x[i]) / temperature))
    return ranks


def ar_log_likelihood(phi, sigma, y):
    p, n = len(phi), len(y)
    log_lik = 0.0
    for t in range(p, n):
        prediction = 0.0
        for k in range(p):
            prediction += phi[k] * y[t - 1 - k]
        error = y[t] - prediction
        log_lik -= 0.5 * math.log(2 * math.pi) + math.log(sigma) + 0.5 * (error / sigma) ** 2
    return log_lik


def arma_conditional_sse(phi, theta, y):
    errors = np.zeros(len(y))
    for t in range(1, len(y)):
        errors[t] = y[t] - phi * y[t - 1] - theta * errors[t - 1]
    return np.sum(errors[1:] ** 2)


def garch_log_likelihood(params, returns):
    omega, alpha, beta = params
    n = len(returns)
    sigma2 = np.empty(n)
    sigma2[0] = np.var(returns)
    for t in range(1, n):
        sigma2[t] = omega + alpha * returns[t - 1] ** 2 + beta * sigma2[t - 1]
    return -0.5 * np.sum(np.log(2 * np.pi * sigma2) + returns**2 / sigma2)


def holt_winters_sse(alpha, beta, gamma, y, period=3):
    """Additive seasonal smoothing; the seasonal terms are a list that is updated in place."""
    level = sum(y[:period]) / period
    trend = (sum(y[period : 2 * period]) - sum(y[:period])) / period**2
    season = [y[i] - level for i in range(period)]
    sse = 0.0
    for t in range(period, len(y)):
        s = season[t % period]
        forecast = level + trend + s
        sse += (y[t] - forecast) ** 2
        last_level = level
        level = alpha * (y[t] - s) + (1 - alpha) * (level + trend)
        trend = beta * (level - last_level) + (1 - beta) * trend
        season[t % period] = gamma * (y[t] - level) + (1 - gamma) * s
    return sse


def kaplan_meier_area(hazards, times):
    """Area below the product-limit curve."""
    survival, area, last = 1.0, 0.0, 0.0
    for hazard, time in zip(hazards, times):
        area += survival * (time - last)
        survival *= 1.0 - hazard
        last = time
    return area


def cox_partial_likelihood(beta, X, times, observed):
    order = np.argsort(-times)
    eta = X @ beta
    risk = 0.0
    log_lik = 0.0
    for i in order:
        risk += np.exp(eta[i])
        if observed[i]:
            log_lik += eta[i] - np.log(risk)
    return log_lik


def ordinal_probit(cutpoints, scores, grades):
    def cdf(z):
        return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))

    total = 0.0
    for score, grade in zip(scores, grades):
        if grade == 0:
            p = cdf(cutpoints[0] - score)
        elif grade == len(cutpoints):
            p = 1.0 - cdf(cutpoints[-1] - score)
        else:
            p = cdf(cutpoints[grade] - score) - cdf(cutpoints[grade - 1] - score)
        total += math.log(p)
    return total


def negative_binomial_log_pmf(counts, mean, dispersion):
    r = 1.0 / dispersion
    total = 0.0
    for k in counts:
        total += math.lgamma(k + r) - math.lgamma(r) - math.lgamma(k + 1.0)
        total += r * math.log(r / (r + mean)) + k * math.log(mean / (r + mean))
    return total


def irls_logistic(X, y, penalty, steps=4):
    """Newton's method for logistic regression, a weighted least-squares problem at a time."""
    w = np.zeros(X.shape[1])
    for _ in range(steps):
        p = 1.0 / (1.0 + np.exp(-X @ w))
        weights = p * (1.0 - p)
        H = X.T @ (X * weights[:, None])
        H[np.diag_indices_from(H)] += penalty
        g = X.T @ (y - p) - penalty * w
        w += np.linalg.solve(H, g)
    return w


def ewma_volatility(returns, decay):
    variance = returns[0] ** 2
    path = [variance]
    for r in returns[1:]:
        variance = decay * variance + (1.0 - decay) * r * r
        path.append(variance)
    return [math.sqrt(v) for v in path]


def trimmed_mean_and_mad(x, trim=1):
    """Robust location and scale by sorting."""
    ordered = np.sort(x)
    kept = ordered[trim : len(x) - trim]
    center = kept.mean()
    deviations = np.sort(np.abs(x - center))
    middle = len(x) // 2
    mad = deviations[middle] if len(x) % 2 else 0.5 * (deviations[middle - 1] + deviations[middle])
    return center + 1.4826 * mad


def metropolis_path(log_scale, shift, n=12, seed=5):
    """A random walk over a fixed stream of numbers, accepted by a smooth density."""
    rng = np.random.default_rng(seed)
    x = shift
    total = 0.0
    scale = math.exp(log_scale)
    for _ in range(n):
        proposal = x + scale * rng.normal()
        log_ratio = 0.5 * (x - shift) ** 2 - 0.5 * (proposal - shift) ** 2
        if math.log(rng.random()) < log_ratio:
            x = proposal
        total += x * x
    return total / n


def dirichlet_log_density(alpha, p):
    log_beta = -math.lgamma(sum(alpha))
    for a in alpha:
        log_beta += math.lgamma(a)
    return sum((a - 1.0) * math.log(q) for a, q in zip(alpha, p)) - log_beta


def gini_coefficient(incomes):
    ranked = sorted(incomes)
    n = len(ranked)
    weighted = 0.0
    for position, income in enumerate(ranked, 1):
        weighted += position * income
    return 2.0 * weighted / (n * sum(ranked)) - (n + 1.0) / n


def durbin_levinson(autocovariance):
    """Partial autocorrelations by recursion over a triangular table."""
    n = len(autocovariance) - 1
    phi = np.zeros((n + 1, n + 1))
    v = autocovariance[0]
    pacf = []
    for k in range(1, n + 1):
        numerator = autocovariance[k]
        for j in range(1, k):
            numerator -= phi[k - 1, j] * autocovariance[k - j]
        phi[k, k] = numerator / v
        for j in range(1, k):
            phi[k, j] = phi[k - 1, j] - phi[k, k] * phi[k - 1, k - j]
        v *= 1.0 - phi[k, k] ** 2
        pacf.append(phi[k, k])
    return np.array(pacf)


PROGRAMS = (
    Program(welford, lambda rng: (rng.normal(size=7),), argnums=(0,)),
    Program(
        pearson_correlation,
        lambda rng: (rng.normal(size=6).tolist(), rng.normal(size=6).tolist()),
        argnums=(0, 1),
    ),
    Program(covariance_matrix, lambda rng: (rng.normal(size=(5, 3)),), argnums=(0,)),
    Program(kernel_density, lambda rng: (0.2, rng.normal(size=6), 0.5), argnums=(0, 1, 2)),
    Program(
        soft_histogram,
        lambda rng: (rng.uniform(0.0, 3.0, size=5), [0.0, 1.0, 2.0, 3.0], 4.0),
        argnums=(0, 1, 2),
    ),
    Program(
        linear_binning,
        lambda rng: (np.array([0.3, 1.7, 2.4, 0.9, 9.0]), rng.normal(size=5), -0.1, 0.7),
        argnums=(0, 1, 2, 3),
    ),
    Program(soft_ranks, lambda rng: (rng.normal(size=5), 0.4), argnums=(0, 1)),
    Program(
        ar_log_likelihood,
        lambda rng: (np.array([0.5, -0.2]), 0.8, rng.normal(size=7)),
        argnums=(0, 1, 2),
    ),
    Program(arma_conditional_sse, lambda rng: (0.6, 0.3, rng.normal(size=8)), argnums=(0, 1, 2)),
    Program(
        garch_log_likelihood,
        lambda rng: (np.array([0.1, 0.15, 0.7]), rng.normal(size=8)),
        argnums=(0, 1),
    ),
    Program(
        holt_winters_sse,
        lambda rng: (0.4, 0.2, 0.3, (np.arange(9) * 0.2 + rng.normal(size=9)).tolist()),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        kaplan_meier_area,
        lambda rng: (rng.uniform(0.05, 0.3, size=5), np.sort(rng.uniform(0.5, 6.0, size=5))),
        argnums=(0, 1),
    ),
    Program(
        cox_partial_likelihood,
        lambda rng: (
            rng.normal(size=2),
            rng.normal(size=(6, 2)),
            rng.permutation(6) + 0.5,
            [True, False, True, True, True, False],
        ),
        argnums=(0, 1),
    ),
    Program(
        ordinal_probit,
        lambda rng: ([-0.8, 0.1, 1.2], rng.normal(size=5), [0, 3, 1, 2, 1]),
        argnums=(0, 1),
    ),
    Program(negative_binomial_log_pmf, lambda rng: ([2, 0, 5, 1], 1.8, 0.4), argnums=(1, 2)),
    Program(
        irls_logistic,
        lambda rng: (rng.normal(size=(8, 2)), (rng.random(8) > 0.5) * 1.0, 0.5),
        argnums=(0, 2),
    ),
    Program(ewma_volatility, lambda rng: (rng.normal(size=6), 0.9), argnums=(0, 1)),
    Program(
        trimmed_mean_and_mad,
        lambda rng: (rng.permutation(np.array([0.1, 0.5, 1.4, 2.0, 3.1, 4.9, 7.0])),),
        argnums=(0,),
    ),
    Program(metropolis_path, lambda rng: (-0.3, 0.7), argnums=(0, 1)),
    Program(
        dirichlet_log_density,
        lambda rng: ([1.5, 2.5, 0.8], [0.2, 0.5, 0.3]),
        argnums=(0, 1),
    ),
    Program(
        gini_coefficient,
        lambda rng: ([float(v) for v in rng.permutation([1.0, 2.5, 3.1, 4.0, 8.0])],),
        argnums=(0,),
    ),
    Program(durbin_levinson, lambda rng: (np.array([2.0, 1.1, 0.6, -0.2]),), argnums=(0,)),
)
