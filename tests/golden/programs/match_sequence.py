def area(shape, scale):
    match shape:
        case ("circle", radius):
            return 3.0 * radius * radius * scale
        case ("box", width, *others) if others[0] > 0.0:
            return width * others[0] * scale
        case _:
            return scale


call(area, ("box", 2.0, 3.0), 1.5, argnums=1)
# output
def area_grad(shape, scale):
    """Return the gradient of `area` with respect to scale."""
    # match_sequence.py:5  case ("box", width, *others) if others[0] > 0.0:
    part_1, width, part = shape
    others = [part]
    if part_1 == "box":
        value = part > 0.0
    else:
        value = False
    if value:
        return width * others[0]
    return 1.0
