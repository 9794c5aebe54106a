import torch
from pytorch_metric_learning import distances, losses, miners, reducers, regularizers
from help import fill, rand, show, whole
out = {}
e, y = rand(24, 8).requires_grad_(), whole(4, 24)
for name in ("AngularLoss", "CircleLoss", "ContrastiveLoss", "FastAPLoss", "GeneralizedLiftedStructureLoss", "InstanceLoss", "IntraPairVarianceLoss", "LiftedStructureLoss", "MarginLoss",
             "MultiSimilarityLoss", "NCALoss", "NPairsLoss", "NTXentLoss", "PNPLoss", "SignalToNoiseRatioContrastiveLoss", "SupConLoss", "TripletMarginLoss", "TupletMarginLoss", "SmoothAPLoss", "DynamicSoftMarginLoss", "ThresholdConsistentMarginLoss"):
    k = {"SmoothAPLoss": {}}.get(name, {})
    loss = getattr(losses, name)(**k)
    l = loss(e, y) if name != "SmoothAPLoss" else loss(e, torch.arange(6).repeat_interleave(4))
    out[name] = [l, torch.autograd.grad(l, e)[0]]
for name in ("ArcFaceLoss", "CosFaceLoss", "NormalizedSoftmaxLoss", "ProxyAnchorLoss", "ProxyNCALoss", "SoftTripleLoss", "SphereFaceLoss", "SubCenterArcFaceLoss", "LargeMarginSoftmaxLoss"):
    loss = fill(getattr(losses, name)(num_classes=4, embedding_size=8))
    l = loss(e, y)
    out[name] = [l, torch.autograd.grad(l, e)[0]]
m = miners.MultiSimilarityMiner()(e, y)
l = losses.TripletMarginLoss(distance=distances.CosineSimilarity(), reducer=reducers.ThresholdReducer(low=0), embedding_regularizer=regularizers.LpRegularizer())(e, y, m)
out["mined"] = [l, *m, torch.autograd.grad(l, e)[0], *miners.BatchHardMiner()(e, y)]
show(out=out)
