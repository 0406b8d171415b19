def f(x, y):
    m = x if x > y else y
    if x > 0.0 and y > 0.0:
        m = m * 2.0
    elif x < -1.0:
        m = m - y
    return m * m


call(f, 1.0, 2.0, argnums=(0, 1))
# output
def f_grad(x, y):
    """Return the gradient of `f` with respect to x, y."""
    # branches.py:2  m = x if x > y else y
    test_1 = x > y
    m = x if test_1 else y
    # branches.py:3  if x > 0.0 and y > 0.0:
    value = x > 0.0 and y > 0.0
    if value:
        # branches.py:4  m = m * 2.0
        m = m * 2.0
    else:
        # branches.py:5  elif x < -1.0:
        test = x < -1.0
        m = m - y if test else m

    # reverse of branches.py:7
    m_bar = 2.0 * m
    # reverse of branches.py:3
    if value:
        # reverse of branches.py:4
        m_bar = m_bar * 2.0
        y_bar = 0.0
    else:
        # reverse of branches.py:5
        y_bar = -m_bar if test else 0.0
    # reverse of branches.py:2
    if not test_1:
        y_bar = y_bar + m_bar
        m_bar = 0.0
    return m_bar, y_bar
