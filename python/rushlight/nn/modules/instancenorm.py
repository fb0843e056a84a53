"""Normalisation of each channel of each element of a batch (Ulyanov et al. 2016)."""

import warnings

from .. import functional as F
from .batchnorm import _LazyNormBase, _NormBase, _ranks

__all__ = """InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d
    LazyInstanceNorm3d""".split()


class _InstanceNorm(_NormBase):
    """Each channel of each element less its mean over its deviation."""

    #: Dimensions of an input without a batch.
    _alone = 0

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None, *,
        bias=True,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input):
        _ranks(self, input, self._alone, self._alone + 1)

    def _get_no_batch_dim(self):
        return self._alone

    def _handle_no_batch_input(self, input):
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _apply_instance_norm(self, input):
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        version = local_metadata.get("version")
        if version is None and not self.track_running_stats:
            # Version 1 kept statistics always.
            stale = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if stale:
                error_msgs.append(
                    f"{type(self).__name__} keeps no statistics (track_running_stats=False), but the state has "
                    f"{' and '.join(stale)} from an earlier version; delete them, or keep statistics"
                )
                for key in stale:
                    state_dict.pop(key)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def forward(self, input):
        self._check_input_dim(input)
        channels = input.shape[input.ndim - self._get_no_batch_dim()]
        if channels != self.num_features:
            if self.affine:
                raise ValueError(f"{type(self).__name__}: the input has {channels} channels; {self.num_features} are expected")
            warnings.warn(f"{type(self).__name__}: the input has {channels} channels, not {self.num_features}", stacklevel=2)
        if input.ndim == self._get_no_batch_dim():
            return self._handle_no_batch_input(input)
        return self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm):
    """``_InstanceNorm`` of [N, C, L] or [C, L]."""

    _alone = 2


class InstanceNorm2d(_InstanceNorm):
    """``_InstanceNorm`` of [N, C, H, W] or [C, H, W]."""

    _alone = 3


class InstanceNorm3d(_InstanceNorm):
    """``_InstanceNorm`` of [N, C, D, H, W] or [C, D, H, W]."""

    _alone = 4


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """``InstanceNorm1d`` whose ``num_features`` the first input decides."""

    cls_to_become, _alone = InstanceNorm1d, 2


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """``InstanceNorm2d`` whose ``num_features`` the first input decides."""

    cls_to_become, _alone = InstanceNorm2d, 3


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """``InstanceNorm3d`` whose ``num_features`` the first input decides."""

    cls_to_become, _alone = InstanceNorm3d, 4
