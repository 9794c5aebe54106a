"""The doors at which programs hand derivatives to libraries; one file a library.

door.py      a door, and a call of it          heard.py     a function of the user's, as the library has it
opened.py    doors while a program runs        snapshot.py  a copy of the process, asked after the program's end
told.py      judgements as rows of a report    known.py     the doors there are
"""
