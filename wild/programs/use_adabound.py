from adabound import AdaBound
from help import show, trained

show(p=trained(AdaBound, lr=0.01))
