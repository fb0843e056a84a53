"""Learning rates that change with time: call ``step`` after the optimiser's."""

from ..optimizer import Optimizer
from ._base import EPOCH_DEPRECATION_WARNING, LRScheduler, _LRScheduler
from ._combined import ChainedScheduler, SequentialLR
from ._cycles import CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from ._factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from ._plateau import ReduceLROnPlateau

__all__ = """LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR SequentialLR
    CosineAnnealingLR ChainedScheduler ReduceLROnPlateau CyclicLR CosineAnnealingWarmRestarts OneCycleLR
    PolynomialLR LRScheduler""".split()
