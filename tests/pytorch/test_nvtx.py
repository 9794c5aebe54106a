"""Marks for profilers: what is marked runs."""

from gradwright.pytorch import nvtx


def test_what_is_marked_runs(torch):
    @nvtx.range("{} times", 2)
    def twice(x):
        with nvtx.range("inside"):
            nvtx.mark("here")
            return 2 * x

    assert nvtx.range_push("a") == nvtx.range_pop() == 0
    nvtx.range_end(nvtx.range_start("b"))
    assert twice(3) == 6
    assert set(nvtx.__all__) == set(torch.cuda.nvtx.__all__)
