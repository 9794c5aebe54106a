import torch
from help import rand, positive, show
import linear_operator
from linear_operator import operators as ops

a = rand(5, 3).double().requires_grad_()
d = positive(5).double().requires_grad_()
root = ops.RootLinearOperator(a)
op = root + ops.DiagLinearOperator(d)
rhs = rand(5, 2).double()
out = [op.solve(rhs), op.logdet(), op.inv_quad_logdet(rhs, logdet=True), op.to_dense(), op @ rhs, op.diagonal()]
(out[0].sum() + out[1] + out[2][0] + out[4].pow(2).sum()).backward()
k = ops.KroneckerProductLinearOperator(ops.DenseLinearOperator(torch.eye(2).double() * 2), op)
t = ops.ToeplitzLinearOperator(torch.tensor([3.0, 1.0, 0.5], dtype=torch.float64))
chol = op.cholesky()
with linear_operator.settings.max_cholesky_size(1), linear_operator.settings.cg_tolerance(1e-8):
    cg = op.detach().solve(rhs)
show(out=out, ga=a.grad, gd=d.grad, k=k.to_dense(), kl=k.logdet(), t=t @ rand(3, 2).double(), ch=chol.to_dense(), cg=cg,
     cat=ops.CatLinearOperator(op, op, dim=0).to_dense(), idx=op[1:3, ..., :2].to_dense(), s=(op * 2).sum(-1),
     b=ops.BlockDiagLinearOperator(ops.DenseLinearOperator(rand(2, 3, 3))).to_dense(), lz=op.eigh()[0], root=op.root_decomposition().to_dense())
