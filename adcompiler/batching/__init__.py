"""A leading axis of seeds over derivative code that is finished."""
