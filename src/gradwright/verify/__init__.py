"""Whether a derivative is right, and what is wrong with one that is not."""

from typing import TYPE_CHECKING

from gradwright.base.lazy import lazy

if TYPE_CHECKING:
    from gradwright.verify.chance import Sampled as Sampled
    from gradwright.verify.chance import sampled as sampled
    from gradwright.verify.proof import Proof as Proof
    from gradwright.verify.proof import prove as prove
    from gradwright.verify.proof import prove_on as prove_on
    from gradwright.verify.proof.stability import Stability as Stability
    from gradwright.verify.proof.stability import stability as stability
    from gradwright.verify.witness import Witness as Witness
    from gradwright.verify.witness import second_witness as second_witness

lazy(__name__, {
    "gradwright.verify.chance": "Sampled sampled",
    "gradwright.verify.proof": "Proof prove prove_on",
    "gradwright.verify.proof.stability": "Stability stability",
    "gradwright.verify.witness": "Witness second_witness",
})  # fmt: skip
