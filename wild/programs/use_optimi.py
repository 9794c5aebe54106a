import adopt
import optimi
from help import show, trained

out = {name: trained(getattr(optimi, name), lr=1e-2)
       for name in ("Adam", "AdamW", "Adan", "Lion", "RAdam", "Ranger", "SGD", "StableAdamW")}  # fmt: skip
out["adopt"] = trained(adopt.ADOPT, lr=1e-2)
show(out=out)
