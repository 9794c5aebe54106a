from help import show, trained
from sophia_opt import SophiaG

show(a=trained(SophiaG))
