"""Which calls are kept."""

from gradwright.verify.audit.recorder import FIRST
from gradwright.verify.audit.session import audit
from tests.corpus.right import Scaled
from tests.verify.audit.functions import leaf


def numbers(shapes, **options):
    with audit(shown=False, **options) as found:
        for shape in shapes:
            Scaled.apply(leaf(*shape), 2.0)
    (met,) = found.recorder.met.values()
    return [t.number for t in met.recorded]


def test_the_first_those_of_other_shapes_and_every_nth():
    assert numbers([(3,)] * 9) == [*range(1, FIRST + 1)]
    assert numbers([(3,)] * 5 + [(2, 2)]) == [1, 2, 3, 6]
    assert numbers([(3,)] * 8, every=4) == [1, 2, 3, 4, 8]
