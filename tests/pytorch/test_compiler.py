"""What stands around PyTorch's compiler: decorators that change nothing, and questions."""

import gradwright as gw
from gradwright.pytorch import compiler


def f(x):
    return x + 1


def test_decorators_give_back_what_they_decorate():
    assert compiler.disable(f) is f
    assert compiler.disable(recursive=False)(f) is f
    assert compiler.allow_in_graph(f) is compiler.assume_constant_result(f) is compiler.nonstrict_trace(f) is f
    assert compiler.optimize("inductor")(f) is f
    with compiler.set_stance("force_eager"):
        assert f(1) == 2


def test_nothing_is_being_compiled():
    assert not compiler.is_compiling()
    assert not compiler.is_dynamo_compiling()
    assert not compiler.is_exporting()
    compiler.reset()
    compiler.cudagraph_mark_step_begin()


def test_backends_are_those_that_compile_takes():
    assert "inductor" in compiler.list_backends()
    for backend in compiler.list_backends():
        assert gw.compile(f, backend=backend)(gw.ones(1)).item() == 2.0


def test_the_names_are_pytorchs(torch):
    assert [name for name in compiler.__all__ if not hasattr(torch.compiler, name)] == []
