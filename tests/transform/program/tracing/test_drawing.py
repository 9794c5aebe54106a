"""Random numbers in compiled functions are those of the eager run."""

import gradwright as gw


def test_each_call_draws_what_an_eager_one_would():
    source = gw.Generator().manual_seed(3)

    def step(x):
        return x + gw.rand(3, generator=source) + gw.randn(3, generator=source)

    compiled, found = gw.compile(step), []
    for f in (step, compiled):
        source.manual_seed(3)
        found.append([f(gw.ones(3)).tolist() for _ in range(6)])
    assert found[0] == found[1]
    assert compiled.programs.entries
