from mechanic_pytorch import mechanize
import torch
from help import show, trained

show(p=trained(mechanize(torch.optim.AdamW), lr=0.01))
