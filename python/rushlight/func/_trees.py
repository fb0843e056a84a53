"""Nested tuples, lists and dicts as flat lists of leaves, and back."""

from collections import OrderedDict, defaultdict


def _children(x):
    """The children of a node and how it is made of new ones; ``None`` for a leaf."""
    if isinstance(x, tuple):
        if hasattr(x, "_fields"):
            return list(x), lambda parts, kind=type(x): kind(*parts)
        return (list(x), tuple) if type(x) is tuple else None
    if type(x) is list:
        return list(x), list
    if type(x) in (dict, OrderedDict):
        keys = list(x)
        return [x[k] for k in keys], lambda parts, kind=type(x): kind(zip(keys, parts))
    if type(x) is defaultdict:
        keys, default = list(x), x.default_factory
        return [x[k] for k in keys], lambda parts: defaultdict(default, zip(keys, parts))
    return None


def flatten(tree):
    """The leaves, and a function that makes the tree of as many new ones."""
    found = _children(tree)
    if found is None:
        return [tree], lambda leaves: leaves[0]
    parts, build = found
    leaves, builders = [], []
    for part in parts:
        below, builder = flatten(part)
        leaves += below
        builders.append((len(below), builder))

    def rebuild(new):
        made, at = [], 0
        for count, builder in builders:
            made.append(builder(new[at : at + count]))
            at += count
        return build(made)

    return leaves, rebuild


def mapped(function, tree):
    """The tree with ``function`` of each leaf."""
    leaves, rebuild = flatten(tree)
    return rebuild([function(leaf) for leaf in leaves])


def spread(prefix, tree):
    """A leaf of ``prefix`` for each leaf of ``tree``, of which it is an upper part. ``None``: it is not."""
    found = _children(tree)
    upper = _children(prefix)
    if upper is None:
        return [prefix] * len(flatten(tree)[0])
    if found is None or len(found[0]) != len(upper[0]):
        return None
    if isinstance(tree, dict) != isinstance(prefix, dict) or (isinstance(tree, dict) and set(tree) != set(prefix)):
        return None
    parts = [prefix[k] for k in tree] if isinstance(tree, dict) else upper[0]
    rows = [spread(p, t) for p, t in zip(parts, found[0])]
    return None if any(row is None for row in rows) else [leaf for row in rows for leaf in row]
