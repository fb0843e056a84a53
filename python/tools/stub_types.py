"""Types for what the stubs read off the package, by name: one name means one thing throughout."""

#: The modules that have stubs.
MODULES = [
    "rushlight._C",
    "rushlight",
    "rushlight.nn",
    "rushlight.nn.parameter",
    "rushlight.nn.functional",
    "rushlight.autograd",
    "rushlight.autograd.grad_mode",
    "rushlight.autograd.anomaly_mode",
    "rushlight.autograd.function",
    "rushlight.autograd.functional",
    "rushlight.autograd.gradcheck",
    "rushlight.autograd.graph",
    "rushlight.utils",
    "rushlight.utils.checkpoint",
    "rushlight.random",
    "rushlight.trace",
    "rushlight.cuda",
    "rushlight.version",
]

#: Private names that stubs of other modules or programs refer to.
PRIVATE = {"rushlight._C": ("_LinAlgError",)}

#: Special methods that checkers need to see.
SPECIAL = frozenset(
    """__init__ __new__ __len__ __iter__ __contains__ __getitem__ __setitem__ __bool__ __float__ __int__ __index__
    __complex__ __call__ __enter__ __exit__ __add__ __radd__ __mul__ __rmul__ __deepcopy__ __array__ __dlpack__
    __dlpack_device__""".split()
)

_BOOL = "builtins.bool"
_INT = "builtins.int"
_FLOAT = "builtins.float"

#: Parameters by name; `Class.method.name` or `function.name` goes before `name`.
PARAMETERS = {
    **dict.fromkeys(
        """accumulate align_corners allow_unused antialias as_tuple ceil_mode copy count_include_pad create_graph
        descending enabled equal_nan force full inplace is_causal keepdim keepdims largest log_target materialize_grads
        mode_enabled non_blocking pin_memory replacement requires_grad retain_graph return_indices scale_grad_by_freq
        sorted sparse stable training unbiased wrap warn_only persistent reduce size_average sci_mode strict
        check_nan is_grads_batched""".split(),
        f"{_BOOL} | None",
    ),
    **dict.fromkeys(
        """input other tensor end mat1 mat2 vec tensor1 tensor2 weight target source src condition running_mean index
        running_var real imag indices abs angle self""".split(),
        "Tensor",
    ),
    **dict.fromkeys("out bias pos_weight grad grad_output".split(), "Any"),
    **dict.fromkeys(
        """dilation groups ignore_index k low high n num_classes offset padding_idx row col seed stacklevel
        _stacklevel chunks diagonal dim0 dim1 decimals precision edgeitems linewidth output_size index""".split(),
        f"{_INT} | None",
    ),
    **dict.fromkeys(
        """alpha atol beta correction delta eps fill_value label_smoothing lambd max_norm max_val mean median min_val
        momentum negative_slope norm_type p rtol sigma std step threshold value lower upper start from_ to
        divisor_override""".split(),
        "Any",
    ),
    **dict.fromkeys("size shape stride kernel_size padding physical_layout pad".split(), f"Sequence[{_INT}] | {_INT} | None"),
    **dict.fromkeys("dim axis dims".split(), f"{_INT} | Sequence[{_INT}] | None"),
    **dict.fromkeys("rounding_mode reduction approximate mode indexing profile equation name".split(), "str | None"),
    "dtype": "_Type | None",
    "device": "_Device | None",
    "generator": "Generator | None",
    "memory_format": "Any",
    "layout": "Any",
    "tensors": "Any",
    "operands": "Any",
    "callable": "Callable[..., Any]",
    "function": "Any",
    "hook": "Callable[..., Any]",
    "seed": _INT,
    "type1": "_dtype",
    "type2": "_dtype",
    "d": "_dtype",
    "get_device.index": "Tensor",
}
for _name in "split.tensor einsum.equation allclose.other isclose.other equal.other".split():
    PARAMETERS[_name] = "str" if _name.endswith("equation") else "Tensor"
for _name in "div divide Tensor.div Tensor.divide Tensor.div_ Tensor.divide_ rsub result_type".split():
    PARAMETERS[f"{_name}.other"] = PARAMETERS[f"{_name}.tensor1"] = PARAMETERS[f"{_name}.tensor2"] = "Tensor | Number"
for _name in "eq ne lt le gt ge greater greater_equal less less_equal not_equal".split():
    PARAMETERS[f"Tensor.{_name}_.other"] = "Tensor | Number"
