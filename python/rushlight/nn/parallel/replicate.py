"""Copies of a module for several devices."""

__all__ = ["replicate"]


def replicate(network, devices, detach=False):
    """One copy for each device, whose parameters are views of the module's (detached ones if ``detach``)."""
    copies = []
    for device in devices:
        twins = {}
        for module in network.modules():
            twins[module] = module._replicate_for_data_parallel()
        for module, twin in twins.items():
            for name, child in module._modules.items():
                twin._modules[name] = None if child is None else twins[child]
            for name, parameter in module._parameters.items():
                held = None if parameter is None else (parameter.detach() if detach else parameter).to(device)
                # No parameter of the copy: gradients belong to the module's.
                twin.__dict__[name] = held if held is None or held is not parameter else parameter.view_as(parameter)
            for name, buffer in module._buffers.items():
                twin._buffers[name] = None if buffer is None else buffer.to(device)
        copies.append(twins[network])
    return copies
