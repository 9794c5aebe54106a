"""What is set and asked for all tensors: dtypes, devices, modes, printing."""

TEXTS = {
    "can_cast": """\
>>> gw.can_cast(gw.float32, gw.float16), gw.can_cast(gw.float32, gw.int64)
(True, False)
""",
    "get_default_dtype": """\
>>> gw.get_default_dtype()
torch.float32
""",
    "set_default_dtype": """\
>>> before = gw.get_default_dtype()
>>> gw.set_default_dtype(gw.float64)
>>> gw.tensor(1.0).dtype
torch.float64
>>> gw.set_default_dtype(before)
""",
    "set_default_device": """\
>>> gw.set_default_device("cpu")
>>> gw.ones(2).device
device(type='cpu')
""",
    "from_dlpack": """\
>>> import numpy as np
>>> gw.from_dlpack(np.array([1.0, 2.0]))
tensor([1., 2.], dtype=torch.float64)
""",
    "from_numpy": """\
>>> import numpy as np
>>> gw.from_numpy(np.array([1.0, 2.0]))
tensor([1., 2.], dtype=torch.float64)
""",
    "is_anomaly_check_nan_enabled": """\
>>> with gw.autograd.detect_anomaly(check_nan=False):
...     gw.is_anomaly_check_nan_enabled()
False
""",
    "is_anomaly_enabled": """\
>>> with gw.autograd.detect_anomaly():
...     gw.is_anomaly_enabled()
True
""",
    "set_anomaly_enabled": """\
`autograd.detect_anomaly` is the context that does it for a block.
>>> gw.set_anomaly_enabled(True)
>>> gw.is_anomaly_enabled()
True
>>> gw.set_anomaly_enabled(False)
""",
    "is_grad_enabled": """\
>>> with gw.no_grad():
...     gw.is_grad_enabled()
False
""",
    "is_inference_mode_enabled": """\
>>> with gw.inference_mode():
...     gw.is_inference_mode_enabled()
True
""",
    "op": """\
>>> @gw.op(kind="elementwise")
... def cube(xp, x):
...     return x**3
>>> _ = cube.vjp(x=lambda xp, g, x: g * 3 * x**2)
>>> x = gw.tensor([1.0, 2.0], requires_grad=True)
>>> cube(x).sum().backward()
>>> x.grad
tensor([ 3., 12.])
""",
    "result_type": """\
>>> gw.result_type(gw.tensor([1, 2]), 1.5), gw.result_type(gw.tensor([1.0]), gw.tensor(1.0, dtype=gw.float64))
(torch.float32, torch.float32)
""",
    "set_printoptions": """\
>>> gw.set_printoptions(precision=2)
>>> gw.tensor([3.14159])
tensor([3.14])
>>> gw.set_printoptions(profile="default")
""",
}
