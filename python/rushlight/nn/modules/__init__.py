"""Layers, losses and containers. Each module's names come along; nothing else is kept here."""

from .activation import *  # noqa: F403
from .container import *  # noqa: F403
from .container import Container  # noqa: F401
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .flatten import *  # noqa: F403
from .linear import *  # noqa: F403
from .loss import *  # noqa: F403
from .module import *  # noqa: F403
from .sparse import *  # noqa: F403
