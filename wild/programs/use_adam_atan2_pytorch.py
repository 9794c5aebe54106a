from adam_atan2_pytorch import AdamAtan2
from help import show, trained

show(p=trained(AdamAtan2, lr=0.01))
