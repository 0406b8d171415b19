def f(xs, limit):
    total = 0.0
    for x in xs:
        if x < 0.0:
            continue
        if total > limit:
            break
        total = total + x * x
    return total


call(f, [1.0, -2.0, 3.0, 4.0, 5.0], 8.0)
# output
from adcompiler.runtime import as_gradient, zeros_like


def f_grad(xs, limit):
    """Return the gradient of `f` with respect to xs."""
    # break_continue.py:3  for x in xs:
    total = 0.0
    tape = []
    for x in xs:
        # break_continue.py:4  if x < 0.0:
        test_1 = x < 0.0
        if test_1:
            exit_1 = 0
            test = None
        else:
            # break_continue.py:6  if total > limit:
            test = total > limit
            if test:
                exit_1 = 1
            else:
                # break_continue.py:8  total = total + x * x
                total = total + x * x
                exit_1 = 0
        tape.append((test_1, test, x))
        if exit_1:
            break

    # reverse of break_continue.py:3
    xs_bar = zeros_like(xs)
    for index, (test, test_1, x) in zip(reversed(range(len(tape))), reversed(tape)):
        # reverse of break_continue.py:4
        if test:
            x_bar = 0.0
        else:
            # reverse of break_continue.py:6
            x_bar = 0.0 if test_1 else 2.0 * x
        # reverse of break_continue.py:3
        xs_bar[index] = xs_bar[index] + x_bar
    # reverse of break_continue.py:1
    xs_bar = as_gradient(xs_bar, xs)
    return xs_bar