for _name in "relu relu6 elu leaky_relu hardtanh hardsigmoid silu mish dropout softmax log_softmax".split():
    PARAMETERS[f"{_name}.inplace"] = PARAMETERS[f"{_name}.training"] = _BOOL
for _name in "weight".split():
    for _loss in """binary_cross_entropy binary_cross_entropy_with_logits cross_entropy huber_loss mse_loss
        nll_loss""".split():
        PARAMETERS[f"{_loss}.{_name}"] = "Tensor | None"
PARAMETERS["Tensor.where.other"] = "Tensor | Number"
PARAMETERS["Tensor.backward.gradient"] = "Tensor | None"
PARAMETERS["Tensor.backward.inputs"] = PARAMETERS["backward.inputs"] = "Tensor | Sequence[Tensor] | None"
PARAMETERS["as_tensor.data"] = PARAMETERS["tensor.data"] = "Any"
PARAMETERS["scatter.src"] = PARAMETERS["Tensor.scatter.src"] = PARAMETERS["Tensor.scatter_.src"] = "Tensor | Number | None"
PARAMETERS["Parameter.__new__.data"] = PARAMETERS["Buffer.__new__.data"] = "Tensor | None"

#: Results by name; what is not listed gives a Tensor.
RESULTS = {
    **dict.fromkeys(
        """allclose equal is_complex is_contiguous is_cpu is_cuda is_floating_point is_inference is_leaf is_meta
        is_neg is_conj is_nonzero is_pinned is_same_size is_set_to is_shared is_signed is_storage is_tensor
        requires_grad retains_grad is_available is_initialized is_bf16_supported can_cast
        are_deterministic_algorithms_enabled is_grad_enabled is_inference_mode_enabled resizable __bool__ __contains__
        is_sparse is_sparse_csr is_mkldnn is_quantized is_nested is_mps is_xla is_xpu is_ipu is_vulkan is_mtia is_maia
        set_flush_denormal is_coalesced is_lazy gradcheck gradgradcheck is_anomaly_enabled
        is_anomaly_check_nan_enabled""".split(),
        _BOOL,
    ),
    **dict.fromkeys(
        """bits data_ptr device_count dim element_size get_device get_num_threads get_num_interop_threads initial_seed
        itemsize nbytes ndim ndimension nelement numel output_nr seed storage_offset __len__ __int__ __index__ _version
        _cdata const_data_ptr""".split(),
        _INT,
    ),
    **dict.fromkeys("eps max min resolution smallest_normal tiny".split(), "Tensor"),
    **dict.fromkeys(
        """apply_hook backward retain_grad set_num_threads set_num_interop_threads set_default_dtype set_printoptions
        set_default_tensor_type set_default_device as_torch use_deterministic_algorithms
        set_float32_matmul_precision manual_seed_all empty_cache __init__ __setitem__ __exit__ set_warn_always
        set_rng_state increment_version mark_dirty mark_non_differentiable set_materialize_grads""".split(),
        "None",
    ),
    **dict.fromkeys("""item tolist numpy grad_fn storage names __array__ __dlpack__ register_hook layout type
        vjp jvp jacobian hessian vhp hvp checkpoint checkpoint_sequential once_differentiable next_functions metadata
        register_prehook register_multi_grad_hook noop_context_fn""".split(), "Any"),
    **dict.fromkeys("unbind split chunk tensor_split unsafe_chunk unsafe_split".split(), "tuple[Tensor, ...]"),
    **dict.fromkeys("std_mean var_mean max_pool1d_with_indices max_pool2d_with_indices".split(), "tuple[Tensor, Tensor]"),
    **dict.fromkeys("broadcast_tensors meshgrid".split(), "tuple[Tensor, ...]"),
    **dict.fromkeys("sort topk".split(), "_2Tensors"),
    **dict.fromkeys("typename get_float32_matmul_precision __repr__ dtype_name".split(), "str"),
    **dict.fromkeys("promote_types result_type get_default_dtype to_real to_complex".split(), "_dtype"),
    "__complex__": "builtins.complex",
    "__float__": _FLOAT,
    "__dlpack_device__": f"tuple[{_INT}, {_INT}]",
    "__iter__": "Iterator[Tensor]",
    "Size.__iter__": f"Iterator[{_INT}]",
    "_base": "Tensor | None",
    "grad": "Tensor | None",
    "rushlight.autograd.grad": "tuple[Tensor, ...]",
    "manual_seed": "Generator",
    "rushlight.cuda.manual_seed": "None",
    "default_generator": "Generator",
    "broadcast_shapes": "Size",
    "shape": "Size",
    "dtype": "_dtype",
    "device": "_device",
    "get_default_device": "_device",
    "compile": "Any",
    "index": "Any",
    "device.type": "str",
    "device.index": f"{_INT} | None",
    "name": "Any",
    "untyped_storage": "UntypedStorage",
    "finfo.dtype": "str",
    "iinfo.dtype": "str",
    "fields": "Any",
    "Size.numel": _INT,
    "nonzero": "Any",
    "atleast_1d": "Any",
    "atleast_2d": "Any",
    "atleast_3d": "Any",
    "__deepcopy__": "Any",
}
for _name in "eps max min resolution smallest_normal tiny".split():
    RESULTS[f"finfo.{_name}"] = _FLOAT
    RESULTS[f"iinfo.{_name}"] = _INT

