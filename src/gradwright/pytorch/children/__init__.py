"""What Python finds when it starts a child of a program that `gradwright run` runs: see ``sitecustomize``."""
