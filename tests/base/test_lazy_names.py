"""A public name is written in one place: the lists that programs and type checkers read are made of that."""

import gradwright as gw
from docs.generator import stubs
from gradwright.base import paths
from gradwright.pytorch import foreach, in_place

MADE = stubs.made()


def test_the_lists_are_those_that_the_places_of_the_names_give() -> None:
    stale = [str(file) for file, text in MADE.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
    assert stale == [], "python -m docs.generator.stubs writes them"
    assert {*stubs.PACKAGE.rglob("*.pyi")} <= {*MADE}


def test_what_only_type_checkers_import_is_offered_and_the_other_way_round() -> None:
    lazy = {name for names in stubs.lazy_names().values() for name in names}
    assert {"nn", "conv2d", "vmap", "GradScaler", "sin_", "HalfTensor", "_foreach_add_"} <= lazy
    assert {name for name in lazy if name[0] != "_"} <= {*dir(gw)}
    assert all(hasattr(gw, name) for name in lazy)
    assert {*in_place.NAMES, *foreach.NAMES} <= lazy


def test_every_public_path_has_a_stub() -> None:
    """The paths that the reference lists; what lies below a path is a module there, too."""
    shown = [path for path in paths.PUBLIC if path.count(".") == 1 and path not in stubs.UNTYPED]
    assert len(shown) >= 9
    for path in shown:
        stub = stubs.PACKAGE.joinpath(*path.split(".")[1:])
        text = MADE.get(stub / "__init__.pyi") or MADE[stub.with_suffix(".pyi")]
        assert f"from {paths.PUBLIC[path]} import " in text, path
