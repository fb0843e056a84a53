"""Trees of containers."""

import collections

import pytest
import rushlight as torch
from rushlight.utils import _pytree as pytree

Pair = collections.namedtuple("Pair", "a b")


def test_trees_come_apart_and_together():
    tree = {
        "x": [1, (2, None)],
        "y": Pair(3, collections.OrderedDict(b=4, a=5)),
        "z": collections.deque([6], maxlen=2),
        "d": collections.defaultdict(list, {"k": torch.Size([7, 8])}),
    }
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, None, 3, 4, 5, 6, 7, 8] and spec.num_leaves == 9
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree and type(again["y"]) is Pair and again["z"].maxlen == 2 and again["d"].default_factory is list
    assert pytree.tree_structure(again) == spec
    with pytest.raises(ValueError):
        pytree.tree_unflatten(leaves[1:], spec)


def test_maps():
    tree = {"a": torch.ones(2), "b": [3, torch.zeros(1)]}
    doubled = pytree.tree_map_only(torch.Tensor, lambda t: t * 2, tree)
    assert doubled["a"].tolist() == [2, 2] and doubled["b"][0] == 3
    assert pytree.tree_map(lambda x, y: x + y, [1, (2,)], [10, (20,)]) == [11, (22,)]
    with pytest.raises(ValueError):
        pytree.tree_map(lambda x, y: x, [1, 2], [1])
    assert pytree.tree_leaves([1, [2, 3]], is_leaf=lambda x: x == [2, 3]) == [1, [2, 3]]
    assert pytree.tree_all(lambda x: x > 0, [1, [2]]) and not pytree.tree_any(lambda x: x > 2, [1, [2]])


def test_classes_of_programs_are_nodes_when_they_are_registered():
    class Box:
        def __init__(self, inner):
            self.inner = inner

    box = Box([1, 2])
    assert pytree.tree_leaves(box) == [box]
    pytree.register_pytree_node(Box, lambda b: ([b.inner], None), lambda children, _: Box(*children))
    assert pytree.tree_map(lambda x: x + 1, box).inner == [2, 3]
