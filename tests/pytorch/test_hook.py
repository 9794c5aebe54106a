"""`import torch` on gradwright: what is there, and how it says what is not."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from types import ModuleType

import pytest

import gradwright
from gradwright.base.absent import Absent
from gradwright.pytorch import hook as torch_names
from gradwright.pytorch import served


@pytest.fixture
def hook(monkeypatch):
    """The import hook, in a process that has not imported PyTorch."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    torch_names.install()
    yield
    torch_names.uninstall()


def imported(statement: str) -> dict:
    """The names that an import statement binds."""
    names: dict = {}
    exec(statement, names)  # noqa: S102 - each kind of import statement is what is tested
    return names


def test_what_programs_say_to_the_compiler(hook):
    torch = imported("import torch._dynamo")["torch"]
    torch._dynamo.config.suppress_errors = True
    torch._dynamo.config.cache_size_limit = 64
    config = imported("from torch._dynamo import config")["config"]
    assert (config.suppress_errors, config.cache_size_limit, config.verbose) == (True, 64, False)
    assert torch._dynamo.optimize("inductor")(imported) is imported
    torch._dynamo.mark_dynamic(torch.ones(1), 0)
    torch._dynamo.graph_break()
    torch._dynamo.reset()
    assert "inductor" in torch._dynamo.list_backends()


def test_tensors_are_of_pytorchs_modules(hook):
    torch = imported("import torch")["torch"]
    x = torch.ones(2)
    assert f"{type(x)} {torch.nn.Parameter}" == "<class 'torch.Tensor'> <class 'torch.nn.parameter.Parameter'>"
    assert repr(x) == "tensor([1., 1.])"
    derived = type("Derived", (torch.Tensor,), {"__module__": "__main__"})
    assert isinstance(x.as_subclass(derived) + 1, derived)
    with pytest.raises(TypeError, match="must be tuple of Tensors, not Tensor"):
        torch.cat(x)
    torch_names.uninstall()
    assert gradwright.Tensor.__module__ == "gradwright.face.tensor"
    assert gradwright.nn.Parameter.__module__ == "gradwright.nn.parameter"


def test_what_programs_take_from_private_places(hook):
    names = imported("from torch.random import fork_rng\nfrom torch.optim.optimizer import ParamsT\n"
                     "from torch.nn.init import _calculate_fan_in_and_fan_out as fans\n"
                     "from torch.utils.hooks import RemovableHandle\nfrom torch.nn import Linear\n"
                     "from torch.nn.modules.module import _IncompatibleKeys\nfrom torch.functional import einsum\n"
                     "from torch.autograd.profiler import record_function\nfrom torch.utils.dlpack import from_dlpack\n"
                     "from torch.utils.data._utils.collate import default_collate\n")  # fmt: skip
    torch = imported("import torch")["torch"]
    assert torch.cuda._initialized is False
    assert torch._disable_dynamo(len) is len
    layer = names["Linear"](3, 2)
    assert names["fans"](layer.weight) == (3, 2)
    assert isinstance(layer.register_forward_hook(print), names["RemovableHandle"])
    assert isinstance(layer.load_state_dict(layer.state_dict()), names["_IncompatibleKeys"])
    assert names["default_collate"]([1, 2]).tolist() == [1, 2]


def test_out_of_memory_is_one_class(hook):
    torch = imported("import torch")["torch"]
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError


