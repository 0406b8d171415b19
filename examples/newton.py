"""Newton's square root: a ``while`` loop whose number of turns depends on the data."""

from __future__ import annotations

from adcompiler import value_and_grad


@value_and_grad
def root(a: float, tolerance: float) -> float:
    """Return the square root of ``a``, or 0 when ``a`` is not positive."""
    if a <= 0.0:
        return 0.0
    x = a
    while abs(x * x - a) > tolerance:
        x = 0.5 * (x + a / x)
    return x


def main() -> dict[float, tuple[float, float]]:
    """Print and return ``(value, slope)`` for several numbers."""
    results = {}
    for a in (-1.0, 0.25, 2.0, 100.0):
        value, slope = root(a, 1e-14 * max(1.0, a))
        print(f"a = {a:6.2f}   root {value:.15f}   slope {slope:.15f}")
        results[a] = (value, slope)
    return results


if __name__ == "__main__":
    main()
