"""Runs a program and records what it does: the engine for what is not known before a run."""
