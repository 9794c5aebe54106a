"""Modules met where they are imported."""

import importlib
import sys

from gradwright.verify.audit.meeting import Meeting


def test_modules_are_met_when_they_are_loaded(tmp_path, monkeypatch):
    (tmp_path / "met_later.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    met = []
    before = [*sys.meta_path]
    with Meeting({"json": met.append, "met_later": lambda m: met.append(m.x)}):
        assert met == [sys.modules["json"]]
        importlib.import_module("met_later")
    assert met[1:] == [1]
    assert sys.meta_path == before
    del sys.modules["met_later"]
