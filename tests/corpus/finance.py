"""Finance: option prices by formula, tree, grid and simulation; curves; cash flows."""

import math

import numpy as np

from tests.corpus.program import Program


def norm_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def black_scholes(spot, strike, rate, dividend, sigma, maturity, kind="call"):
    if maturity <= 0 or sigma <= 0:
        raise ValueError("maturity and sigma must be positive")
    d1 = (math.log(spot / strike) + (rate - dividend + sigma**2 / 2) * maturity) / (
        sigma * math.sqrt(maturity)
    )
    d2 = d1 - sigma * math.sqrt(maturity)
    forward = spot * math.exp(-dividend * maturity)
    discounted = strike * math.exp(-rate * maturity)
    if kind == "call":
        return forward * norm_cdf(d1) - discounted * norm_cdf(d2)
    elif kind == "put":
        return discounted * norm_cdf(-d2) - forward * norm_cdf(-d1)
    raise ValueError(f"unknown kind: {kind}")


def implied_volatility(price, spot, strike, rate, maturity):
    sigma = 0.3
    for _ in range(50):
        d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * maturity) / (
            sigma * math.sqrt(maturity)
        )
        d2 = d1 - sigma * math.sqrt(maturity)
        value = spot * norm_cdf(d1) - strike * math.exp(-rate * maturity) * norm_cdf(d2)
        vega = spot * math.sqrt(maturity / (2 * math.pi)) * math.exp(-0.5 * d1**2)
        change = (value - price) / vega
        sigma -= change
        if abs(change) < 1e-14:
            break
    return sigma


def american_put_binomial(spot, strike, rate, sigma, maturity, steps=7):
    """Cox-Ross-Rubinstein, with backward induction in one array."""
    dt = maturity / steps
    up = np.exp(sigma * np.sqrt(dt))
    down = 1 / up
    p = (np.exp(rate * dt) - down) / (up - down)
    discount = np.exp(-rate * dt)
    values = np.zeros(steps + 1)
    for i in range(steps + 1):
        values[i] = max(strike - spot * up ** (2 * i - steps), 0.0)
    for step in range(steps - 1, -1, -1):
        for i in range(step + 1):
            hold = discount * (p * values[i + 1] + (1 - p) * values[i])
            exercise = strike - spot * up ** (2 * i - step)
            values[i] = max(hold, exercise)
    return values[0]


def trinomial_call(spot, strike, rate, sigma, maturity, steps=6):
    """A tree of lists, one list per layer."""
    dt = maturity / steps
    u = math.exp(sigma * math.sqrt(2.0 * dt))
    a, b, c = (
        math.exp(rate * dt / 2),
        math.exp(-sigma * math.sqrt(dt / 2)),
        math.exp(sigma * math.sqrt(dt / 2)),
    )
    pu = ((a - b) / (c - b)) ** 2
    pd = ((c - a) / (c - b)) ** 2
    pm = 1.0 - pu - pd
    layer = [max(spot * u**j - strike, 0.0) for j in range(-steps, steps + 1)]
    while len(layer) > 1:
        layer = [
            math.exp(-rate * dt) * (pd * low + pm * mid + pu * high)
            for low, mid, high in zip(layer, layer[1:], layer[2:])
        ]
    return layer[0]


def heston_monte_carlo(spot, v0, kappa, theta, xi, rho, strike=1.0, paths=16, steps=8):
    """Euler paths with full truncation, on numbers from a seeded generator."""
    rng = np.random.default_rng(42)
    dt = 1.0 / steps
    log_s = np.full(paths, math.log(spot))
    v = np.full(paths, v0)
    for _ in range(steps):
        z1 = rng.standard_normal(paths)
        z2 = rho * z1 + math.sqrt(1 - rho**2) * rng.standard_normal(paths)
        positive = np.maximum(v, 0.0)
        log_s += -0.5 * positive * dt + np.sqrt(positive * dt) * z1
        v += kappa * (theta - positive) * dt + xi * np.sqrt(positive * dt) * z2
    payoff = np.maximum(np.exp(log_s) - strike, 0.0)
    return payoff.mean()


