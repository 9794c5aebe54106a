"""Functions made of functions, under PyTorch's names (``torch.func``): derivatives, batches, modules without state."""

from gradwright.base.lazy import lazy
from gradwright.nn.per_sample import per_sample_gradients
from gradwright.nn.stateless import functional_call, replace_all_batch_norm_modules_, stack_module_state
from gradwright.transform.forward import jvp
from gradwright.transform.functionalize import debug_unwrap, functionalize
from gradwright.transform.jacobians import hessian, jacfwd, jacrev
from gradwright.transform.reverse import grad, grad_and_value, linearize, vjp
from gradwright.transform.sparse import sparse_hessian, sparse_jacobian
from gradwright.transform.sparsity import sparsity
from gradwright.transform.taylor import jet
from gradwright.transform.vmap import vmap

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jet",
    "jvp", "linearize", "per_sample_gradients", "replace_all_batch_norm_modules_", "sparse_hessian", "sparse_jacobian",
    "sparsity", "stack_module_state", "vjp", "vmap",
]  # fmt: skip

lazy(__name__)
