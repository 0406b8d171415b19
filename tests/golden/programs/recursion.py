def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


call(power, 1.1, 4)
# output
def power_grad(x, n):
    """Return the gradient of `power` with respect to x."""
    # recursion.py:2  return 1.0 if n == 0 else x * power(x, n - 1)
    if n == 0:
        return 0.0
    power, power_residuals = power_augmented_10(x, n - 1)

    # reverse of recursion.py:2
    x_bar = power_pullback_10(power_residuals, x)
    x_bar = power + x_bar
    return x_bar


def power_augmented_10(x, n):
    # recursion.py:2  return 1.0 if n == 0 else x * power(x, n - 1)
    test = n == 0
    if test:
        value = 1.0
        power = power_residuals = None
    else:
        power, power_residuals = power_augmented_10(x, n - 1)
        value = x * power
    return value, (test, power, x, power_residuals)


def power_pullback_10(residuals, value_bar):
    # reverse of recursion.py:1
    test, power, x, power_residuals = residuals
    # reverse of recursion.py:2
    if test:
        return 0.0
    x_bar_1 = value_bar * power
    x_bar = power_pullback_10(power_residuals, value_bar * x)
    x_bar = x_bar_1 + x_bar
    return x_bar
