def f(x, weights):
    terms = [w * x for w in weights if w > 0.0]
    return sum(terms)


call(f, 0.5, [1.0, -2.0, 3.0], argnums=(0, 1))
# output
from adcompiler.runtime import add, as_gradient, zeros_like
from adcompiler.runtime.adjoints.sequences import spread


def f_grad(x, weights):
    """Return the gradient of `f` with respect to x, weights."""
    # comprehension_filtered.py:2  terms = [w * x for w in weights if w > 0.0]
    items = []
    test_tape = []
    for w in weights:
        test = w > 0.0
        test_tape.append(test)
        if test:
            items.append(w * x)

    # reverse of comprehension_filtered.py:2
    items_bar = zeros_like(items)
    items_bar = add(items_bar, spread(1.0, items))
    weights_bar = zeros_like(weights)
    x_bar = 0.0
    for index, test, w in zip(
        reversed(range(len(weights))), reversed(test_tape), reversed(weights)
    ):
        if test:
            product_bar = items_bar[-1]
            items_bar.pop()
            w_bar = product_bar * x
            x_bar = x_bar + product_bar * w
        else:
            w_bar = 0.0
        weights_bar[index] = weights_bar[index] + w_bar
    # reverse of comprehension_filtered.py:1
    weights_bar = as_gradient(weights_bar, weights)
    return x_bar, weights_bar
