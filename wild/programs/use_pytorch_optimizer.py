import pytorch_optimizer as po
from help import show, trained

names = ["A2Grad", "AdaBelief", "AdaBound", "AdaDelta", "AdaFactor", "AdaHessian", "Adai", "AdaMax", "AdamC", "AdamG", "AdamMini",
         "AdamP", "AdamS", "AdaMod", "AdaNorm", "Adan", "AdaPNM", "AdaShift", "AdaSmooth", "ADOPT", "AggMo", "Aida", "APOLLO",
         "AvaGrad", "CAME", "DAdaptAdam", "DAdaptAdaGrad", "DAdaptLion", "DAdaptSGD", "DiffGrad", "EmoNavi", "EXAdam", "FAdam",
         "FOCUS", "FTRL", "GrokFastAdamW", "Kate", "Kron", "Lamb", "LARS", "LaProp", "Lion", "MADGRAD", "MARS",
         "MSVAG", "Nero", "NovoGrad", "PAdam", "PID", "PNM", "Prodigy", "QHAdam", "QHM", "RACS", "Ranger", "Ranger21", "Ranger25",
         "ScalableShampoo", "ScheduleFreeAdamW", "ScheduleFreeSGD", "SGDP", "SGDSaI", "SGDW", "SignSGD", "SimplifiedAdEMAMix",
         "SM3", "SophiaH", "SRMM", "StableAdamW", "StableSPAM", "SWATS", "Tiger", "VSGD", "Yogi", "Muon", "Fira", "TAM", "AdaTAM"]  # fmt: skip
out = {}
for name in names:
    make = getattr(po, name, None)
    if make is None or name in ("AdaHessian", "SophiaH", "Kron", "AdamMini", "Ranger21", "Muon", "AdamC"):
        continue
    try:
        out[name] = trained(lambda p, **o: make(p, **o), steps=6, lr=1e-2)
    except TypeError:
        out[name] = trained(lambda p, **o: make(p), steps=6)
show(out=out)
