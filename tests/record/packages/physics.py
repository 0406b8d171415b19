"""Calls of packages of thermodynamics, colour, weather, particles, quanta and labelled arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.real.packages.cases import Case, case
from tests.record.packages.calls import of_module

A = np.array([0.3, 1.2, 0.7])
here = of_module("physics")


def peng_robinson(T: float, P: float) -> Any:
    from thermo.eos import PR

    return PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=T, P=P)


def dphi_sat_dT(T: float, P: float) -> Any:
    return peng_robinson(T, P).dphi_sat_dT(T)


def dH_dep_dV_g_P(T: float, P: float) -> Any:
    return peng_robinson(T, P).dH_dep_dV_g_P


def d2P_dVdT_TP_g(T: float, P: float) -> Any:
    return peng_robinson(T, P).d2P_dVdT_TP_g


def Cp_minus_Cv_g(T: float, P: float) -> Any:
    return peng_robinson(T, P).Cp_minus_Cv_g


def dS_dep_dT_sat_g(T: float, P: float) -> Any:
    return peng_robinson(T, P).dS_dep_dT_sat_g(T)


def d2rho_dT2_g(T: float, P: float) -> Any:
    return peng_robinson(T, P).d2rho_dT2_g


def ideal_solution(T: float, xs: list[float]) -> Any:
    from thermo.activity import IdealSolution

    return IdealSolution(T=T, xs=xs).dGE_dT() + sum(IdealSolution(T=T, xs=xs).xs) * T


def wilson(T: float, xs: list[float]) -> Any:
    from thermo.wilson import Wilson

    return Wilson(T=T, xs=xs, lambda_as=[[0.0, 3.87], [-0.17, 0.0]],
                  lambda_bs=[[0.0, -1351.2], [124.7, 0.0]])


def wilson_dSE_dns(T: float, xs: list[float]) -> Any:
    return wilson(T, xs).dSE_dns()


def wilson_dnSE_dns(T: float, xs: list[float]) -> Any:
    return wilson(T, xs).dnSE_dns()


def wilson_dHE_dxs(T: float, xs: list[float]) -> Any:
    return wilson(T, xs).dHE_dxs()


def nrtl(T: float, xs: list[float]) -> Any:
    from thermo.nrtl import NRTL

    return NRTL(T=T, xs=xs, tau_bs=[[0.0, 300.0], [150.0, 0.0]], alpha_cs=[[0.0, 0.3], [0.3, 0.0]])


def nrtl_lngammas(T: float, xs: list[float]) -> Any:
    return nrtl(T, xs).lngammas()


def nrtl_dSE_dns(T: float, xs: list[float]) -> Any:
    return nrtl(T, xs).dSE_dns()


def nrtl_Gs(T: float, xs: list[float]) -> Any:
    return nrtl(T, xs).Gs()


THERMO = (
    *(here(name, 400.0, 1e5, step=1e-2) for name in (
        "dphi_sat_dT", "dH_dep_dV_g_P", "d2P_dVdT_TP_g", "Cp_minus_Cv_g", "dS_dep_dT_sat_g",
        "d2rho_dT2_g")),
    *(here(name, 350.0, [0.4, 0.6]) for name in (
        "ideal_solution", "wilson_dSE_dns", "wilson_dnSE_dns", "wilson_dHE_dxs", "nrtl_lngammas",
        "nrtl_dSE_dns", "nrtl_Gs")),
)


def colour(r: float, g: float, b: float) -> Any:
    from coloraide import Color

    return Color("srgb", [r, g, b])


def blackbody(temperature: float) -> Any:
    from coloraide import Color

    return Color.blackbody("srgb-linear", temperature).coords()


def delta_e(r: float, g: float, b: float) -> Any:
    return colour(r, g, b).delta_e("orange", method="2000")


def colour_set(r: float, g: float, b: float) -> Any:
    return colour(r, g, b).set("oklch.lightness", lambda v: v * r).coords()


def luminance(r: float, g: float, b: float) -> Any:
    return colour(r, g, b).luminance()


def contrast(r: float, g: float, b: float) -> Any:
    return colour(r, g, b).contrast("white")


def distance(r: float, g: float, b: float) -> Any:
    return colour(r, g, b).distance("orange", space="lab")


def chromaticity_uv(r: float, g: float, b: float) -> Any:
    return colour(r, g, b).uv()


def convert(r: float, g: float, b: float) -> Any:
    return colour(r, g, b).convert("hsl").coords()


def normalize(r: float, g: float, b: float) -> Any:
    return colour(r, g, b).convert("lch").normalize().coords()


COLORAIDE = (
    here("blackbody", 5200.0),
    *(here(name, 0.3, 0.6, 0.45) for name in (
        "delta_e", "colour_set", "luminance", "contrast", "distance", "chromaticity_uv", "convert",
        "normalize")),
)


def counts() -> Any:
    import pyhf

    return pyhf.simplemodels.uncorrelated_background([12.0, 11.0], [50.0, 52.0], [3.0, 7.0])


def likelihood(parameters: Any) -> Any:
    model = counts()
    return model.pdf(parameters, [51.0, 48.0, *model.config.auxdata])


def main_likelihood(parameters: Any) -> Any:
    return counts().mainlogpdf(np.array([51.0, 48.0]), parameters)


def constraints(parameters: Any) -> Any:
    model = counts()
    return model.constraint_logpdf(np.array(model.config.auxdata), parameters)


def normal_log_prob(mu: Any, sigma: Any) -> Any:
    import pyhf

    return pyhf.probability.Normal(mu, sigma).log_prob(np.array([0.3, 0.5, 0.7]))


def twice_nll(parameters: Any) -> Any:
    import pyhf

    model = counts()
    return pyhf.infer.mle.twice_nll(
        parameters, np.array([51.0, 48.0, *model.config.auxdata]), model)


PYHF = (
    *(here(name, np.array([1.1, 0.95, 1.04])) for name in (
        "likelihood", "main_likelihood", "constraints", "twice_nll")),
    here("normal_log_prob", A, A + 0.5),
)


def number_density(h: float) -> Any:
    from ambiance import Atmosphere

    return Atmosphere(h).number_density


def temperature_from_celsius(t: float) -> Any:
    from ambiance import Atmosphere

    return Atmosphere.t2T(t)


def celsius(T: float) -> Any:
    from ambiance import Atmosphere

    return Atmosphere.T2t(T)


def geopotential(h: float) -> Any:
    from ambiance import Atmosphere

    return Atmosphere.geom2geop_height(h)


def collision_frequency(h: Any) -> Any:
    from ambiance import Atmosphere

    return Atmosphere(h).collision_frequency


def dynamic_viscosity(h: Any) -> Any:
    from ambiance import Atmosphere

    return Atmosphere(h).dynamic_viscosity


def thermal_conductivity(h: Any) -> Any:
    from ambiance import Atmosphere

    return Atmosphere(h).thermal_conductivity


HEIGHTS = np.array([1300.0, 7200.0, 15500.0])
AMBIANCE = (
    here("number_density", 1300.0), here("geopotential", 1300.0), here("celsius", 288.0),
    here("collision_frequency", HEIGHTS), here("dynamic_viscosity", HEIGHTS),
    here("temperature_from_celsius", 21.0), here("thermal_conductivity", HEIGHTS),
)


def bounded_range(low: float, high: float) -> Any:
    import param

    class Window(param.Parameterized):
        limits = param.Range((0.0, 1.0), bounds=(0.0, 10.0))
        scale = param.Number(1.0, bounds=(0.0, None))

    window = Window(limits=(low, high))
    window.scale = window.limits[1] - window.limits[0]
    return window.scale * window.limits[1]


def dependent_parameters(x: float) -> Any:
    import param

    class Disc(param.Parameterized):
        radius = param.Number(1.0, bounds=(0.0, 5.0))
        area = param.Number(0.0)

        @param.depends("radius", watch=True)
        def _update(self) -> None:
            self.area = 3.0 * self.radius ** 2

    disc = Disc()
    disc.radius = x
    return disc.area


def proxied(x: float) -> Any:
    import wrapt

    proxy = wrapt.ObjectProxy(x)
    return proxy * proxy + 2.0 * proxy


def wrapped_function(x: float) -> Any:
    import wrapt

    @wrapt.decorator
    def doubled(function: Any, instance: Any, args: Any, kwargs: Any) -> Any:
        return function(*args, **kwargs) * 2.0

    @doubled
    def square(v: float) -> float:
        return v * v

    return square(x)


def partial_of_wrapt(x: float) -> Any:
    import wrapt

    return wrapt.partial(lambda p, q: p * q * q, x)(x)


PARAM = (here("bounded_range", 0.4, 1.1), here("dependent_parameters", 0.7))
WRAPT = (here("proxied", 0.7), here("wrapped_function", 0.7), here("partial_of_wrapt", 0.7))


def weather(function: str, *given: tuple[Any, str]) -> Any:
    import metpy.calc
    from metpy.units import units

    found = getattr(metpy.calc, function)(*[
        units.Quantity(value, unit) for value, unit in given])
    return found


def wind_speed(u: Any, v: Any) -> Any:
    return weather("wind_speed", (u, "m/s"), (v, "m/s")).magnitude


def corfidi(u: Any, v: Any) -> Any:
    upwind, _ = weather("corfidi_storm_motion", (PRESSURE, "hPa"), (u, "knots"), (v, "knots"))
    return upwind.magnitude


def station_pressure(altimeter: float, height: float) -> Any:
    return weather("altimeter_to_station_pressure", (altimeter, "hPa"), (height, "m")).m_as("hPa")


def poisson_exponent(humidity: Any) -> Any:
    return weather("moist_air_poisson_exponent", (humidity, "")).magnitude


def lifted_index(temperature: Any, parcel: Any) -> Any:
    return weather("lifted_index", (PRESSURE, "hPa"), (temperature, "degC"),
                   (parcel, "degC")).magnitude


def geopotential_of_height(height: float) -> Any:
    return weather("height_to_geopotential", (height, "m")).magnitude


def static_stability(temperature: Any) -> Any:
    return weather("static_stability", (PRESSURE, "hPa"), (temperature, "K")).magnitude


def vorticity(u: Any, v: Any) -> Any:
    import metpy.calc
    from metpy.units import units

    return metpy.calc.vorticity(units.Quantity(u, "m/s"), units.Quantity(v, "m/s"),
                                dx=units.Quantity(1e3, "m"), dy=units.Quantity(2e3, "m")).m


def windchill(temperature: float, speed: float) -> Any:
    return weather("windchill", (temperature, "degC"), (speed, "km/h")).m_as("degC")


PRESSURE = np.array([1000.0, 850.0, 700.0, 500.0, 400.0, 300.0])
WARM = np.array([20.0, 12.0, 3.0, -15.0, -25.0, -40.0])
WINDS = np.array([5.0, 12.0, 21.0, 30.0, 34.0, 45.0])
GRID = np.array([[1.0, 2.0, 4.0], [0.5, 2.5, 3.0], [1.5, 1.0, 2.0]])
METPY = (
    here("wind_speed", A, A * A), here("corfidi", WINDS, WINDS[::-1].copy()),
    here("station_pressure", 1010.0, 250.0), here("poisson_exponent", A * 0.01),
    here("lifted_index", WARM, WARM + 1.5), here("geopotential_of_height", 1300.0),
    here("vorticity", GRID, GRID.T.copy()), here("static_stability", WARM + 273.15),
    here("windchill", -5.0, 30.0),
)


def evolved(state: Any) -> Any:
    import quimb

    return quimb.permute(state[:, None], (2, 2, 2), (2, 0, 1))


def expectation(state: Any, matrix: Any) -> Any:
    import quimb

    return quimb.expec(state[:, None] + 0j, matrix + 0j)


def mutual(state: Any) -> Any:
    import quimb

    normal = state / np.sqrt(np.sum(state * state))
    return quimb.mutual_information(np.outer(normal, normal) * 0.7 + 0.075 * np.eye(4))


def rotation_gate(theta: float, phi: float, lam: float) -> Any:
    import quimb

    return quimb.U_gate(theta, phi, lam)


EIGHT = np.array([0.3, 1.2, 0.7, 2.1, 0.9, 1.6, 0.4, 1.1])
QUIMB = (
    case("quimb:vdot", EIGHT, EIGHT[::-1].copy()), case("quimb:itrace", GRID),
    here("rotation_gate", 0.7, 0.3, 0.4), case("quimb:rdmul", GRID, A),
    here("evolved", EIGHT), here("expectation", A, GRID), here("mutual", EIGHT[:4].copy()),
)


def labelled(a: Any) -> Any:
    import xarray

    return xarray.DataArray(a, dims="t", coords={"t": [0.0, 0.5, 2.0]})


def xarray_conjugate(a: Any) -> Any:
    return labelled(a * (1.0 + 2.0j)).conjugate().values


def xarray_prod(a: Any) -> Any:
    return labelled(a).prod().item()


def xarray_integrate(a: Any) -> Any:
    return labelled(a).integrate("t").values


def xarray_conj(a: Any) -> Any:
    return (labelled(a).conj() * 2.0).values


def xarray_cumsum(a: Any) -> Any:
    return labelled(a).cumsum("t").values


def xarray_isel(a: Any) -> Any:
    return (labelled(a).isel(t=slice(1, None)) * labelled(a)).values


def xarray_dropna(a: Any) -> Any:
    return labelled(np.where(a > 1.0, np.nan, a)).dropna("t").values


def xarray_polyfit(a: Any) -> Any:
    return labelled(a).polyfit("t", 1)["polyfit_coefficients"].values


XARRAY = tuple(here(f"xarray_{name}", A) for name in (
    "conjugate", "prod", "integrate", "conj", "cumsum", "isel", "dropna", "polyfit"))

GROUPS: dict[str, tuple[Case, ...]] = {
    "thermo": THERMO, "coloraide": COLORAIDE, "pyhf": PYHF, "ambiance": AMBIANCE,
    "param": PARAM, "wrapt": WRAPT, "MetPy": METPY, "quimb": QUIMB, "xarray": XARRAY,
}
