"""The page of differences from PyTorch says what is so."""

import warnings

import pytest

import gradwright
from oracle.differences import DIFFERENCES, PAGES, page


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.english[:40])
def test_it_is_so_here(difference):
    assert difference.run(gradwright) == difference.ours
    assert difference.ours != difference.theirs


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.english[:40])
def test_it_is_so_in_pytorch(torch, difference):
    with warnings.catch_warnings(action="ignore"):
        assert difference.run(torch) == difference.theirs
    forward = torch.autograd.forward_ad
    while forward._current_level >= 0:  # PyTorch leaves a level open where a second one is refused
        forward.exit_dual_level()


@pytest.mark.parametrize("language", PAGES)
def test_the_page_is_made_of_the_table(language):
    assert PAGES[language].read_text(encoding="utf-8") == page(language), "write it anew: python -m oracle --docs"
