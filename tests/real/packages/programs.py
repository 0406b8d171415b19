"""Short programs of the kind that users of the packages write: objects made, and their methods."""

from __future__ import annotations

from typing import Any


def moist_air(temperature: float, humidity: float, pressure: float) -> Any:
    import psychrolib

    psychrolib.SetUnitSystem(psychrolib.SI)
    return psychrolib.GetMoistAirEnthalpy(
        temperature, psychrolib.GetHumRatioFromRelHum(temperature, humidity, pressure))


def wet_bulb(temperature: float, humidity: float, pressure: float) -> Any:
    import psychrolib

    psychrolib.SetUnitSystem(psychrolib.SI)
    return psychrolib.GetTWetBulbFromRelHum(temperature, humidity, pressure)


def dew_point(temperature: float, humidity: float) -> Any:
    import psychrolib

    psychrolib.SetUnitSystem(psychrolib.SI)
    return psychrolib.GetTDewPointFromRelHum(temperature, humidity)


def closed_loop_gain(denominator: Any, gain: float) -> Any:
    import control

    loop = control.TransferFunction([gain], denominator)
    return abs((loop / (1 + loop))(0.5j))


def state_space_response(A: Any) -> Any:
    import control
    import numpy as np

    system = control.StateSpace(A, np.array([[1.0], [0.5]]), np.array([[1.0, 0.0]]), 0.0)
    return abs(system(0.7j))


def geodesic_line(lat1: float, lon1: float, lat2: float, lon2: float) -> Any:
    from geographiclib.geodesic import Geodesic

    return Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2)["s12"]


def geodesic_polygon(lat: float, lon: float) -> Any:
    from geographiclib.geodesic import Geodesic

    return Geodesic.WGS84.Direct(lat, lon, 30.0, 2e6)["lat2"]


def dew_point_in_celsius(temperature: float, humidity: float) -> Any:
    from meteocalc import dew_point as dew

    return dew(temperature, humidity).c


def heat_index_in_celsius(temperature: float, humidity: float) -> Any:
    from meteocalc import Temp, heat_index

    return heat_index(Temp(temperature, "c"), humidity).c


def wind_chill_in_celsius(temperature: float, speed: float) -> Any:
    from meteocalc import Temp, wind_chill

    return wind_chill(Temp(temperature, "c"), speed).c


def rotated(q: Any, v: Any) -> Any:
    from pyquaternion import Quaternion

    return Quaternion(q[0], q[1], q[2], q[3]).rotate(v)


def norm_of_product(v: Any) -> Any:
    from pyquaternion import Quaternion

    return (Quaternion(1.0, v[0], v[1], v[2]) * Quaternion(0.5, 0.1, 0.2, v[1])).norm


def call_price(underlying: float, strike: float, rate: float, days: float, sigma: float) -> Any:
    import mibian

    return mibian.BS([underlying, strike, rate, days], volatility=sigma).callPrice


def call_delta(underlying: float, strike: float, rate: float, days: float, sigma: float) -> Any:
    import mibian

    return mibian.BS([underlying, strike, rate, days], volatility=sigma).callDelta


def merton_price(
    underlying: float, strike: float, rate: float, dividend: float, days: float, sigma: float
) -> Any:
    import mibian

    return mibian.Me([underlying, strike, rate, dividend, days], volatility=sigma).callPrice


def kalman(F: Any, z: Any) -> Any:
    import numpy as np
    from filterpy.kalman import KalmanFilter

    kf = KalmanFilter(dim_x=2, dim_z=1)
    kf.F = F
    kf.H = np.array([[1.0, 0.0]])
    kf.P *= 10.0
    kf.R = 5.0
    kf.Q = np.eye(2) * 0.1
    kf.x = np.array([[2.0], [0.0]])
    for i in range(3):
        kf.predict()
        kf.update(z[i])
    return kf.x


def adaptive_filter(signal: Any, rate: float) -> Any:
    import numpy as np
    import padasip

    inputs = np.stack([signal[:-1], signal[1:]], axis=1)
    lms = padasip.filters.FilterLMS(n=2, mu=rate, w=np.zeros(2))
    return lms.run(signal[1:] * 0.5, inputs)[1]


def opfunu_ackley(x: Any) -> Any:
    from opfunu.name_based import Ackley01

    return Ackley01(ndim=2).evaluate(x)


def opfunu_beale(x: Any) -> Any:
    from opfunu.name_based import Beale

    return Beale().evaluate(x)


def opfunu_booth(x: Any) -> Any:
    from opfunu.name_based import Booth

    return Booth().evaluate(x)


def hypersphere(x: Any) -> Any:
    import benchmark_functions as bf

    return bf.Hypersphere(n_dimensions=3)(x)


def griewank(x: Any) -> Any:
    import benchmark_functions as bf

    return bf.Griewank(n_dimensions=3)(x)


def martin_gaddy(x: Any) -> Any:
    import benchmark_functions as bf

    return bf.MartinGaddy()(x)


def regression_metric(true: Any, predicted: Any, name: str) -> Any:
    from permetrics.regression import RegressionMetric

    return getattr(RegressionMetric(true, predicted), name)()


def hamilton_cycle(data: Any) -> Any:
    from quantecon import hamilton_filter

    return hamilton_filter(data, 4, 2)[0][5:]


def reflected(films: Any, thickness: Any, angle: float, wavelength: float) -> Any:
    import numpy as np
    import tmm

    return tmm.coh_tmm("s", films, [np.inf, *thickness, np.inf], angle, wavelength)["R"]
