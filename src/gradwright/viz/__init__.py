"""Looking at graphs.

walk.py      `graph`: tensors to records           records.py   the records: `Graph`, `GraphNode`, `Edge`, `Saved`
trace.py     `trace`: notes lines and modules      fold.py      a graph made smaller
text.py, dot.py, mermaid.py, svg.py                a graph written down; layout.py says where things stand in a picture
explorer.py  `explore`: a page to look around in, made of levels.py (groups in groups) and play.py (a backward pass)
torchviz.py  `make_dot`, as the torchviz package has it
program.py   `program`: a compiled function's program to records
layer_table.py `summary`: a module's layers  plots.py     `plot_gradients`; `plot_jacobian` stands beside the checkers
"""

from gradwright.base.lazy import lazy
from gradwright.verify.jacobian_plot import plot_jacobian
from gradwright.viz import dot, explorer, mermaid, svg, text
from gradwright.viz.explorer import explore
from gradwright.viz.layer_table import Layer, Summary, summary
from gradwright.viz.play import Flow, Play, Step, Values, play
from gradwright.viz.plots import plot_gradients
from gradwright.viz.program import program
from gradwright.viz.records import Edge, Gradient, Graph, GraphNode, Place, Saved, Stats, forms
from gradwright.viz.torchviz import make_dot
from gradwright.viz.trace import trace
from gradwright.viz.walk import graph

__all__ = ["Edge", "Flow", "Gradient", "Graph", "GraphNode", "Layer", "Place", "Play", "Saved", "Stats", "Step",
           "Summary", "Values", "explore", "graph", "play", "make_dot",
           "plot_gradients", "plot_jacobian", "program", "summary", "trace"]  # fmt: skip

lazy(__name__)

forms.update(text=text.text, dot=dot.dot, mermaid=mermaid.mermaid, svg=svg.svg, html=explorer.page)
