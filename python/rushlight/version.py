"""The version of this package, in the shape of ``torch.version``."""

from ._C import __version__

cuda = hip = xpu = git_version = None
debug = False
