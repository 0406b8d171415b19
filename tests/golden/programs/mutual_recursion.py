import math


def even(x, n):
    if n == 0:
        return x
    return math.sin(odd(x, n - 1))


def odd(x, n):
    if n == 0:
        return x * x
    return x * even(x, n - 1)


call(even, 0.7, 3)
# output
import math


def even_grad(x, n):
    """Return the gradient of `even` with respect to x."""
    # mutual_recursion.py:5  if n == 0:
    if n == 0:
        return 1.0
    # mutual_recursion.py:7  return math.sin(odd(x, n - 1))
    difference = n - 1
    test = difference == 0
    if test:
        value = x * x
    else:
        even, even_residuals = even_augmented_10(x, difference - 1)
        value = x * even

    # reverse of mutual_recursion.py:7
    cos = math.cos(value)
    if test:
        x_bar = 2.0 * (cos * x)
        return x_bar
    x_bar_1 = cos * even
    x_bar = even_pullback_10(even_residuals, cos * x)
    x_bar = x_bar_1 + x_bar
    return x_bar


def even_augmented_10(x, n):
    # mutual_recursion.py:5  if n == 0:
    test = n == 0
    if test:
        odd = odd_residuals = None
    else:
        # mutual_recursion.py:7  return math.sin(odd(x, n - 1))
        odd, odd_residuals = odd_augmented_10(x, n - 1)
        x = math.sin(odd)
    return x, (test, odd, odd_residuals)


def even_pullback_10(residuals, value_bar):
    # reverse of mutual_recursion.py:4
    test, odd, odd_residuals = residuals
    # reverse of mutual_recursion.py:5
    if test:
        return value_bar
    return odd_pullback_10(odd_residuals, value_bar * math.cos(odd))


def odd_augmented_10(x, n):
    # mutual_recursion.py:11  if n == 0:
    test = n == 0
    if test:
        value = x * x
        even = even_residuals = None
    else:
        # mutual_recursion.py:13  return x * even(x, n - 1)
        even, even_residuals = even_augmented_10(x, n - 1)
        value = x * even
    return value, (test, x, even, even_residuals)


def odd_pullback_10(residuals, value_bar):
    # reverse of mutual_recursion.py:10
    test, x, even, even_residuals = residuals
    # reverse of mutual_recursion.py:11
    if test:
        # reverse of mutual_recursion.py:12
        x_bar = 2.0 * (value_bar * x)
        return x_bar
    # reverse of mutual_recursion.py:13
    x_bar_1 = value_bar * even
    x_bar = even_pullback_10(even_residuals, value_bar * x)
    x_bar = x_bar_1 + x_bar
    return x_bar
