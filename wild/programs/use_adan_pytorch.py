from adan_pytorch import Adan
from help import show, trained

show(p=trained(Adan, lr=0.01))
