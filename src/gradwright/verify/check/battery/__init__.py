"""The battery: every check that a subject goes through.

run.py        the table of checks, and the run of one subject through all of them
orders.py     first order, second order, second witness, complex
behaviour.py  runs, inputs unchanged, deterministic, independent calls, grad modes
contract.py   needs_input_grad, undefined gradients, marked outputs, dtype and shape
layouts.py    strides of cotangents and inputs
memory.py     leaks, captured tensors
declared.py   the rules for forward mode and vmap
compiled.py   the compiled form, if that is asked for
cost.py       backward against numeric differentiation
findings.py   what they return
"""

from gradwright.verify.check.battery.run import ASKED, CHECKS, examine

__all__ = ["ASKED", "CHECKS", "examine"]
