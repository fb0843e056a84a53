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
from rushlight.autograd.grad_mode import no_grad as no_grad

class GradcheckError(RuntimeError):
    ...
def gradcheck(func: Any, inputs: Any, *, eps: Any = ..., atol: Any = ..., rtol: Any = ..., raise_exception: Any = ..., nondet_tol: Any = ..., check_undefined_grad: Any = ..., check_grad_dtypes: Any = ..., check_batched_grad: Any = ..., check_batched_forward_grad: Any = ..., check_forward_ad: Any = ..., check_backward_ad: Any = ..., fast_mode: Any = ..., masked: Any = ...) -> builtins.bool: ...
def gradgradcheck(func: Any, inputs: Any, grad_outputs: Any = ..., *, eps: Any = ..., atol: Any = ..., rtol: Any = ..., gen_non_contig_grad_outputs: Any = ..., raise_exception: Any = ..., nondet_tol: Any = ..., check_undefined_grad: Any = ..., check_grad_dtypes: Any = ..., check_batched_grad: Any = ..., check_fwd_over_rev: Any = ..., check_rev_over_rev: Any = ..., fast_mode: Any = ..., masked: Any = ...) -> builtins.bool: ...
