"""A norm of batches folded into the layer before it, for evaluation."""

import copy

from ..._C import _functions as _rows

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _evaluated(name, layer, bn):
    if layer.training or bn.training:
        raise AssertionError(f"{name}: both modules must be in evaluation mode; call eval() first")


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of a convolution that computes ``bn(conv(x))``, with the statistics that the norm keeps."""
    _evaluated("fuse_conv_bn_eval", conv, bn)
    fused = copy.deepcopy(conv)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("fuse_conv_bn_eval: the norm keeps no statistics")
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def _scaled(w, b, mean, var, eps, gain, shift, shape):
    """Weight and bias for ``(w x + b - mean) / sqrt(var + eps) * gain + shift``; the scale has `shape`."""
    from ..parameter import Parameter

    b = _rows["zeros"](mean.shape, dtype=mean.dtype) if b is None else b
    gain = _rows["ones"](mean.shape, dtype=mean.dtype) if gain is None else gain
    shift = _rows["zeros"](mean.shape, dtype=mean.dtype) if shift is None else shift
    scale = gain * (var + eps).rsqrt()
    weight = (w * scale.reshape(shape)).to(w.dtype)
    bias = ((b - mean) * scale + shift).to(b.dtype)
    return Parameter(weight.detach(), w.requires_grad), Parameter(bias.detach(), b.requires_grad)


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of that convolution, as parameters."""
    shape = [1] * conv_w.ndim
    shape[1 if transpose else 0] = -1
    return _scaled(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear, bn):
    """A copy of a linear layer that computes ``bn(linear(x))``, with the statistics that the norm keeps."""
    _evaluated("fuse_linear_bn_eval", linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            f"fuse_linear_bn_eval: a layer of {linear.out_features} features does not go with a norm of {bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("fuse_linear_bn_eval: the norm keeps no statistics")
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of that layer, as parameters."""
    return _scaled(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, (-1, 1))
