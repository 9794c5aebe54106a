from help import show, trained
from prodigyopt import Prodigy

show(prodigy=trained(Prodigy, steps=20))
