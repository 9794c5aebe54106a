import torch
import torch_geometric.nn as gnn
from help import fill, gradients, positive, rand, show, whole
from torch_geometric.data import Batch, Data
from torch_geometric.utils import degree, scatter, softmax, to_dense_adj, to_undirected

edges = to_undirected(whole(8, 2, 14))
x = rand(8, 6).requires_grad_()
weight = positive(edges.shape[1])
out = {"adj": to_dense_adj(edges), "degree": degree(edges[0], 8), "softmax": softmax(weight, edges[0]),
       "scatter": [scatter(weight, edges[1], reduce=r, dim_size=8) for r in ("sum", "mean", "max", "min")]}  # fmt: skip
convs = {"gcn": gnn.GCNConv(6, 4), "sage": gnn.SAGEConv(6, 4), "gat": gnn.GATConv(6, 4, heads=2), "gin": gnn.GINConv(
    torch.nn.Linear(6, 4)), "gatv2": gnn.GATv2Conv(6, 4), "cheb": gnn.ChebConv(6, 4, 3), "graph": gnn.GraphConv(6, 4),
    "transformer": gnn.TransformerConv(6, 4), "tag": gnn.TAGConv(6, 4), "arma": gnn.ARMAConv(6, 4),
    "edge": gnn.EdgeConv(torch.nn.Linear(12, 4)), "pna": gnn.PNAConv(6, 4, ["mean", "max", "std"], ["identity"],
    torch.tensor([1, 2, 3, 4])), "film": gnn.FiLMConv(6, 4), "appnp": gnn.APPNP(3, 0.1)}  # fmt: skip
for name, conv in convs.items():
    fill(conv)
    x.grad = None
    y = conv(x, edges)
    y.pow(2).sum().backward()
    out[name] = [y, x.grad.clone(), gradients(conv)]
batch = Batch.from_data_list([Data(x=rand(3, 6), edge_index=whole(3, 2, 5)), Data(x=rand(4, 6), edge_index=whole(4, 2, 6))])
model = fill(gnn.GCN(6, 8, 2, 3))
y = gnn.global_mean_pool(model(batch.x, batch.edge_index), batch.batch)
y.pow(2).sum().backward()
out["pool"] = [y, gnn.global_max_pool(batch.x, batch.batch), gnn.global_add_pool(batch.x, batch.batch), gradients(model)]
show(out=out)
