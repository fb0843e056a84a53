"""Generators of CUDA devices, of which there is none."""

from . import get_rng_state, manual_seed, manual_seed_all, seed, seed_all, set_rng_state
