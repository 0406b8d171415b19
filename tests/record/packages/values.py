"""Calls of packages of units, errors, tensors, arrays by name, and symbolic expressions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.real.packages.cases import Case, case
from tests.record.packages.calls import of_module

X = np.array([0.3, 1.2, 0.7])
M = np.array([[0.5, 0.2, 1.1], [0.9, 0.4, 0.3]])
N = np.array([[0.7, 0.1], [0.3, 0.8], [0.6, 1.3]])
T = np.arange(12.0).reshape(2, 2, 3) * 0.1 + 0.2
here = of_module("values")


def pint_ito(x: Any) -> Any:
    import pint

    length = pint.get_application_registry().Quantity(x, "km")
    length.ito("mile")
    return length.magnitude


def pint_from_tuple(x: float) -> Any:
    import pint

    registry = pint.get_application_registry()
    return registry.Quantity.from_tuple((x * x, (("meter", 1), ("second", -2)))).to("km/h**2").m


def pint_put(a: Any, x: float) -> Any:
    import pint

    registry = pint.get_application_registry()
    row = registry.Quantity(a, "m")
    row.put([1], registry.Quantity(np.array([x]), "km"))
    return row.to("mm").magnitude


def pint_ito_unprefixed(x: float) -> Any:
    import pint

    mass = pint.get_application_registry().Quantity(x, "mg")
    mass.ito_unprefixed()
    return (mass * x).magnitude


def pint_from_list(x: float, y: float) -> Any:
    import pint

    registry = pint.get_application_registry()
    found = registry.Quantity.from_list(
        [registry.Quantity(x, "km"), registry.Quantity(y, "mile")], "m")
    return found.magnitude


def pint_real(a: Any) -> Any:
    import pint

    z = pint.get_application_registry().Quantity(a * (1.0 + 2.0j), "V")
    return (z * z).real.to("mV**2").magnitude


def pint_fill(a: Any, x: float) -> Any:
    import pint

    registry = pint.get_application_registry()
    row = registry.Quantity(a * 1.0, "m")
    row.fill(registry.Quantity(x, "km"))
    return row.magnitude


def pint_ito_base_units(x: float) -> Any:
    import pint

    power = pint.get_application_registry().Quantity(x, "horsepower") ** 2
    power.ito_base_units()
    return power.magnitude


def pint_to_reduced_units(x: float) -> Any:
    import pint

    registry = pint.get_application_registry()
    return (registry.Quantity(x, "km") / registry.Quantity(2.0 + x, "m")).to_reduced_units().m


def pint_convert(x: float) -> Any:
    import pint

    return pint.get_application_registry().convert(x, "degC", "degF")


PINT = (
    here("pint_ito", 1.3), here("pint_from_tuple", 1.3), here("pint_put", X, 0.4),
    here("pint_ito_unprefixed", 1.3), here("pint_from_list", 0.4, 0.7), here("pint_real", X),
    here("pint_fill", X, 0.4), here("pint_ito_base_units", 1.3),
    here("pint_to_reduced_units", 1.3), here("pint_convert", 21.0),
)


def unyt_to_ndarray(a: Any) -> Any:
    import unyt

    return (unyt.unyt_array(a, "km") * unyt.unyt_quantity(2.0, "s")).to_ndarray()


def unyt_astype(a: Any) -> Any:
    import unyt

    return unyt.unyt_array(a, "km").astype(float).in_units("m").value


def unyt_convert_to_equivalent(a: Any) -> Any:
    import unyt

    wave = unyt.unyt_array(a, "um")
    wave.convert_to_equivalent("THz", "spectral")
    return wave.value


def unyt_in_units(a: Any) -> Any:
    import unyt

    return (unyt.unyt_array(a, "km") ** 2).in_units("mile**2").value


def unyt_in_base(a: Any) -> Any:
    import unyt

    return unyt.unyt_array(a, "erg").in_base("mks").d


def unyt_ravel(a: Any) -> Any:
    import unyt

    return unyt.unyt_array(a, "K").ravel().value


def unyt_made(a: Any) -> Any:
    import unyt

    return (unyt.unyt_array(a, "km") + unyt.unyt_array(a[::-1], "m")).value


def unyt_norm(a: Any) -> Any:
    import unyt

    return unyt.unorm(unyt.unyt_array(a, "km")).to_value("m")


def unyt_stack(a: Any) -> Any:
    import unyt

    return unyt.ustack([unyt.unyt_array(a, "km"), unyt.unyt_array(a * a, "km")]).value


UNYT = tuple(here(f"unyt_{name}", X) for name in (
    "to_ndarray", "astype", "convert_to_equivalent", "in_units", "in_base", "ravel", "made",
    "norm", "stack"))


def umath_log1p(x: float) -> Any:
    from uncertainties import ufloat, umath

    return umath.log1p(ufloat(x, 0.1)).std_dev


def umath_asin(x: float) -> Any:
    from uncertainties import ufloat, umath

    return umath.asin(ufloat(x, 0.1)).std_dev


def umath_hypot(x: float, y: float) -> Any:
    from uncertainties import ufloat, umath

    return umath.hypot(ufloat(x, 0.1), ufloat(y, 0.2)).std_dev


def umath_tan(x: float) -> Any:
    from uncertainties import ufloat, umath

    return umath.tan(ufloat(x, 0.1)).s


def umath_atan(x: float) -> Any:
    from uncertainties import ufloat, umath

    return umath.atan(ufloat(x, 0.1)).std_dev


def umath_tanh(x: float) -> Any:
    from uncertainties import ufloat, umath

    return umath.tanh(ufloat(x, 0.1) * x).n


def umath_degrees(x: float) -> Any:
    from uncertainties import ufloat, umath

    return umath.degrees(ufloat(x, x * 0.1)).std_dev


def uncertainties_wrap(x: float) -> Any:
    from uncertainties import ufloat, wrap

    return wrap(lambda v: v * v)(ufloat(x, 0.1)).nominal_value


UNCERTAINTIES = (
    here("umath_log1p", 0.4), here("umath_asin", 0.4), here("umath_hypot", 0.4, 0.7),
    here("umath_tan", 0.4), here("umath_atan", 0.4), here("umath_tanh", 0.4),
    here("umath_degrees", 0.4), here("uncertainties_wrap", 0.4),
)


def khatri_rao(a: Any, b: Any) -> Any:
    from tensorly.tenalg import khatri_rao

    return khatri_rao([a, b])


def outer(a: Any, b: Any) -> Any:
    from tensorly.tenalg import outer

    return outer([a, b, a])


def batched_outer(a: Any) -> Any:
    from tensorly.tenalg import batched_outer

    return batched_outer([a, a * a])


def cp_to_unfolded(a: Any, b: Any) -> Any:
    from tensorly.cp_tensor import cp_to_unfolded

    return cp_to_unfolded((None, [a, b]), 1)


def cp_normalize(a: Any, b: Any) -> Any:
    from tensorly.cp_tensor import cp_normalize

    return cp_normalize((np.ones(2), [a, b])).weights


def cp_to_tensor(w: Any, a: Any, b: Any) -> Any:
    from tensorly.cp_tensor import cp_to_tensor

    return cp_to_tensor((w, [a, b, a]))


SPD = np.array([[0.5, 0.1, 0.05], [0.1, 0.3, 0.02], [0.05, 0.02, 0.2]])
TENSORLY = (
    case("tensorly.tenalg:mode_dot", T, M, 2, at=(0, 1)), here("khatri_rao", N, N * N),
    here("outer", X, X[:2].copy()), case("tensorly.tenalg:tensordot", M, N, 1, at=(0, 1)),
    here("batched_outer", M), here("cp_to_unfolded", N, N * 2.0), here("cp_normalize", N, N * N),
    here("cp_to_tensor", np.array([0.5, 2.0]), N, N * N),
    case("tensorly.metrics:leverage_score_dist", N),
    case("tensorly.metrics:vonneumann_entropy", SPD),
)


def autoray_do(a: Any) -> Any:
    import autoray

    return autoray.do("sum", autoray.do("exp", a) * autoray.do("linalg.norm", a))


def autoray_tree_apply(a: Any) -> Any:
    import autoray

    seen: list[Any] = []
    autoray.tree_apply(lambda leaf: seen.append(leaf * leaf), {"p": a, "q": [a[0]]})
    return seen[0] * seen[1]


AUTORAY = (
    here("autoray_do", X), case("autoray:transpose", M), here("autoray_tree_apply", X),
)


def einops_pack(a: Any) -> Any:
    import einops

    return einops.pack([a, a[:, 0]], "i *")[0]


def einops_unpack(a: Any) -> Any:
    import einops

    left, right = einops.unpack(a, [[2], []], "i *")
    return left * right[:, None]


def einops_einsum(a: Any, b: Any) -> Any:
    import einops

    return einops.einsum(a, b, "i k, k j -> j")


EINOPS = (
    here("einops_pack", M), here("einops_unpack", M),
    case("einops:rearrange", T, "a b c -> (c a) b"), here("einops_einsum", M, N),
    case("einops:reduce", T, "a b c -> b", "mean"),
)


def contract_expression(a: Any, b: Any) -> Any:
    import opt_einsum

    return opt_einsum.contract_expression("ij,jk,kl->il", (2, 3), (3, 2), (2, 3))(a, b, a)


OPT_EINSUM = (
    case("opt_einsum:contract", "ij,jk,kl->l", M, N, M), here("contract_expression", M, N),
)


def lambdified(name: str, x: float) -> Any:
    import sympy

    t = sympy.Symbol("t", positive=True)
    function = getattr(sympy, name)
    given = {"Max": (t, 0.5), "lowergamma": (1.5, t), "real_root": (t, 3), "chebyshevt": (4, t),
             "jn": (2, t), "acoth": (t + 1,)}.get(name, (t,))
    return sympy.lambdify(t, function(*given) * t, "scipy")(x)


SYMPY = tuple(here("lambdified", name, 0.7) for name in (
    "Max", "acoth", "lowergamma", "real_root", "tanh", "erfi", "sinc", "airybiprime",
    "chebyshevt", "jn"))


def vector_3d(x: float, y: float, z: float) -> Any:
    import vector

    return vector.obj(x=x, y=y, z=z)


def deltaeta(x: float, y: float, z: float) -> Any:
    return vector_3d(x, y, z).deltaeta(vector_3d(1.0, 0.5, x))


def to_ptphi(x: float, y: float, z: float) -> Any:
    found = vector_3d(x, y, z).to_ptphi()
    return found.rho * found.phi


def y_of_rhophi(rho: float, phi: float) -> Any:
    import vector

    return vector.obj(rho=rho, phi=phi, eta=0.3).y


def scale2d(x: float, y: float, z: float) -> Any:
    found = vector_3d(x, y, z).scale2D(x * z)
    return [found.x, found.y, found.z]


def neg2d(x: float, y: float, z: float) -> Any:
    found = vector_3d(x, y, z).neg2D
    return [found.x, found.y, found.z, found.mag]


def rotate_x(x: float, y: float, z: float) -> Any:
    found = vector_3d(x, y, z).rotateX(x)
    return [found.x, found.y, found.z]


def from_rhophieta(rho: float, phi: float, eta: float) -> Any:
    import vector

    found = vector.VectorObject3D.from_rhophieta(rho, phi, eta)
    return [found.x, found.z, found.mag]


def vector_4d(x: float, y: float, z: float) -> Any:
    import vector

    return vector.obj(px=x, py=y, pz=z, E=5.0)


def to_beta3(x: float, y: float, z: float) -> Any:
    found = vector_4d(x, y, z).to_beta3()
    return [found.x, found.y, found.z]


def to_rhophietatau(x: float, y: float, z: float) -> Any:
    found = vector_4d(x, y, z).to_rhophietatau()
    return [found.rho, found.eta, found.tau]


def to_pxpyetamass(x: float, y: float, z: float) -> Any:
    found = vector_4d(x, y, z).to_pxpyetamass()
    return [found.px, found.eta, found.mass]


def to_rhophiz(x: float, y: float, z: float) -> Any:
    found = vector_4d(x, y, z).to_rhophiz()
    return [found.rho, found.phi, found.z]


VECTOR = (
    *(here(name, 0.4, 0.7, 1.1) for name in (
        "deltaeta", "to_ptphi", "scale2d", "neg2d", "rotate_x", "from_rhophieta", "to_beta3",
        "to_rhophietatau", "to_pxpyetamass", "to_rhophiz")),
    here("y_of_rhophi", 0.4, 0.7),
)

GROUPS: dict[str, tuple[Case, ...]] = {
    "pint": PINT, "unyt": UNYT, "uncertainties": UNCERTAINTIES, "tensorly": TENSORLY,
    "autoray": AUTORAY, "einops": EINOPS, "opt_einsum": OPT_EINSUM, "sympy": SYMPY,
    "vector": VECTOR,
}
