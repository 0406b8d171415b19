def root(a, tol):
    if a <= 0.0:
        return 0.0
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


call(root, 7.0, 1e-9, mode="value_and_grad")
# output
def root_value_and_grad(a, tol):
    """Return the value of `root` and its gradient with respect to a."""
    # early_return.py:2  if a <= 0.0:
    if a <= 0.0:
        return 0.0, 0.0
    # early_return.py:5  while abs(x * x - a) > tol:
    x = a
    tape = []
    while abs(x * x - a) > tol:
        # early_return.py:6  x = 0.5 * (x + a / x)
        quotient = a / x
        tape.append((x, quotient))
        x = 0.5 * (x + quotient)

    # reverse of early_return.py:5
    x_bar = 1.0
    a_bar = 0.0
    for x_1, quotient in reversed(tape):
        # reverse of early_return.py:6
        x_bar = x_bar * 0.5
        dx = x_bar / x_1
        a_bar = a_bar + dx
        x_bar = x_bar - dx * quotient
    a_bar = a_bar + x_bar
    return x, a_bar
