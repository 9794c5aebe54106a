"""Where calls are heard."""

import gradwright as gw
from gradwright.verify.audit.hooks import classes
from gradwright.verify.audit.session import audit
from tests.corpus.right import Scaled
from tests.verify.audit.functions import leaf


def test_an_apply_that_was_looked_up_before_and_an_op():
    bound = Scaled.apply
    square = gw.op(kind="elementwise")(lambda xp, x: x * x)
    square.vjp(x=lambda xp, g, x: 2 * g * x)
    with audit(shown=False) as found:
        bound(leaf(2), 1.0)
        square(leaf(2))
    assert [m.kind for m in found.recorder.met.values()] == ["function", "op"]
    bound(leaf(2), 1.0)
    assert found.recorder.met[id(Scaled)].calls == 1
    assert any(cls is Scaled for cls, _, _ in classes())
