import io

import pytest

from gradwright.debug.profiler import Row, Rows
from gradwright.debug.profiler.table import in_bytes


def rows():
    some = [
        Row("exp", 2, 2, 10.0, 10.0, 5.0, 5.0, 4000, 8_000_000),
        Row("Cube", 1, 0, 1234.5, 30.0, 0.0, 0.0, 0, 12),
        Row("multiply", 7, 0, 1.2e6, 1.2e6, 0.0, 0.0, 0, 0),
    ]
    return Rows(some, False, 2_000_000_000)


def test_the_table_as_it_prints():
    assert rows().table() == (
        "operation  calls    total   self  self %  forward  backward  saved  output\n"
        "---------  -----  -------  -----  ------  -------  --------  -----  ------\n"
        "multiply       7    1.2 s  1.2 s    60.0    1.2 s         -      -       -\n"
        "Cube           1  1.23 ms  30 us     0.0  1.23 ms         -      -    12 B\n"
        "exp            2    15 us  15 us     0.0    10 us      5 us   4 kB    8 MB\n"
        "all of it: 2 s, of which in the rows above: 1.2 s (60 %)"
    )
    assert str(rows()) == rows().table()


@pytest.mark.parametrize(
    ("sort_by", "order"),
    [
        ("total", ["multiply", "Cube", "exp"]),
        ("cpu_time_total", ["multiply", "Cube", "exp"]),
        ("self", ["multiply", "Cube", "exp"]),
        ("forward", ["multiply", "Cube", "exp"]),
        ("backward", ["exp", "Cube", "multiply"]),
        ("count", ["multiply", "exp", "Cube"]),
        ("saved", ["exp", "Cube", "multiply"]),
        ("output", ["exp", "Cube", "multiply"]),
        ("name", ["Cube", "exp", "multiply"]),
    ],
)
def test_the_order(sort_by, order):
    lines = rows().table(sort_by=sort_by).splitlines()[2:-1]
    assert [line.split()[0] for line in lines] == order


def test_the_limit():
    assert rows().table(row_limit=1).splitlines()[2:4] == [
        "multiply       7  1.2 s  1.2 s    60.0    1.2 s         -      -       -",
        "... and 2 more",
    ]
    assert rows().table(row_limit=-1) == rows().table()
    assert "... and 3 more" in rows().table(row_limit=0)


def test_a_wrong_order_or_limit_says_what_there_is():
    with pytest.raises(ValueError, match=r"sort_by must be one of total, self, .*, but got 'cuda_time'"):
        rows().table(sort_by="cuda_time")
    with pytest.raises(ValueError, match="row_limit must be a number of rows, or -1 for all, but got -2"):
        rows().table(row_limit=-2)


def test_rows_by_name():
    assert rows()["exp"].self_total == 15
    assert rows()[0].key == "exp"
    with pytest.raises(KeyError, match="nothing named 'log' was profiled; what was: exp, Cube, multiply"):
        rows()["log"]


def test_an_empty_profile_has_a_table():
    assert Rows([], True, 0).table().splitlines()[-1] == "all of it: -, of which in the rows above: -"


def test_rich_shows_it_prettier():
    console = pytest.importorskip("rich.console").Console(file=io.StringIO(), width=120)
    console.print(rows())
    shown = console.file.getvalue()
    assert "multiply" in shown
    assert "│" in shown


@pytest.mark.parametrize(("n", "text"), [
    (0, "-"), (999, "999 B"), (1000, "1 kB"), (999_400, "999 kB"), (999_600, "1 MB"), (2.5e12, "2.5 TB"),
])  # fmt: skip
def test_bytes_are_rounded_to_the_next_unit(n, text):
    assert in_bytes(n) == text
