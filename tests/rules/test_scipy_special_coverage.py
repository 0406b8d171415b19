"""Every public function of ``scipy.special`` has a rule or is listed with the reason; edges."""

import warnings

import numpy as np
import pytest
import scipy.special as sc

from adcompiler import MissingRuleError, grad, vjp
from adcompiler.rulekit import REGISTRY

NO_RULE = {
    "no closed derivative: inverses in a parameter, noncentral distributions, sums": """
        bdtrik bdtrin nbdtrik nbdtrin pdtrik btdtria btdtrib chdtriv chndtridf fdtridfd gdtrib
        stdtridf ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf nctdtrinc nctdtrit
        smirnov smirnovi
    """,
    "derivatives that cancel where two arguments are nearly equal": "elliprd elliprj",
    "characteristic values, and functions that may not return in single precision": """
        mathieu_a mathieu_b pro_cv obl_cv pro_ang1 pro_ang1_cv pro_rad1 pro_rad1_cv pro_rad2
        pro_rad2_cv obl_ang1 obl_ang1_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv
    """,
    "sequences of a function of all orders or degrees up to one, or of their derivatives": """
        lmbda lqmn lqn pbdn_seq pbdv_seq pbvv_seq riccati_jn riccati_yn obl_cv_seq pro_cv_seq
        mathieu_even_coef mathieu_odd_coef
    """,
    "objects that return several derivatives at once": """
        assoc_legendre_p assoc_legendre_p_all legendre_p legendre_p_all sph_harm_y sph_harm_y_all
        sph_legendre_p sph_legendre_p_all
    """,
    "replaced by others, and removed by 1.17": "btdtr btdtri clpmn lpmn lpn sph_harm",
    "Lame functions": "ellip_harm ellip_harm_2 ellip_normal",
    "whole numbers, unless extended to complex ones": "factorial2 factorialk",
    "NumPy's function": "sinc",
}
CONSTANTS = """
    ai_zeros bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros erf_zeros euler
    fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros
    kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros y0_zeros y1_zeros y1p_zeros yn_zeros
    ynp_zeros stirling2 geterr seterr errstate chebyc chebys chebyt chebyu gegenbauer genlaguerre
    hermite hermitenorm jacobi laguerre legendre sh_chebyt sh_chebyu sh_jacobi sh_legendre
"""
"""Names of what gives zeros, numbers, polynomials and quadrature rules of whole orders."""


def functions():
    for name in sc.__all__:
        function = getattr(sc, name)
        if callable(function) and not isinstance(function, type):
            yield name, function


def covered(function):
    return REGISTRY.has_rules(function) or REGISTRY.inactive(function) is not None


def test_functions_are_covered_or_listed():
    listed = {name for names in NO_RULE.values() for name in names.split()} - {"sinc"}
    listed |= {name for name, _ in functions() if name in CONSTANTS.split() or "roots" in name}
    missing = {name for name, function in functions() if not covered(function)}
    assert missing - listed == set(), "neither covered nor listed"
    assert {name for name, _ in functions()} & listed - missing == set(), "covered by now"


def test_most_ufuncs_have_a_rule():
    ufuncs = {id(f): f for _, f in functions() if isinstance(f, np.ufunc)}.values()
    assert sum(REGISTRY.has_rules(f) for f in ufuncs) >= 180


@pytest.mark.parametrize(("function", "args", "active"), [
    (sc.jv, (1.5, 2.0), 0), (sc.fdtr, (1.5, 2.0, 0.3), 1),
    (sc.hyp2f1, (0.3, 0.4, 1.5, 0.2), 2), (sc.stdtr, (3.0, 0.5), 0), (sc.jve, (1.5, 2.0), 0),
])
def test_unknown_partial_derivatives_are_refused(function, args, active):
    def program(*values):
        return 2.0 * function(*values)

    with pytest.raises(MissingRuleError, match="no derivative with respect to its argument"):
        vjp(program, *args, argnums=active)
    _, pullback = vjp(program, *args, argnums=len(args) - 1)
    assert np.isfinite(pullback(1.0))


# --- edges ----------------------------------------------------------------------------------------

