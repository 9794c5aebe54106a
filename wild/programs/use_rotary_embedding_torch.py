from help import rand, show
from rotary_embedding_torch import RotaryEmbedding

x = rand(1, 2, 6, 8).requires_grad_()
y = RotaryEmbedding(dim=8).rotate_queries_or_keys(x)
y.pow(3).sum().backward()
show(y=y, g=x.grad)
