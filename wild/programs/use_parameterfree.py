from parameterfree import COCOB, KT
from help import show, trained

show(p=trained(COCOB), q=trained(KT))
