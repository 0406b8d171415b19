"""Recurrences for the coefficients of Taylor series of special functions."""

from __future__ import annotations

import scipy.special as sc

from adcompiler.rulekit import Recurrence, facts
from adcompiler_rules.compositions import composed
from adcompiler_rules.kernels.scipy_series import (
    expit_series, gamma_series, hyp0f1_derivative, hyp1f1_derivative, hyp2f1_derivative,
    hyperu_derivative, i0_derivative, i1_derivative, iv_derivative, j0_derivative, j1_derivative,
    jv_derivative, k0_derivative, k1_derivative, kv_derivative, loggamma_derivative,
    polygamma_derivative, psi_derivative, xlogy_series, y0_derivative, y1_derivative,
    yv_derivative, zeta_derivative,
)
from adcompiler_rules.recurrences import EITHER

facts(sc.gamma, recurrence=Recurrence(gamma_series, first="real"))
facts(sc.expit, recurrence=Recurrence(expit_series, first="real"))
facts(sc.xlogy, recurrence=Recurrence(xlogy_series, (*EITHER, 0.0), "real"))
facts(sc.xlog1py, recurrence=Recurrence(xlogy_series, (*EITHER, 1.0), "real"))
facts(sc.gammaln, recurrence=composed(loggamma_derivative))
facts(sc.psi, recurrence=composed(psi_derivative))
facts(sc.polygamma, recurrence=composed(polygamma_derivative, 1))
facts(sc.zeta, recurrence=composed(zeta_derivative, 1))
facts(sc.hyp0f1, recurrence=composed(hyp0f1_derivative, 1))
facts(sc.hyp1f1, recurrence=composed(hyp1f1_derivative, 2))
facts(sc.hyp2f1, recurrence=composed(hyp2f1_derivative, 3))
facts(sc.hyperu, recurrence=composed(hyperu_derivative, 2))
facts(sc.jv, recurrence=composed(jv_derivative, 1))
facts(sc.yv, sc.yn, recurrence=composed(yv_derivative, 1))
facts(sc.iv, recurrence=composed(iv_derivative, 1))
facts(sc.kv, sc.kn, recurrence=composed(kv_derivative, 1))
facts(sc.j0, recurrence=composed(j0_derivative))
facts(sc.j1, recurrence=composed(j1_derivative))
facts(sc.y0, recurrence=composed(y0_derivative))
facts(sc.y1, recurrence=composed(y1_derivative))
facts(sc.i0, recurrence=composed(i0_derivative))
facts(sc.i1, recurrence=composed(i1_derivative))
facts(sc.k0, recurrence=composed(k0_derivative))
facts(sc.k1, recurrence=composed(k1_derivative))
