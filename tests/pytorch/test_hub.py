"""Nothing is fetched."""

from gradwright.pytorch import hub


def test_the_folder_is_pytorchs(torch, monkeypatch):
    assert hub.get_dir() == torch.hub.get_dir()
    monkeypatch.setenv("TORCH_HOME", "/x")
    assert hub.get_dir() == torch.hub.get_dir() == "/x/hub"
    assert hub._get_torch_home() == torch.hub._get_torch_home() == "/x"
    monkeypatch.setattr(hub, "_dir", [])
    hub.set_dir("/y")
    assert hub.get_dir() == "/y"
