"""What a node has kept, with other arrays in its place for a while."""

from gradwright.function.saved import arrays, replace
from tests.functions import leaf, unnamed


def test_what_is_kept_is_replaced_and_put_back():
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        ctx.kept = x
        return x * 3

    x = leaf(1.0, 2.0)
    node = unnamed(forward).apply(x).grad_fn
    before = [*arrays(node)]
    assert [a.tolist() for a in before] == [[1.0, 2.0], [1.0, 2.0]]
    put_back = replace(node, lambda packed: (packed[0] * 2, [0], 0, None))
    assert node.saved_tensors[0].tolist() == [2.0, 4.0]
    assert node.kept.tolist() == [2.0, 4.0]
    put_back()
    assert all(a is b for a, b in zip(arrays(node), before, strict=True))
    assert node.saved_tensors[0] is x
