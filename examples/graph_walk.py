"""Look at the graph that backward runs: every result remembers the node that made it.

`grad_fn` is that node, `next_functions` are the nodes its inputs came from, and a path ends in an
AccumulateGrad, which adds what arrives to its `.variable`'s `.grad`. Prints the graph of z = x**2 + y**3 * x
as a tree, with what each node saved for backward, then the gradients that backward finds by following it.
"""

import gradwright as gw


def walk(node):
    """Yield (depth, node, seen before) from a node down to the leaves.

    A stack in place of recursion: a graph may be a million nodes deep. A node that several others use is
    yielded each time, and entered once.
    """
    seen = set()
    stack = [(0, node)]
    while stack:
        depth, node = stack.pop()
        yield depth, node, node in seen
        if node not in seen:
            seen.add(node)
            # The last pushed is the first popped, so push in reverse to visit in order.
            stack += [(depth + 1, below) for below, _ in reversed(node.next_functions) if below is not None]


def describe(node):
    """What a node does at the end of a path, or has saved for backward."""
    if hasattr(node, "variable"):
        return f"adds to the .grad of {node.variable.tolist()}"
    saved = [name for name in dir(node) if name.startswith("_saved_")]
    return f"saved {', '.join(saved)}" if saved else ""


def print_tree(root):
    for depth, node, again in walk(root):
        note = "(as above)" if again else describe(node)
        print(f"{'    ' * depth}{type(node).__name__:15} {note}".rstrip())


def main():
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    y = gw.tensor([3.0, 4.0], requires_grad=True)
    z = (x**2 + y**3 * x).sum()
    print("x is a leaf:", x.is_leaf, " z is a leaf:", z.is_leaf)
    print_tree(z.grad_fn)

    z.backward()
    print("x.grad:", x.grad.tolist(), "= 2x + y**3")
    print("y.grad:", y.grad.tolist(), "= 3 y**2 x")

    with gw.no_grad():
        print("inside no_grad, a result has no node:", (x + y).grad_fn)


if __name__ == "__main__":
    main()
