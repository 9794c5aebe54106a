"""Programs run as Python runs them: see also test_run.py."""

import pytest

from gradwright.cli.program import module, script


def test_what_there_is_not(tmp_path):
    with pytest.raises(OSError, match="nothing"):
        script(str(tmp_path / "nothing.py"), ())
    with pytest.raises(ImportError, match="no module nothing_there"):
        module("nothing_there", ())
