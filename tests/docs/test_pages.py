"""The pages of the reference."""

import re

import pytest

import gradwright as gw
from docs.generator.pages import Reference

REFERENCE = Reference()


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return REFERENCE.pages()


def test_every_public_name_is_on_a_page(pages: dict[str, str]) -> None:
    there: set[str] = set()
    for text in pages.values():
        namespace = ""
        for line in text.splitlines():
            if found := re.match(r"\.\. py:(?:current)?module:: (\S+)", line):
                namespace = found[1]
            elif found := re.match(r"(?:\.\. py:\w+::|   {9,})\s*([\w.]+)", line):
                there.add(f"{namespace}.{found[1]}")
    members = {f"gradwright.Tensor.{name}" for name in dir(gw.Tensor) if name[0] != "_"}
    assert {name.path for name in REFERENCE.names} - there == set()
    assert members - there == set()


def test_an_entry_has_its_signature_formula_source_and_pytorchs_name(pages: dict[str, str]) -> None:
    text = pages["gradwright-elementwise"]
    entry = text[text.index(".. py:function:: exp(") :]
    entry = entry[: entry.index(".. py:function::", 5)]
    assert "Exponential, y = e" in entry
    place = r"face/functions/elementwise.py:\d+"
    assert re.search(rf"Source: :source:`{place} <src/gradwright/{place}>`", entry)
    assert re.search(r"Formula: :source:`ops/elementary.py:\d+ <", entry)
    assert "`torch.exp <https://docs.pytorch.org/docs/stable/generated/torch.exp.html>`__" in entry


def test_methods_that_are_functions_point_there(pages: dict[str, str]) -> None:
    text = pages["gradwright.Tensor-functions"]
    assert re.search(r"py:method:: Tensor.exp\(.*\n\n   See :py:obj:`gradwright.exp`.\n", text)
    assert ".. py:method:: Tensor.add_(" in pages["gradwright.Tensor-in-place"]
    assert ".. py:attribute:: Tensor.grad\n" in pages["gradwright.Tensor-attributes"]


def test_other_names_of_the_same_stand_beside_it_or_point_there(pages: dict[str, str]) -> None:
    assert re.search(r"\.\. py:function:: abs\(.*\n +absolute\(", pages["gradwright-elementwise"])
    assert "- ``expit``: :py:obj:`gradwright.sigmoid`" in pages["gradwright.special"]


def test_a_class_has_its_own_members_alone(pages: dict[str, str]) -> None:
    text = pages["gradwright.nn-linear"]
    assert ".. py:method:: forward(" in text
    assert "load_state_dict" not in text
    assert "Base: :py:obj:`gradwright.nn.Module`" in text


def test_every_page_is_in_a_table_of_contents(pages: dict[str, str]) -> None:
    listed = {line.strip() for text in pages.values() for line in text.splitlines()}
    assert {page for page in pages if page not in listed} == {"index"}
