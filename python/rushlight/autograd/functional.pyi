# Written by `cargo xtask stubs` from the op table and the package. Do not edit.
# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, override"
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar, overload

from typing_extensions import Self

_F = TypeVar("_F", bound=Callable[..., Any])

from rushlight._C import Number as Number, _2Tensors, _3Tensors, _Device, _Type, _device, _dtype
from rushlight._C import Generator as Generator
from rushlight import Size as Size
from rushlight._C import Tensor as Tensor
from rushlight.autograd.grad_mode import enable_grad as enable_grad

def vjp(func: Any, inputs: Any, v: Any = ..., create_graph: builtins.bool | None = ..., strict: builtins.bool | None = ...) -> Any: ...
def jvp(func: Any, inputs: Any, v: Any = ..., create_graph: builtins.bool | None = ..., strict: builtins.bool | None = ...) -> Any: ...
def jacobian(func: Any, inputs: Any, create_graph: builtins.bool | None = ..., strict: builtins.bool | None = ..., vectorize: Any = ..., strategy: Any = ...) -> Any: ...
def hessian(func: Any, inputs: Any, create_graph: builtins.bool | None = ..., strict: builtins.bool | None = ..., vectorize: Any = ..., outer_jacobian_strategy: Any = ...) -> Any: ...
def vhp(func: Any, inputs: Any, v: Any = ..., create_graph: builtins.bool | None = ..., strict: builtins.bool | None = ...) -> Any: ...
def hvp(func: Any, inputs: Any, v: Any = ..., create_graph: builtins.bool | None = ..., strict: builtins.bool | None = ...) -> Any: ...
