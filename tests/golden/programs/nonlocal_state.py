def running(x, n):
    total, steps = 0.0, 0

    def add(value):
        nonlocal total, steps
        total = total + value
        steps += 1
        return total * value

    y = x
    for _ in range(n):
        y = add(y) * 0.5
    return y * steps


call(running, 1.5, 3)
# output
def running_grad(x, n):
    """Return the gradient of `running` with respect to x."""
    # nonlocal_state.py:11  for _ in range(n):
    total = 0.0
    steps = 0
    tape = []
    for _ in range(n):
        # nonlocal_state.py:12  y = add(y) * 0.5
        total = total + x
        tape.append((x, total))
        steps = steps + 1
        x = total * x * 0.5

    # reverse of nonlocal_state.py:13
    y_bar = 1.0 * steps
    # reverse of nonlocal_state.py:11
    total_bar = 0.0
    for y, total in reversed(tape):
        # reverse of nonlocal_state.py:12
        product_bar = y_bar * 0.5
        y_bar = product_bar * total
        total_bar = total_bar + product_bar * y
        y_bar = y_bar + total_bar
    return y_bar
