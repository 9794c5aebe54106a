import roma
from help import rand, show

v = rand(5, 3).requires_grad_()
R = roma.rotvec_to_rotmat(v)
q = roma.rotmat_to_unitquat(R)
S = roma.special_procrustes(rand(5, 3, 3))
(R.pow(2).sum(-1).sin() * q[:, :3]).sum().backward()
show(R=R, q=q, S=S, g=v.grad)
