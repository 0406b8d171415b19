"""The IR evaluated over types and written anew."""
