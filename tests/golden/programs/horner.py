def horner(coefficients, x):
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


call(horner, [1.0, 2.0, 3.0], 0.5, argnums=(0, 1))
# output
from adcompiler.runtime import add_at, as_gradient, zeros_like


def horner_grad(coefficients, x):
    """Return the gradient of `horner` with respect to coefficients, x."""
    # horner.py:3  for c in reversed(coefficients):
    reversed_1 = coefficients[::-1]
    total = 0.0
    total_tape = []
    for c in reversed_1:
        total_tape.append(total)
        # horner.py:4  total = total * x + c
        total = total * x + c

    # reverse of horner.py:3
    reversed_bar = zeros_like(reversed_1)
    total_bar_1 = 1.0
    x_bar = 0.0
    for index, total in zip(reversed(range(len(reversed_1))), reversed(total_tape)):
        # reverse of horner.py:4
        total_bar = total_bar_1 * x
        x_bar = x_bar + total_bar_1 * total
        # reverse of horner.py:3
        reversed_bar[index] = reversed_bar[index] + total_bar_1
        total_bar_1 = total_bar
    coefficients_bar = zeros_like(coefficients)
    coefficients_bar = add_at(coefficients_bar, slice(None, None, -1), reversed_bar)
    # reverse of horner.py:1
    coefficients_bar = as_gradient(coefficients_bar, coefficients)
    return coefficients_bar, x_bar
