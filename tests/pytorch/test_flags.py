"""Flags and questions about devices and libraries that are not there."""

import importlib

import pytest

from gradwright.pytorch import flags


@pytest.mark.parametrize("module", sorted(flags.MODULES))
def test_there_is_no_such_thing(module):
    names = flags.MODULES[module]
    for question in ("is_available", "is_built", "is_in_onnx_export"):
        if question in names:
            assert names[question]() is (module == "torch.cpu")
    if "device_count" in names:
        assert names["device_count"]() == (module == "torch.cpu")


def test_what_is_marked_for_profilers_runs():
    nvtx = flags.MODULES["torch.cuda.nvtx"]

    @nvtx["range"]("{} times", 2)
    def twice(x):
        with nvtx["range"]("inside"):
            nvtx["mark"]("here")
            return 2 * x

    assert nvtx["range_push"]("a") == nvtx["range_pop"]() == 0
    nvtx["range_end"](nvtx["range_start"]("b"))
    assert twice(3) == 6


def test_contexts_and_settings_change_nothing():
    cuda = flags.MODULES["torch.backends.cuda"]
    with cuda["sdp_kernel"](enable_flash=False):
        assert cuda["enable_flash_sdp"](True) is None
        assert cuda["flash_sdp_enabled"]() is False
    cuda["matmul"].allow_tf32 = True
    with flags.MODULES["torch.backends.cudnn"]["flags"](enabled=False):
        pass


def test_the_names_are_pytorchs(torch):
    invented = []
    for module, names in flags.MODULES.items():
        theirs = importlib.import_module(module)
        invented += [f"{module}.{name}" for name in names if not hasattr(theirs, name)]
    assert invented == []
