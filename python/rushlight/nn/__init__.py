"""Parameters and functions of neural networks."""

from . import functional, parameter
from .parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "parameter"]
