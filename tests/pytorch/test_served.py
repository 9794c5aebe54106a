"""Which module stands behind which: see test_hook.py for what programs find there."""

import importlib

import gradwright
from gradwright.pytorch import served


def test_no_module_is_served_twice():
    assert not served.SHARED & served.ELSEWHERE.keys()
    assert not (served.SHARED | served.ELSEWHERE.keys()) & served.SUBSTITUTES.keys()


def test_ours_are_at_the_top():
    assert set(gradwright.__all__) >= served.OURS


def test_the_version_comes_apart_as_pytorchs():
    release, _, local = served.VERSION.partition("+")
    assert tuple(map(int, release.split("."))) == (2, 13, 0)
    assert local == f"gradwright.{gradwright.__version__}"


def test_questions_of_what_traces_have_answers(torch):
    for module, name, arguments in (
        ("torch.fx.experimental.proxy_tensor", "get_proxy_mode", ()),
        ("torch._subclasses.fake_tensor", "is_fake", (1,)),
    ):
        theirs = getattr(importlib.import_module(module), name)
        assert served.SUBSTITUTES[module][name](*arguments) is theirs(*arguments)
