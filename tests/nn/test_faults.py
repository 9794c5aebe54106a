"""The note on an exception that a call of a module raises."""

import pytest

import gradwright as gw
from gradwright import nn


def notes(call):
    with pytest.raises(Exception) as error:  # noqa: PT011 - which one is not what is tested
        call()
    return getattr(error.value, "__notes__", [])


def raising(error):
    class Raises(nn.Module):
        def forward(self, *args, **kwargs):
            raise error

    return Raises()


def test_a_wrong_shape_names_the_path_the_layer_and_what_it_takes():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(3, 2), nn.ReLU())

        def forward(self, x):
            return self.encoder(x)

    assert notes(lambda: Net()(gw.ones(4, 5))) == [
        "in Net.encoder.0: Linear(in_features=3, out_features=2, bias=True) was given float32 (4, 5); it takes (..., 3)"
    ]


def test_of_a_layer_alone():
    assert notes(lambda: nn.Linear(3, 2)(gw.ones(4, 5))) == [
        "Linear(in_features=3, out_features=2, bias=True) was given float32 (4, 5); it takes (..., 3)"
    ]


def test_a_wrong_dtype_names_both():
    (note,) = notes(lambda: nn.Linear(3, 2)(gw.ones(4, 3, dtype=gw.float64)))
    assert note.endswith("was given float64 (4, 3); it takes (..., 3); its parameters are float32")


def test_a_module_may_say_what_it_takes():
    m = raising(ValueError("no"))
    type(m)._takes = lambda self: "two tensors of one shape"
    (note,) = notes(lambda: m(gw.ones(2), None, [gw.ones(1), 3], {}, key="text"))
    assert note == ("Raises() was given float32 (2,), None, list of float32 (1,), 3, dict, key='text'; it takes two "
                    "tensors of one shape")  # fmt: skip


def test_without_arguments():
    assert notes(raising(KeyError("no"))) == ["Raises() was given nothing"]


def test_a_module_that_is_not_registered_is_named_by_its_class():
    class Hides(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = [nn.Sequential(nn.Linear(3, 2))]

        def forward(self, x):
            return self.hidden[0](x)

    (note,) = notes(lambda: nn.Sequential(Hides())(gw.ones(1)))
    assert note.startswith("in Sequential.0.<Sequential>.0: Linear(")


def test_a_layer_that_calls_itself_again():
    class Twice(nn.Module):
        def forward(self, x):
            return self(x - 1) if x else gw.ones(2) @ gw.ones(3)

    assert notes(lambda: nn.Sequential(Twice())(2)) == ["in Sequential.0: Twice() was given 0"]


def test_the_note_is_one_though_the_exception_is_raised_again():
    m = nn.Sequential(nn.Linear(3, 2))
    with pytest.raises(RuntimeError) as error:
        m(gw.ones(1))
    inner = raising(error.value)
    assert len(notes(lambda: nn.Sequential(nn.Sequential(inner))(1))) == 1


def test_a_layer_that_cannot_be_printed_hides_nothing():
    class Shy(nn.Module):
        def extra_repr(self):
            raise ValueError("not me")

        def forward(self, x):
            return x @ gw.ones(7)

    assert notes(lambda: Shy()(gw.ones(2))) == ["Shy(...) was given float32 (2,)"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), StopIteration(), SystemExit()])
def test_what_is_no_fault_gets_no_note(error):
    m = raising(error)
    with pytest.raises(type(error)) as caught:
        m()
    assert not getattr(caught.value, "__notes__", [])


def test_hooks_count_as_the_module():
    def fail(*_):
        raise ValueError("no")

    m = nn.Sequential(nn.ReLU())
    m[0].register_forward_hook(fail)
    assert notes(lambda: m(gw.ones(1))) == ["in Sequential.0: ReLU() was given float32 (1,)"]


def test_the_dtype_of_the_parameters_of_others_is_not_that_of_a_container():
    class Holds(nn.Sequential):
        def forward(self, x):
            raise ValueError("no")

    given = gw.ones(2, dtype=gw.float64)
    (note,) = notes(lambda: Holds(nn.Linear(2, 2))(given))
    assert note.endswith("was given float64 (2,)")
    (note,) = notes(lambda: nn.Sequential(raising(ValueError("no")))(given))
    assert note == "in Sequential.0: Raises() was given float64 (2,)"
