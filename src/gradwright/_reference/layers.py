"""Layers under their names at the top level."""

TEXTS = {
    "adaptive_max_pool1d": """\
Shape: (N, C, L) or (C, L) to two of (N, C, ``output_size``) or (C, ``output_size``).
>>> gw.adaptive_max_pool1d(gw.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
(tensor([[3., 5.]]), tensor([[1, 3]]))
""",
    "affine_grid_generator": """\
Shape: ``theta`` (N, 2, 3) and a size (N, C, H, W) to (N, H, W, 2); ``theta`` (N, 3, 4) and a size (N, C, D, H, W) to
(N, D, H, W, 3).
>>> gw.affine_grid_generator(gw.eye(2, 3)[None], (1, 1, 1, 2), False)
tensor([[[[-0.5000,  0.0000],
          [ 0.5000,  0.0000]]]])
""",
    "conv_tbc": """\
``pad`` zeros are put at both ends.
>>> gw.conv_tbc(gw.ones(3, 1, 1), gw.ones(2, 1, 1), gw.zeros(1)).flatten()
tensor([2., 2.])
""",
    "convolution": """\
The arguments are those of `nn.functional.conv2d` and `nn.functional.conv_transpose2d`.

Raises RuntimeError for a weight of another number of axes.
>>> gw.convolution(gw.ones(1, 1, 3), gw.ones(1, 1, 2), None, [1], [0], [1], False, [0], 1)
tensor([[[2., 2.]]])
""",
    "grid_sampler": """\
Also `grid_sampler_2d`, `grid_sampler_3d`.

Shape: (N, C, H, W) and (N, H', W', 2) to (N, C, H', W'), and with a dim more.
>>> gw.grid_sampler(gw.ones(1, 1, 2, 2), gw.zeros(1, 1, 1, 2), 0, 0, False)
tensor([[[[1.]]]])
""",
    "batch_norm": """\
Shape: (N, C, *), and the result has the same; the others (C,). In ``training`` the running statistics are written.
>>> x = gw.tensor([[1.0], [3.0]])
>>> gw.batch_norm(x, None, None, gw.zeros(1), gw.ones(1), False, 0.1, 0.0)
tensor([[1.],
        [3.]])
""",
    "instance_norm": """\
Shape: (N, C, *), and the result has the same; the others (C,).
>>> gw.instance_norm(gw.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 0.0)
tensor([[[-1.,  1.]]])
""",
    "layer_norm": """\
Shape: (*, *normalized_shape), and the result has the same; the others ``normalized_shape``. ``cudnn_enable`` is not
looked at.
>>> gw.layer_norm(gw.tensor([1.0, 3.0]), (2,), eps=0.0)
tensor([-1.,  1.])
""",
    "group_norm": """\
Shape: (N, C, *), and the result has the same; the others (C,). ``cudnn_enabled`` is not looked at.
>>> gw.group_norm(gw.tensor([[1.0, 3.0]]), 1, eps=0.0)
tensor([[-1.,  1.]])
""",
    "native_layer_norm": """\
>>> gw.native_layer_norm(gw.tensor([1.0, 3.0]), (2,), None, None, 0.0)
(tensor([-1.,  1.]), tensor([2.]), tensor([1.]))
""",
    "native_group_norm": """\
>>> gw.native_group_norm(gw.tensor([[[1.0, 3.0]]]), None, None, 1, 1, 2, 1, 0.0)
(tensor([[[-1.,  1.]]]), tensor([[2.]]), tensor([[1.]]))
""",
    "native_batch_norm": """\
>>> gw.native_batch_norm(gw.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0)
(tensor([[-1.],
        [ 1.]]), tensor([2.]), tensor([1.]))
""",
    "native_dropout": """\
``train=None`` counts as True.
>>> gw.native_dropout(gw.ones(3), 0.5, False)
(tensor([1., 1., 1.]), tensor([True, True, True]))
""",
    "feature_dropout": """\
Shape: (N, C, *), and the result has the same. Raises ValueError for a p outside [0, 1].
>>> gw.feature_dropout(gw.ones(1, 2), 1.0, True)
tensor([[0., 0.]])
""",
    "embedding": """\
Shape: ``weight`` (n, d), ``indices`` (*) of whole numbers; the result (*, d).
>>> gw.embedding(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), gw.tensor([1, 0]))
tensor([[3., 4.],
        [1., 2.]])
""",
    "kl_div": """\
>>> gw.kl_div(gw.tensor([-0.5, -1.0]), gw.tensor([0.5, 0.5]), 0)
tensor([-0.0966,  0.1534])
""",
    "binary_cross_entropy_with_logits": """\
>>> gw.binary_cross_entropy_with_logits(gw.tensor([0.0]), gw.tensor([1.0]))
tensor(0.6931)
""",
    "hinge_embedding_loss": """\
>>> gw.hinge_embedding_loss(gw.tensor([0.5]), gw.tensor([-1.0]))
tensor(0.5000)
""",
    "margin_ranking_loss": """\
>>> gw.margin_ranking_loss(gw.tensor([1.0]), gw.tensor([2.0]), gw.tensor([1.0]))
tensor(1.)
""",
    "cosine_embedding_loss": """\
>>> gw.cosine_embedding_loss(gw.tensor([[1.0, 0.0]]), gw.tensor([[0.0, 1.0]]), gw.tensor([1]))
tensor(1.)
""",
    "poisson_nll_loss": """\
>>> gw.poisson_nll_loss(gw.tensor([0.0]), gw.tensor([2.0]), True, False, 1e-8, 1)
tensor(1.)
""",
    "triplet_margin_loss": """\
>>> gw.triplet_margin_loss(gw.tensor([[0.0]]), gw.tensor([[2.0]]), gw.tensor([[1.0]]))
tensor(2.)
""",
    "ctc_loss": """\
>>> gw.ctc_loss(gw.zeros(3, 1, 2).log_softmax(2), gw.tensor([[1]]), (3,), (1,))
tensor(0.2877)
""",
    "relu_": """\
>>> gw.relu_(gw.tensor([-1.0, 2.0]))
tensor([0., 2.])
""",
    "celu_": """\
>>> gw.celu_(gw.tensor([-1.0, 2.0]))
tensor([-0.6321,  2.0000])
""",
    "selu_": """\
>>> gw.selu_(gw.tensor([-1.0, 2.0]))
tensor([-1.1113,  2.1014])
""",
    "rrelu_": """\
>>> gw.rrelu_(gw.tensor([-1.0, 2.0]))
tensor([-0.2292,  2.0000])
""",
    "threshold_": """\
>>> gw.threshold_(gw.tensor([-1.0, 2.0]), 0.0, 9.0)
tensor([9., 2.])
""",
    "dropout_": """\
>>> gw.dropout_(gw.ones(2), 1.0)
tensor([0., 0.])
""",
    "alpha_dropout_": """\
>>> gw.alpha_dropout_(gw.ones(2), 0.5, False)
tensor([1., 1.])
""",
    "feature_alpha_dropout_": """\
>>> gw.feature_alpha_dropout_(gw.ones(1, 2), 0.5, False)
tensor([[1., 1.]])
""",
    "feature_dropout_": """\
>>> gw.feature_dropout_(gw.ones(1, 2), 1.0, True)
tensor([[0., 0.]])
""",
    "max_pool1d_with_indices": """\
>>> gw.max_pool1d_with_indices(gw.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
(tensor([[3., 5.]]), tensor([[1, 3]]))
""",
}
