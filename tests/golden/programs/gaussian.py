import numpy as np


def log_density(x, mean, deviation):
    z = (x - mean) / deviation
    return np.sum(-0.5 * z * z - np.log(deviation))


call(log_density, np.array([0.1, 0.5, 2.0]), 0.3, 1.2, argnums=(0, 1, 2))
# output
def log_density_grad(x, mean, deviation):
    """Return the gradient of `log_density` with respect to x, mean, deviation."""
    # gaussian.py:5  z = (x - mean) / deviation
    z = (x - mean) / deviation

    # reverse of gaussian.py:6
    deviation_bar = float(-1.0 * x.size / deviation)
    # reverse of gaussian.py:5
    x_bar = -1.0 / deviation * z
    deviation_bar = deviation_bar + float(-(x_bar @ z))
    mean_bar = float(-x_bar.sum())
    return x_bar, mean_bar, deviation_bar
