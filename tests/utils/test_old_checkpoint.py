"""What programs that write their own checkpointing take from PyTorch's."""

import pytest

import gradwright as gw
from gradwright.utils import checkpoint as c


def test_there_are_no_states_of_devices(torch):
    from torch.utils import checkpoint as theirs

    assert c.get_device_states(gw.ones(1)) == theirs.get_device_states(torch.ones(1)) == ([], [])
    c.set_device_states(*c.get_device_states())
    with pytest.raises(RuntimeError, match="random numbers are drawn on the CPU"):
        c.set_device_states([0], [None])
    assert [p.name for p in c.CheckpointPolicy] == [p.name for p in theirs.CheckpointPolicy]


def test_detached():
    x = gw.ones(2, requires_grad=True) * 2
    a, b, n = c.detach_variable((x, gw.ones(1), 3))
    assert a.is_leaf
    assert (a.requires_grad, b.requires_grad, n) == (True, False, 3)
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        c.detach_variable([x])


def test_what_is_chosen_is_computed_again_to_the_same_numbers():
    from functools import partial

    policy = partial(c.create_selective_checkpoint_contexts, lambda ctx, op, *args: c.CheckpointPolicy.MUST_SAVE)
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    y = c.checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False, context_fn=policy)
    y.sum().backward()
    assert gw.allclose(x.grad, (x.sin().exp() * x.cos()).detach())
    with pytest.raises(TypeError, match="must be either a function or a list of ops"):
        c.create_selective_checkpoint_contexts(3)
