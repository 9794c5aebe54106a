"""Modules of PyTorch's that are about something else than derivatives: as much of each as has a meaning here.

What only asks has its answer, what only decorates gives back what it decorates, and what would do something that is not
done here says so when it is called: it stands there as `gradwright.absent.Absent`.
"""
