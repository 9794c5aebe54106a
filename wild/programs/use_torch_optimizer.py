import torch
import torch_optimizer as optim
from help import show, trained

names = ["A2GradExp", "A2GradInc", "A2GradUni", "AccSGD", "AdaBelief", "AdaBound", "AdaMod", "AdamP", "AggMo", "Apollo",
         "DiffGrad", "Lamb", "LARS", "MADGRAD", "NovoGrad", "PID", "QHAdam", "QHM", "RAdam", "Ranger", "RangerQH",
         "RangerVA", "SGDP", "SGDW", "SWATS", "Yogi"]
more = {"LARS": {"lr": 0.1}, "QHM": {"lr": 0.1, "momentum": 0.9}, "SGDW": {"lr": 0.01}, "SGDP": {"lr": 0.01},
        "A2GradUni": {"lips": 10, "beta": 10}, "A2GradInc": {"lips": 10, "beta": 10}, "A2GradExp": {"lips": 10, "beta": 10}}
show(**{name: trained(getattr(optim, name), **more.get(name, {})) for name in names})