@pytest.mark.parametrize(("statement", "name", "value"), [
    ("import torch", "torch", "gradwright"),
    ("import torch as t", "t", "gradwright"),
    ("import torch.nn as nn", "nn", "gradwright.nn"),
    ("from torch import nn", "nn", "gradwright.nn"),
    ("from torch import autograd", "autograd", "gradwright.autograd"),
    ("import torch.autograd.gradcheck as g", "g", "gradwright.autograd:gradcheck"),
    ("from torch import Tensor", "Tensor", "gradwright:Tensor"),
    ("from torch import *", "unbind", "gradwright:unbind"),
    ("from torch.autograd import Function", "Function", "gradwright.autograd:Function"),
    ("from torch.autograd import Variable", "Variable", "gradwright.autograd:Variable"),
    ("from torch.autograd import gradcheck", "gradcheck", "gradwright.autograd:gradcheck"),
    ("from torch.autograd.function import Function", "Function", "gradwright.autograd:Function"),
    ("from torch.nn.modules import Module", "Module", "gradwright.nn:Module"),
    ("from torch.nn.modules.module import Module", "Module", "gradwright.nn:Module"),
    ("from torch.nn.modules.loss import _Loss", "_Loss", "gradwright.nn.modules.loss:Loss"),
    ("from torch.nn.modules.batchnorm import _BatchNorm", "_BatchNorm", "gradwright.nn.modules.norm:_BatchNorm"),
    ("from torch.nn.utils.rnn import pack_padded_sequence", "pack_padded_sequence",
     "gradwright.nn.utils.rnn:pack_padded_sequence"),
    ("from torch.nn.utils import clip_grad_norm_", "clip_grad_norm_", "gradwright.nn.utils:clip_grad_norm_"),
    ("from torch.nn import init", "init", "gradwright.nn.init"),
    ("from torch import optim", "optim", "gradwright.optim"),
    ("from torch.optim.adamw import AdamW", "AdamW", "gradwright.optim:AdamW"),
    ("from torch.optim.lr_scheduler import _LRScheduler", "_LRScheduler", "gradwright.optim.lr_scheduler:LRScheduler"),
    ("import torch.utils.data as data", "data", "gradwright.utils.data"),
    ("from torch.utils.data import Dataset", "Dataset", "gradwright.utils.data:Dataset"),
    ("from torch.utils.data.dataloader import default_collate", "default_collate",
     "gradwright.utils.data:default_collate"),
    ("from torch.utils._pytree import tree_map", "tree_map", "gradwright.utils._pytree:tree_map"),
    ("import torch.utils._pytree as pytree", "pytree", "gradwright.utils._pytree"),
    ("from torch.autograd.functional import jacobian", "jacobian", "gradwright.autograd.functional:jacobian"),
    ("from torch.distributions import Normal", "Normal", "gradwright.distributions:Normal"),
    ("from torch.distributions.normal import Normal", "Normal", "gradwright.distributions:Normal"),
    ("from torch.distributions import constraints", "constraints", "gradwright.distributions.constraints"),
    ("import torch.distributions as dist", "dist", "gradwright.distributions"),
    ("from torch.distributions.kl import register_kl", "register_kl", "gradwright.distributions:register_kl"),
    ("from torch.distributions.relaxed_bernoulli import LogitRelaxedBernoulli", "LogitRelaxedBernoulli",
     "gradwright.distributions.shares:LogitRelaxedBernoulli"),
    ("from torch.distributions.utils import _standard_normal", "_standard_normal",
     "gradwright.distributions.draws:standard_normal"),
    ("from torch.distributions.utils import _sum_rightmost", "_sum_rightmost",
     "gradwright.distributions.utils:sum_rightmost"),
    ("from torch.utils.cpp_extension import load_inline", "load_inline", "gradwright.utils.cpp_extension:load_inline"),
    ("from torch.utils.cpp_extension import CppExtension", "CppExtension",
     "gradwright.utils.cpp_extension:CppExtension"),
    ("from torch.autograd.gradcheck import GradcheckError", "GradcheckError", "gradwright:GradcheckError"),
])
@pytest.mark.usefixtures("hook")
def test_imports(statement, name, value):
    module, _, attribute = value.partition(":")
    wanted = importlib.import_module(module)
    found = imported(statement)[name]
    if attribute:
        assert inspect.unwrap(found) is inspect.unwrap(getattr(wanted, attribute))
    else:
        assert isinstance(found, ModuleType)
        assert found.__file__ == wanted.__file__
        assert found.__name__ == "torch" + module.removeprefix("gradwright")


@pytest.mark.usefixtures("hook")
def test_all_public_names_are_served():
    torch = importlib.import_module("torch")
    for name in set(gradwright.__all__) - served.OURS - served.MORE["torch"].keys():
        ours = getattr(gradwright, name)
        theirs = getattr(torch, name)
        assert isinstance(ours, ModuleType) or ours in (theirs, getattr(theirs, "__wrapped__", None))
    assert "sin" in dir(torch)


@pytest.mark.usefixtures("hook")
def test_importing_the_module_of_a_function_leaves_the_function():
    torch = importlib.import_module("torch")
    imported("from torch.autograd.gradcheck import gradgradcheck")
    assert torch.autograd.gradcheck is gradwright.autograd.gradcheck


@pytest.mark.parametrize("name", [
    "torch.frobnicate", "torch.nn.Frobnicate", "torch.autograd.function.Frobnicate", "torch.optim.Frobnicate",
    "torch.xp",
])
@pytest.mark.usefixtures("hook")
def test_what_is_in_no_torch_says_so_at_once(name):
    module, _, last = name.rpartition(".")
    message = rf"^PyTorch has no {re.escape(name)}, and neither has gradwright(\. Did you mean: '\w+'\?)?$"
    holder = importlib.import_module(module)
    assert not hasattr(holder, last)
    with pytest.raises(AttributeError, match=message):
        getattr(holder, last)
    with pytest.raises(ImportError, match=message):
        imported(f"from {module} import {last}")
    with pytest.raises(ModuleNotFoundError, match=message):
        imported(f"import {name}")


