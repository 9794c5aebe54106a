"""Building with the system's compiler: finding it, keeping what it makes, and telling of a build that takes long."""
