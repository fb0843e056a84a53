"""Names for annotations, as programs take them from ``torch.types``."""

import builtins
import os
from typing import Any, Optional, Union

from . import _C
from ._size import Size

_dtype, _device, _size, _int, _float, _bool, _complex = (
    _C.dtype,
    _C.device,
    Union[Size, list, tuple],
    builtins.int,
    builtins.float,
    builtins.bool,
    builtins.complex,
)
Tensor = _C.Tensor
Number = Union[builtins.int, builtins.float, builtins.bool]
Device = Optional[Union[_device, str, builtins.int]]
FileLike = Union[str, os.PathLike, Any]
Storage = Any
