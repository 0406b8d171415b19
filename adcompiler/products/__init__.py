"""What a user asks for, put together from the halves."""
