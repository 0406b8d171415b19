"""A leading axis of seeds over derivative code that is finished."""

from __future__ import annotations



