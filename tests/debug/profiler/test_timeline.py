import errno
import json
import os
import threading

import pytest

import gradwright
from gradwright.debug.profiler import profile, record_function


@pytest.fixture
def prof():
    x = gradwright.ones(20, 30, requires_grad=True)
    with profile() as prof:
        with record_function("step"):
            y = (x.exp() @ x.t()).sum()
            y.backward(retain_graph=True)
        y.backward()
    return prof


def exported(prof, path):
    prof.export_chrome_trace(path)
    return json.loads(path.read_text())["traceEvents"]


def check(events):
    """What tracing pages need: the fields of each kind of event, events that nest, and flows that have both ends."""
    for e in events:
        assert isinstance(e["name"], str)
        assert isinstance(e["pid"], int)
        assert isinstance(e["tid"], int)
        assert e["ph"] in "XMsf"
        assert e["ph"] == "M" or e["ts"] >= 0
        if e["ph"] == "X":
            assert e["dur"] >= 0
            assert isinstance(e["args"], dict)
    by_thread = {}
    for e in events:
        if e["ph"] == "X":
            by_thread.setdefault(e["tid"], []).append((round(e["ts"] * 1000), round(-e["dur"] * 1000)))
    for spans in by_thread.values():
        open_until = []
        for start, minus in sorted(spans):
            while open_until and open_until[-1] <= start:
                open_until.pop()
            assert not open_until or start - minus <= open_until[-1], "events overlap without nesting"
            open_until.append(start - minus)
    starts, ends = ({e["id"]: e for e in events if e["ph"] == ph} for ph in "sf")
    assert starts.keys() == ends.keys()
    for k, e in starts.items():
        assert e["ts"] <= ends[k]["ts"]
        assert ends[k]["bp"] == "e"
        for end in (e, ends[k]):
            assert any(x["ph"] == "X" and x["tid"] == end["tid"] and x["ts"] == end["ts"] for x in events)
    named = {e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert named == by_thread.keys()


def test_the_trace_is_one_that_tracing_pages_open(prof, tmp_path):
    events = exported(prof, tmp_path / "trace.json")
    check(events)
    (exp,) = [e for e in events if e["name"] == "exp"]
    assert exp["cat"] == "forward"
    assert exp["args"]["shapes"] == [[20, 30]]
    assert exp["args"]["dtypes"] == ["float32"]
    assert exp["args"]["output bytes"] == exp["args"]["saved bytes"] == 2400
    assert exp["args"]["line"].endswith("y = (x.exp() @ x.t()).sum()")
    backs = [e for e in events if e["name"] == "ExpBackward0"]
    assert len(backs) == 2
    assert all(b["cat"] == "backward" and b["args"]["line"] == exp["args"]["line"] for b in backs)
    ids = [e["id"] for e in events if e["ph"] == "f" and e["ts"] in [b["ts"] for b in backs]]
    assert [e["ts"] for e in events if e["ph"] == "s" and e["id"] in ids] == [exp["ts"]] * 2
    (step,) = [e for e in events if e["name"] == "step"]
    assert step["cat"] == "span"
    assert step["ts"] <= exp["ts"]
    assert exp["ts"] + exp["dur"] <= step["ts"] + step["dur"]


def test_functions_and_threads(tmp_path):
    prof = profile()

    def work():
        with prof:
            x = gradwright.ones(3, requires_grad=True)
            (g,) = gradwright.autograd.grad((x * x).sum(), x, create_graph=True)
            g.sum().backward()

    threads = [threading.Thread(target=work, name=f"worker {k}") for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = exported(prof, tmp_path / "trace.json")
    check(events)
    assert len({e["args"]["name"] for e in events if e["name"] == "thread_name"}) >= 1


def test_an_empty_profile_has_a_trace(tmp_path):
    check(exported(profile(), tmp_path / "trace.json"))


def test_the_file_is_written_at_once(prof, tmp_path, monkeypatch):
    path = tmp_path / "trace.json"
    path.write_text("before")

    def fails(*args):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        prof.export_chrome_trace(str(path))
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["trace.json"]


def test_a_path_that_cannot_be_written(prof, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no directory '.*missing' for the file"):
        prof.export_chrome_trace(tmp_path / "missing" / "trace.json")
    with pytest.raises(IsADirectoryError, match="is a directory; give the name of a file"):
        prof.export_chrome_trace(tmp_path)
