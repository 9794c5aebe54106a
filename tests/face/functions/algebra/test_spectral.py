from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.autograd import gradcheck, gradgradcheck

X = np.random.default_rng(0).standard_normal((2, 20))
HANN = gradwright.hann_window(8, dtype=gradwright.float64)
CASES: list[Any] = [
    {}, {"center": False}, {"hop_length": 3}, {"window": 5, "win_length": 5}, {"normalized": True, "window": 8},
    {"onesided": False}, {"pad_mode": "constant"}, {"pad_mode": "replicate"}, {"pad_mode": "circular"},
    {"single": True},
    {"window": 8, "return_complex": False}, {"complex": True}, {"center": False, "align_to_window": True},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", CASES, ids=str)
def test_agrees_with_torch_there_and_back(torch: ModuleType, options: Any) -> None:
    options = {"return_complex": True} | options
    x = X[0] if options.pop("single", False) else X
    x = x + 0.5j * x if options.pop("complex", False) else x
    outcomes = []
    for library in (gradwright, torch):
        given = dict(options)
        if "window" in given:
            given["window"] = library.hann_window(given["window"], dtype=library.float64) + 0.1
        frames = library.stft(library.tensor(x), 8, **given)
        back = None
        if given.pop("return_complex") and "align_to_window" not in given and given.get("center", True):
            given.pop("pad_mode", None)
            back = library.istft(frames, 8, **given, return_complex=np.iscomplexobj(x), length=18)
        outcomes.append((frames, back))
    (frames, back), (frames_, back_) = outcomes
    np.testing.assert_allclose(frames.numpy(), frames_.numpy(), 1e-12, 1e-12)
    if back is not None:
        np.testing.assert_allclose(back.numpy(), back_.numpy(), 1e-12, 1e-12)
        np.testing.assert_allclose(back.numpy(), x[..., :18], 1e-12, 1e-12)


def test_gradients() -> None:
    x = gradwright.tensor(X[0], requires_grad=True)
    window = (HANN + 0.1).requires_grad_()

    def there(x: Any, window: Any) -> Any:
        return gradwright.view_as_real(gradwright.stft(x, 8, window=window, return_complex=True))

    def back(x: Any, window: Any) -> Any:
        return gradwright.istft(gradwright.view_as_complex(x), 8, window=window)

    assert gradcheck(there, (x, window))
    assert gradgradcheck(there, (x, window))
    frames = there(x, window).detach().requires_grad_()
    assert gradcheck(back, (frames, window))
    assert gradgradcheck(back, (frames, window))


def test_a_longer_signal_than_the_frames_is_padded() -> None:
    frames = gradwright.stft(gradwright.tensor(X), 8, window=HANN, return_complex=True)
    with pytest.warns(UserWarning, match="padded with zeros"):
        assert (gradwright.istft(frames, 8, window=HANN, length=40)[:, 24:] == 0).all()


WRONG: list[Any] = [
    ({}, "return_complex"), ({"n_fft": 0}, "n_fft"), ({"n_fft": 50, "center": False}, "n_fft"),
    ({"hop_length": 0}, "hop_length"), ({"win_length": 9}, "win_length"), ({"window": HANN[:3]}, "window"),
    ({"align_to_window": True}, "align_to_window"), ({"n_fft": 50}, "Padding size"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), WRONG, ids=str)
def test_what_stft_refuses(options: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        gradwright.stft(gradwright.tensor(X), **{"n_fft": 8, "return_complex": True if options else None} | options)


def test_what_istft_refuses() -> None:
    frames = gradwright.stft(gradwright.tensor(X), 8, window=HANN, return_complex=True)
    for options, message in (
        ({"n_fft": 7}, "frequency dimension"), ({"hop_length": 9}, "hop_length"), ({"win_length": 9}, "win_length"),
        ({"onesided": False}, "frequency dimension"), ({"return_complex": True}, "onesided"),
        ({"window": HANN, "center": False}, "overlap add min"), ({"window": HANN + 0j}, "Complex windows"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=message):
            gradwright.istft(frames, **{"n_fft": 8} | options)
    with pytest.raises(RuntimeError, match="complex-valued"):
        gradwright.istft(frames.real, 8)
