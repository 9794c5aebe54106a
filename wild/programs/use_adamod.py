from adamod import AdaMod
from help import show, trained

show(p=trained(AdaMod, lr=0.01))
