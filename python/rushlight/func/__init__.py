"""Functions of functions: gradients, products with Jacobians, Jacobians, maps over batches."""

from ._derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from ._modules import functional_call, functionalize, replace_all_batch_norm_modules_, stack_module_state
from ._vmap import vmap

__all__ = """functional_call functionalize grad grad_and_value hessian jacfwd jacrev jvp linearize
    replace_all_batch_norm_modules_ stack_module_state vjp vmap""".split()
