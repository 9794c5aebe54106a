from came_pytorch import CAME
from help import show, trained

show(p=trained(CAME, lr=0.01, betas=(0.9, 0.999, 0.9999), weight_decay=0.01))
