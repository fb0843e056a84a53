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
from . import grad_mode as grad_mode
from . import anomaly_mode as anomaly_mode
from . import function as function
from . import functional as functional
from . import graph as graph
from rushlight._C import Tensor as Tensor
from rushlight.autograd.grad_mode import enable_grad as enable_grad
from rushlight.autograd.grad_mode import inference_mode as inference_mode
from rushlight.autograd.grad_mode import no_grad as no_grad
from rushlight.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from rushlight.autograd.function import Function as Function
from rushlight.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from rushlight.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from rushlight._C import Tensor as Variable
from rushlight.autograd.gradcheck import gradcheck as gradcheck
from rushlight.autograd.gradcheck import gradgradcheck as gradgradcheck
from rushlight.autograd.gradcheck import GradcheckError as GradcheckError

def backward(tensors: Any, grad_tensors: Any = ..., retain_graph: builtins.bool | None = ..., create_graph: builtins.bool | None = ..., grad_variables: Any = ..., inputs: Tensor | Sequence[Tensor] | None = ...) -> None: ...
def grad(outputs: Any, inputs: Any, grad_outputs: Any = ..., retain_graph: builtins.bool | None = ..., create_graph: builtins.bool | None = ..., only_inputs: Any = ..., allow_unused: builtins.bool | None = ..., is_grads_batched: builtins.bool | None = ..., materialize_grads: builtins.bool | None = ...) -> tuple[Tensor, ...]: ...
