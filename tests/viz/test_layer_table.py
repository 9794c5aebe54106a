"""The table of a module's layers: its numbers by hand, its forms, and that the module is left as it was."""

import io
import sys
import weakref
from xml.etree import ElementTree

import pytest

import gradwright as gw
from gradwright import nn
from gradwright.viz.layer_table import Summary, summary

FLOAT = 4


class Tied(nn.Module):
    """Layers that are shared, tied, frozen, not called, called twice."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.block = nn.Sequential(nn.Linear(6, 6), nn.Tanh())
        self.again = self.block[0]
        self.out = nn.Linear(6, 10, bias=False)
        self.out.weight = self.embed.weight
        self.unused = nn.Linear(6, 2)
        self.unused.weight.requires_grad_(False)
        self.norm = nn.BatchNorm1d(6)

    def forward(self, i):
        return self.out(self.again(self.norm(self.block(self.embed(i)))))


@pytest.fixture
def tied() -> Summary:
    return summary(Tied(), gw.tensor([1, 2, 3]))


def named(table: Summary):
    return {layer.path: layer for layer in table.layers}


def test_each_layer_is_listed_once_below_its_parent(tied):
    assert [(layer.path, layer.name) for layer in tied.layers] == [
        ("", "Tied"), ("embed", "Embedding"), ("block", "Sequential"), ("block.0", "Linear"), ("block.1", "Tanh"),
        ("out", "Linear"), ("unused", "Linear"), ("norm", "BatchNorm1d"),
    ]  # fmt: skip


def test_calls_and_shapes(tied):
    layers = named(tied)
    assert layers["block.0"].calls == 2
    assert layers["unused"].calls == 0
    assert layers["unused"].shapes == ()
    assert layers["embed"].shapes == ((3, 6),)
    assert layers[""].shapes == ((3, 10),)
    assert summary(nn.LSTM(2, 5), gw.ones(4, 3, 2)).layers[0].shapes == ((4, 3, 5), (1, 3, 5), (1, 3, 5))


def test_parameters_count_once(tied):
    layers = named(tied)
    counted = {path: (layer.parameters, layer.trainable, layer.shared) for path, layer in layers.items()}
    assert counted == {
        "": (0, 0, 0), "embed": (60, 60, 0), "block": (0, 0, 0), "block.0": (42, 42, 0), "block.1": (0, 0, 0),
        "out": (0, 0, 60), "unused": (14, 2, 0), "norm": (12, 12, 0),
    }  # fmt: skip
    assert (tied.parameters, tied.trainable, tied.nbytes) == (128, 116, 128 * FLOAT)
    assert tied.parameters == sum(p.numel() for p in Tied().parameters())
    assert (tied.buffers, tied.buffer_bytes) == (13, 12 * FLOAT + 8)


def test_bytes_are_those_of_the_dtype():
    assert summary(nn.Linear(3, 2, dtype=gw.float64), gw.ones(1, 3, dtype=gw.float64)).nbytes == 8 * 8


def test_what_is_saved_is_counted_once_and_without_parameters():
    net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    saved = {layer.path: layer.saved_bytes for layer in summary(net, gw.ones(100, 8)).layers}
    # the input; the result of tanh, which the last layer keeps, too
    assert saved == {"": 0, "0": 800 * FLOAT, "1": 3200 * FLOAT, "2": 0}


def test_nothing_is_saved_for_what_needs_no_gradient():
    net = nn.Linear(8, 4).requires_grad_(False)
    assert summary(net, gw.ones(5, 8)).saved_bytes == 0
    assert summary(net, gw.ones(5, 8, requires_grad=True)).saved_bytes == 0  # the weight, which is a parameter
    assert summary(nn.Tanh(), gw.ones(5, requires_grad=True)).saved_bytes == 5 * FLOAT


def test_what_a_function_saves_counts():
    class Exp(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    class Layer(nn.Module):
        def forward(self, x):
            return Exp.apply(x)

    assert summary(Layer(), gw.ones(7, requires_grad=True)).saved_bytes == 7 * FLOAT


def test_it_records_whatever_the_mode_outside():
    with gw.no_grad():
        assert summary(nn.Linear(3, 2), gw.ones(1, 3)).saved_bytes == 3 * FLOAT


def test_keywords_and_several_inputs():
    class Sum(nn.Module):
        def forward(self, a, b, *, scale):
            return {"sum": (a + b) * scale, "pair": (a, 3)}

    table = summary(Sum(), gw.ones(2), gw.ones(3, 2), scale=2.0)
    assert table.layers[0].shapes == ((3, 2), (2,))


# ---- nothing changes --------------------------------------------------------------------------------------


def test_buffers_random_numbers_and_hooks_are_as_they_were():
    net = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))
    mean, before = net[0].running_mean, [b.clone() for b in net.buffers()]
    state = gw.random.get_rng_state()
    summary(net, gw.randn(20, 3))
    expected = gw.random.get_rng_state()
    gw.random.set_rng_state(state)
    gw.randn(20, 3)  # the input drew, too
    assert gw.equal(gw.random.get_rng_state(), expected)
    assert net[0].running_mean is mean
    assert all(gw.equal(a, b) for a, b in zip(before, net.buffers(), strict=True))
    assert net.training
    assert not net[0]._forward_hooks


def test_a_module_that_raises_is_left_as_it_was():
    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(3)

        def forward(self, x):
            raise ValueError(f"no {self.norm(x).shape}")

    net = Broken()
    with pytest.raises(ValueError, match=r"^no "):
        summary(net, gw.ones(4, 3))
    assert net.norm.num_batches_tracked.item() == 0
    assert gw.equal(net.norm.running_mean, gw.zeros(3))
    assert nn.Identity()(3) == 3
    assert summary(nn.Linear(3, 2), gw.ones(1, 3)).layers[0].calls == 1


def test_the_graph_is_let_go(no_gc):
    x = gw.ones(3, requires_grad=True)
    table = summary(nn.Tanh(), x)
    ref = weakref.ref(x)
    del x
    assert ref() is None
    assert table.layers


def test_a_lazy_layer_is_known_after_the_call():
    assert summary(nn.Sequential(nn.LazyLinear(3)), gw.ones(2, 5)).parameters == 18


def test_what_is_no_module():
    with pytest.raises(TypeError, match=r"^summary: expected a Module, but got function$"):
        summary(lambda x: x, gw.ones(1))


# ---- how it shows -----------------------------------------------------------------------------------------


def test_text_is_aligned_and_says_what_is_shared(tied):
    head, rule, *rows = str(tied).splitlines()
    assert [*head.split()] == ["layer", "class", "output", "parameters", "bytes", "saved"]
    assert len(rule) == max(map(len, rows[:-3]))
    assert "60 shared" in next(row for row in rows if "  out " in row)
    assert "[3, 6] (2 calls)" in next(row for row in rows if "    0 " in row)
    assert "not called" in next(row for row in rows if "unused" in row)
    assert rows[-3:] == ["128 parameters, 512 B: 116 trainable, 12 not", "13 numbers in buffers, 56 B",
                         f"saved for backward, besides parameters: {tied.saved_bytes} B"]  # fmt: skip
    assert repr(tied) == str(tied)


def test_a_notebook_shows_a_table(tied):
    page = ElementTree.fromstring(tied._repr_html_())
    rows = ["".join(row.itertext()) for row in page.iter("tr")]
    assert len(rows) == 1 + len(tied.layers)
    assert rows[4] == "0Linear[3, 6] (2 calls)42168 B144 B"


def test_a_terminal_gets_rich_if_there_is_one_and_a_file_plain_text(tied, monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal, bare = Terminal(), Terminal()
    tied.show()
    tied.show(terminal)
    monkeypatch.setitem(sys.modules, "rich", None)
    tied.show(bare)
    assert capsys.readouterr().out == bare.getvalue() == f"{tied}\n"
    assert "┃" in terminal.getvalue()


def test_markup_in_names_is_text():
    net = nn.Module()
    net.add_module("<b>&\x1b[0m", type("<script>[red]", (nn.Tanh,), {})())
    net.forward = lambda x: x
    table = summary(net, gw.ones(1))
    page = ElementTree.fromstring(table._repr_html_())
    assert not list(page.iter("script"))
    assert "<script>[red]" in "".join(page.itertext())
    assert "\x1b" not in str(table)
    import rich.console

    console = rich.console.Console(file=io.StringIO(), width=100)
    console.print(table)
    assert "<script>[red]" in console.file.getvalue()


@pytest.mark.parametrize("given", [((8, 3),), ([8, 3],), (8, 3)])
def test_a_size_in_place_of_an_input_is_told(given):
    with pytest.raises(TypeError) as error:
        nn.Linear(3, 2).summary(*given)
    assert error.value.__notes__[-1].endswith("for one of size [8, 3], gradwright.zeros(8, 3)")


def test_a_module_may_take_a_size():
    net = nn.Module()
    net.forward = lambda size: gw.zeros(size)
    assert summary(net, (8, 3)).layers[0].shapes == ((8, 3),)
    with pytest.raises(TypeError) as error:
        summary(nn.Linear(3, 2), "text")
    assert "summary" not in "".join(error.value.__notes__)


def test_a_class_is_no_module():
    with pytest.raises(TypeError, match=r"but got the class itself: write Tanh\(...\)$"):
        summary(nn.Tanh, gw.ones(1))


def test_nothing_is_said_in_words():
    assert str(summary(nn.Sequential(), gw.ones(1))).splitlines()[-2:] == [
        "no parameters", "saved for backward, besides parameters: nothing"]  # fmt: skip
