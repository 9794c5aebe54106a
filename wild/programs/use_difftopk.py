from difftopk import DiffTopkNet
import difftopk
from help import rand, show

x = rand(3, 16).requires_grad_()
t = DiffTopkNet('bitonic', size=16, k=4, sparse=False)(x)
show(t=t)
