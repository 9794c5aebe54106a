"""Nothing is fetched."""

import pytest

from gradwright.pytorch import hub


def test_the_folder_is_pytorchs(torch, monkeypatch):
    assert hub.get_dir() == torch.hub.get_dir()
    monkeypatch.setenv("TORCH_HOME", "/x")
    assert hub.get_dir() == torch.hub.get_dir() == "/x/hub"
    assert hub._get_torch_home() == torch.hub._get_torch_home() == "/x"
    monkeypatch.setattr(hub, "_dir", [])
    hub.set_dir("/y")
    assert hub.get_dir() == "/y"


@pytest.mark.parametrize("name", ["load", "load_state_dict_from_url", "download_url_to_file"])
def test_nothing_is_fetched(name):
    with pytest.raises(AttributeError, match=rf"^gradwright has no torch\.hub\.{name} yet: gradwright fetches nothing"):
        getattr(hub, name)("a/b", "c")
