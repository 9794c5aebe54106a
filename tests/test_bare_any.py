"""What type checkers know of public names: where a signature says no more than `Any`, a reason stands here."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradwright
from docs.generator import names

SOURCE = Path(gradwright.__file__).parents[1]

REASONS = {
    "what stands for a name of PyTorch's surroundings takes what PyTorch's takes, and leaves it unread":
        "pytorch.amp. pytorch.compiler. pytorch.cuda_amp. pytorch.jit. pytorch.library. "
        "pytorch.overrides.handle_torch_function pytorch.multiprocessing. pytorch.flops. profiler.profile "
        "load_ipython_extension "
        "pytorch.types.Storage while_loop wait sym_ set_autocast_dtype set_default_tensor_type "
        "cuda.get_device_properties distributions.constraints. nn.SyncBatchNorm nn.DataParallel "
        "nn.parallel.data_parallel autograd.Variable TypedStorage UntypedStorage "
        "utils.checkpoint.create_selective_checkpoint_contexts utils.checkpoint.SelectiveCheckpointContext",
    "derivatives as other libraries take them: functions of arrays that return arrays, matrices or operators":
        "check_pair testing.assert_derivatives verify.pairs.",
    "an array namespace, of whichever library":
        "testing.check_portable",
    "what a tensor is made of: numbers, lists of them to any depth, arrays of any library":
        "tensor as_tensor asarray Tensor.new_tensor from_dlpack frombuffer xp.asarray testing.assert_allclose "
        "sparse_coo_tensor",
    "nested data of the user's":
        "load pytorch.fx. distributed. utils.data.default_ utils.data.dataset. nn.ParameterDict",
    "containers of tensors to any depth, as the user's function takes and returns them":
        "func. vmap autograd.functional.jacobian "
        "utils.checkpoint.checkpoint_sequential autograd.why_none viz.explore viz.plot_jacobian",
    "a function, a Function, an operation, or a compiled step":
        "verify.diagnosis.Examination check.battery.examine custom_op",
    "the record's fields hold tensors, arrays or numbers, as the examined function has them; users read them":
        "autograd.Diagnosis verify.diagnosis.Block "
        "autograd.forward_ad.UnpackedDualTensor autograd.graph.GradientEdge "
        "check.audit.Audit profiler.Event nn.utils.rnn.PackedSequence",
    "of a library that may be missing: Matplotlib, graphviz, setuptools, a module built from C++":
        "viz.make_dot viz.plot_ utils.cpp_extension.",
    "the result's class is told by the value of an argument":
        "Tensor.type sparse.mm sparse.sum",
    "a list of parts, a class or its name":
        "nn.utils.prune. nn.LinearCrossEntropyLoss nn.functional.linear_cross_entropy",
    "the module is hidden behind its function of the same name":
        "nn.utils.spectral_norm. nn.utils.weight_norm.",
}  # fmt: skip
"""By what is said: names, or, with a dot or an underscore at the end, how names begin."""


def public() -> list[str]:
    """All public functions and classes, under their first name, and the methods of tensors."""
    found = {name.path for name in names.first_of_each(names.names()).values() if callable(name.value)}
    methods = {f"gradwright.Tensor.{name}" for name in dir(gradwright.Tensor)
               if name[0] != "_" and callable(getattr(gradwright.Tensor, name))}  # fmt: skip
    return sorted(found | methods)


def calls(text: str) -> Iterator[tuple[str, str]]:
    """The parameters and the result of each signature in what mypy prints, one for each overload."""
    for start in re.finditer(r'(?:^|Overload\(|, )(?=def )', text):
        rest = re.sub(r"^def \[(?:[^][]|\[[^][]*\])*\] ", "def ", text[start.end():])
        depth, opened = 0, rest.index("(")
        at = opened
        while depth := depth + (rest[at] in "([") - (rest[at] in ")]"):
            at += 1
        yield rest[opened + 1:at], rest[at + 1:]
        if not text.startswith("Overload("):
            return


def outermost(parameters: str) -> str:
    """The parameters without what stands in brackets."""
    while (shorter := re.sub(r"\([^()]*\)|\[[^][]*\]", "", parameters)) != parameters:
        parameters = shorter
    return parameters


def is_bare(text: str) -> bool:
    """Whether a parameter or the result is `Any`, and no more; ``*args`` and ``**kwargs`` may be."""
    if text == "Any":
        return True
    return any(
        re.match(r" -> Any\b(?! \|)", result)
        or re.search(r"(?:^|, )(?:(?!self:)\w+: )?Any(?: =)?(?=,|$)", outermost(taken))
        for taken, result in calls(text)
    )


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The public names that mypy knows too little of, where it reads the package as a user's program does."""
    where = tmp_path_factory.mktemp("revealed")
    program, paths = where / "program.py", public()
    namespaces = sorted({path.rpartition(".")[0] for path in paths} - {"gradwright.Tensor"})
    lines = [f"import {namespace}" for namespace in namespaces] + [f"reveal_type({path})" for path in paths]
    program.write_text("\n".join(lines))
    said = subprocess.run([sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", where, program],
                          capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(SOURCE)})  # fmt: skip
    types = {int(m[1]): m[2] for m in re.finditer(r':(\d+): note: Revealed type is "(.*)"', said.stdout)}
    assert len(types) == len(paths), said.stdout[-2000:]
    return {path for line, path in enumerate(paths, len(namespaces) + 1) if is_bare(types[line])}


def has(reason: str, path: str) -> bool:
    return any(path.removeprefix("gradwright.") == name or (name[-1] in "._" and path.startswith(f"gradwright.{name}"))
               for name in reason.split())  # fmt: skip


def test_there_is_a_reason_for_each(bare: set[str]) -> None:
    assert {path for path in bare if not any(has(names, path) for names in REASONS.values())} == set()


def test_no_reason_stands_for_nothing(bare: set[str]) -> None:
    listed = {name for names in REASONS.values() for name in names.split()}
    assert {name for name in listed if not any(has(name, path) for path in bare)} == set()


@pytest.mark.parametrize("text", [
    "Any", "def (x: Any) -> int", "def (x: int, y: Any =) -> int", "def (x: int) -> Any", "def (Any) -> int",
    "Overload(def (x: int) -> int, def (x: str, y: Any) -> int)", "def [P] (f: def (*P.args) -> int) -> Any",
])  # fmt: skip
def test_bare_ones_are_found(text: str) -> None:
    assert is_bare(text)


@pytest.mark.parametrize("text", [
    "def (x: int, *args: Any, **kwargs: Any) -> int", "def (f: def (*Any, **Any) -> Any) -> int",
    "def (x: list[Any]) -> dict[str, Any]", "def [F <: def (*Any, **Any) -> Any] (fn: F) -> F",
    "Overload(def (x: int) -> int, def (x: def (Any) -> Any) -> str)", "def () -> def (Any) -> Any",
])  # fmt: skip
def test_others_are_not(text: str) -> None:
    assert not is_bare(text)
