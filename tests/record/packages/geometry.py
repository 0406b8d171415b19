"""Calls of packages of geometry, astronomy, manifolds and navigation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.real.packages.cases import Case, case
from tests.record.packages.calls import of_module

P = np.array([0.3, -0.4, 0.7])
Q = np.array([0.2, 0.3, -0.5, 0.8])
POINTS = np.array([[0.1, 0.2, 0.3], [1.1, 0.3, 0.2], [0.4, 1.2, 0.5], [0.3, 0.6, 1.4],
                   [1.2, 1.1, 0.9]])
here = of_module("geometry")


def on_the_sphere(a: Any) -> Any:
    return a / np.sqrt(np.sum(a * a))


def sphere_norm(a: Any, v: Any) -> Any:
    from pymanopt.manifolds import Sphere

    return Sphere(3).norm(on_the_sphere(a), v)


def sphere_pair_mean(a: Any, b: Any) -> Any:
    from pymanopt.manifolds import Sphere

    return Sphere(3).pair_mean(on_the_sphere(a), on_the_sphere(b))


def sphere_log(a: Any, b: Any) -> Any:
    from pymanopt.manifolds import Sphere

    return Sphere(3).log(on_the_sphere(a), on_the_sphere(b))


def sphere_projection(a: Any, v: Any) -> Any:
    from pymanopt.manifolds import Sphere

    return Sphere(3).projection(on_the_sphere(a), v)


FRAME = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
OTHER = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.1], [0.1, 0.5]])


def grassmann_norm(v: Any) -> Any:
    from pymanopt.manifolds import Grassmann

    return Grassmann(4, 2).norm(FRAME, v)


def grassmann_log(b: Any) -> Any:
    from pymanopt.manifolds import Grassmann

    return Grassmann(4, 2).log(FRAME, b)


def grassmann_inner_product(v: Any, w: Any) -> Any:
    from pymanopt.manifolds import Grassmann

    return Grassmann(4, 2).inner_product(FRAME, v, w)


def spd_hessian(point: Any, h: Any) -> Any:
    from pymanopt.manifolds import SymmetricPositiveDefinite

    symmetric = 0.5 * (h + h.T)
    return SymmetricPositiveDefinite(2).euclidean_to_riemannian_hessian(
        point @ point.T + np.eye(2), symmetric, symmetric @ symmetric, symmetric)


def spd_projection(v: Any) -> Any:
    from pymanopt.manifolds import SymmetricPositiveDefinite

    return SymmetricPositiveDefinite(2).projection(np.eye(2), v)


def spd_exp(point: Any, v: Any) -> Any:
    from pymanopt.manifolds import SymmetricPositiveDefinite

    return SymmetricPositiveDefinite(2).exp(point @ point.T + np.eye(2), 0.5 * (v + v.T))


S = np.array([[0.5, 0.2], [0.1, 0.7]])
PYMANOPT = (
    here("sphere_norm", P, P[::-1].copy()), here("sphere_pair_mean", P, P[::-1].copy()),
    here("sphere_log", P, P[::-1].copy()), here("sphere_projection", P, P[::-1].copy()),
    here("grassmann_norm", OTHER), here("grassmann_log", OTHER),
    here("grassmann_inner_product", OTHER, OTHER[::-1].copy()),
    here("spd_hessian", S, S.T.copy()), here("spd_projection", S), here("spd_exp", S, S * S),
)


def potential() -> Any:
    from galpy.potential import MiyamotoNagaiPotential

    return MiyamotoNagaiPotential(amp=1.0, a=0.5, b=0.1)


def epifreq(R: float) -> Any:
    return potential().epifreq(R)


def force_in_r(R: float, z: float) -> Any:
    return potential().Rforce(R, z)


def force_in_z(R: float, z: float) -> Any:
    return potential().zforce(R, z)


def flattening(R: float, z: float) -> Any:
    return potential().flattening(R, z)


def density_of(amp: float, a: float) -> Any:
    from galpy.potential import MiyamotoNagaiPotential

    return MiyamotoNagaiPotential(amp=amp, a=a, b=0.1).vcirc(0.9)


GALPY = (
    case("galpy.util.coords:cyl_to_rect_vec", 0.3, 1.1, 0.2, 0.7),
    case("galpy.util.coords:sphergal_to_rectgal", 0.7, 0.2, 1.5, 10.0, 2.0, -1.0),
    case("galpy.util.coords:XYZ_to_lbd_jac", 1.0, 0.7, 0.4),
    case("galpy.util.coords:pmrapmdec_to_custom", np.array([2.0, 1.0]), np.array([-1.0, 0.5]),
         np.array([0.7, 1.2]), np.array([0.2, 0.4]), T=np.eye(3)),
    case("galpy.util.coords:vrpmllpmbb_to_vxvyvz", 10.0, 2.0, -1.0, 0.7, 0.2, 1.5),
    case("galpy.util.coords:spher_to_cyl_vec", 0.3, 1.1, 0.2, 0.7),
    here("epifreq", 0.9), here("force_in_r", 0.9, 0.2), here("force_in_z", 0.9, 0.2),
    here("flattening", 0.9, 0.2), here("density_of", 1.0, 0.5),
)


def universe() -> Any:
    from colossus.cosmology import cosmology

    return cosmology.setCosmology("planck18", persistence="")


def luminosity_distance(z: float) -> Any:
    return universe().luminosityDistance(z)


def hubble_time(z: float) -> Any:
    return universe().hubbleTime(z)


def matter_power_spectrum(k: float) -> Any:
    return universe().matterPowerSpectrum(k)


def rho_b(z: float) -> Any:
    return universe().rho_b(z)


def or_of_z(z: Any) -> Any:
    return universe().Or(z)


def filter_function(k: float, R: float) -> Any:
    return universe().filterFunction("tophat", k, R)


def sigma_of(R: float) -> Any:
    return universe().sigma(R, 0.0)


def nfw(rhos: float, rs: float) -> Any:
    from colossus.halo import profile_nfw

    universe()
    return profile_nfw.NFWProfile(rhos=rhos, rs=rs)


def nfw_enclosed_mass(rhos: float, rs: float, r: float) -> Any:
    return nfw(rhos, rs).enclosedMass(r)


def nfw_m(rhos: float, rs: float) -> Any:
    return nfw(rhos, rs).M(rhos, rs, 2.0)


def nfw_surface_density(rhos: float, rs: float, r: float) -> Any:
    return nfw(rhos, rs).surfaceDensity(r)


def nfw_density_derivative(rhos: float, rs: float, r: float) -> Any:
    return nfw(rhos, rs).densityDerivativeLog(r)


COLOSSUS = (
    here("luminosity_distance", 0.7), here("hubble_time", 0.7), here("matter_power_spectrum", 0.7),
    here("rho_b", 0.7), here("or_of_z", np.array([0.3, 0.7])), here("filter_function", 0.7, 1.3),
    here("sigma_of", 8.0), here("nfw_enclosed_mass", 1e6, 20.0, 50.0), here("nfw_m", 1e6, 20.0),
    here("nfw_surface_density", 1e6, 20.0, 50.0),
    here("nfw_density_derivative", 1e6, 20.0, 50.0),
)

LINES = ("1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991",
         "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482")


def satellite_jday(seconds: float) -> Any:
    from sgp4.functions import jday

    return jday(2020, 2, 3, 4, 5, seconds)[1]


def satellite_sidereal(days: float) -> Any:
    from sgp4.propagation import gstime

    return gstime(2458827.0 + days)


def satellite_at(minutes: float) -> Any:
    from sgp4.model import Satrec

    _, position, velocity = Satrec.twoline2rv(*LINES).sgp4_tsince(minutes)
    return [list(position), list(velocity)]


def satellite_made(inclination: float, mean_motion: float) -> Any:
    from sgp4.model import Satrec
    from sgp4.propagation import sgp4

    made = Satrec()
    made.sgp4init(1, "i", 5, 18441.785, 2.8098e-05, 6.969196665e-13, 0.0, 0.1859667,
                  5.7904160274885, inclination, 0.3373093125574321, mean_motion, 6.0860)
    return list(sgp4(made, 30.0)[0])


SGP4 = (
    here("satellite_jday", 21.5), here("satellite_sidereal", 0.3, step=3e-2),
    here("satellite_made", 0.5980929, 0.0472294), here("satellite_at", 30.0),
)


def site_rotation(latitude: float, longitude: float) -> Any:
    from skyfield.api import load, wgs84

    return wgs84.latlon(latitude, longitude).rotation_at(
        load.timescale(builtin=True).tt_jd(2458827.3))


def precession(years: float) -> Any:
    from skyfield.precessionlib import compute_precession

    return compute_precession(2451545.0 + 365.25 * years)


def earth_rotation(days: float) -> Any:
    from skyfield.earthlib import earth_rotation_angle

    return earth_rotation_angle(2458827.0, days)


MATRIX = np.array([[0.9, 0.1, 0.2], [0.3, 1.1, 0.4], [0.2, 0.5, 0.8]])
SKYFIELD = (
    case("skyfield.functions:mxm", MATRIX, MATRIX.T.copy()),
    case("skyfield.functions:sqrt_nan", 0.7), case("skyfield.functions:mxv", MATRIX, P),
    case("skyfield.functions:rot_x", 0.7),
    case("skyfield.functions:angle_between", P, P[::-1].copy()),
    here("site_rotation", 42.0, -71.0),
    here("precession", 100.3),
    case("skyfield.earthlib:compute_limb_angle", P, np.array([0.01, 0.02, 0.01])),
    case("skyfield.earthlib:refract", 12.0, 10.0, 1010.0),
    case("skyfield.earthlib:refraction", 12.0, 10.0, 1010.0),
    here("earth_rotation", 0.3),
)


def vector_cumsum(a: Any) -> Any:
    from skspatial.objects import Vector

    return Vector(a).cumsum().to_array()


def vector_sort(a: Any) -> Any:
    from skspatial.objects import Vector

    v = Vector(a * a)
    v.sort()
    return v.to_array()


def vector_fill(a: Any) -> Any:
    from skspatial.objects import Vector

    v = Vector(a * 1.0)
    v.fill(a[1])
    return v.norm()


def vector_unit(a: Any) -> Any:
    from skspatial.objects import Vector

    return Vector(a).unit().to_array()


def vector_repeat(a: Any) -> Any:
    from skspatial.objects import Vector

    return np.asarray(Vector(a).repeat(2))


def plane_from_vectors(a: Any, b: Any) -> Any:
    from skspatial.objects import Plane

    return Plane.from_vectors([0, 0, 1], a, b).normal.to_array()


def plane_distances(a: Any, points: Any) -> Any:
    from skspatial.objects import Plane

    return Plane([0, 0, 1], a).distance_points(points)


def plane_best_fit(points: Any) -> Any:
    from skspatial.objects import Plane

    return Plane.best_fit(points).point.to_array()


def line_distance(a: Any, b: Any) -> Any:
    from skspatial.objects import Line

    return Line([0, 0, 1], a).distance_point(b)


def line_to_point(a: Any, t: float) -> Any:
    from skspatial.objects import Line

    return Line(a, [1, 2, 3]).to_point(t=t).to_array()


def line_from_points(a: Any, b: Any) -> Any:
    from skspatial.objects import Line

    return Line.from_points(a, b).direction.to_array()


def sphere_best_fit(points: Any) -> Any:
    from skspatial.objects import Sphere

    return Sphere.best_fit(points).radius


def sphere_surface_area(r: float) -> Any:
    from skspatial.objects import Sphere

    return Sphere([1, 2, 3], r).surface_area()


SKSPATIAL = (
    here("vector_cumsum", P), here("vector_sort", P), here("vector_fill", P),
    here("vector_unit", P), here("vector_repeat", P),
    here("plane_from_vectors", P, P[::-1].copy()), here("plane_distances", P, POINTS),
    here("plane_best_fit", POINTS), here("line_distance", P, P * P), here("line_to_point", P, 0.7),
    here("line_from_points", P, P * P), here("sphere_best_fit", POINTS),
    here("sphere_surface_area", 0.7),
)

PYRR = (
    case("pyrr.quaternion:normalize", Q), case("pyrr.quaternion:dot", Q, Q[::-1].copy()),
    case("pyrr.quaternion:create_from_eulers", [0.3, 0.4, 0.5]),
    case("pyrr.quaternion:create_from_y_rotation", 0.7),
    case("pyrr.quaternion:squared_length", Q),
    case("pyrr.matrix44:create_from_eulers", [0.3, 0.4, 0.5]),
    case("pyrr.matrix44:create_from_matrix33", MATRIX),
    case("pyrr.matrix44:create_look_at", P, P[::-1].copy(), np.array([0.0, 1.0, 0.2])),
    case("pyrr.matrix44:create_from_z_rotation", 0.7),
    case("pyrr.vector:squared_length", P), case("pyrr.vector:normalise", P),
    case("pyrr.vector:length", P),
)


def latlon(lat: float, lon: float) -> Any:
    from pygeodesy.sphericalTrigonometry import LatLon

    return LatLon(lat, lon)


def rhumb_distance(lat: float, lon: float) -> Any:
    return latlon(lat, lon).rhumbDistanceTo(latlon(50.5, 1.6))


def flat_local(lat: float, lon: float) -> Any:
    return latlon(lat, lon).flatLocalTo(latlon(50.5, 1.6))


def xyz_of(lat: float, lon: float) -> Any:
    x, y, z = latlon(lat, lon).xyz3
    return [float(x), float(y), float(z)]


def distance_on_the_sphere(lat: float, lon: float) -> Any:
    return latlon(lat, lon).distanceTo(latlon(50.5, 1.6))


def antipode(lat: float, lon: float) -> Any:
    from pygeodesy.formy import antipode

    found = antipode(lat, lon)
    return [float(found.lat), float(found.lon)]


def normal(lat: float, lon: float) -> Any:
    from pygeodesy.formy import normal

    found = normal(lat, lon)
    return found.lat * found.lon


def intersections(lat: float, lon: float, radius: float) -> Any:
    from pygeodesy.formy import intersections2

    one, other = intersections2(lat, lon, radius, 50.6, 1.5, 9000.0)
    return [one.lat, other.lon]


def exact_sqrt(x: float) -> Any:
    from pygeodesy.fmath import Fsqrt

    return float(Fsqrt(x, 2.0, x))


PYGEODESY = (
    here("antipode", 50.1, 1.2), here("normal", 50.1, 1.2),
    case("pygeodesy.formy:euclidean_", 0.7, 0.3, 0.2),
    case("pygeodesy.formy:excessLHuilier_", 0.7, 0.5, 0.6),
    here("intersections", 50.5, 1.4, 8000.0, step=1e-6), case("pygeodesy.formy:angle2chord", 0.7),
    case("pygeodesy.formy:hubeny_", 0.7, 0.3, 0.2),
    case("pygeodesy.formy:flatLocal", 50.1, 1.2, 50.5, 1.6),
    case("pygeodesy.fmath:fasin1", 0.7), here("exact_sqrt", 0.7),
    case("pygeodesy.fmath:hypot1", 0.7), case("pygeodesy.fmath:euclid", 0.7, 0.4),
    case("pygeodesy.fmath:bqrt", 0.7), here("rhumb_distance", 50.1, 1.2),
    here("flat_local", 50.1, 1.2), here("xyz_of", 50.1, 1.2),
    here("distance_on_the_sphere", 50.1, 1.2),
)

GROUPS: dict[str, tuple[Case, ...]] = {
    "pymanopt": PYMANOPT, "galpy": GALPY, "colossus": COLOSSUS, "sgp4": SGP4,
    "skyfield": SKYFIELD, "scikit-spatial": SKSPATIAL, "pyrr": PYRR, "pygeodesy": PYGEODESY,
}
