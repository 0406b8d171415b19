import math


def roots(x, values):
    total = 0.0
    failures = 0
    for value in values:
        try:
            total = total + x * math.sqrt(value)
        except ValueError as error:
            failures = failures + len(str(error))
            total = total * x
        finally:
            total = total + 1.0
    return total * x + failures


call(roots, 1.5, [4.0, -1.0, 2.25])
# output
import math


def roots_grad(x, values):
    """Return the gradient of `roots` with respect to x."""
    # try_in_a_loop.py:7  for value in values:
    total_1 = 0.0
    tape = []
    for value in values:
        # try_in_a_loop.py:8  try:
        try:
            # try_in_a_loop.py:9  total = total + x * math.sqrt(value)
            sqrt = math.sqrt(value)
            total = total_1 + x * sqrt
            completed = True
        except ValueError as error:
            # try_in_a_loop.py:11  failures = failures + len(str(error))
            len(str(error))
            # try_in_a_loop.py:12  total = total * x
            total = total_1 * x
            completed = False
            sqrt = None
        tape.append((completed, sqrt, total_1))
        # try_in_a_loop.py:14  total = total + 1.0
        total_1 = total + 1.0

    # reverse of try_in_a_loop.py:7
    total_bar = x
    for completed, sqrt, total in reversed(tape):
        # reverse of try_in_a_loop.py:8
        if completed:
            # reverse of try_in_a_loop.py:9
            total_1 = total_1 + total_bar * sqrt
        else:
            # reverse of try_in_a_loop.py:12
            total_bar_1 = total_bar * x
            total_1 = total_1 + total_bar * total
            total_bar = total_bar_1
    return total_1
