"""Every public import path there has been stays one: the names of each module, wherever their code lies now."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

PATHS = {
    "gradwright.autograd": "AnomalyError Diagnosis Function GradcheckError Node Variable WhyNone backward custom_op "
    "detect_anomaly diagnose enable_grad grad gradcheck gradgradcheck graph inference_mode "
    "is_anomaly_check_nan_enabled is_anomaly_enabled no_grad once_differentiable pushforward set_detect_anomaly "
    "set_grad_enabled strict surrogate why_none",
    "gradwright.autograd.anomaly": "detect_anomaly is_anomaly_check_nan_enabled is_anomaly_enabled "
    "set_anomaly_enabled set_detect_anomaly",
    "gradwright.autograd.anomaly_mode": "detect_anomaly set_detect_anomaly",
    "gradwright.autograd.custom": "CustomOp custom_op",
    "gradwright.autograd.diagnosis": "Block Diagnosis Entry Examination Hypothesis Verdict diagnose",
    "gradwright.autograd.forward_ad": "UnpackedDualTensor dual_level make_dual unpack_dual",
    "gradwright.autograd.function": "BackwardCFunction Function FunctionCtx FunctionMeta InplaceFunction "
    "NestedIOFunction once_differentiable",
    "gradwright.autograd.functional": "hessian hvp jacobian jvp value_and_grad vhp vjp",
    "gradwright.autograd.grad_mode": "enable_grad inference_mode is_grad_enabled is_inference_mode_enabled no_grad "
    "set_grad_enabled",
    "gradwright.autograd.gradcheck": "GradcheckError gradcheck gradgradcheck",
    "gradwright.autograd.graph": "GradientEdge Node allow_mutation_on_saved_tensors disable_saved_tensors_hooks "
    "get_gradient_edge increment_version register_multi_grad_hook save_on_cpu saved_tensors_hooks",
    "gradwright.autograd.hooks": "RemovableHandle",
    "gradwright.autograd.node": "AccumulateGrad Node",
    "gradwright.autograd.public": "Variable backward grad",
    "gradwright.autograd.pushforward": "pushforward",
    "gradwright.autograd.saved": "allow_mutation_on_saved_tensors disable_saved_tensors_hooks save_on_cpu "
    "saved_tensors_hooks",
    "gradwright.autograd.strict": "is_strict strict",
    "gradwright.autograd.surrogate": "surrogate",
    "gradwright.autograd.variable": "Variable",
    "gradwright.autograd.why": "WhyNone why_none",
    "gradwright.backends": "namespace register",
    "gradwright.check": "check samples",
    "gradwright.fft": "fft ifft",
    "gradwright.linalg": "cholesky solve",
    "gradwright.masked": "mean softmax",
    "gradwright.nn": "Conv2d Linear Module Sequential",
    "gradwright.nn.functional": "conv2d cross_entropy linear",
    "gradwright.nn.init": "kaiming_uniform_ xavier_normal_",
    "gradwright.nn.modules": "",
    "gradwright.nn.parameter": "Buffer Parameter UninitializedParameter",
    "gradwright.nn.utils": "clip_grad_norm_ parameters_to_vector",
    "gradwright.nn.utils.clip_grad": "clip_grad_norm_ clip_grad_value_",
    "gradwright.nn.utils.parametrizations": "orthogonal weight_norm",
    "gradwright.nn.utils.parametrize": "register_parametrization",
    "gradwright.nn.utils.rnn": "PackedSequence pack_padded_sequence",
    "gradwright.op": "A Op Sample op",
    "gradwright.optim": "Adam LBFGS SGD",
    "gradwright.optim.lr_scheduler": "LRScheduler StepLR",
    "gradwright.optim.optimizer": "Optimizer",
    "gradwright.profiler": "Event ProfilerActivity Row Rows profile record_function",
    "gradwright.random": "get_rng_state manual_seed",
    "gradwright.serialization": "FileError load save",
    "gradwright.signal.windows": "hann",
    "gradwright.special": "erf expit",
    "gradwright.testing": "check_derivatives check_passes check_portable draw",
    "gradwright.utils._pytree": "TreeSpec register_pytree_node tree_flatten tree_map tree_unflatten",
    "gradwright.utils.checkpoint": "checkpoint checkpoint_sequential",
    "gradwright.utils.cpp_extension": "load load_inline",
    "gradwright.utils.data": "DataLoader Dataset TensorDataset",
    "gradwright.viz": "explore graph make_dot trace",
    "gradwright.xp": "asarray exp sum",
}


@pytest.mark.parametrize("path", PATHS)
def test_the_names_are_there(path: str) -> None:
    module = sys.modules.get(path) or importlib.import_module(path)
    assert [name for name in PATHS[path].split() if not hasattr(module, name)] == []


def test_no_module_hides_a_name_of_its_package() -> None:
    """`gradwright.autograd.strict` is the context manager, whoever imports the module of that name."""
    program = (
        "import importlib, gradwright.autograd as autograd\n"
        f"for path in {[p for p in PATHS if p.startswith('gradwright.autograd.')]}: importlib.import_module(path)\n"
        "print(*[type(getattr(autograd, n)).__name__ for n in autograd.__all__])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split().count("module") == 3, done.stdout  # forward_ad, functional and graph
