"""Streams and events on the CPU answer as PyTorch's."""

import pytest

from gradwright.pytorch import streams


def test_all_has_ended(torch):
    for space in (streams, torch):
        stream, event = space.Stream("cpu"), space.Event("cpu")
        assert stream.query()
        assert stream.synchronize() is event.synchronize() is None
        assert event.query()
        assert stream.device.type == event.device.type == "cpu"
        assert stream == space.Stream("cpu")
        assert repr(stream) == "torch.Stream device_type=cpu, device_index=-1, stream_id=0"
        assert repr(event) == "torch.Event device_type=cpu, device_index=-1, event_flag=0, event_id=0"


def test_waiting_takes_no_time():
    stream = streams.Stream()
    with stream as entered:
        assert entered is stream
    assert stream.wait_stream(stream) is stream.wait_event(streams.Event()) is streams.Event().wait() is None
    assert len({stream, streams.Stream()}) == 1


def test_nothing_is_recorded(torch):
    for space in (streams, torch):
        with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
            space.Event("cpu").record()
        with pytest.raises(RuntimeError, match="cpu"):
            space.Stream("cpu").record_event()
    with pytest.raises(RuntimeError, match="cpu backend doesn't support elapsedTime"):
        streams.Event().elapsed_time(streams.Event())
