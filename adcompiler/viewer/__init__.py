"""The viewer: the user's source beside the code that was emitted for it, as one page."""
