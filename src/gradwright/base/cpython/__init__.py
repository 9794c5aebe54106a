"""What leans on CPython: one file a trick, with its reason, what is asked of the interpreter, and a plain way without.

Each trick is tried when its file is loaded. Where the interpreter does not do it, the plain way is taken: slower, or
less is told, and as right.
"""
