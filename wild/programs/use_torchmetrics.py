import torch
import torchmetrics as tm
from help import positive, rand, show, whole

p, t = positive(40, 5).softmax(-1), whole(5, 40)
x, y = rand(30), rand(30)
out = {}
metrics = [tm.Accuracy(task="multiclass", num_classes=5), tm.F1Score(task="multiclass", num_classes=5, average="macro"),
           tm.AUROC(task="multiclass", num_classes=5), tm.ConfusionMatrix(task="multiclass", num_classes=5),
           tm.AveragePrecision(task="multiclass", num_classes=5), tm.CalibrationError(task="multiclass", num_classes=5),
           tm.CohenKappa(task="multiclass", num_classes=5), tm.MatthewsCorrCoef(task="multiclass", num_classes=5)]
for m in metrics:
    for k in range(4):
        m.update(p[10 * k : 10 * k + 10], t[10 * k : 10 * k + 10])
    out[type(m).__name__] = m.compute()
for m in [tm.MeanSquaredError(), tm.PearsonCorrCoef(), tm.R2Score(), tm.SpearmanCorrCoef(), tm.ExplainedVariance(),
          tm.KendallRankCorrCoef(), tm.ConcordanceCorrCoef()]:
    out[type(m).__name__] = m(x, y)
a, b = positive(2, 3, 32, 32).requires_grad_(), positive(2, 3, 32, 32)
ssim = tm.image.StructuralSimilarityIndexMeasure(data_range=1.0)(a, b)
psnr = tm.functional.image.peak_signal_noise_ratio(a, b, data_range=1.0)
(ssim + psnr).backward()
out["image"] = [ssim, psnr, a.grad, tm.functional.total_variation(a)]
w = rand(2, 800).requires_grad_()
s = tm.functional.audio.scale_invariant_signal_distortion_ratio(w, rand(2, 800))
s.sum().backward()
out["audio"] = [s, w.grad]
c = tm.MetricCollection([tm.MeanAbsoluteError(), tm.MeanSquaredError()])
out["collection"] = c(x, y)
out["running"] = tm.wrappers.MinMaxMetric(tm.MeanMetric())(x)
out["perp"] = tm.functional.text.perplexity(rand(2, 8, 5), whole(5, 2, 8))
out["retr"] = tm.retrieval.RetrievalMAP()(positive(20), whole(2, 20), indexes=whole(3, 20))
show(out=out)
