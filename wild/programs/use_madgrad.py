from help import show, trained
from madgrad import MADGRAD, MirrorMADGRAD

show(a=trained(MADGRAD), b=trained(MirrorMADGRAD))