EDGES = [
    (lambda x: sc.expit(x), 800.0, 0.0), (lambda x: sc.expit(x), -800.0, 0.0),
    (lambda x: sc.expit(x), 50.0, 1.9287498479639178e-22),
    (lambda x: sc.log_expit(x), -800.0, 1.0), (lambda x: sc.log_ndtr(x), -1e6, 1e6 + 1e-6),
    (lambda x: sc.log_ndtr(x), 50.0, 0.0), (lambda x: sc.erfcx(x), 1e9, -5.641895835477563e-19),
    (lambda x: sc.dawsn(x), 1e9, -5e-19), (lambda x: sc.ndtri_exp(x), -800.0, 0.0250565427891925),
    (lambda x: sc.xlogy(x, 0.0), 0.0, -np.inf), (lambda x: sc.xlogy(0.0, x), 0.0, 0.0),
    (lambda x: sc.xlog1py(0.0, x), -1.0, 0.0), (lambda x: sc.entr(x), 0.0, np.inf),
    (lambda x: sc.rel_entr(0.0, x), 0.0, 0.0), (lambda x: sc.kl_div(0.0, x), 0.0, 1.0),
    (lambda x: sc.rgamma(x), -3.0, -6.0), (lambda x: sc.rgamma(x), 0.0, 1.0),
    (lambda x: sc.rgamma(x), 200.0, 0.0), (lambda x: sc.binom(x, 2.0), 1.0, 0.5),
    (lambda x: sc.binom(3.0, x), 4.0, -0.25), (lambda x: sc.spence(x), 1.0, -1.0),
    (lambda x: sc.exprel(x), 0.0, 0.5), (lambda x: sc.boxcox(2.0, x), 0.0, np.log(2.0) ** 2 / 2.0),
    (lambda x: sc.boxcox(0.0, x), 2.0, 0.25),
    (lambda x: sc.inv_boxcox(0.5, x), 0.0, -0.125 * np.exp(0.5)),
    (lambda x: sc.lambertw(x).real, 0.0, 1.0), (lambda x: sc.ellipk(x), 0.0, np.pi / 8.0),
    (lambda x: sc.ellipe(x), 0.0, -np.pi / 8.0),
    (lambda x: sc.ellipkm1(x), 1e-8, -49999997.725841284),
    (lambda x: sc.agm(x, x), 3.0, 1.0),
    (lambda x: sc.sici(x)[0], 0.0, 1.0), (lambda x: sc.i0e(x), 0.0, 0.0),
    (lambda x: sc.beip(x), 0.0, 0.5), (lambda x: sc.tklmbda(0.4, x), 1e-9, 0.0685238305066790),
    (lambda x: sc.tklmbda(x, 2.0), 3.0, 0.0), (lambda x: sc.eval_legendre(3, x), 1.0, 6.0),
    (lambda x: sc.gammainc(1.0, x), 0.0, 1.0), (lambda x: sc.gammainc(2.0, x), 0.0, 0.0),
    (lambda x: sc.logsumexp(x * np.array([1.0, 2.0])), 900.0, 2.0),
    (lambda x: sc.diric(x, 5), 0.0, 0.0),
    (lambda x: sc.elliprg(x, 2.0, 3.0), 0.0, 0.25 * sc.elliprf(0.0, 2.0, 3.0)),
    (lambda x: sc.chndtr(x, 3.0, 0.0), 1.5, np.sqrt(1.5 / (2.0 * np.pi)) * np.exp(-0.75)),
]


@pytest.mark.parametrize(("function", "x", "expected"), EDGES)
def test_slope_at_an_edge(function, x, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cos(x) / x of the cosine integral, which is not used
        slope = grad(function)(x)
    np.testing.assert_allclose(slope, expected, rtol=1e-9, atol=1e-300)


def test_orders_may_be_integers_and_arrays_of_them():
    x = np.linspace(0.3, 2.0, 4)
    n = np.arange(4)
    slope = grad(lambda x: np.sum(sc.jv(n, x)))(x)
    np.testing.assert_allclose(slope, sc.jvp(n, x), rtol=1e-12)


@pytest.mark.parametrize("name", ["gammaln", "erf", "expit", "log_ndtr", "j0", "ndtr", "entr"])
def test_single_precision_is_kept(name):
    function = getattr(sc, name)
    x = np.linspace(0.3, 2.0, 4, dtype=np.float32)
    slope = grad(lambda x: np.sum(function(x)))(x)
    assert slope.dtype == np.float32
    wanted = grad(lambda x: np.sum(function(x)))(x.astype(float))
    np.testing.assert_allclose(slope, wanted, rtol=2e-6)


def test_complex_numbers():
    z = np.array([0.7 + 0.4j, -0.3 - 1.2j])
    for function, slope in ((sc.erf, lambda z: 2.0 / np.sqrt(np.pi) * np.exp(-z * z)),
                            (sc.gamma, lambda z: sc.gamma(z) * sc.psi(z)),
                            (sc.loggamma, sc.psi), (sc.exp1, lambda z: -np.exp(-z) / z)):
        _, pullback = vjp(lambda z, f=function: f(z), z)
        np.testing.assert_allclose(pullback(np.ones(2, complex))[0], np.conj(slope(z)), rtol=1e-12)


@pytest.mark.parametrize(("x", "wanted"), [
    # 2 (-1)**(n + 1) n! psi(n + 1) at -n, from the series of sin(pi x) gamma(1 - x) / pi
    (0.0, 2.0 * np.euler_gamma), (-1.0, 2.0 * (1.0 - np.euler_gamma)),
    (-2.0, -4.0 * (1.5 - np.euler_gamma)),
])
def test_second_derivative_of_rgamma_at_the_poles_of_gamma(x, wanted):
    assert grad(grad(lambda x: sc.rgamma(x)))(x) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize(("n", "k"), [(1.0, 2.0), (4.0, 6.0), (5.0, 2.0)])
def test_second_derivatives_of_binom(n, k):
    h = 1e-4
    for i in (0, 1):
        slope = grad(lambda n, k: sc.binom(n, k), i)
        for j in (0, 1):
            e, d = h * (j == 0), h * (j == 1)
            wanted = (slope(n + e, k + d) - slope(n - e, k - d)) / (2.0 * h)
            assert grad(slope, j)(n, k) == pytest.approx(wanted, rel=1e-7)
