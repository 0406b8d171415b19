"""Functions of packages for geodesy, the sea, the weather, the sky and rotations in space."""

from __future__ import annotations

import numpy as np

from tests.real.packages.cases import Case, case

VECTOR = np.array([0.3, 0.5, -0.7])
TURNED = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
UNIT = np.array([0.8, 0.2, 0.4, 0.4])
OTHER = UNIT[::-1].copy()
NORTH = np.array([[0.6], [0.64], [0.48]])
MOVED = np.block([[TURNED, VECTOR[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
TWIST = np.array([0.1, -0.3, 0.4, 0.5, 0.2, -0.6])
HOME = np.array([[-1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 6.0], [0.0, 0.0, -1.0, 2.0],
                 [0.0, 0.0, 0.0, 1.0]])
SCREWS = np.array([[0.0, 0.0, 1.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
                   [0.0, 0.0, -1.0, -6.0, 0.0, -0.1]]).T
JOINTS = np.array([0.4, 0.3, 1.1])
ORBIT = (np.array([5000.0, 10000.0, 2100.0]), np.array([-14600.0, 2500.0, 7000.0]))

GEODESY = (
    case("pymap3d:geodetic2ecef", 42.0, -82.0, 200.0),
    case("pymap3d:ecef2geodetic", 660675.0, -4700948.0, 4245737.0),
    case("pymap3d:geodetic2enu", 42.2, -82.1, 210.0, 42.0, -82.0, 200.0),
    case("pymap3d:aer2enu", 33.0, 70.0, 1e3),
    case("pymap3d:enu2aer", 186.0, 286.0, 939.0),
    case("pymap3d:geodetic2aer", 42.1, -81.9, 1e3, 42.0, -82.0, 200.0, step=1e-6),
    case("pymap3d.lox:meridian_arc", 40.0, 42.0),
    case("pymap3d.vincenty:vdist", 10.0, 20.0, 11.0, 21.5),
    case("pymap3d.haversine:anglesep", 35.0, 23.0, 84.0, 20.0),
    case("pymap3d.los:lookAtSpheroid", 42.0, -82.0, 200.0, 30.0, 20.0),
)

NVECTOR = (
    case("nvector:lat_lon2n_E", 0.4, 0.5),
    case("nvector:n_E2lat_lon", NORTH),
    case("nvector:n_EB_E2p_EB_E", NORTH, np.array([[10.0]])),
    case("nvector:R2xyz", TURNED),
    case("nvector:zyx2R", 0.1, 0.2, 0.3),
    case("nvector:great_circle_distance", NORTH, np.array([[0.0], [0.8], [0.6]])),
)

KARNEY = (
    case("karney.geodesic:eccentricity2", 0.0033),
    case("karney.geodesic:polar_radius", 6378137.0, 0.0033),
    case("karney.geodesic:sphere_distance_rad", 0.4, 0.5, 0.6, 0.9),
    case("karney.geodesic:distance", 0.4, 0.5, 0.6, 0.9),
    case("karney.geodesic:reckon", 0.4, 0.5, 1e6, 0.7),
)

HAVERSINE = (
    case("haversine:haversine", (45.7597, 4.8422), (48.8567, 2.3508)),
    case("haversine:haversine_vector", np.array([[45.7597, 4.8422]]),
         np.array([[48.8567, 2.3508]])),
    case("haversine:inverse_haversine", (45.7597, 4.8422), 50.0, 0.7),
)

UTM = (
    case("utm:from_latlon", 51.2, 7.5),
    case("utm:to_latlon", 395201.3, 5673135.2, 32, northern=True),
    case("utm.conversion:mod_angle", 3.4),
)

GEOGRAPHIC = (
    case("geographiclib.geomath:Math.norm", 0.6, 0.9),
    case("geographiclib.geomath:Math.polyval", 2, [0.3, 0.4, 0.5], 0, 0.7, at=(3,)),
    case("geographiclib.geomath:Math.AngNormalize", 190.0),
    case("tests.real.packages.programs:geodesic_line", 40.6, -73.8, 51.6, -0.5),
    case("tests.real.packages.programs:geodesic_polygon", 40.0, -73.0),
)

SEAWATER = tuple(
    case(f"seawater:{name}", *(np.array([x]) for x in given)) for name, given in (
        ("dens0", (35.0, 10.0)), ("dens", (35.0, 10.0, 1000.0)), ("cp", (35.0, 10.0, 1000.0)),
        ("svel", (35.0, 10.0, 1000.0)), ("ptmp", (35.0, 10.0, 1000.0)),
        ("adtg", (35.0, 10.0, 1000.0)), ("fp", (35.0, 500.0)), ("salt", (0.9, 10.0, 100.0)),
    ))

WEATHER = (
    case("tests.real.packages.programs:dew_point_in_celsius", 20.0, 56.0),
    case("tests.real.packages.programs:heat_index_in_celsius", 32.0, 60.0),
    case("tests.real.packages.programs:wind_chill_in_celsius", 2.0, 8.0),
)

COMFORT = tuple(
    case(f"thermofeel:{name}", *(np.array([x]) for x in given)) for name, given in (
        ("calculate_saturation_vapour_pressure", (300.0,)),
        ("calculate_relative_humidity_percent", (300.0, 290.0)),
        ("calculate_humidex", (300.0, 290.0)),
        ("calculate_heat_index_simplified", (305.0, 60.0)),
        ("calculate_wind_chill", (275.0, 8.0)),
        ("calculate_apparent_temperature", (300.0, 3.0, 60.0)),
        ("calculate_wbgt_simple", (300.0, 60.0)),
    ))

EVAPORATION = (
    case("refet.calcs:sat_vapor_pressure", np.array([20.0, 25.0])),
    case("refet.calcs:es_slope", np.array([20.0, 25.0])),
    case("refet.calcs:air_pressure", np.array([100.0, 900.0])),
    case("refet.calcs:ra_daily", np.array([0.7]), np.array([180.0])),
    case("refet.calcs:etsz", np.array([12.0]), np.array([0.5]), np.array([20.0]), np.array([2.0]),
         np.array([1.1]), np.array([0.14]), np.array([0.06]), np.array([900.0]),
         np.array([0.34])),
    case("refet.calcs:wind_height_adjust", np.array([3.0]), np.array([10.0])),
    case("refet.calcs:rnl_daily", np.array([30.0]), np.array([15.0]), np.array([1.2]),
         np.array([0.6])),
)

EVAPOTRANSPIRATION = (
    case("pyet:calc_e0", 20.0),
    case("pyet:calc_psy", 101.0),
    case("pyet:calc_vpc", 20.0),
    case("pyet:calc_lambda", 20.0),
    case("pyet:calc_rho", 101.0, 20.0, 1.1),
    case("pyet:calc_rso", 30.0, 100.0),
)

HYDROLOGY = tuple(
    case(f"hydroeval:{name}", np.array([[5.0], [7.0], [9.0], [2.0], [4.5]]),
         np.array([[4.7], [6.0], [10.0], [2.5], [4.0]]))
    for name in ("nse", "rmse", "pbias", "kge", "kgeprime", "mare"))

SKY = (
    case("PyAstronomy.pyasl:absMagToPower", 4.2),
    case("PyAstronomy.pyasl:absModuleToDist", 6.2, 4.1),
    case("PyAstronomy.pyasl:airmassPP", 40.0),
    case("PyAstronomy.pyasl:airmassSpherical", 40.0, 2.0),
    case("PyAstronomy.pyasl:atmosphericScaleHeight", 290.0, 28.97, 9.8),
    case("PyAstronomy.pyasl:bv2T_Ballesteros", 0.65),
    case("PyAstronomy.pyasl:convertDampingConstant", 1e8, 5000.0),
    case("PyAstronomy.pyasl:equiTempPlanet", 5700.0, 1.0, 1.0, solarUnits=True),
    case("PyAstronomy.pyasl:ddx_rochepot_dl", 0.4, 0.3),
    case("PyAstronomy.pyasl:aitoff", 30.0, 40.0),
)

LAMBERT = tuple(
    case(f"lamberthub:{name}", 398600.4, *ORBIT, 3600.0, at=(1, 2, 3), step=1e-8)
    for name in ("izzo2015", "vallado2013", "battin1984", "gooding1990"))

ASTROPY = (
    case("astropy.modeling.functional_models:Gaussian1D.evaluate", VECTOR, 1.1, 0.2, 0.6),
    case("astropy.modeling.functional_models:Lorentz1D.evaluate", VECTOR, 1.1, 0.2, 0.6),
    case("astropy.modeling.functional_models:Moffat1D.evaluate", VECTOR, 1.1, 0.2, 0.6, 1.7),
    case("astropy.modeling.functional_models:Gaussian2D.evaluate", VECTOR, VECTOR[::-1].copy(),
         1.1, 0.2, 0.1, 0.6, 0.9, 0.3),
    case("astropy.modeling.powerlaws:PowerLaw1D.evaluate", np.array([0.4, 1.2]), 1.1, 0.8, 1.3),
    case("astropy.stats:biweight_location", np.array([0.3, 1.2, 0.7, 2.1, 0.9])),
    case("astropy.stats:circmean", np.array([0.3, 1.2, 0.7, 2.1, 0.9])),
    case("astropy.stats:akaike_info_criterion_lsq", 3.2, 2, 60),
)

QUATERNIONS = (
    case("transforms3d.quaternions:quat2mat", UNIT),
    case("transforms3d.quaternions:mat2quat", TURNED),
    case("transforms3d.quaternions:qmult", UNIT, OTHER),
    case("transforms3d.quaternions:rotate_vector", VECTOR, UNIT),
    case("transforms3d.euler:euler2mat", 0.1, 0.2, 0.3),
    case("transforms3d.euler:mat2euler", TURNED),
    case("transforms3d.euler:euler2quat", 0.1, 0.2, 0.3, "sxyz"),
    case("transforms3d.axangles:axangle2mat", VECTOR, 0.4),
    case("transforms3d.axangles:mat2axangle", TURNED, unit_thresh=0.1, step=1e-4),
    case("transforms3d.affines:compose", VECTOR, TURNED, np.array([1.0, 2.0, 3.0])),
    case("transforms3d.affines:decompose", np.block(
        [[TURNED * 1.3, VECTOR[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])),
)

ROWAN = (
    case("rowan:multiply", UNIT, OTHER),
    case("rowan:conjugate", UNIT),
    case("rowan:exp", UNIT),
    case("rowan:log", UNIT),
    case("rowan:rotate", UNIT, VECTOR),
    case("rowan:normalize", UNIT),
    case("rowan:to_matrix", UNIT, require_unit=False),
    case("rowan:from_axis_angle", VECTOR, 0.4),
    case("rowan:vector_vector_rotation", VECTOR, np.array([0.2, 0.9, 0.1])),
    case("rowan.calculus:integrate", UNIT, VECTOR, 0.1, at=(1, 2)),
)

ATTITUDE = (
    case("ahrs.common.orientation:q_prod", UNIT, OTHER),
    case("ahrs.common.orientation:q2R", UNIT),
    case("ahrs.common.orientation:ecompass", np.array([0.1, 0.2, 9.7]),
         np.array([20.0, 3.0, 40.0])),
    case("ahrs.common.orientation:acc2q", np.array([0.1, 0.2, 9.7])),
    case("ahrs.common.orientation:slerp", UNIT, OTHER, np.array([0.2, 0.6])),
    case("ahrs.common.orientation:q_rot", UNIT, VECTOR),
    case("ahrs.common.frames:geodetic2ecef", 42.0, -82.0, 200.0),
    case("ahrs.common.mathfuncs:skew", VECTOR),
)

PYTRANSFORM = (
    case("pytransform3d.rotations:active_matrix_from_angle", 1, 0.4),
    case("pytransform3d.rotations:angle_between_vectors", VECTOR, np.array([0.2, 0.9, 0.1])),
    case("pytransform3d.rotations:axis_angle_from_matrix", TURNED, check=False),
    case("pytransform3d.rotations:concatenate_quaternions", UNIT, OTHER),
    case("pytransform3d.rotations:cross_product_matrix", VECTOR),
    case("pytransform3d.rotations:matrix_from_axis_angle", np.array([0.6, 0.64, 0.48, 0.7])),
    case("pytransform3d.rotations:matrix_from_quaternion", UNIT),
    case("pytransform3d.rotations:quaternion_slerp", UNIT, OTHER, 0.3),
    case("pytransform3d.transformations:transform_from", TURNED, VECTOR, strict_check=False),
    case("pytransform3d.transformations:adjoint_from_transform", MOVED, check=False),
    case("pytransform3d.transformations:transform_from_exponential_coordinates", TWIST),
)

ROBOTS = (
    case("modern_robotics:VecToso3", VECTOR),
    case("modern_robotics:MatrixExp3", np.array([[0.0, -0.3, 0.2], [0.3, 0.0, -0.1],
                                                 [-0.2, 0.1, 0.0]])),
    case("modern_robotics:MatrixLog3", TURNED),
    case("modern_robotics:Adjoint", MOVED),
    case("modern_robotics:FKinSpace", HOME, SCREWS, JOINTS, at=(2,)),
    case("modern_robotics:JacobianSpace", SCREWS, JOINTS, at=(1,)),
    case("modern_robotics:TransInv", MOVED),
    case("modern_robotics:QuinticTimeScaling", 2.0, 0.6),
    case("modern_robotics:ad", TWIST),
)

SPATIAL = (
    case("spatialmath.base:rotx", 0.3),
    case("spatialmath.base:trotx", 0.3),
    case("spatialmath.base:rpy2r", 0.1, 0.2, 0.3),
    case("spatialmath.base:tr2rpy", TURNED),
    case("spatialmath.base:angvec2r", 0.3, VECTOR),
    case("spatialmath.base:trexp", VECTOR),
    case("spatialmath.base:trlog", TURNED, check=False),
    case("spatialmath.base:q2r", UNIT),
    case("spatialmath.base:r2q", TURNED),
    case("spatialmath.base:qqmul", UNIT, OTHER),
    case("spatialmath.base:skew", VECTOR),
    case("spatialmath.base:eul2r", 0.1, 0.2, 0.3),
    case("spatialmath.base:qslerp", UNIT, OTHER, 0.3),
)

PYQUATERNION = (
    case("tests.real.packages.programs:rotated", UNIT * 1.1, VECTOR),
    case("tests.real.packages.programs:norm_of_product", VECTOR),
)

GROUPS: dict[str, tuple[Case, ...]] = {
    "pymap3d": GEODESY, "nvector": NVECTOR, "karney": KARNEY, "haversine": HAVERSINE, "utm": UTM,
    "geographiclib": GEOGRAPHIC, "seawater": SEAWATER, "meteocalc": WEATHER, "thermofeel": COMFORT,
    "refet": EVAPORATION, "pyet": EVAPOTRANSPIRATION, "hydroeval": HYDROLOGY, "PyAstronomy": SKY,
    "lamberthub": LAMBERT, "astropy": ASTROPY, "transforms3d": QUATERNIONS, "rowan": ROWAN,
    "AHRS": ATTITUDE, "pytransform3d": PYTRANSFORM, "modern_robotics": ROBOTS,
    "spatialmath-python": SPATIAL, "pyquaternion": PYQUATERNION,
}
