"""Proofs with error bounds: formulas and rules run on balls, numbers with a rigorous radius. Needs python-flint.

from gradwright.verify import prove
print(prove(gradwright.tanh, x))    # tanh: proved at these inputs: error below 5e-57
"""

from gradwright.verify.proof.box import prove_on
from gradwright.verify.proof.point import Proof, prove

__all__ = ["Proof", "prove", "prove_on"]
