import numpy as np

import gradwright as gw
from gradwright.transform.transpose import transposed

A = gw.tensor(np.arange(6.0).reshape(2, 3))
V = gw.tensor([1.0, -2.0, 0.5], dtype=gw.float64)


def test_the_transpose_of_a_linear_function_is_its_jvp():
    out = gw.zeros(2, dtype=gw.float64)
    found = transposed(lambda w: [A.T @ w], out, [V])
    assert np.allclose(found.numpy(), (A @ V).numpy())
    assert not found.requires_grad


def test_of_several_outputs_those_that_do_not_move_stay():
    outs = [gw.zeros(2, dtype=gw.float64), gw.zeros(2), gw.zeros(2, dtype=gw.int64)]
    found = transposed(lambda ws: [A.T @ ws[0]], outs, [V])
    assert np.allclose(found[0].numpy(), (A @ V).numpy())
    assert [t.tolist() for t in found[1:]] == [[0.0, 0.0], [0, 0]]
    assert [t.dtype for t in found[1:]] == [gw.float32, gw.int64]
    assert [t.tolist() for t in transposed(lambda ws: [None], outs[:1], [V])] == [[0.0, 0.0]]


def test_it_is_recorded_where_operations_are():
    v = V.clone().requires_grad_()
    out = gw.zeros(2, dtype=gw.float64)
    transposed(lambda w: [A.T @ w], out, [v]).sum().backward()
    assert np.allclose(v.grad.numpy(), A.numpy().sum(0))
    with gw.no_grad():
        assert not transposed(lambda w: [A.T @ w], out, [v]).requires_grad


def test_no_history_of_the_cotangent_is_left():
    out, x = gw.zeros(2, dtype=gw.float64), gw.ones(2, dtype=gw.float64, requires_grad=True)
    linear_at_zero = lambda w: [A.T @ w.sinh()]
    found = transposed(linear_at_zero, out, [V])
    assert np.allclose(found.numpy(), (A @ V).numpy())
    transposed(lambda w: [A.T @ (w * x).sinh()], out, [V]).sum().backward()
    assert np.allclose(x.grad.numpy(), (A @ V).numpy())
