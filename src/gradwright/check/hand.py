"""A ctx to call forward and its rules with by hand: it only notes what it is told."""

from __future__ import annotations

from typing import Any

from gradwright.check.lab import Lab


class Hand:
    """Has the methods of a ctx, in both libraries, and any attribute that forward sets.

    Attributes:
        saved_tensors: what was saved, for backward or for forward mode. dirty: what was marked dirty.
    """

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs
        self.saved_tensors: tuple[Any, ...] = ()
        self.saved_for_forward: tuple[Any, ...] = ()
        self.dirty: tuple[Any, ...] = ()
        self.flat: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = self.saved_tensors if self.saved_for_forward else tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self.saved_for_forward = self.saved_tensors = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.flat = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Nothing to note: by hand every gradient is given."""

    @staticmethod
    def forward(lab: Lab, arguments: tuple[Any, ...]) -> tuple[Hand, Any]:
        """Run forward, and `setup_context` if there is one; returns the ctx and the result."""
        function, T = lab.subject.function, lab.T
        hand = Hand(tuple(isinstance(a, T.Tensor) and a.requires_grad for a in arguments))
        lab.seed()
        with T.no_grad():
            if lab.subject.own_context:
                return hand, function.forward(hand, *arguments)
            result = function.forward(*arguments)
            function.setup_context(hand, arguments, result)
        return hand, result

    @staticmethod
    def marked(lab: Lab) -> set[int]:
        """The numbers of the tensors among the arguments that forward marks as dirty."""
        if lab.subject.function is None:
            return set()
        arguments, found = lab.call.tensors(lab.T)
        hand, _ = Hand.forward(lab, arguments)
        return {k for k, t in enumerate(found) if any(t is d for d in hand.dirty)}
