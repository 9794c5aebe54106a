"""What pages and pictures are made with: markup whose text is escaped, and files written whole.

markup.py    HTML, XML and JSON in pages       files.py     `write`: a text to a file, all of it or nothing
document.py  a page that is one file           shown.py     `Shown`, `Page`: reports and pages in notebooks
figures.py   figures of matplotlib             numbers.py   numbers for pages, and tables of text
"""
