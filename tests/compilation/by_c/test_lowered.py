"""What is computed how."""

import numpy as np

from gradwright.compilation.by_c.elements import Element
from gradwright.compilation.by_c.lowered import Lowered, Product, Reduction
from gradwright.compilation.node import CHECK
from gradwright.compilation.trace.traced import space, traced


def ways(f: object, *arrays: object, exact: bool = False) -> dict[str, str]:
    program = traced(f, *arrays)  # type: ignore[arg-type]
    lowered = Lowered(program, [None] * len(arrays), exact)
    return {node.op: type(way).__name__ for node, way in lowered.how.items()}


X = np.ones((3, 3), np.float32)


def test_each_node_has_its_way() -> None:
    def f(x: object) -> object:
        return space.roll(space.matmul(space.exp(x), x), 1), space.sum(x)

    names = {"exp": "Element", "matmul": "Product", "sum": "Reduction", "roll": "NoneType", "copy": "Element"}
    assert ways(f, X).items() <= names.items()
    assert {Element, Product, Reduction}
    assert set(ways(f, X, exact=True).values()) == {"NoneType"}


def test_what_c_does_not_know_stays() -> None:
    assert ways(lambda x: x * 2.0, np.ones(3, np.complex64)) == {"multiply": "NoneType"}
    assert ways(lambda x: x * 2.0, np.ones(3, np.float16)) == {"multiply": "NoneType"}
    assert ways(lambda x: space.floor_divide(x, x), np.ones(3, np.int64)) == {"floor_divide": "NoneType"}
    assert ways(lambda x, y: space.matmul(x, y), np.ones((2, 2), int), np.ones((2, 2), int)) == {"matmul": "NoneType"}


def test_what_is_not_needed_is_not_done() -> None:
    assert ways(lambda x: (space.roll(x, 1), x + 1.0)[1], X) == {"add": "Element"}


def test_an_output_has_memory_of_its_own() -> None:
    program = traced(lambda x: [x, x, x[0], x + 1.0], X)
    program.outputs.append(program.outputs[-1])
    program.writes.append(None)
    lowered = Lowered(program, [None])
    assert len({*lowered.outputs}) == 5
    assert [n.op for n in lowered.outputs] == ["copy", "copy", "copy", "add", "copy"]


def test_what_a_check_of_floats_depends_on_is_numpys() -> None:
    def f(x: object) -> object:
        y = space.exp(x)
        float(space.sum(y))
        return space.exp(x) + y

    program = traced(f, X)
    lowered = Lowered(program, [None])
    exact, ours = (n for n in program.nodes if n.op == "exp")
    assert lowered.how[exact] is None
    assert lowered.how[ours] is not None
    assert any(n.op == CHECK for n in lowered.nodes)


def test_a_reshape_that_copies_is_computed() -> None:
    program = traced(lambda x: space.reshape(space.permute_dims(x, (1, 0)), (9,)) + 1.0, X)
    lowered = Lowered(program, [None])
    assert [n.op for n in lowered.nodes] == ["copy", "add"]
