import math


def distance(a, b, c, d, e, g):
    p = math.sin(a) * math.cos(b)
    q = math.exp(-c * c) + math.log(1.0 + d * d)
    r = math.tanh(e) * math.atan(g)
    s = p * q + r
    t = p - q * r
    u = math.sqrt(1.0 + s * s + t * t)
    v = u / (1.0 + p * p)
    w = v * math.sinh(0.1 * q) + math.cosh(0.1 * r)
    return w * u - v * s + math.hypot(p, q) * math.expm1(0.1 * r)


def f(x, y):
    return distance(x, y, x, y, x, y) + distance(y, x, y, x, y, x)


call(f, 0.4, 0.6, argnums=(0, 1))
# output
import math


def f_grad(x, y):
    """Return the gradient of `f` with respect to x, y."""
    # large_helper.py:17  return distance(x, y, x, y, x, y) + distance(y, x, y, x, y, x)
    _, distance_residuals_1 = distance_augmented(x, y)
    _, distance_residuals = distance_augmented(y, x)

    # reverse of large_helper.py:17
    y_bar_1, x_bar_1 = distance_pullback(distance_residuals, 1.0)
    x_bar, y_bar = distance_pullback(distance_residuals_1, 1.0)
    x_bar = x_bar_1 + x_bar
    y_bar = y_bar_1 + y_bar
    return x_bar, y_bar


def distance_augmented(e, g):
    # large_helper.py:5  p = math.sin(a) * math.cos(b)
    sin = math.sin(e)
    cos = math.cos(g)
    p = sin * cos
    # large_helper.py:6  q = math.exp(-c * c) + math.log(1.0 + d * d)
    exp = math.exp(-(e * e))
    total_1 = 1.0 + g * g
    q = exp + math.log(total_1)
    # large_helper.py:7  r = math.tanh(e) * math.atan(g)
    tanh = math.tanh(e)
    atan = math.atan(g)
    r = tanh * atan
    # large_helper.py:8  s = p * q + r
    s = p * q + r
    # large_helper.py:9  t = p - q * r
    t = p - q * r
    # large_helper.py:10  u = math.sqrt(1.0 + s * s + t * t)
    u = math.sqrt(1.0 + s * s + t * t)
    # large_helper.py:11  v = u / (1.0 + p * p)
    total = 1.0 + p * p
    v = u / total
    # large_helper.py:12  w = v * math.sinh(0.1 * q) + math.cosh(0.1 * r)
    product_1 = 0.1 * q
    sinh = math.sinh(product_1)
    product = 0.1 * r
    w = v * sinh + math.cosh(product)
    # large_helper.py:13  return w * u - v * s + math.hypot(p, q) * math.expm1(0.1 * r)
    hypot = math.hypot(p, q)
    expm1 = math.expm1(product)
    return (
        w * u - v * s + hypot * expm1,
        (
            expm1,
            hypot,
            p,
            q,
            s,
            v,
            u,
            w,
            product,
            sinh,
            product_1,
            total,
            t,
            r,
            atan,
            tanh,
            total_1,
            g,
            exp,
            e,
            cos,
            sin,
        ),
    )


def distance_pullback(residuals, value_bar):
    # reverse of large_helper.py:4
    (
        expm1,
        hypot,
        p,
        q,
        s,
        v,
        u,
        w,
        product_1,
        sinh,
        product,
        total_1,
        t,
        r,
        atan,
        tanh,
        total,
        g,
        exp,
        e,
        cos,
        sin,
    ) = residuals
    # reverse of large_helper.py:13
    hypot_bar = value_bar * expm1
    r_bar = value_bar * hypot * (expm1 + 1.0) * 0.1
    size = hypot or 1.0
    p_bar = hypot_bar * (p / size)
    q_bar = hypot_bar * (q / size)
    w_bar = value_bar * u
    u_bar = value_bar * w
    # reverse of large_helper.py:12
    r_bar = r_bar + w_bar * math.sinh(product_1) * 0.1
    v_bar = w_bar * sinh - value_bar * s
    q_bar = q_bar + w_bar * v * math.cosh(product) * 0.1
    # reverse of large_helper.py:11
    dx = v_bar / total_1
    u_bar = u_bar + dx
    p_bar = p_bar - 2.0 * (dx * v * p)
    # reverse of large_helper.py:10
    total_bar = u_bar * (0.5 / u if u else math.inf)
    t_bar = 2.0 * (total_bar * t)
    product = total_bar * s
    s_bar = product - value_bar * v
    s_bar = s_bar + product
    # reverse of large_helper.py:9
    p_bar = p_bar + t_bar
    q_bar = q_bar - t_bar * r
    r_bar = r_bar - t_bar * q
    # reverse of large_helper.py:8
    r_bar = r_bar + s_bar
    p_bar = p_bar + s_bar * q
    q_bar = q_bar + s_bar * p
    # reverse of large_helper.py:7
    g_bar = r_bar * tanh / total
    e_bar = r_bar * atan * (1.0 - tanh * tanh)
    # reverse of large_helper.py:6
    g_bar = g_bar + 2.0 * (q_bar / total * g)
    e_bar = e_bar - 2.0 * (q_bar * exp * e)
    # reverse of large_helper.py:5
    g_bar = g_bar - p_bar * sin * math.sin(g)
    e_bar = e_bar + p_bar * cos * math.cos(e)
    return e_bar, g_bar
