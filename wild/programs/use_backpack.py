import torch
from backpack import backpack, extend, extensions as ext
from help import fill, rand, show, whole

net = extend(fill(torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(32, 4), torch.nn.Sigmoid(), torch.nn.Linear(4, 3))))
loss = extend(torch.nn.CrossEntropyLoss())(net(rand(5, 1, 6, 6)), whole(3, 5))
with backpack(ext.BatchGrad(), ext.BatchL2Grad(), ext.SumGradSquared(), ext.Variance(), ext.DiagGGNExact(), ext.KFLR(), ext.SqrtGGNExact(), ext.DiagHessian(), ext.BatchDiagGGNExact()):
    loss.backward()
show(loss=loss, r={n: [p.grad, p.grad_batch, p.batch_l2, p.sum_grad_squared, p.variance, p.diag_ggn_exact, p.kflr, p.sqrt_ggn_exact, p.diag_h, p.diag_ggn_exact_batch] for n, p in net.named_parameters()})
