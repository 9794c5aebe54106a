"""``torch.save``, which PyTorch reads again."""

import io

import pytest

import gradwright as gw
from gradwright.pytorch.saving import save


def test_a_path_and_a_stream_have_what_pytorch_reads(torch, tmp_path):
    stream = io.BytesIO()
    paths = [tmp_path / "net.pt", str(tmp_path / "net")]
    for f in (stream, *paths):
        save({"w": gw.arange(3.0)}, f)
    for load in (torch.load, gw.load):
        for f in (io.BytesIO(stream.getvalue()), *paths):
            assert load(f)["w"].tolist() == [0, 1, 2]


def test_a_safetensors_path_makes_a_safetensors_file(tmp_path):
    save({"w": gw.ones(2)}, tmp_path / "net.safetensors")
    assert gw.load(tmp_path / "net.safetensors")["w"].tolist() == [1, 1]
    assert (tmp_path / "net.safetensors").read_bytes()[8:9] == b"{"


@pytest.mark.parametrize(("data", "words"), [
    ({"net": gw.nn.Linear(1, 1)}, r"\['net'\]: it is a Linear: save what its state_dict\(\) returns"),
    ([lambda: 0], r"\[0\]: it is a function, which is code: save its name"),
])  # fmt: skip
def test_what_cannot_be_saved_is_named_and_no_file_is_left(tmp_path, data, words):
    with pytest.raises(TypeError, match=words):
        save(data, tmp_path / "x.pt")
    assert [*tmp_path.iterdir()] == []
