from help import show, trained
from pytorch_ranger import Ranger, RangerQH, RangerVA

show(ranger=trained(Ranger), qh=trained(RangerQH), va=trained(RangerVA))