_OPERATORS = """add sub mul truediv floordiv mod pow matmul and or xor lshift rshift""".split()

#: Stubs that no reading could give.
WHOLE = {
    "Tensor.__init__": f"""\
@overload
def __init__(self, *size: {_INT}) -> None: ...
@overload
def __init__(self, data: Any, /) -> None: ...""",
    "Tensor.__new__": "",
    "Tensor.__eq__": "def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]",
    "Tensor.__ne__": "def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]",
    "Tensor.__hash__": f"def __hash__(self) -> {_INT}: ...",
    "Tensor.__getitem__": "def __getitem__(self, index: Any) -> Tensor: ...",
    "Tensor.__setitem__": "def __setitem__(self, index: Any, value: Tensor | Number) -> None: ...",
    "Tensor.__contains__": f"def __contains__(self, element: object) -> {_BOOL}: ...",
    "Tensor.size": f"""\
@overload
def size(self) -> Size: ...
@overload
def size(self, dim: {_INT}) -> {_INT}: ...""",
    "Tensor.stride": f"""\
@overload
def stride(self) -> tuple[{_INT}, ...]: ...
@overload
def stride(self, dim: {_INT}) -> {_INT}: ...""",
    "Tensor.to": "def to(self, *args: Any, **kwargs: Any) -> Tensor: ...",
    "Tensor.is_contiguous": f"def is_contiguous(self, memory_format: Any = ...) -> {_BOOL}: ...",
    "Tensor.__float__": f"def __float__(self) -> {_FLOAT}: ...",
    "Tensor.__int__": f"def __int__(self) -> {_INT}: ...",
    "Tensor.__index__": f"def __index__(self) -> {_INT}: ...",
    "Parameter.__new__": f"def __new__(cls, data: Tensor | None = ..., requires_grad: {_BOOL} = ...) -> Parameter: ...",
    "Buffer.__new__": f"def __new__(cls, data: Tensor | None = ..., *, persistent: {_BOOL} = ...) -> Buffer: ...",
    "device.__new__": f"def __new__(cls, type: device | str | {_INT}, index: {_INT} | None = ...) -> device: ...",
    "device.__init__": "",
    "Generator.__new__": "def __new__(cls, device: _Device | None = ...) -> Generator: ...",
    "Generator.__init__": "",
    "finfo.__init__": "def __init__(self, type: _dtype | None = ...) -> None: ...",
    "iinfo.__init__": "def __init__(self, type: _dtype) -> None: ...",
    "Size.__init__": f"def __init__(self, sizes: Iterable[{_INT}] = ...) -> None: ...",
    "Size.__getitem__": f"""\
@overload
def __getitem__(self, index: {_INT}) -> {_INT}: ...
@overload
def __getitem__(self, index: slice) -> Size: ...""",
    "Size.__add__": f"def __add__(self, other: tuple[{_INT}, ...]) -> Size: ...",
    "Size.__radd__": f"def __radd__(self, other: tuple[{_INT}, ...]) -> Size: ...",
    "Size.__mul__": f"def __mul__(self, count: {_INT}) -> Size: ...",
    "Size.__rmul__": f"def __rmul__(self, count: {_INT}) -> Size: ...",
    "Function.forward": "@staticmethod\ndef forward(*args: Any, **kwargs: Any) -> Any: ...",
    "Function.setup_context": "@staticmethod\ndef setup_context(ctx: Any, inputs: Any, output: Any) -> Any: ...",
    "Function.backward": "@staticmethod\ndef backward(ctx: Any, *grad_outputs: Any) -> Any: ...",
    "Function.vjp": "@staticmethod\ndef vjp(ctx: Any, *grad_outputs: Any) -> Any: ...",
    "Function.jvp": "@staticmethod\ndef jvp(ctx: Any, *grad_inputs: Any) -> Any: ...",
    "Function.apply": "@classmethod\ndef apply(cls, *args: Any, **kwargs: Any) -> Any: ...",
    "FunctionCtx.save_for_backward": "def save_for_backward(self, *tensors: Tensor | None) -> None: ...",
    "FunctionCtx.saved_tensors": "@property\ndef saved_tensors(self) -> tuple[Tensor, ...]: ...",
    "pointwise": "def pointwise(function: Callable[..., Any]) -> Callable[..., Tensor]: ...",
    "copies.__enter__": "def __enter__(self) -> Log: ...",
    "forbid_copies.__enter__": "def __enter__(self) -> Self: ...",
    "Log.__getitem__": f"def __getitem__(self, k: {_INT}) -> Copy: ...",
    "Log.__iter__": "def __iter__(self) -> Iterator[Copy]: ...",
    "Log.bytes": f"@property\ndef bytes(self) -> {_INT}: ...",
    "Copy.__iter__": "def __iter__(self) -> Iterator[Any]: ...",
    "Copy.op": "op: str",
    "Copy.bytes": f"bytes: {_INT}",
    "Copy.shape": f"shape: tuple[{_INT}, ...]",
    "Copy.reason": "reason: str",
    "Copy.file": "file: str",
    "Copy.line": f"line: {_INT}",
}
for _name in "fork_rng set_detect_anomaly detect_anomaly saved_tensors_hooks set_checkpoint_early_stop".split():
    WHOLE[f"{_name}.__enter__"] = "def __enter__(self) -> Any: ..."
