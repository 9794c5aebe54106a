import nadir
from help import show, trained

show(p=trained(lambda p: nadir.Adam(p, nadir.AdamConfig(lr=0.01))))
