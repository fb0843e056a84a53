# Written by `cargo xtask stubs` from the op table and the package. Do not edit.
# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, override"
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar, overload

from typing_extensions import Self

_F = TypeVar("_F", bound=Callable[..., Any])

from rushlight._C import Number as Number, _2Tensors, _3Tensors, _Device, _Type, _device, _dtype
from rushlight._C import Tensor as Tensor
from rushlight._C import Generator as Generator
from rushlight import Size as Size

class Copy:
    def __init__(self, *parts: Any) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    bytes: builtins.int
    file: str
    line: builtins.int
    op: str
    reason: str
    shape: tuple[builtins.int, ...]
class Log:
    def __getitem__(self, k: builtins.int) -> Copy: ...
    def __init__(self) -> None: ...
    def __len__(self) -> builtins.int: ...
    @property
    def bytes(self) -> builtins.int: ...
class copies:
    def __enter__(self) -> Log: ...
    def __exit__(self, *exc: Any) -> None: ...
class forbid_copies:
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: Any) -> None: ...
