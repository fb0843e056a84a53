"""Normalisation over a batch (Ioffe and Szegedy 2015)."""

from ... import _C
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = "BatchNorm1d LazyBatchNorm1d BatchNorm2d LazyBatchNorm2d BatchNorm3d LazyBatchNorm3d SyncBatchNorm".split()

_rows = _C._functions


class _NormBase(Module):
    """What norms of batches and of instances have in common: a scale, a shift, and statistics that are kept."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
        bias=True,
    ):  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        like = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(_rows["empty"](num_features, **like)) if wanted else None)
        kept = track_running_stats
        self.register_buffer("running_mean", _rows["zeros"](num_features, **like) if kept else None)
        self.register_buffer("running_var", _rows["ones"](num_features, **like) if kept else None)
        count = _rows["zeros"]((), dtype=_C.int64, device=device) if kept else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self):
        """Mean 0, variance 1, no batches."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Statistics, scale 1 and shift 0 again."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError(f"{type(self).__name__}: does not say which inputs it takes")

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        version = local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats:
            # Version 1 did not count batches.
            count = self.num_batches_tracked
            if count is None or count.is_meta:
                count = _rows["zeros"]((), dtype=_C.int64)
            state_dict.setdefault(prefix + "num_batches_tracked", count)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class _BatchNorm(_NormBase):
    """Each channel less its mean over its deviation: the batch's while training, else those kept."""

    def forward(self, input):
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                # The plain mean over all batches.
                factor = 1.0 / float(self.num_batches_tracked)
        mean, var = self.running_mean, self.running_var
        batch = self.training or mean is None and var is None
        if self.training and not self.track_running_stats:
            mean = var = None
        return F.batch_norm(input, mean, var, self.weight, self.bias, batch, factor, self.eps)


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """What lazy norms have in common."""

    def __init__(
        self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True
    ):
        # Nothing has a shape as yet, so nothing is affine or kept.
        super().__init__(0, eps, momentum, False, False, device=device, dtype=dtype, bias=bias)
        self.affine, self.track_running_stats = affine, track_running_stats
        like = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**like)
            if bias:
                self.bias = UninitializedParameter(**like)
        if track_running_stats:
            self.running_mean, self.running_var = UninitializedBuffer(**like), UninitializedBuffer(**like)
            self.num_batches_tracked = _rows["zeros"]((), dtype=_C.int64, device=device)

    def reset_parameters(self):
        """Statistics, scale and shift again, once there is a shape."""
        if self.num_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Takes the number of channels from the first input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            held = [self.weight, self.bias] if self.affine else []
            held += [self.running_mean, self.running_var] if self.track_running_stats else []
            for tensor in held:
                if tensor is not None:
                    tensor.materialize((self.num_features,))
            self.reset_parameters()
        elif self.num_features == 0:
            # All was loaded, and has a shape already.
            held = self.weight if self.affine else self.running_mean
            self.num_features = input.shape[1] if held is None else held.shape[0]


def _ranks(module, input, *ranks):
    if input.ndim not in ranks:
        raise ValueError(f"{type(module).__name__}: takes {' or '.join(map(str, ranks))} dimensions, not {input.ndim}")


class BatchNorm1d(_BatchNorm):
    """``_BatchNorm`` of [N, C] or [N, C, L]."""

    def _check_input_dim(self, input):
        _ranks(self, input, 2, 3)


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """``BatchNorm1d`` whose ``num_features`` the first input decides."""

    cls_to_become = BatchNorm1d

    def _check_input_dim(self, input):
        _ranks(self, input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """``_BatchNorm`` of [N, C, H, W]."""

    def _check_input_dim(self, input):
        _ranks(self, input, 4)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """``BatchNorm2d`` whose ``num_features`` the first input decides."""

    cls_to_become = BatchNorm2d

    def _check_input_dim(self, input):
        _ranks(self, input, 4)


class BatchNorm3d(_BatchNorm):
    """``_BatchNorm`` of [N, C, D, H, W]."""

    def _check_input_dim(self, input):
        _ranks(self, input, 5)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """``BatchNorm3d`` whose ``num_features`` the first input decides."""

    cls_to_become = BatchNorm3d

    def _check_input_dim(self, input):
        _ranks(self, input, 5)


class SyncBatchNorm(_BatchNorm):
    """``_BatchNorm`` of [N, C, *]. There is one process, so there is nobody to share statistics with."""

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
        device=None, dtype=None, *, bias=True,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.ndim < 2:
            raise ValueError(f"SyncBatchNorm: takes at least 2 dimensions, not {input.ndim}")

    def _check_non_zero_input_channels(self, input):
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm: the input has no channels")

    def forward(self, input):
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        return super().forward(input)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with every norm of batches inside replaced by one of these, of the same state."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group,
                bias=module.bias is not None,
            )  # fmt: skip
            made.weight, made.bias = module.weight, module.bias
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked, made.training = module.num_batches_tracked, module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
