"""Whether a derivative is right, and what is wrong with one that is not."""

from gradwright.later import later

__getattr__, __dir__ = later(
    __name__,
    {
        **dict.fromkeys(("Proof", "prove", "prove_on"), "gradwright.verify.proof"),
        **dict.fromkeys(("Stability", "stability"), "gradwright.verify.proof.stability"),
        **dict.fromkeys(("Sampled", "sampled"), "gradwright.verify.chance"),
        **dict.fromkeys(("Witness", "second_witness"), "gradwright.verify.witness"),
    },
)