for _name in _OPERATORS:
    WHOLE[f"Tensor.__{_name}__"] = f"def __{_name}__(self, other: Tensor | Number) -> Tensor: ..."
    WHOLE[f"Tensor.__r{_name}__"] = f"def __r{_name}__(self, other: Number) -> Tensor: ..."
    WHOLE[f"Tensor.__i{_name}__"] = f"def __i{_name}__(self, other: Tensor | Number) -> Self: ..."
for _name in "lt le gt ge".split():
    WHOLE[f"Tensor.__{_name}__"] = f"def __{_name}__(self, other: Tensor | Number) -> Tensor: ..."
for _name in "neg pos invert abs".split():
    WHOLE[f"Tensor.__{_name}__"] = f"def __{_name}__(self) -> Tensor: ..."
for _name in "no_grad enable_grad inference_mode set_grad_enabled".split():
    # A decorator gives back what it decorates.
    argument = {"no_grad": "", "enable_grad": "", "set_grad_enabled": f"mode: {_BOOL}"}
    WHOLE[f"{_name}.__init__"] = f"def __init__(self{', ' if argument.get(_name, 'x') else ''}{argument.get(_name, f'mode: {_BOOL} = ...')}) -> None: ..."
    WHOLE[f"{_name}.__new__"] = ""
    WHOLE[f"{_name}.__enter__"] = "def __enter__(self) -> Any: ..."
    WHOLE[f"{_name}.__exit__"] = "def __exit__(self, *exc: object) -> None: ..."
    WHOLE[f"{_name}.__call__"] = "def __call__(self, function: _F) -> _F: ..."
    WHOLE[f"{_name}._again"] = ""

#: Text at the end of a module's stub.
EXTRA = {
    "rushlight._C": "from rushlight import Size as Size\n",
    "rushlight": "__version__: str\n",
}


def parameter(path, name):
    """The type of a parameter of the function at `path`."""
    for key in (f"{path}.{name}", f"{path.split('.')[-1]}.{name}", name):
        if key in PARAMETERS:
            return PARAMETERS[key]
    return "Any"


def result(path, name, module=""):
    """The type of what is at `path` of a module: of its result, if it is called."""
    for key in (f"{module}.{path}", path, name):
        if key in RESULTS:
            return RESULTS[key]
    return "Any" if name.startswith("__") else "Tensor" if path.startswith("Tensor.") or "." not in path else "Any"


def settable(value, path):
    """Whether programs may assign to an attribute."""
    return path in ("Tensor.grad", "Tensor.data", "Tensor.requires_grad")


def instance(value):
    """The type of a constant."""
    return type(value).__name__
