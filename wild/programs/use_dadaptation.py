from help import show, trained
from dadaptation import DAdaptAdam, DAdaptSGD, DAdaptAdaGrad, DAdaptLion

show(a=trained(DAdaptAdam), b=trained(DAdaptSGD), c=trained(DAdaptAdaGrad), d=trained(DAdaptLion))
