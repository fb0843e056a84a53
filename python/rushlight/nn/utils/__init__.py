"""Tools around modules and their parameters."""
