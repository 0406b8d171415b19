"""What a user asks for, put together from the halves."""

from __future__ import annotations



