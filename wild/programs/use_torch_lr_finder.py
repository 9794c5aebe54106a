from torch_lr_finder import LRFinder
import torch
from help import fill, rand, show

net = fill(torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.0001)
ds = torch.utils.data.TensorDataset(rand(32, 4), rand(32, 1))
dl = torch.utils.data.DataLoader(ds, batch_size=8)
f = LRFinder(net, opt, torch.nn.MSELoss(), device='cpu')
f.range_test(dl, end_lr=1, num_iter=10)
show(l=torch.tensor(f.history['loss']), lr=torch.tensor(f.history['lr']))
