"""Weights of convolutions in another order of memory."""


def _convert(module, memory_format, names):
    from .. import modules

    if isinstance(module, tuple(getattr(modules, name) for name in names)):
        module.weight.data = module.weight.detach().clone().contiguous(memory_format=memory_format)
    for child in module.children():
        _convert(child, memory_format, names)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """The module, where the weights of ``Conv2d`` and ``ConvTranspose2d`` are now in this order."""
    return _convert(module, memory_format, ("Conv2d", "ConvTranspose2d"))


def convert_conv3d_weight_memory_format(module, memory_format):
    """The module, where the weights of ``Conv3d`` and ``ConvTranspose3d`` are now in this order."""
    return _convert(module, memory_format, ("Conv3d", "ConvTranspose3d"))
