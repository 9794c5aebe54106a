import kornia as K
import torch
from help import positive, rand, show

x = positive(2, 3, 24, 24).requires_grad_()
out = {"blur": K.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)), "sobel": K.filters.sobel(x), "canny": K.filters.canny(x)[0],
       "median": K.filters.median_blur(x, (3, 3)), "hsv": K.color.rgb_to_hsv(x), "luv": K.color.rgb_to_yuv(x),
       "rot": K.geometry.transform.rotate(x, torch.tensor([30.0, 10.0])), "resize": K.geometry.transform.resize(x, (12, 12)),
       "ssim": K.metrics.ssim(x, positive(2, 3, 24, 24), 5), "harris": K.feature.harris_response(x),
       "open": K.morphology.opening(x, torch.ones(3, 3)), "bil": K.filters.bilateral_blur(x, (3, 3), 0.1, (1.0, 1.0)),
       "lap": K.filters.laplacian(x, 3), "pyr": K.geometry.transform.pyrdown(x), "eq": K.enhance.adjust_gamma(x, 0.8),
       "hist": K.enhance.histogram(x.flatten(1), torch.linspace(0, 1, 8), torch.tensor(0.1))}
out["gs"] = {k: torch.autograd.grad(v.pow(2).sum(), x, retain_graph=True)[0] for k, v in list(out.items())}
p, q = rand(1, 8, 2), rand(1, 8, 2)
out["hom"] = K.geometry.homography.find_homography_dlt(p, q)
out["quat"] = K.geometry.conversions.quaternion_to_rotation_matrix(torch.nn.functional.normalize(rand(4, 4), dim=-1))
out["aa"] = K.geometry.conversions.rotation_matrix_to_axis_angle(out["quat"])
out["se3"] = K.geometry.liegroup.So3.exp(rand(3, 3)).matrix()
logits = rand(2, 4, 8, 8).requires_grad_()
target = (positive(2, 8, 8) * 4).long().clamp(0, 3)
loss = K.losses.dice_loss(logits, target) + K.losses.focal_loss(logits, target, alpha=0.5, reduction="mean") + K.losses.tversky_loss(logits, target, 0.4, 0.6)
loss.backward()
img = positive(1, 1, 20, 20)
warp = K.geometry.transform.warp_perspective(img, torch.tensor([[[1.0, 0.1, 0.5], [0.0, 0.9, 1.0], [0.001, 0.0, 1.0]]]), (20, 20))
torch.manual_seed(0)
aug = K.augmentation.RandomHorizontalFlip(p=1.0)(img)
show(out=out, gl=logits.grad, loss=loss, warp=warp, aug=aug, dt=K.contrib.distance_transform((img > 0.8).float()))
