from grokfast_pytorch import GrokFastAdamW
from help import show, trained

show(p=trained(GrokFastAdamW, lr=0.01))
