"""Trees of containers: their leaves in a list, and back. Under the names that programs take from torch.

A list, tuple, named tuple, dictionary, ordered or default dictionary, deque or Size is a node, and so is
what ``register_pytree_node`` knows; anything else is a leaf, None too.
"""

import collections
import dataclasses

from .._size import Size

#: By class: how its values come out, with what is needed to put others in.
_NODES = {}


def register_pytree_node(cls, flatten_fn, unflatten_fn, **names):
    """Makes a class a node: ``flatten_fn(x)`` gives (children, context), ``unflatten_fn(children, context)`` the value."""
    if cls in _NODES:
        raise ValueError(f"register_pytree_node: {cls.__name__} is registered already")
    _NODES[cls] = (flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node

register_pytree_node(list, lambda x: (list(x), None), lambda children, _: list(children))
register_pytree_node(tuple, lambda x: (list(x), None), lambda children, _: tuple(children))
register_pytree_node(Size, lambda x: (list(x), None), lambda children, _: Size(children))
register_pytree_node(dict, lambda x: (list(x.values()), list(x)), lambda children, keys: dict(zip(keys, children)))
register_pytree_node(
    collections.OrderedDict,
    lambda x: (list(x.values()), list(x)),
    lambda children, keys: collections.OrderedDict(zip(keys, children)),
)
register_pytree_node(
    collections.defaultdict,
    lambda x: (list(x.values()), (x.default_factory, list(x))),
    lambda children, context: collections.defaultdict(context[0], zip(context[1], children)),
)
register_pytree_node(
    collections.deque, lambda x: (list(x), x.maxlen), lambda children, longest: collections.deque(children, longest)
)


def _is_named(cls):
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def _ways(cls):
    """How a class is taken apart and put together; None for leaves."""
    if _is_named(cls):
        return (lambda x: (list(x), cls)), (lambda children, kind: kind(*children))
    return _NODES.get(cls)


@dataclasses.dataclass(init=True, frozen=True, eq=True, repr=True)
class TreeSpec:
    """The shape of a tree: a node's class, its context, and the specs of its children. A leaf has no class."""

    type: object
    context: object
    children_specs: list

    @property
    def num_leaves(self):
        """How many leaves there are."""
        return 1 if self.type is None else sum(child.num_leaves for child in self.children_specs)

    @property
    def num_children(self):
        """How many children the topmost node has."""
        return len(self.children_specs)

    def is_leaf(self):
        """Whether it is the spec of a leaf."""
        return self.type is None

    def unflatten(self, leaves):
        """The tree with these leaves."""
        return tree_unflatten(leaves, self)


class LeafSpec(TreeSpec):
    """The spec of a leaf."""

    def __init__(self):
        super().__init__(None, None, [])


def tree_flatten(tree, is_leaf=None):
    """(leaves, spec)."""
    leaves = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree, leaves, is_leaf):
    ways = None if is_leaf is not None and is_leaf(tree) else _ways(type(tree))
    if ways is None:
        leaves.append(tree)
        return LeafSpec()
    children, context = ways[0](tree)
    return TreeSpec(type(tree), context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves, treespec):
    """The tree of that spec with these leaves."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten: {len(leaves)} leaves for a spec that has {treespec.num_leaves}")
    return _build(iter(leaves), treespec)


def _build(leaves, spec):
    if spec.type is None:
        return next(leaves)
    return _ways(spec.type)[1]([_build(leaves, child) for child in spec.children_specs], spec.context)


def tree_leaves(tree, is_leaf=None):
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree, is_leaf=None):
    """The spec."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree of what ``func`` gives for each leaf, with those at the same place in ``rests``."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_flatten_up_to(rest, spec) for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others)], spec)


def _flatten_up_to(tree, spec):
    if spec.type is None:
        return [tree]
    if type(tree) is not spec.type:
        raise ValueError(f"tree_map: a {type(tree).__name__} where the first tree has a {spec.type.__name__}")
    children, _ = _ways(spec.type)[0](tree)
    if len(children) != len(spec.children_specs):
        raise ValueError(f"tree_map: {len(children)} children where the first tree has {len(spec.children_specs)}")
    return [leaf for child, inner in zip(children, spec.children_specs) for leaf in _flatten_up_to(child, inner)]


def tree_map_(func, tree, *rests, is_leaf=None):
    """As ``tree_map``, for what ``func`` does; gives the tree back."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kind, func, tree, is_leaf=None):
    """``tree_map`` over leaves of a class, or those that ``kind(leaf)`` is true for."""
    wanted = (lambda x: isinstance(x, kind)) if isinstance(kind, (type, tuple)) else kind
    return tree_map(lambda x: func(x) if wanted(x) else x, tree, is_leaf=is_leaf)


def tree_all(predicate, tree, is_leaf=None):
    """Whether the predicate holds for every leaf."""
    return all(map(predicate, tree_leaves(tree, is_leaf)))


def tree_any(predicate, tree, is_leaf=None):
    """Whether the predicate holds for some leaf."""
    return any(map(predicate, tree_leaves(tree, is_leaf)))