def asian_option(spot, sigma, rate, strike, paths=8, steps=6):
    """Arithmetic average over paths in a preallocated array, with antithetic draws."""
    rng = np.random.default_rng(7)
    half = rng.normal(size=(paths // 2, steps))
    noise = np.concatenate([half, -half])
    dt = 1.0 / steps
    S = np.empty((paths, steps + 1))
    S[:, 0] = spot
    for t in range(steps):
        growth = (rate - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * noise[:, t]
        S[:, t + 1] = S[:, t] * np.exp(growth)
    average = S[:, 1:].mean(axis=1)
    geometric = np.exp(np.mean(np.log(S[:, 1:]), axis=1))
    payoff = np.where(average > strike, average - strike, 0.0)
    control = np.where(geometric > strike, geometric - strike, 0.0)
    return math.exp(-rate) * (payoff.mean() - 0.5 * control.mean())


def smoothed_barrier(spot, sigma, barrier, width, n=8, steps=5):
    """A knock-out whose survival is a product of smooth factors."""
    rng = np.random.default_rng(11)
    total = 0.0
    for _ in range(n):
        s, alive = spot, 1.0
        for _ in range(steps):
            s *= math.exp(-0.5 * sigma**2 / steps + sigma * rng.normal() / math.sqrt(steps))
            alive *= 1.0 / (1.0 + math.exp((s - barrier) / width))
        total += alive * s
    return total / n


def lookback_call(spot, sigma, noise):
    n, steps = noise.shape
    payoffs = np.zeros(n)
    for i in range(n):
        s = lowest = spot
        for z in noise[i]:
            s = s * math.exp(sigma * z - 0.5 * sigma**2)
            lowest = min(lowest, s)
        payoffs[i] = s - lowest
    return payoffs.mean()


def longstaff_schwartz(spot, sigma, rate, strike, noise):
    """An American put by regression on the paths that are in the money."""
    n, steps = noise.shape
    paths = np.zeros((n, steps + 1))
    paths[:, 0] = spot
    for t in range(steps):
        paths[:, t + 1] = paths[:, t] * np.exp(rate - 0.5 * sigma**2 + sigma * noise[:, t])
    cash = np.maximum(strike - paths[:, -1], 0.0)
    for t in range(steps - 1, 0, -1):
        cash *= np.exp(-rate)
        itm = paths[:, t] < strike
        x = paths[itm, t]
        A = np.column_stack([np.ones_like(x), x])
        beta = np.linalg.solve(A.T @ A, A.T @ cash[itm])
        continuation = A @ beta
        exercise = strike - x
        cash[itm] = np.where(exercise > continuation, exercise, cash[itm])
    return np.exp(-rate) * cash.mean()


def explicit_finite_difference_call(sigma, rate, strike, s_max=2.0, n=10, steps=12):
    dS, dt = s_max / n, 0.5 / steps
    S = np.linspace(0.0, s_max, n + 1)
    V = np.maximum(S - strike, 0.0)
    for m in range(steps):
        new = V.copy()
        for i in range(1, n):
            delta = (V[i + 1] - V[i - 1]) / (2 * dS)
            gamma = (V[i + 1] - 2 * V[i] + V[i - 1]) / dS**2
            new[i] += dt * (0.5 * sigma**2 * S[i] ** 2 * gamma + rate * S[i] * delta - rate * V[i])
        new[0] = 0.0
        new[n] = s_max - strike * np.exp(-rate * (m + 1) * dt)
        V = new
    return V[n // 2]


def implicit_put(sigma, rate, strike, spot, n=8, steps=4):
    """Implicit grid with Thomas' algorithm, and linear interpolation at the spot."""
    s_max, maturity = 2.5, 0.5
    dt = maturity / steps
    grid = [s_max * i / n for i in range(n + 1)]
    V = [max(strike - s, 0.0) for s in grid]
    for step in range(1, steps + 1):
        a = [0.0] * (n + 1)
        b = [1.0] * (n + 1)
        c = [0.0] * (n + 1)
        d = V[:]
        for i in range(1, n):
            a[i] = 0.5 * dt * (rate * i - sigma**2 * i**2)
            b[i] = 1.0 + dt * (sigma**2 * i**2 + rate)
            c[i] = -0.5 * dt * (rate * i + sigma**2 * i**2)
        d[0] = strike * math.exp(-rate * step * dt)
        d[n] = 0.0
        for i in range(1, n + 1):
            w = a[i] / b[i - 1]
            b[i] -= w * c[i - 1]
            d[i] -= w * d[i - 1]
        V[n] = d[n] / b[n]
        for i in range(n - 1, -1, -1):
            V[i] = (d[i] - c[i] * V[i + 1]) / b[i]
    j = int(spot / s_max * n)
    weight = (spot - grid[j]) / (grid[j + 1] - grid[j])
    return (1.0 - weight) * V[j] + weight * V[j + 1]


def bootstrap_discount_factors(swap_rates):
    """Discount factors from par swap rates, appended one at a time."""
    factors = []
    for rate in swap_rates:
        annuity = sum(factors)
        factors.append((1.0 - rate * annuity) / (1.0 + rate))
    zero_rates = [-math.log(d) / t for t, d in enumerate(factors, start=1)]
    return factors[-1] + sum(zero_rates)


def swap_value(curve, fixed_rate, notional):
    """Log-linear interpolation of a curve, a dict from year to discount factor."""
    years = sorted(curve)

    def discount(t):
        for t0, t1 in zip(years, years[1:]):
            if t0 <= t <= t1:
                w = (t - t0) / (t1 - t0)
                return math.exp((1 - w) * math.log(curve[t0]) + w * math.log(curve[t1]))
        raise ValueError("outside of the curve")

    fixed = 0.0
    for k in range(1, 9):
        fixed += 0.5 * fixed_rate * discount(0.5 * k)
    floating = discount(0.0) - discount(4.0)
    return notional * (floating - fixed)


def net_present_value(rate, cashflows):
    return sum(cf / (1.0 + rate) ** t for t, cf in enumerate(cashflows))


def internal_rate_of_return(cashflows):
    rate = 0.1
    for _ in range(60):
        npv = 0.0
        slope = 0.0
        for t, cf in enumerate(cashflows):
            npv += cf / (1 + rate) ** t
            slope -= t * cf / (1 + rate) ** (t + 1)
        step = npv / slope
        rate -= step
        if abs(step) < 1e-15:
            break
    return rate


def bond_duration_convexity(face, coupon, yields):
    price = duration = convexity = 0.0
    n = len(yields)
    for t, y in enumerate(yields, 1):
        cash = coupon * face + (face if t == n else 0.0)
        pv = cash / (1 + y) ** t
        price += pv
        duration += t * pv
        convexity += t * (t + 1) * pv
    return price, duration / price, convexity / price


def vasicek_bond(r0, kappa, theta, sigma, maturity):
    B = (1 - math.exp(-kappa * maturity)) / kappa
    A = (theta - sigma**2 / (2 * kappa**2)) * (B - maturity) - sigma**2 * B**2 / (4 * kappa)
    return math.exp(A - B * r0)


def markowitz_weights(returns, covariance, aversion):
    n = len(returns)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = aversion * covariance
    system[:n, n] = 1.0
    system[n, :n] = 1.0
    rhs = np.append(returns, 1.0)
    return np.linalg.solve(system, rhs)[:n]


def loan_amortization(principal, rate, payment, months=12):
    balance = principal
    schedule = []
    for month in range(months):
        interest = balance * rate / 12
        paid = payment * (1.05 if month >= 6 else 1.0)
        balance += interest - paid
        schedule.append({"month": month, "interest": interest, "balance": balance})
    return sum(row["interest"] for row in schedule) + schedule[-1]["balance"]


def cds_spread(hazards, recovery, rate):
    survival = 1.0
    protection = premium = 0.0
    for year, hazard in enumerate(hazards, start=1):
        before = survival
        survival *= math.exp(-hazard)
        discount = math.exp(-rate * year)
        protection += (1.0 - recovery) * (before - survival) * discount
        premium += 0.5 * (before + survival) * discount
    return 1e4 * protection / premium


PROGRAMS = (
    Program(
        black_scholes,
        lambda rng: (100.0, 95.0 + 10 * rng.random(), 0.03, 0.01, 0.25, 0.8, "put"),
        argnums=(0, 1, 2, 3, 4, 5),
    ),
    Program(
        implied_volatility,
        lambda rng: (0.12 + 0.02 * rng.random(), 1.0, 1.02, 0.03, 0.9),
        argnums=(0, 1, 2, 3, 4),
        step=3e-4,
    ),
    Program(
        american_put_binomial,
        lambda rng: (1.0, 1.07 + 0.01 * rng.random(), 0.05, 0.3, 1.0),
        argnums=(0, 1, 2, 3, 4),
        step=1e-4,
    ),
    Program(
        trinomial_call,
        lambda rng: (1.0, 1.03 + 0.01 * rng.random(), 0.04, 0.3, 1.2),
        argnums=(0, 1, 2, 3, 4),
    ),
    Program(
        heston_monte_carlo,
        lambda rng: (1.0 + 0.01 * rng.random(), 0.06, 1.5, 0.05, 0.3, -0.6),
        argnums=(0, 1, 2, 3, 4, 5),
        step=1e-4,
    ),
    Program(
        asian_option,
        lambda rng: (1.0, 0.3, 0.03, 1.01 + 0.01 * rng.random()),
        argnums=(0, 1, 2, 3),
        step=1e-4,
    ),
    Program(
        smoothed_barrier,
        lambda rng: (1.0 + 0.1 * rng.random(), 0.3, 1.3, 0.1),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        lookback_call,
        lambda rng: (1.0, 0.2, rng.normal(size=(4, 5))),
        argnums=(0, 1, 2),
        step=3e-4,
    ),
    Program(
        longstaff_schwartz,
        lambda rng: (1.0, 0.2, 0.02, 1.1, rng.normal(size=(10, 3))),
        argnums=(0, 1, 2, 3),
        step=1e-4,
    ),
    Program(
        explicit_finite_difference_call,
        lambda rng: (0.25, 0.04, 0.93 + 0.03 * rng.random()),
        argnums=(0, 1, 2),
    ),
    Program(
        implicit_put,
        lambda rng: (0.3, 0.04, 1.1, 1.0 + 0.1 * rng.random()),
        argnums=(0, 1, 2, 3),
    ),
    Program(
        bootstrap_discount_factors,
        lambda rng: ((0.02 + 0.01 * rng.random(5)).tolist(),),
        argnums=0,
    ),
    Program(
        swap_value,
        lambda rng: (
            {0.0: 1.0, 1.3: 0.97, 2.6: 0.93, 4.2: 0.88},
            0.03 + 0.01 * rng.random(),
            100.0,
        ),
        argnums=(0, 1, 2),
    ),
    Program(
        net_present_value,
        lambda rng: (0.07, [-100.0, *rng.uniform(20, 40, size=5).tolist()]),
        argnums=(0, 1),
    ),
    Program(
        internal_rate_of_return,
        lambda rng: (np.array([-1.0, *rng.uniform(0.2, 0.5, size=5)]),),
        argnums=0,
    ),
    Program(
        bond_duration_convexity,
        lambda rng: (100.0, 0.04, rng.uniform(0.02, 0.05, size=5)),
        argnums=(0, 1, 2),
    ),
    Program(
        vasicek_bond,
        lambda rng: (0.03, 0.5 + 0.3 * rng.random(), 0.05, 0.1, 3.0),
        argnums=(0, 1, 2, 3, 4),
    ),
    Program(
        markowitz_weights,
        lambda rng: (rng.normal(size=3), np.diag(rng.uniform(1.0, 2.0, size=3)) + 0.2, 1.5),
        argnums=(0, 1, 2),
    ),
    Program(
        loan_amortization,
        lambda rng: (1000.0 + 100 * rng.random(), 0.05, 90.0),
        argnums=(0, 1, 2),
    ),
    Program(
        cds_spread,
        lambda rng: (rng.uniform(0.01, 0.05, size=5).tolist(), 0.4, 0.03),
        argnums=(0, 1, 2),
    ),
)
