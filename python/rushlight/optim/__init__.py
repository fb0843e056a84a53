"""Optimisers, schedules of their learning rates, and averages of models."""

from . import lr_scheduler, optimizer, swa_utils
from ._adafactor import Adafactor
from ._muon import Muon
from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD

__all__ = """ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam Optimizer RAdam RMSprop Rprop SGD
    lr_scheduler swa_utils""".split()


def __getattr__(name):
    if name == "SparseAdam":
        raise AttributeError("SparseAdam needs sparse gradients, which rushlight does not have; Adam takes dense ones")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
