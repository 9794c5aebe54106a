"""Which module of gradwright stands behind which of PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradwright
from gradwright.engine.hooks import RemovableHandle
from gradwright.pytorch import flags
from gradwright.pytorch.version import TorchVersion

# PyTorch's modules that gradwright keeps at the same path with the same meaning, those still to be written included.
# Not among them: gradwright's own parts, some of which have the name of a different thing in PyTorch (`backends`).
SHARED = frozenset({
    "torch",
    "torch.autograd", "torch.autograd.forward_ad", "torch.autograd.function", "torch.autograd.functional",
    "torch.autograd.grad_mode", "torch.autograd.gradcheck", "torch.autograd.graph", "torch.autograd.variable",
    "torch.cuda", "torch.distributions", "torch.distributions.constraints", "torch.distributions.utils",
    "torch.distributions.transforms", "torch.distributions.kl", "torch.distributions.constraint_registry",
    "torch.fft", "torch.func", "torch.linalg", "torch.masked", "torch.random", "torch.signal", "torch.signal.windows",
    "torch.sparse", "torch.special",
    "torch.nn", "torch.nn.common_types", "torch.nn.functional", "torch.nn.grad", "torch.nn.init",
    "torch.nn.parallel", "torch.nn.parameter",
    "torch.nn.utils", "torch.nn.utils.clip_grad", "torch.nn.utils.convert_parameters", "torch.nn.utils.fusion",
    "torch.nn.utils.parametrizations", "torch.nn.utils.parametrize", "torch.nn.utils.prune", "torch.nn.utils.rnn",
    "torch.nn.utils.spectral_norm", "torch.nn.utils.weight_norm",
    "torch.optim", "torch.optim.lr_scheduler", "torch.optim.optimizer", "torch.optim.swa_utils",
    "torch.profiler", "torch.serialization", "torch.utils", "torch.utils._pytree",
    "torch.utils.checkpoint", "torch.utils.cpp_extension", "torch.utils.data",
    "torch.utils.data.dataloader", "torch.utils.data.dataset", "torch.utils.data.sampler",
})  # fmt: skip

# PyTorch's modules whose public names are also those of a larger one, which serves them here, or that lie elsewhere.
ELSEWHERE = {f"torch.nn.modules.{name}": "gradwright.nn" for name in (
    "activation", "adaptive", "batchnorm", "channelshuffle", "container", "conv", "distance", "dropout", "flatten",
    "fold", "instancenorm", "lazy", "linear", "loss", "module", "normalization", "padding", "pixelshuffle", "pooling",
    "rnn", "sparse", "transformer", "upsampling",
)} | {f"torch.optim.{name}": "gradwright.optim" for name in (
    "adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "lbfgs", "nadam", "radam", "rmsprop", "rprop", "sgd",
)} | {f"torch.distributions.{name}": "gradwright.distributions" for name in (
    "bernoulli", "beta", "binomial", "categorical", "cauchy", "chi2", "continuous_bernoulli", "dirichlet",
    "distribution", "exp_family", "exponential", "fishersnedecor", "gamma", "generalized_pareto", "geometric", "gumbel",
    "half_cauchy", "half_normal", "independent", "inverse_gamma", "kumaraswamy", "laplace", "lkj_cholesky",
    "log_normal", "logistic_normal", "lowrank_multivariate_normal", "mixture_same_family", "multinomial",
    "multivariate_normal", "negative_binomial", "normal", "one_hot_categorical", "pareto", "poisson", "studentT",
    "transformed_distribution", "uniform", "von_mises", "weibull", "wishart",
)} | {f"torch.distributions.relaxed_{name}": "gradwright.distributions.shares" for name in (
    "bernoulli", "categorical",
)} | {f"torch.{name}": f"gradwright.pytorch.{name}" for name in (
    "amp", "compiler", "fx", "futures", "hub", "jit", "library", "multiprocessing", "ops", "overrides",
    "testing", "types",
)} | {
    **{f"torch.fx.{name}": f"gradwright.pytorch.fx.{name}" for name in (
        "graph", "graph_module", "interpreter", "node", "proxy",
    )},
    "torch.fx._symbolic_trace": "gradwright.pytorch.fx.tracer",
    "torch.nn.utils.stateless": "gradwright.nn.stateless",
    "torch.nn.modules": "gradwright.nn", "torch.nn.modules.utils": "gradwright.nn.modules.utils",
    "torch._C": "gradwright.pytorch.inside",
    "torch._functorch": "gradwright.func", "torch._functorch.deprecated": "gradwright.func",
    "torch.utils._foreach_utils": "gradwright.pytorch.groups", "torch.nn.attention": "gradwright.pytorch.attention",
    "torch.autograd.profiler": "gradwright.pytorch.profiles",
    "torch._dynamo": "gradwright.pytorch.compiler", "torch._tensor": "gradwright",
    "torch.amp.autocast_mode": "gradwright.pytorch.amp", "torch.amp.grad_scaler": "gradwright.pytorch.amp",
    "torch.jit.annotations": "gradwright.pytorch.jit", "torch.cuda.amp": "gradwright.pytorch.cuda_amp",
    "torch.cuda.amp.grad_scaler": "gradwright.pytorch.cuda_amp",
    "torch.cuda.amp.autocast_mode": "gradwright.pytorch.cuda_amp",
    "torch.nn.parallel.data_parallel": "gradwright.nn.parallel", "torch.nn._reduction": "gradwright.nn.reductions",
    "torch._utils": "gradwright.pytorch.private", "torch._vmap_internals": "gradwright.pytorch.private",
    "torch.functional": "gradwright",
    "torch.utils.data._utils": "gradwright.utils.data", "torch.utils.data._utils.collate": "gradwright.utils.data",
    "torch._jit_internal": "gradwright.pytorch.private",
    "torch.torch_version": "gradwright.pytorch.version", "torch.utils.flop_counter": "gradwright.pytorch.flops",
    "torch.utils.benchmark": "gradwright.pytorch.benchmark",
}  # fmt: skip

# What else programs take from PyTorch's modules: hooks on all modules, private classes to derive from or to ask for.
MORE = {
    "torch._dynamo": {"OptimizedModule": "gradwright.pytorch.optimized:OptimizedModule"} | {
        name: f"gradwright.pytorch.compiler:{name}" for name in (
            "disallow_in_graph", "forbid_in_graph", "graph_break", "mark_dynamic", "mark_static", "maybe_mark_dynamic",
            "nonstrict_trace", "optimize",
        )},
    "torch.autograd": {
        "Variable": "gradwright.autograd.variable:Variable",
        "NestedIOFunction": "gradwright.function.function:NestedIOFunction",
        "SavedTensor": "gradwright.engine.saved_hooks:Raw",
        **{name: f"gradwright.pytorch.private:{name}" for name in (
            "_is_checkpoint_valid", "_unsafe_preserve_version_counter", "set_multithreading_enabled",
        )},
    },
    "torch.autograd.grad_mode": {
        "set_multithreading_enabled": "gradwright.pytorch.private:set_multithreading_enabled",
        "_unsafe_preserve_version_counter": "gradwright.pytorch.private:_unsafe_preserve_version_counter",
    },
    "torch.random": {"fork_rng": "gradwright.face.random.streams:fork_rng"},
    "torch.cuda": {
        "_initialized": "gradwright.face.cuda:_initialized",
        **{name: f"gradwright.pytorch.streams:{name}" for name in ("get_rng_state_all", "set_rng_state_all")},
    },
    "torch.profiler": {"kineto_available": "gradwright.pytorch.flags:no"},
    "torch.utils._pytree": {"_get_node_type": "gradwright.pytorch.private:_get_node_type"},
    "torch.distributions.constraints": {name: f"gradwright.distributions.constraints:{name}" for name in (
        "_Boolean", "_Cat", "_CorrCholesky", "_Dependent", "_DependentProperty", "_GreaterThan", "_GreaterThanEq",
        "_HalfOpenInterval", "_IndependentConstraint", "_IntegerGreaterThan", "_IntegerInterval", "_IntegerLessThan",
        "_Interval", "_LessThan", "_LowerCholesky", "_LowerTriangular", "_Multinomial", "_OneHot",
        "_PositiveDefinite", "_PositiveSemidefinite", "_Real", "_Simplex", "_Square", "_Stack", "_Symmetric",
    )},
    "torch.distributions.multivariate_normal": {
        "_batch_mahalanobis": "gradwright.distributions.multivariate:squared_distance",
        "_batch_mv": "gradwright.distributions.multivariate:product",
        "_precision_to_scale_tril": "gradwright.distributions.multivariate:factor_of_inverse",
    },
    "torch.distributions.utils": {
        "_standard_normal": "gradwright.distributions.draws:standard_normal",
        "_sum_rightmost": "gradwright.distributions.utils:sum_rightmost",
    },
    "torch": {
        **{name: f"gradwright.pytorch.networks:{name}" for name in (
            "embedding_bag", "embedding_renorm_", "gru", "lstm", "rnn_relu", "rnn_tanh",
        )},
        **{name: f"gradwright.pytorch.quantized:{name}" for name in (
            "fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine",
        )},
        **{name: f"gradwright.pytorch.seldom:{name}" for name in (
            "_assert", "_assert_async", "hash_tensor", "lobpcg", "native_norm", "view_as_complex_copy",
            "view_as_real_copy",
        )},
        **{name: f"gradwright.pytorch.storages:{name}" for name in (
            "BoolStorage", "ByteStorage", "CharStorage", "DoubleStorage", "FloatStorage", "IntStorage", "LongStorage",
            "ShortStorage", "from_file",
        )},
        "segment_reduce": "gradwright.pytorch.segments:segment_reduce",
        **{name: f"gradwright.pytorch.streams:{name}" for name in ("Event", "Stream")},
        **{name: f"gradwright.face.sparse.products:{name}" for name in (
            "dsmm", "hsmm", "hspmm", "saddmm", "smm", "spmm", "sspaddmm",
        )},
        "sparse_csr_tensor": "gradwright.face.sparse.rows:sparse_csr_tensor",
        "_disable_dynamo": "gradwright.pytorch.compiler:disable",
        "compile": "gradwright.pytorch.optimized:compile",
        "save": "gradwright.pytorch.saving:save",
        "DisableTorchFunction": "gradwright.face.methods.subclasses:DisableTorchFunction",
    },
    "torch.sparse": {"check_sparse_tensor_invariants": "gradwright.face.sparse.rows:check_sparse_tensor_invariants"},
    "torch.fft": {"Tensor": "gradwright.face.tensor:Tensor"},
    "torch.func": {"rearrange": "gradwright.pytorch.rearrange:rearrange"},
    "torch._C": {"_AutoDispatchBelowAutograd": "gradwright.pytorch.schemas:AutoDispatchBelowAutograd"},
    "torch.serialization": {"save": "gradwright.pytorch.saving:save"},
    "torch.library": {name: f"gradwright.pytorch.schemas:{name}" for name in ("Library", "define", "impl")},
    "torch.nn": {"factory_kwargs": "gradwright.nn.modules.utils:factory_kwargs"},
    "torch.nn.functional": {
        "conv_tbc": "gradwright.nn.functional.aten:conv_tbc",
        **{name: f"gradwright.pytorch.overrides:{name}" for name in (
            "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic",
        )},
    },
    "torch.nn.modules.batchnorm": {
        "_BatchNorm": "gradwright.nn.modules.norm:_BatchNorm", "_NormBase": "gradwright.nn.modules.norm:_Channels",
    },
    "torch.nn.modules.conv": {"_ConvNd": "gradwright.nn.modules.conv:_ConvNd"},
    "torch.nn.modules.loss": {
        "_Loss": "gradwright.nn.modules.loss:Loss",
        "_WeightedLoss": "gradwright.nn.modules.loss:_WeightedLoss",
    },
    "torch.nn.init": {"_calculate_fan_in_and_fan_out": "gradwright.nn.init:_fans"},
    "torch.nn.modules.module": {
        "_IncompatibleKeys": "gradwright.nn.state:_IncompatibleKeys",
        "_addindent": "gradwright.pytorch.private:_addindent",
    } | {
        name: f"gradwright.nn.hooks:{name}" for name in (
            "register_module_forward_hook", "register_module_forward_pre_hook", "register_module_full_backward_hook",
            "register_module_full_backward_pre_hook",
        )},
    "torch.optim.lbfgs": {
        name: f"gradwright.pytorch.optimizers:{name}" for name in ("_cubic_interpolate", "_strong_wolfe")
    },
    "torch.optim.lr_scheduler": {"_LRScheduler": "gradwright.optim.lr_scheduler:LRScheduler"},
    "torch.optim.optimizer": {"ParamsT": "gradwright.optim.optimizer:ParamsT"} | {
        name: f"gradwright.pytorch.optimizers:{name}" for name in (
            "_capturable_doc", "_default_to_fused_or_foreach", "_differentiable_doc", "_disable_dynamo_if_unsupported",
            "_foreach_doc", "_fused_doc", "_get_scalar_dtype", "_get_value", "_maximize_doc",
            "_params_doc", "_stack_if_compiling", "_to_scalar", "_use_grad_for_differentiable", "_view_as_real",
        )},
}  # fmt: skip

# At the top of gradwright, and not at the top of PyTorch.
OURS = frozenset({
    "AnomalyError", "CapturedTensor", "FileError", "GradcheckError", "GradientWarning", "Op", "audit", "check_pair",
    "custom_op", "kernels", "load_ipython_extension", "op", "value_and_grad", "xp",
})  # fmt: skip

# The PyTorch whose names these are, and what serves them. Comes apart as PyTorch's own "2.13.0+cpu" does.
VERSION = TorchVersion(f"2.13.0+gradwright.{gradwright.__version__}")

SUBSTITUTES: Mapping[str, Mapping[str, Any]] = flags.MODULES | {
    "torch._dynamo.config": {"automatic_dynamic_shapes": True, "cache_size_limit": 8, "recompile_limit": 8,
                             "suppress_errors": False, "verbose": False},  # any may be set, without effect
    "torch.fx.experimental": {}, "torch.fx.experimental.proxy_tensor": {"get_proxy_mode": flags.nothing},
    "torch._subclasses": {}, "torch._subclasses.fake_tensor": {"is_fake": flags.no},
    "torch.utils.dlpack": {"from_dlpack": gradwright.from_dlpack},
    "torch.utils.hooks": {"RemovableHandle": RemovableHandle},
    "torch.version": {"__version__": VERSION, "cuda": None, "hip": None, "debug": False, "git_version": "Unknown"},
}
