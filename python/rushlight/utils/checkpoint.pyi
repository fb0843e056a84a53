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
from rushlight.autograd.function import Function as Function
from rushlight.autograd import backward as backward
from rushlight.autograd.grad_mode import enable_grad as enable_grad
from rushlight.autograd.grad_mode import no_grad as no_grad
from rushlight.autograd.graph import saved_tensors_hooks as saved_tensors_hooks
from rushlight.random import fork_rng as fork_rng
from rushlight.random import get_rng_state as get_rng_state
from rushlight.random import set_rng_state as set_rng_state

class CheckpointError(RuntimeError):
    ...
def noop_context_fn() -> Any: ...
class set_checkpoint_early_stop:
    def __enter__(self) -> Any: ...
    def __exit__(self, *exc: Any) -> None: ...
    def __init__(self, enable: Any) -> None: ...
def checkpoint(function: Any, *args: Any, use_reentrant: Any = ..., context_fn: Any = ..., determinism_check: Any = ..., debug: Any = ..., early_stop: Any = ..., preserve_rng_state: Any = ..., **kwargs: Any) -> Any: ...
def checkpoint_sequential(functions: Any, segments: Any, input: Tensor, use_reentrant: Any = ..., **kwargs: Any) -> Any: ...