@pytest.mark.usefixtures("hook")
def test_a_module_that_is_called_names_the_class():
    with pytest.raises(TypeError, match=r"^torch\.optim\.adam is a module, which cannot be called: did you mean "
                                        r"torch\.optim\.Adam\?$"):  # fmt: skip
        importlib.import_module("torch.optim.adam")()


@pytest.mark.parametrize("name", [
    "torch.fbgemm_linear_quantize_weight", "torch.cuda.tunable", "torch.sparse.solve", "torch.onnx.export",
    "torch.ao.quantization", "torch.distributed.tensor", "torch.distributed.rpc.api", "torch._C._onnx",
])
@pytest.mark.usefixtures("hook")
def test_what_pytorch_has_and_gradwright_does_not_fails_at_the_use(name):
    module, _, last = name.rpartition(".")
    importlib.import_module("torch")
    for statement in (f"from {module} import {last} as x", f"import {module} as m; x = m.{last}"):
        x = imported(statement)["x"]
        assert isinstance(x, Absent)
        with pytest.raises(AttributeError, match="^gradwright has no " + name.replace(".", r"\.") + " yet"):
            x()
    # A question whether it is there is answered.
    found = imported(f"""if True:
        import {module} as m
        there = hasattr(m, {last!r}), getattr(m, {last!r}, None) is not None
        try:
            from {module} import {last}
        except ImportError:
            there += False,
        try:
            m.{last}
        except AttributeError:
            there += False,
        """)["there"]
    in_absent = isinstance(sys.modules.get(module), Absent) or module == "torch.distributed"
    assert in_absent or found == (False,) * 4


@pytest.mark.usefixtures("hook")
@pytest.mark.parametrize(("call", "mend"), [
    ("hub.load('a/b', 'c')", "gradwright fetches nothing"),
    ("hub.load_state_dict_from_url('u')", "gradwright fetches nothing"),
    ("distributed.init_process_group('gloo')", "processes compute together by gradwright.distributed"),
    ("distributed.all_reduce(1, op=torch.distributed.ReduceOp.SUM)", "processes compute together"),
])
def test_a_name_that_is_not_here_says_what_to_do(call, mend):
    name = call.partition("(")[0]
    for ask in (f"torch.{call}", f"getattr(torch.{name.partition('.')[0]}, {name.partition('.')[2]!r})"):
        with pytest.raises(AttributeError, match=rf"^gradwright has no torch\.{name} yet: {mend}"):
            imported(f"import torch\n{ask}")


@pytest.mark.usefixtures("hook")
def test_functions_say_where_they_are_found():
    torch = importlib.import_module("torch")
    for f in (torch.sin, torch.broadcast_tensors, torch.nn.functional.relu, torch.linalg.inv, torch.fft.fft):
        assert getattr(sys.modules[f.__module__], f.__qualname__) is f


@pytest.mark.usefixtures("hook")
def test_a_mention_in_a_function_or_a_class_fails_where_it_is_used():
    found = imported("""if True:
        import torch
        from torch.distributed.rpc import rpc_sync
        def f(x: torch.cuda.Stream | None = None) -> "torch.qint8":
            return torch.qint8
        class A(torch.fx.Transformer):
            kinds = (torch.Tensor, torch.cuda.CUDAGraph)
        """)
    assert isinstance(found["f"](), Absent)
    assert not isinstance(1, found["A"].kinds)
    assert isinstance(found["torch"].ones(2), found["A"].kinds)
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.fx\.Transformer yet"):
        found["A"]()
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.distributed\.rpc\.rpc_sync yet"):
        found["rpc_sync"]("worker")


@pytest.mark.parametrize(("wrong", "right"), [
    ("torch.sigmod", "sigmoid"), ("torch.nn.Conv2D", "Conv2d"), ("torch.nn.functional.cross_entrophy", "cross_entropy"),
    ("torch.optim.ADAM", "Adam"), ("torch.nn.functionals", "functional"),
])  # fmt: skip
@pytest.mark.usefixtures("hook")
def test_the_nearest_name_is_suggested(wrong, right):
    module, _, last = wrong.rpartition(".")
    for statement in (f"from {module} import {last}", f"import {wrong}"):
        with pytest.raises(ImportError, match=rf"neither has gradwright\. Did you mean: '{right}'\?$"):
            imported(statement)
    holder = importlib.import_module(module)
    with pytest.raises(AttributeError) as error:
        getattr(holder, last)
    assert error.value.name == last
    assert str(error.value).endswith(f"neither has gradwright. Did you mean: '{right}'?")
    assert error.value.obj is None  # of which Python would suggest the same once more


@pytest.mark.usefixtures("hook")
def test_other_modules_are_left_alone():
    with pytest.raises(ModuleNotFoundError, match="No module named 'torchfrobnicate'"):
        importlib.import_module("torchfrobnicate")


