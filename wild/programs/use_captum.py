import torch
from captum.attr import (DeepLift, FeatureAblation, GradientShap, GuidedBackprop, InputXGradient, IntegratedGradients, LayerConductance,
                         LayerGradCam, LRP, NeuronConductance, Occlusion, Saliency, ShapleyValueSampling, Deconvolution, DeepLiftShap)
from help import fill, rand, show

conv = fill(torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(48, 4)))
net = fill(torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)))
x, img, base = rand(4, 5), rand(2, 1, 6, 6), rand(4, 5)
out = {"ig": IntegratedGradients(net).attribute(x, base, target=1, return_convergence_delta=True), "sal": Saliency(net).attribute(x, target=0),
       "dl": DeepLift(net).attribute(x, base, target=2), "ixg": InputXGradient(net).attribute(x, target=1), "abl": FeatureAblation(net).attribute(x, target=1),
       "gbp": GuidedBackprop(conv).attribute(img, target=1), "dec": Deconvolution(conv).attribute(img, target=1), "occ": Occlusion(conv).attribute(img, (1, 2, 2), target=0),
       "cam": LayerGradCam(conv, conv[0]).attribute(img, target=2), "cond": LayerConductance(net, net[1]).attribute(x, target=0),
       "neu": NeuronConductance(net, net[1]).attribute(x, 2, target=0), "dls": DeepLiftShap(net).attribute(x, base, target=0), "lrp": LRP(net).attribute(x, target=1)}
show(out=out)
