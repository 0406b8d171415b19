"""Programs made of one call that writes into something that they made, and of reads of it after."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import ndimage

A = np.array([[0.7, 1.2, 2.1], [0.34, 0.9, 1.7], [1.1, 0.23, 0.6]])

MADE = {
    "y": "np.zeros(3)", "z": "0.1 * np.arange(9.0).reshape(3, 3)", "w": "np.zeros((6, 3))",
    "stack": "np.zeros((2, 3, 3))", "s": "np.zeros(())", "c": "np.zeros((3, 3), complex)",
    "f": "np.zeros((3, 2), complex)", "b": "np.zeros(3, bool)", "bb": "np.zeros((3, 3), bool)",
    "k": "np.zeros(3, np.intp)", "kk": "np.zeros((3, 3), np.int32)", "z2": "np.zeros((3, 3))",
    "l": "[a[0, 1], 2.0]", "d": '{"p": 1.0, "q": 2.0}', "o": "SimpleNamespace(p=1.0)",
}
READ = {
    "y": "np.sum(y * a[0])", "z": "np.sum(z * a * 1.1)",
    "w": "np.sum(w[:3] * a) + np.sum(w[3:] * a)",
    "stack": "np.sum(stack[0] * a)", "s": "s * a[0, 0]", "c": "np.sum(c.real * a)",
    "f": "np.sum(f.real * a[:, :2])", "b": "np.sum(b * a[0])", "bb": "np.sum(bb * a)",
    "k": "np.sum(k * a[0])", "kk": "np.sum(kk * a)", "z2": "np.sum(z2 * a)",
    "l": "sum(l[:2]) * l[-1] * len(l)", "d": 'd["p"] * a[1, 1] + len(d) * a[0, 0]',
    "o": "o.p * a[1, 1]",
}
"""What programs make, and how they read it afterwards."""

METHODS = {
    "all": "a.all(0, {out})", "any": "a.any(0, {out})", "argmax": "a.argmax(0, {out})",
    "argmin": "a.argmin(0, {out})", "choose": "(a > 1.0).choose([a, 2.0 * a], out={out})",
    "clip": "a.clip(0.5, 1.5, {out})", "compress": "a.compress([True] * 3, 0, {out})",
    "cumprod": "a.cumprod(0, None, {out})", "cumsum": "a.cumsum(0, None, {out})",
    "dot": "a.dot(a, {out})", "max": "a.max(0, {out})", "mean": "a.mean(0, None, {out})",
    "min": "a.min(0, {out})", "prod": "a.prod(0, None, {out})", "ptp": "a.ptp(0, {out})",
    "round": "a.round(0, {out})", "std": "a.std(0, None, {out})", "sum": "a.sum(0, None, {out})",
    "take": "a.take([0, 1, 1], 0, {out})", "trace": "a.trace(0, 0, 1, None, {out})",
    "var": "a.var(0, None, {out})",
}
ROOM = {
    **dict.fromkeys(("all", "any"), "b"), **dict.fromkeys((
        "argmax", "argmin", "nanargmax", "nanargmin"), "k"),
    **dict.fromkeys((
        "choose", "clip", "compress", "cumprod", "cumsum", "dot", "round", "take", "around", "fix",
        "nancumprod", "nancumsum", "matmul", "outer", "einsum", "cumulative_sum",
        "cumulative_prod", "multi_dot"), "z"),
    **dict.fromkeys(("isneginf", "isposinf"), "bb"), "trace": "s", "concatenate": "w",
    "concat": "w", "stack": "stack", "rfft": "f",
    **dict.fromkeys(("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn"), "c"),
}
"""The array that takes the result, where it is not ``y``."""
LEADING = {
    "choose": "[0, 1, 0], [a[0], a[1]]", "compress": "[True] * 3, a, 0", "clip": "a, 0.5, 1.5",
    "concatenate": "[a, a]", "concat": "[a, a]", "dot": "a, a", "einsum": "'ij,jk->ik', a, a",
    "outer": "a[0], a[1]", "percentile": "a, 30.0, 0", "quantile": "a, 0.3, 0",
    "nanpercentile": "a, 30.0, 0", "nanquantile": "a, 0.3, 0", "round": "a, 0", "around": "a, 0",
    "stack": "[a, a]", "take": "a, [0, 1, 1], 0", "trace": "a", "multi_dot": "[a, a, a]",
    "fix": "a", "isneginf": "a", "isposinf": "a", "fft": "a", "ifft": "a", "fft2": "a",
    "ifft2": "a", "fftn": "a", "ifftn": "a", "rfft": "np.hstack([a, a])[:, :3]",
    "cumulative_sum": "a, axis=0", "cumulative_prod": "a, axis=0",
}
"""The arguments before ``out``, where they are not an array and an axis."""
LEFT_OUT = {
    "busday_count", "busday_offset", "is_busday", "irfft", "hfft", "ihfft", "irfft2", "irfftn",
    "rfft2", "rfftn",
}
"""Functions of dates, and those whose result would need an array of its own shape."""


def forms_with_out() -> Iterator[str]:
    """Yield a call for each function and method of NumPy that takes an array for its result."""
    for name, form in METHODS.items():
        if hasattr(np.ndarray, name):
            yield form.format(out=ROOM.get(name, "y"))
    for module, spelled in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft")):
        for name in sorted(module.__all__):
            yield from forms_of(getattr(module, name), f"{spelled}.{name}", name)
    for name in ("add", "multiply", "maximum", "minimum", "hypot"):
        yield f"np.{name}.reduce(a, 0, None, y)"
        yield f"np.{name}.reduce(a, 0, out=y)"
        yield f"np.{name}.accumulate(a, 0, None, z)"
        yield f"np.{name}.accumulate(a, 0, out=z)"
        yield f"np.{name}.reduceat(a, [0, 1, 2], 0, None, z)"
        yield f"np.{name}.outer(a[0], a[1], out=z)"
        yield f"np.{name}(a, 2.0, z)"
        yield f"np.{name}(a, 2.0, out=(z,))"
        yield f"np.{name}(a, 2.0, out=z, where=a > 1.0)"


def forms_of(function: Any, spelled: str, name: str) -> Iterator[str]:
    """Yield calls of one function with ``out``, by its position and by its name."""
    if isinstance(function, np.ufunc) or name in LEFT_OUT:
        return
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    if "out" not in parameters:
        return
    leading, room = LEADING.get(name, "a, 0"), ROOM.get(name, "y")
    yield f"{spelled}({leading}, out={room})"
    position = list(parameters).index("out")
    if parameters["out"].kind is not inspect.Parameter.KEYWORD_ONLY and "=" not in leading:
        given = leading.count(",") + 1 - inner_commas(leading)
        between = [
            repr(p.default) for p in list(parameters.values())[given:position]
            if p.kind is not inspect.Parameter.KEYWORD_ONLY
        ]
        if len(between) == position - given and not any("<" in text for text in between):
            yield f"{spelled}({', '.join([leading, *between, room])})"


def inner_commas(text: str) -> int:
    """Return how many commas of a text stand within brackets or quotes."""
    depth = count = 0
    quoted = False
    for letter in text:
        quoted ^= letter == "'"
        depth += (letter in "[(") - (letter in "])")
        count += letter == "," and (depth > 0 or quoted)
    return count


OF_NDIMAGE = {
    "correlate": "a, a", "convolve": "a, a", "correlate1d": "a, [0.2, 0.5, 0.3]",
    "convolve1d": "a, [0.2, 0.5, 0.3]", "sobel": "a", "prewitt": "a", "laplace": "a",
    "spline_filter": "a", "spline_filter1d": "a", "map_coordinates": "a, np.ones((2, 3))",
    "shift": "a, 0.3", "zoom": "a, 1.0", "rotate": "a, 10.0, reshape=False",
    "affine_transform": "a, np.eye(2)", "geometric_transform": "a, lambda at: at",
    "generic_filter": "a, np.sum, 3", "rank_filter": "a, 1, 3", "percentile_filter": "a, 30, 3",
    "fourier_shift": "a, 1.0", "fourier_gaussian": "a, 1.0", "fourier_uniform": "a, 1.0",
    "fourier_ellipsoid": "a, 1.0", "label": "a > 1.0", "binary_fill_holes": "a > 1.0",
    "binary_hit_or_miss": "a > 1.0", "gaussian_filter": "a, 1.0", "gaussian_filter1d": "a, 1.0",
    "gaussian_laplace": "a, 1.0", "gaussian_gradient_magnitude": "a, 1.0",
}
NDIMAGE_LEFT_OUT = {
    "generic_filter1d", "generic_laplace", "generic_gradient_magnitude", "watershed_ift",
    "vectorized_filter", "binary_propagation",
}


def forms_of_ndimage() -> Iterator[str]:
    """Yield a call for each function of ``scipy.ndimage`` that takes an array for its result."""
    for name in ndimage.__all__:
        function = getattr(ndimage, name)
        if not callable(function) or name in NDIMAGE_LEFT_OUT:
            continue
        parameters = inspect.signature(function).parameters
        if "output" in parameters:
            binary = name.startswith("binary_")
            given = OF_NDIMAGE.get(name, "a > 1.0" if binary else "a, 3")
            room = "bb" if binary else "kk" if name == "label" else "z"
            yield f"ndimage.{name}({given}, output={'y' if name == 'map_coordinates' else room})"
        if "distances" in parameters:
            room = "kk" if name.endswith("cdt") else "z"
            yield f"ndimage.{name}(a > 1.0, distances={room})"


OPERATORS = ["add", "sub", "mul", "truediv", "pow", "matmul"]
IN_PLACE = (
    *(form.format(op) for op in OPERATORS for form in (
        "z.__i{}__(a)", "np.ndarray.__i{}__(z, a)", "operator.i{}(z, a)",
        "getattr(z, '__i{}__')(a)")),
    "z[0].__iadd__(a[0])", "z[:].__iadd__(a)", "z.T.__imul__(a)", "z.__setitem__(0, a[0])",
    "np.ndarray.__setitem__(z, 0, a[0])", "operator.setitem(z, 0, a[0])", "z.sort()",
    "np.ndarray.sort(z)", "z.fill(a[0, 0])", "np.ndarray.fill(z, a[0, 0])",
    "z.put([0, 1], a[0, :2])", "z.partition(1)", "z.setflags(write=True)",
    "np.array(z, copy=None)[0] = a[0]", "np.asarray(z)[0] = a[0]",
    "np.asarray(z, copy=True)[0] = a[0]", "z.T[0] = a[0]", "z.reshape(-1)[0] = a[0, 0]",
    "z.astype(float, copy=False)[0] = a[0]", "z.astype(float)[0] = a[0]",
    "np.require(z)[0] = a[0]", "np.ravel(z)[0] = a[0, 0]", "z.view()[0] = a[0]",
    "z.flat[0] = a[0, 0]", "z.real[0] = a[0]", "np.nan_to_num(z, copy=False)[0] = a[0]",
    "np.asarray_chkfinite(z)[0] = a[0]", "np.atleast_1d(z)[0] = a[0]",
    "np.squeeze(z)[0] = a[0]", "np.split(z, 3)[0][:] = a[0]",
    "np.einsum('ij->ji', z)[0] = a[0]", "np.rot90(z)[0] = a[0]",
    "np.lib.stride_tricks.as_strided(z)[0] = a[0]", "np.frombuffer(z)[0] = 1.0",
    "memoryview(z)[0, 0] = 1.0", "z.data[0, 0] = 1.0", "z.__array__()[0] = a[0]",
    "np.array_split(z, 3)[0][:] = a[0]", "z.swapaxes(0, 1)[0] = a[0]",
    "z.getfield(float)[0] = a[0]", "np.conj(z)[0] = a[0]", "np.conjugate(z)[0] = a[0]",
    "z.conj()[0] = a[0]", "z.conjugate()[0] = a[0]", "np.positive(z)[0] = a[0]",
    "list(z)[0][:] = a[0]", "[*z][0][:] = a[0]", "next(iter(z))[:] = a[0]",
    "np.apply_along_axis(lambda r: r.sort(), 0, z)", "np.linalg.matrix_power(z, 1)[0] = a[0]",
    "np.diff(z, n=0)[0] = a[0]", "np.hsplit(z, 3)[0][:] = a[:, :1]",
    "np.real_if_close(z)[0] = a[0]", "np.block(z)[0] = a[0]", "np.clip(z, None, None)[0] = a[0]",
    "np.meshgrid(z[0], z[1], copy=False)[0][:] = a[0]", "np.expand_dims(z, 0)[0, 0] = a[0]",
    "copy.copy(z)[0] = a[0]", "copy.deepcopy(z)[0] = a[0]", "np.random.shuffle(z)",
    "random.shuffle(l)", "heapq.heapify(l)", "bisect.insort(l, 1.0)", "z.__init__((3, 3))",
    "list(map(z.__setitem__, [0, 1], a[:2]))", "z.setfield(1.0, float)", "np.round(a, 0, z)",
    "np.fft.fftn(c, axes=())[0] = a[0]", "l.__setitem__(0, a[0, 0])",
    "l.__iadd__([a[0, 0]])", "l.__imul__(2)", "l.__delitem__(0)",
    "list.__setitem__(l, 0, a[0, 0])", "list.append(l, a[0, 0])", "list.__iadd__(l, [a[0, 0]])",
    "operator.iadd(l, [a[0, 0]])", "operator.iconcat(l, [a[0, 0]])", "operator.delitem(l, 0)",
    'd.__setitem__("p", a[0, 0])', 'd.__ior__({"p": a[0, 0]})', 'd.__delitem__("q")',
    "d.update(p=a[0, 0])", "dict.update(d, p=a[0, 0])", 'dict.__setitem__(d, "p", a[0, 0])',
    'dict.__ior__(d, {"p": a[0, 0]})', 'operator.ior(d, {"p": a[0, 0]})',
    'list(map(d.__setitem__, ["p"], [a[0, 0]]))', 'd.setdefault("p", a[0, 0])', 'd.pop("q")',
    "functools.partial(l.__setitem__, 0)(a[0, 0])",
    "functools.partial(operator.setitem, l, 0)(a[0, 0])",
    'operator.methodcaller("__setitem__", 0, a[0, 0])(l)',
    'operator.methodcaller("append", a[0, 0])(l)', 'getattr(l, "__setitem__")(0, a[0, 0])',
    'getattr(l, "append")(a[0, 0])', "type(l).append(l, a[0, 0])",
    "l.__class__.append(l, a[0, 0])", "l.extend(a[0])", "l.insert(0, a[0, 0])", "l.reverse()",
    "list.reverse(l)", "list.sort(l)", "[push(a[0, 0]) for push in [l.append]]",
    "any(l.append(v) for v in a[0])", "l.__init__([a[0, 0]])", "d.__init__(p=a[0, 0])",
    'setattr(o, "p", a[0, 0])', 'o.__setattr__("p", a[0, 0])',
    'object.__setattr__(o, "p", a[0, 0])', 'vars(o).update(p=a[0, 0])',
    'o.__dict__["p"] = a[0, 0]', "collections.deque(l).append(1.0)",
)


def text_of(form: str) -> str:
    """Return a program that has one call, and reads all that the call may have written into."""
    words = set(form.replace("(", " ").replace(")", " ").replace(",", " ").replace(
        "[", " ").replace("=", " ").replace(".", " ").split())
    made = [name for name in MADE if name in words]
    lines = [f"    {name} = {MADE[name]}" for name in made]
    read = " + ".join(READ[name] for name in made) or "0.0"
    return "\n".join(["def f(a):", *lines, f"    {form}", f"    return np.sum(a) + {read}", ""])
