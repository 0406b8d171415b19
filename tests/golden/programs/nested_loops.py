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
    tape = []
    for i in range(n):
        # nested_loops.py:7  for j in range(i):
        sin_tape = []
        t_tape = []
        for _ in range(i):
            t_tape.append(t)
            # nested_loops.py:8  t = math.sin(t) * x
            sin = math.sin(t)
            sin_tape.append(sin)
            t = sin * x
        tape.append((sin_tape, t_tape))

    # reverse of nested_loops.py:6
    t_bar = 1.0
    x_bar = 0.0
    for sin_tape, t_tape in reversed(tape):
        # reverse of nested_loops.py:7
        for sin, t in zip(reversed(sin_tape), reversed(t_tape)):
            # reverse of nested_loops.py:8
            x_bar = x_bar + t_bar * sin
            t_bar = t_bar * x * math.cos(t)
    x_bar = x_bar + t_bar
    return x_bar
