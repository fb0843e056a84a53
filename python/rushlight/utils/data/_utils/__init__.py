"""Batches of samples, and the workers that make them."""

from . import collate, worker
