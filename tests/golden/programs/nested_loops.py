import math


def f(x, n):
    t = x
    for i in range(n):
        for j in range(i):
            t = math.sin(t) * x
    return t


call(f, 0.3, 4)
# output
import math


def f_grad(x, n):
    """Return the gradient of `f` with respect to x."""
    # nested_loops.py:6  for i in range(n):
    t = x
    tapes = []
    for i in range(n):
        # nested_loops.py:7  for j in range(i):
        tape = []
        for _ in range(i):
            # nested_loops.py:8  t = math.sin(t) * x
            sin = math.sin(t)
            tape.append((sin, t))
            t = sin * x
        tapes.append(tape)

    # reverse of nested_loops.py:6
    t_bar = 1.0
    x_bar = 0.0
    for tape in reversed(tapes):
        # reverse of nested_loops.py:7
        for sin, t in reversed(tape):
            # reverse of nested_loops.py:8
            x_bar = x_bar + t_bar * sin
            t_bar = t_bar * x * math.cos(t)
    x_bar = x_bar + t_bar
    return x_bar
