"""Functions of packages for fluids, heat, chemistry, solar and wind power, optics, electronics."""

from __future__ import annotations

import numpy as np

from tests.real.packages.cases import Case, case

SPECTRUM = np.array([400.0, 500.0, 650.0])
SANDIA = {
    "Paco": 5000.0, "Pdco": 5200.0, "Vdco": 45.0, "Pso": 20.0, "C0": -1e-5, "C1": 1e-4,
    "C2": 1e-3, "C3": 1e-4, "Pnt": 1.0,
}
FILMS = [1.0 + 0.0j, 2.2 + 0.1j, 3.3 + 0.3j, 1.0 + 0.0j]
THICK = [np.inf, 100.0, 300.0, np.inf]

FLUIDS = (
    case("fluids:friction_factor", 1e5, 1e-4),
    case("fluids.friction:Clamond", 1e5, 1e-4),
    case("fluids.friction:Haaland", 1e5, 1e-4),
    case("fluids:K_from_f", 0.018, 100.0, 0.3),
    case("fluids:bend_rounded", 0.5, 30.0, fd=0.013, bend_diameters=5.0),
    case("fluids.drag:Stokes", 0.05),
    case("fluids.drag:drag_sphere", 200.0),
    case("fluids.drag:Morsi_Alexander", 200.0),
    case("fluids.two_phase:Lockhart_Martinelli", 0.6, 0.1, 915.0, 2.67, 180e-6, 14e-6, 0.05, 2.0),
    case("fluids.packed_bed:Ergun", 8e-4, 0.4, 1e-3, 1e3, 1e-3),
    case("fluids.compressible:isothermal_work_compression", 1e5, 1e6, 300.0),
    case("fluids.compressible:isentropic_T_rise_compression", 286.8, 54050.0, 432400.0, 1.4),
    case("fluids.compressible:P_stagnation", 54050.0, 255.7, 286.8, 1.4),
    case("fluids.compressible:T_critical_flow", 473.0, 1.289),
    case("fluids.geometry:V_horiz_spherical", 108.0, 156.0, 42.0, 36.0),
    case("fluids.atmosphere:ATMOSPHERE_1976", 5000.0),
    case("fluids.pump:CSA_motor_efficiency", 100.0),
)

CHEMICALS = (
    case("chemicals.vapor_pressure:Antoine", 100.0, 8.7687, 395.744, -6.469),
    case("chemicals.vapor_pressure:Wagner", 100.0, 190.53, 4596420.0, -6.00435, 1.1885, -0.834082,
         -1.22833),
    case("chemicals.vapor_pressure:Psat_IAPWS", 300.0),
    case("chemicals.rachford_rice:Rachford_Rice_solution", [0.5, 0.3, 0.2], [1.685, 0.742, 0.532]),
    case("chemicals.rachford_rice:flash_inner_loop", [0.5, 0.3, 0.2], [1.685, 0.742, 0.532]),
    case("chemicals.viscosity:Letsou_Stiel", 400.0, 46.07, 516.25, 6.383e6, 0.6371),
    case("chemicals.viscosity:Wilke", [0.05, 0.95], [1.34e-5, 9.5029e-6], [64.06, 46.07]),
    case("chemicals.viscosity:mu_air_lemmon", 300.0, 40.1),
    case("chemicals.viscosity:Lucas", 300.0, 500e5, 572.2, 34.7e5, 0.236, 1e4, 0.00068),
    case("chemicals.thermal_conductivity:Eucken", 72.151, 135.9, 8.77e-6),
    case("chemicals.thermal_conductivity:Sato_Riedel", 300.0, 47.0, 390.0, 520.0),
    case("chemicals.heat_capacity:Zabransky_cubic", 298.15, 20.9634, -10.1344, 2.8253, 0.256738),
    case("chemicals.iapws:iapws95_rho", 350.0, 1e5),
    case("chemicals.volume:Rackett", 272.03889, 369.83, 4248000.0, 0.2763),
    case("chemicals.interface:Brock_Bird", 293.15, 404.75, 633.0, 4.0e6),
    case("chemicals.utils:mixing_simple", [0.1, 0.9], [0.01, 0.02]),
)

HEAT = (
    case("ht:LMTD", 100.0, 60.0, 30.0, 40.2),
    case("ht.conv_internal:turbulent_Dittus_Boelter", 1e5, 1.2),
    case("ht.conv_internal:Nu_conv_internal", 1e5, 0.7),
    case("ht.conv_free_immersed:Nu_vertical_plate_Churchill", 0.69, 2.63e9),
    case("ht.hx:effectiveness_from_NTU", 5.0, 0.7, subtype="counterflow"),
    case("ht.hx:NTU_from_effectiveness", 0.9, 0.7, subtype="crossflow"),
    case("ht.conv_external:Nu_cylinder_Zukauskas", 7992.0, 0.707),
    case("ht.radiation:q_rad", 1.0, 400.0, 305.0),
    case("ht.conduction:R_to_k", 0.05, 0.025),
)

