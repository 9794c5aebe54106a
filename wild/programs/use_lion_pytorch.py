from help import show, trained
from lion_pytorch import Lion

show(lion=trained(Lion, lr=1e-2, weight_decay=0.1))
