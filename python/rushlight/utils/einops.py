"""Importing this tells einops what tensors are; importing rushlight after einops does it too.

Without it ``einops.array_api.rearrange`` and the others there work by the array API standard.
"""

from einops._backends import TorchBackend


class RushlightBackend(TorchBackend):
    """einops' own calls for torch, made to rushlight."""

    framework_name = "rushlight"

    def __init__(self):
        import rushlight

        self.torch = rushlight

    def layers(self):
        raise NotImplementedError("einops has no layers for rushlight; call rearrange and reduce in forward()")