STEAM = (
    case("iapws.iapws97:_PSat_T", 400.0),
    case("iapws.iapws97:_TSat_P", 1.0),
    case("iapws.iapws97:_Region1", 400.0, 3.0),
    case("iapws.iapws97:_Backward1_T_Ph", 3.0, 500.0),
    case("iapws._iapws:_Viscosity", 900.0, 400.0),
    case("iapws._iapws:_Tension", 400.0),
)

AIR = (
    case("psychrolib:GetTRankineFromTFahrenheit", 70.0),
    case("psychrolib:GetTKelvinFromTCelsius", 20.0),
    case("psychrolib:GetTFahrenheitFromTRankine", 530.0),
    case("psychrolib:GetTCelsiusFromTKelvin", 293.15),
    case("tests.real.packages.programs:moist_air", 25.0, 0.6, 101325.0),
    case("tests.real.packages.programs:wet_bulb", 25.0, 0.6, 101325.0, step=1e-8),
    case("tests.real.packages.programs:dew_point", 25.0, 0.6),
)

SOLAR = (
    case("pvlib.irradiance:aoi", 30.0, 180.0, 40.0, 170.0),
    case("pvlib.irradiance:isotropic", 30.0, 100.0),
    case("pvlib.irradiance:erbs", 500.0, 40.0, 170),
    case("pvlib.irradiance:haydavies", 30.0, 180.0, 100.0, 700.0, 1400.0, 40.0, 170.0),
    case("pvlib.irradiance:campbell_norman", 40.0, 0.6),
    case("pvlib.irradiance:clearness_index", 500.0, 40.0, 1400.0),
    case("pvlib.irradiance:beam_component", 30.0, 180.0, 40.0, 170.0, 700.0),
    case("pvlib.atmosphere:get_relative_airmass", 40.0),
    case("pvlib.atmosphere:gueymard94_pw", 25.0, 60.0),
    case("pvlib.atmosphere:alt2pres", 500.0),
    case("pvlib.temperature:sapm_cell", 900.0, 20.0, 5.0, -3.47, -0.0594, 3.0),
    case("pvlib.temperature:faiman", 900.0, 20.0, 5.0),
    case("pvlib.temperature:pvsyst_cell", 900.0, 20.0, 5.0),
    case("pvlib.temperature:noct_sam", 900.0, 20.0, 5.0, 45.0, 0.2),
    case("pvlib.iam:ashrae", 40.0),
    case("pvlib.iam:physical", 40.0),
    case("pvlib.iam:martin_ruiz", 40.0),
    case("pvlib.iam:schlick_diffuse", 30.0),
    case("pvlib.pvsystem:calcparams_desoto", 800.0, 50.0, 0.003, 1.6, 5.0, 1e-9, 300.0, 0.4),
    case("pvlib.singlediode:bishop88", 0.5, 5.0, 1e-9, 0.4, 300.0, 1.6),
    case("pvlib.pvsystem:pvwatts_dc", 900.0, 45.0, 300.0, -0.003),
    case("pvlib.inverter:sandia", 40.0, 5000.0, SANDIA, at=(0, 1)),
    case("pvlib.pvsystem:i_from_v", 20.0, 5.0, 1e-9, 0.4, 300.0, 1.6),
    case("pvlib.tracking:calc_surface_orientation", 20.0, 0.0, 180.0),
)

SUN = (
    case("pysolar.solar:equation_of_time", 100.0),
    case("pysolar.solar:get_declination", 100.0),
    case("pysolar.solar:get_flattened_latitude", 42.0),
    case("pysolar.solar:get_geocentric_longitude", 0.013),
    case("pysolar.solar:get_sun_earth_distance", 0.013),
    case("pysolar.solar:get_mean_sidereal_time", 2452930.3, step=1e-9),
    case("pysolar.solar:get_refraction_correction", 101325.0, 288.0, 10.0),
    case("pysolar.solar:get_topocentric_elevation_angle", 42.0, 10.0, 20.0),
)

WIND = (
    case("windpowerlib.wind_speed:logarithmic_profile", np.array([5.0, 7.0]), 10.0, 100.0,
         np.array([0.1, 0.2])),
    case("windpowerlib.wind_speed:hellman", np.array([5.0, 7.0]), 10.0, 100.0,
         np.array([0.1, 0.2])),
    case("windpowerlib.density:barometric", np.array([1e5]), 10.0, 100.0, np.array([290.0])),
    case("windpowerlib.density:ideal_gas", np.array([1e5]), 10.0, 100.0, np.array([290.0])),
    case("windpowerlib.temperature:linear_gradient", np.array([290.0]), 2.0, 100.0),
    case("windpowerlib.power_output:power_coefficient_curve", np.array([5.5, 7.2]),
         np.array([4.0, 6.0, 8.0]), np.array([0.3, 0.4, 0.45]), 100.0, 1.2),
)

