"""Names that surround PyTorch's tensors: settings, autocast, questions, symbols, older functions."""

TEXTS = {
    "are_deterministic_algorithms_enabled": """\
>>> gw.are_deterministic_algorithms_enabled()
False
""",
    "use_deterministic_algorithms": """\
>>> gw.use_deterministic_algorithms(True)
>>> gw.are_deterministic_algorithms_enabled()
True
>>> gw.use_deterministic_algorithms(False)
""",
    "is_deterministic_algorithms_warn_only_enabled": """\
>>> gw.is_deterministic_algorithms_warn_only_enabled()
False
""",
    "get_deterministic_debug_mode": """\
>>> gw.get_deterministic_debug_mode()
0
""",
    "set_deterministic_debug_mode": """\
Raises RuntimeError for another mode.
>>> gw.set_deterministic_debug_mode("warn")
>>> gw.get_deterministic_debug_mode()
1
>>> gw.set_deterministic_debug_mode("default")
""",
    "get_float32_matmul_precision": """\
>>> gw.get_float32_matmul_precision()
'highest'
""",
    "set_float32_matmul_precision": """\
>>> gw.set_float32_matmul_precision("highest")
""",
    "get_num_threads": """\
>>> gw.get_num_threads() >= 1
True
""",
    "set_num_threads": """\
>>> before = gw.get_num_threads()
>>> gw.set_num_threads(2)
>>> gw.get_num_threads()
2
>>> gw.set_num_threads(before)
""",
    "get_num_interop_threads": """\
>>> gw.get_num_interop_threads() >= 1
True
""",
    "set_num_interop_threads": """\
>>> before = gw.get_num_interop_threads()
>>> gw.set_num_interop_threads(2)
>>> gw.get_num_interop_threads()
2
>>> gw.set_num_interop_threads(before)
""",
    "is_warn_always_enabled": """\
>>> gw.is_warn_always_enabled()
False
""",
    "set_warn_always": """\
>>> gw.set_warn_always(True)
>>> gw.is_warn_always_enabled()
True
>>> gw.set_warn_always(False)
""",
    "set_default_tensor_type": """\
>>> before = gw.get_default_dtype()
>>> gw.set_default_tensor_type("torch.DoubleTensor")
>>> gw.tensor(1.0).dtype
torch.float64
>>> gw.set_default_dtype(before)
""",
    "set_flush_denormal": """\
>>> gw.set_flush_denormal(True)
False
""",
    "autocast_decrement_nesting": """\
>>> gw.autocast_decrement_nesting()
0
""",
    "autocast_increment_nesting": """\
>>> gw.autocast_increment_nesting()
1
""",
    "clear_autocast_cache": """\
>>> gw.clear_autocast_cache()
""",
    "get_autocast_dtype": """\
>>> gw.get_autocast_dtype("cpu")
torch.bfloat16
""",
    "is_autocast_enabled": """\
Also `is_autocast_cpu_enabled`, `is_autocast_cache_enabled`.
>>> gw.is_autocast_enabled()
False
""",
    "set_autocast_cache_enabled": """\
>>> gw.set_autocast_cache_enabled(True)
""",
    "set_autocast_enabled": """\
Also `set_autocast_cpu_enabled`.
>>> gw.set_autocast_enabled("cpu", False)
""",
    "set_autocast_dtype": """\
>>> gw.set_autocast_dtype("cpu", gw.bfloat16)
>>> gw.get_autocast_dtype("cpu")
torch.bfloat16
""",
    "compiled_with_cxx11_abi": """\
>>> gw.compiled_with_cxx11_abi()
True
""",
    "frombuffer": """\
>>> gw.frombuffer(bytearray([1, 2, 3]), dtype=gw.uint8)
tensor([1, 2, 3], dtype=torch.uint8)
""",
    "get_device": """\
>>> gw.get_device(gw.ones(2))
-1
""",
    "is_conj": """\
>>> gw.is_conj(gw.conj(gw.tensor([1j])))
False
""",
    "is_distributed": """\
>>> gw.is_distributed(gw.ones(2))
False
""",
    "is_inference": """\
>>> with gw.inference_mode():
...     x = gw.ones(2)
>>> gw.is_inference(x)
True
""",
    "is_neg": """\
>>> gw.is_neg(gw.ones(2))
False
""",
    "is_same_size": """\
>>> gw.is_same_size(gw.ones(2), gw.ones(1, 2))
False
""",
    "is_signed": """\
>>> gw.is_signed(gw.ones(2)), gw.is_signed(gw.tensor([1], dtype=gw.uint8))
(True, False)
""",
    "is_vulkan_available": """\
>>> gw.is_vulkan_available()
False
""",
    "range": """\
`arange` is without ``end``. Dtypes: the default one, unless another is named.

Raises RuntimeError for a ``step`` of 0 or in the other direction.
>>> gw.range(1, 4)
tensor([1., 2., 3., 4.])
""",
    "typename": """\
>>> gw.typename(gw.ones(2)), gw.typename(1)
('torch.FloatTensor', 'int')
""",
    "cond": """\
>>> gw.cond(gw.tensor(True), lambda x: x + 1, lambda x: x - 1, (gw.tensor(1.0),))
tensor(2.)
""",
    "sym_ite": """\
>>> gw.sym_ite(True, 1, 2)
1
""",
    "sym_not": """\
>>> gw.sym_not(True)
False
""",
    "sym_sqrt": """\
>>> gw.sym_sqrt(4)
2.0
""",
    "sym_sum": """\
>>> gw.sym_sum([1, 2, 3])
6
""",
    "while_loop": """\
Raises RuntimeError for what is no tuple or list, and for another number of values from ``body_fn``.
>>> gw.while_loop(lambda x: x < 5, lambda x: (x * 2,), (gw.tensor(1),))
(tensor(8),)
""",
    "fork": """\
>>> gw.wait(gw.fork(lambda x: x + 1, 1))
2
""",
    "wait": """\
>>> gw.wait(gw.fork(max, 1, 2))
2
""",
    "frobenius_norm": """\
>>> gw.frobenius_norm(gw.tensor([3.0, 4.0]))
tensor(5.)
""",
    "nuclear_norm": """\
>>> gw.nuclear_norm(gw.eye(2))
tensor(2.)
""",
    "norm_except_dim": """\
>>> gw.norm_except_dim(gw.tensor([[3.0, 4.0], [0.0, 2.0]]))
tensor([[5.],
        [2.]])
""",
    "gru_cell": """\
Shape: ``input`` (N, in), ``hx`` (N, h), ``w_ih`` (3 h, in), ``w_hh`` (3 h, h), biases (3 h,); the result (N, h).
>>> gw.gru_cell(gw.ones(1, 2), gw.ones(1, 3), gw.zeros(9, 2), gw.zeros(9, 3))
tensor([[0.5000, 0.5000, 0.5000]])
""",
    "lstm_cell": """\
Shape: ``input`` (N, in), ``hx`` two of (N, h), ``w_ih`` (4 h, in), ``w_hh`` (4 h, h), biases (4 h,); the result two of
(N, h).
>>> h, c = gw.lstm_cell(gw.ones(1, 2), (gw.ones(1, 3), gw.ones(1, 3)), gw.zeros(12, 2), gw.zeros(12, 3))
>>> c
tensor([[0.5000, 0.5000, 0.5000]])
""",
    "rnn_relu_cell": """\
Shape: ``input`` (N, in), ``hx`` (N, h), ``w_ih`` (h, in), ``w_hh`` (h, h), biases (h,); the result (N, h).
>>> gw.rnn_relu_cell(gw.ones(1, 2), gw.ones(1, 2), gw.eye(2), gw.eye(2))
tensor([[2., 2.]])
""",
    "rnn_tanh_cell": """\
Shape: ``input`` (N, in), ``hx`` (N, h), ``w_ih`` (h, in), ``w_hh`` (h, h), biases (h,); the result (N, h).
>>> gw.rnn_tanh_cell(gw.ones(1, 2), gw.ones(1, 2), gw.eye(2), gw.eye(2))
tensor([[0.9640, 0.9640]])
""",
}