@pytest.mark.usefixtures("hook")
def test_what_programs_ask_first():
    torch = importlib.import_module("torch")
    assert torch.cuda.is_available() is False
    assert torch.cuda.device_count() == 0
    assert torch.backends.mps.is_available() is False
    assert torch.accelerator.is_available() is False
    assert torch.version.cuda is None
    assert torch.cuda.manual_seed_all(0) is None
    release, _, local = torch.__version__.partition("+")
    assert tuple(map(int, release.split("."))) >= (2, 13)
    assert local == f"gradwright.{gradwright.__version__}"


@pytest.mark.usefixtures("hook")
def test_variable_gives_a_tensor():
    torch = importlib.import_module("torch")
    variable = torch.autograd.Variable(torch.ones(2), requires_grad=False)
    assert type(variable) is torch.Tensor is gradwright.Tensor
    assert not variable.requires_grad
    assert torch.autograd.Variable(torch.ones(2), requires_grad=True).requires_grad


@pytest.mark.usefixtures("hook")
def test_uninstall_forgets_what_was_made():
    importlib.import_module("torch.autograd")
    torch_names.uninstall()
    assert not any(name.partition(".")[0] == "torch" for name in sys.modules)
    assert importlib.import_module("gradwright").Tensor is gradwright.Tensor


def test_pytorch_already_imported_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    before = sys.meta_path[:]
    with pytest.raises(RuntimeError, match=r"^PyTorch is already imported in this process \(from .*\): "):
        torch_names.install()
    assert sys.meta_path == before


@pytest.mark.usefixtures("hook")
def test_flags_of_an_absent_library_can_be_set():
    torch = importlib.import_module("torch")
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    assert not torch.backends.cudnn.is_available()


# ---- side by side with PyTorch --------------------------------------------------------------------------


def test_the_names_are_pytorchs(torch):
    invented = [name for name in gradwright.__all__ if not hasattr(torch, name)]
    assert set(invented) == served.OURS
    for module in (served.SHARED | served.ELSEWHERE.keys() | served.SUBSTITUTES.keys()):
        importlib.import_module(module)  # PyTorch's own here: it has them all


def test_modules_of_the_same_path_are_shared_or_differ_on_purpose(torch):
    different = {"torch.backends", "torch.distributed", "torch.ops", "torch.testing"}  # ours are other things
    both = set()
    for found in pkgutil.iter_modules(gradwright.__path__):
        if isinstance(getattr(torch, found.name, None), ModuleType):
            both.add(f"torch.{found.name}")
    assert both - served.SHARED <= different


def test_public_names_lie_where_pytorch_has_them(torch):
    for module in [m for m, home in served.ELSEWHERE.items() if home in ("gradwright.nn", "gradwright.optim")]:
        theirs = importlib.import_module(module)
        ours = torch_names._names(module)
        more = served.MORE.get(module, {})
        declared = {name for name in getattr(theirs, "__all__", []) if hasattr(gradwright.nn, name)}
        assert declared <= ours.keys() | more.keys(), module


def test_what_needs_an_extra_is_imported_when_it_is_asked_for():
    program = """if True:
        import sys
        from gradwright.pytorch import hook as torch_names
        torch_names.install()
        import torch
        print("setuptools" in sys.modules, "gradwright.utils.cpp_extension.packaging" in sys.modules)
        from torch import *
        print(conv2d is torch.conv2d, torch.utils.cpp_extension.CppExtension.__name__)
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True", "CppExtension"]


def test_distributions_are_loaded_when_they_are_asked_for():
    program = """if True:
        import sys
        from gradwright.pytorch import hook
        hook.install()
        import torch
        print("gradwright.distributions" in sys.modules)
        print(torch.distributions.Normal is torch.distributions.normal.Normal)
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_methods_that_tensors_do_not_have_say_so(hook, monkeypatch):
    x = gradwright.ones(2)
    assert not hasattr(x, "chalf")
    with pytest.raises(AttributeError, match=r"gradwright has no torch\.Tensor\.to_sparse_bsr yet: sparse tensors are"):
        x.to_sparse_bsr()
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nothing'"):
        x.nothing()
    torch_names.uninstall()
    assert "chalf" not in dir(gradwright.Tensor)
    torch_names.install()


def test_tensors_list_no_method_that_is_not_there():
    program = """if True:
        import gradwright as gw
        before = dir(gw.ones(2, 2))
        from gradwright.pytorch.hook import install, uninstall
        install()
        x = gw.ones(2, 2)
        print(not hasattr(x, "chalf"), [n for n in dir(x) if not hasattr(gw.Tensor, n)], dir(x) == before)
        x.chalf = 1
        print("chalf" in dir(x))
        uninstall()
        print(dir(gw.ones(2, 2)) == before, "__dir__" not in vars(gw.Tensor))
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "[]", "True", "True", "True", "True"]