OPTICS = (
    case("prysm.polynomials:zernike_nm", 4, 2, np.array([0.2, 0.6]), np.array([0.3, 1.1])),
    case("prysm.polynomials:jacobi", 4, 0.5, 1.5, np.array([0.2, 0.6])),
    case("prysm.polynomials:Qbfs", 3, np.array([0.2, 0.6])),
    case("prysm.polynomials:cheby1", 4, np.array([0.2, 0.6])),
    case("prysm.polynomials:hermite_He", 4, np.array([0.2, 0.6])),
    case("prysm.polynomials:hopkins", 1, 3, 1, np.array([0.2, 0.6]), np.array([0.3, 1.1]), 0.7),
    case("prysm.thinfilm:brewsters_angle", 1.0, 1.5),
    case("prysm.thinfilm:fresnel_rs", 1.0, 1.5, 0.4, 0.27),
    case("prysm.coordinates:cart_to_polar", np.array([0.2, 0.6]), np.array([0.3, 0.5])),
    case("prysm.coordinates:make_rotation_matrix", (10.0, 20.0, 30.0)),
)

FILM = (
    case("tmm:snell", 1.0, 1.5, 0.4),
    case("tmm:interface_r", "s", 1.0, 1.5, 0.4, 0.262),
    case("tmm:interface_T", "p", 1.0, 1.5, 0.4, 0.262),
    case("tmm:T_from_t", "s", 0.8, 1.0, 1.5, 0.4, 0.262),
    case("tests.real.packages.programs:reflected", FILMS, [100.0, 300.0], 0.3, 500.0,
         at=(1, 2, 3)),
    case("tmm:unpolarized_RT", FILMS, THICK, 0.3, 500.0, at=(2, 3)),
)

MIE = (
    case("miepython:small_sphere", 1.5 - 0.1j, 0.05),
    case("miepython:small_conducting_sphere", 1.5 - 0.1j, 0.05, at=(1,)),
    case("miepython:D_calc", 1.5 - 0.1j, 2.0, 6),
    case("miepython:an_bn", 1.5 - 0.1j, 2.0),
    case("miepython:efficiencies_mx", 1.5 - 0.1j, 2.0),
)

LASER = (
    case("laserbeamsize.gaussian:z_rayleigh", 0.5e-3, 632e-9),
    case("laserbeamsize.gaussian:beam_radius", 0.5e-3, 632e-9, 2.0),
    case("laserbeamsize.gaussian:magnification", 0.5e-3, 632e-9, 0.4, 0.1),
    case("laserbeamsize.gaussian:curvature", 0.5e-3, 632e-9, 2.0),
    case("laserbeamsize.gaussian:gouy_phase", 0.5e-3, 632e-9, 2.0),
    case("laserbeamsize.gaussian:image_distance", 0.5e-3, 632e-9, 0.4, 0.1),
    case("laserbeamsize.gaussian:beam_parameter_product", 1e-3, 5e-4, 1e-5, 1e-5),
)

RADIO = (
    case("skrf.mathFunctions:complex_2_db", 0.4 + 0.3j),
    case("skrf.mathFunctions:db_2_mag", 3.0),
    case("skrf.mathFunctions:magdeg_2_reim", 0.6, 30.0),
    case("skrf.mathFunctions:cross_ratio", 0.1 + 0.2j, 0.5 - 0.3j, 1.2 + 0.1j, -0.4 + 0.9j),
    case("skrf.mathFunctions:mag_2_db", np.array([0.4, 1.3])),
    case("skrf.tlineFunctions:load_impedance_2_reflection_coefficient", 50.0, 70.0 + 20.0j),
    case("skrf.tlineFunctions:reflection_coefficient_at_theta", 0.2 + 0.3j, 0.5 + 0.1j),
    case("skrf.tlineFunctions:input_impedance_at_theta", 50.0, 70.0 + 20.0j, 0.4 + 0.1j),
    case("skrf.tlineFunctions:Gamma0_2_swr", 0.2 + 0.3j),
)

CONTROL = (
    case("control:db2mag", 3.0),
    case("control:ctrb", np.array([[0.1, 1.0], [-0.4, 0.3]]), np.array([[0.2], [1.0]])),
    case("control:obsv", np.array([[0.1, 1.0], [-0.4, 0.3]]), np.array([[0.2, 1.0]])),
    case("control:lyap", np.array([[-1.1, 1.0], [-0.4, -0.7]]), np.eye(2), at=(0,)),
    case("tests.real.packages.programs:closed_loop_gain", np.array([1.0, 0.7, 2.0]), 0.8),
    case("tests.real.packages.programs:state_space_response", np.array([[-1.0, 0.5], [0.2, -2.0]])),
)

GROUPS: dict[str, tuple[Case, ...]] = {
    "fluids": FLUIDS, "chemicals": CHEMICALS, "ht": HEAT, "iapws": STEAM, "PsychroLib": AIR,
    "pvlib": SOLAR, "pysolar": SUN, "windpowerlib": WIND, "prysm": OPTICS, "tmm": FILM,
    "miepython": MIE, "laserbeamsize": LASER, "scikit-rf": RADIO, "control": CONTROL,
}
