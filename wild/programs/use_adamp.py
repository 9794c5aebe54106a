from help import show, trained
from adamp import AdamP, SGDP

show(a=trained(AdamP), b=trained(SGDP, lr=0.01))
