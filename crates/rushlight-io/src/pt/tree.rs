//! What a pickle holds, as plain data.

use crate::fault::{Parsed, refuse};
use rushlight_core::DType;

/// The place of a [`Node`] in its [`Tree`].
pub type Id = usize;

/// Everything one pickle holds. Values that were one object are one node, so that lists may contain
/// themselves and tensors stay shared.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// All values; those of containers are named by place.
    pub nodes: Vec<Node>,
    /// The value that was saved.
    pub root: Id,
}

/// One value.
#[derive(Clone, Debug)]
pub enum Node {
    /// `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A larger integer: two's complement, lowest byte first.
    Big(Vec<u8>),
    /// A number.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// Text.
    Text(String),
    /// Bytes that cannot be changed.
    Bytes(Vec<u8>),
    /// Bytes that can.
    ByteArray(Vec<u8>),
    /// A list.
    List(Vec<Id>),
    /// A tuple.
    Tuple(Vec<Id>),
    /// A dictionary in the order of its items.
    Dict(Map),
    /// A set.
    Set(Vec<Id>),
    /// A frozen set.
    FrozenSet(Vec<Id>),
    /// Memory of tensors.
    Storage(StorageRef),
    /// A tensor.
    Tensor(TensorRef),
    /// A module's parameter.
    Parameter {
        /// Its tensor.
        data: Id,
        /// Whether it is trained.
        requires_grad: bool,
    },
    /// A dtype.
    DType(DType),
    /// Sizes.
    Size(Vec<i64>),
    /// A device's name.
    Device(String),
    /// NumPy's dtype: its code (`f8`) and whether its numbers are big-endian.
    ArrayType {
        /// Kind and bytes, as in `f8`.
        code: String,
        /// Highest byte first.
        big: bool,
    },
    /// A NumPy array, or a scalar of NumPy's.
    Array(ArrayRef),
    /// A class or function that has a meaning here; alone it is a class such as `int`.
    Named(&'static str),
}

/// A dictionary.
#[derive(Clone, Debug)]
pub struct Map {
    /// Which one of Python's.
    pub kind: MapKind,
    /// Keys and values.
    pub items: Vec<(Id, Id)>,
    /// Attributes that were set on it, a dictionary; torch's `_metadata` is one.
    pub attributes: Option<Id>,
}

/// Which dictionary.
#[derive(Clone, Debug, PartialEq)]
pub enum MapKind {
    /// `dict`.
    Dict,
    /// `collections.OrderedDict`.
    Ordered,
    /// `collections.Counter`.
    Counter,
    /// `collections.defaultdict` of `list`, `dict`, `int` ... or nothing.
    Default(Option<&'static str>),
}

/// Memory of tensors by its name in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageRef {
    /// The name.
    pub key: String,
    /// What its elements are; `None` for plain bytes.
    pub dtype: Option<DType>,
    /// Elements.
    pub len: usize,
    /// Where it was.
    pub device: String,
    /// Elements before it, when it is a part of what `key` names.
    pub start: usize,
}

/// A tensor over a storage; offset, sizes and strides count elements.
#[derive(Clone, Debug)]
pub struct TensorRef {
    /// Its memory.
    pub storage: Id,
    /// The type of its elements.
    pub dtype: DType,
    /// Its first element.
    pub offset: usize,
    /// Its shape.
    pub size: Vec<usize>,
    /// Its strides.
    pub stride: Vec<isize>,
    /// Whether gradients are wanted.
    pub requires_grad: bool,
}

/// An array of NumPy's.
#[derive(Clone, Debug)]
pub struct ArrayRef {
    /// Its [`Node::ArrayType`], once that is known.
    pub dtype: Option<Id>,
    /// Its shape; `None` for a scalar.
    pub shape: Option<Vec<usize>>,
    /// Whether the first index moves fastest.
    pub fortran: bool,
    /// Its elements.
    pub bytes: Vec<u8>,
}

impl Tree {
    /// Refuses tuples in tuples so deep that those who hash or show them would run out of stack.
    pub(super) fn check_depth(&self) -> Parsed<()> {
        let mut depths = vec![0usize; self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            if let Node::Tuple(items) | Node::FrozenSet(items) = node {
                // What a tuple holds was there before it.
                let below = items.iter().filter(|i| **i < id).map(|i| depths[*i]).max();
                depths[id] = below.unwrap_or(0) + 1;
                if depths[id] > super::MAX_DEPTH {
                    refuse!("has tuples in tuples, deeper than {}", super::MAX_DEPTH);
                }
            }
        }
        Ok(())
    }

    /// The name and the place of every tensor below the root: keys and positions, with dots between. A tensor
    /// that has several names is listed under each.
    pub(super) fn tensors(&self) -> Parsed<Vec<(String, TensorRef)>> {
        let mut walk =
            Walk { tree: self, name: String::new(), open: Vec::new(), found: Vec::new(), steps: 0 };
        walk.visit(self.root)?;
        Ok(walk.found)
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    name: String,
    /// The containers around the present value.
    open: Vec<Id>,
    found: Vec<(String, TensorRef)>,
    steps: usize,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, id: Id) -> Parsed<()> {
        // Containers within themselves are not entered again.
        if self.open.contains(&id) {
            return Ok(());
        }
        self.steps += 1;
        // A list of one list twice, which holds another twice ... has names without number.
        if self.steps > 4 * self.tree.nodes.len() + 1000 || self.open.len() > super::MAX_DEPTH {
            refuse!("has more names in it than values");
        }
        self.open.push(id);
        let tree = self.tree;
        match &tree.nodes[id] {
            Node::Tensor(t) => self.found.push((self.name.clone(), t.clone())),
            Node::Parameter { data, requires_grad } => {
                if let Node::Tensor(t) = &tree.nodes[*data] {
                    self.found
                        .push((self.name.clone(), TensorRef { requires_grad: *requires_grad, ..t.clone() }));
                }
            }
            Node::Dict(map) => {
                for (key, value) in &map.items {
                    match &tree.nodes[*key] {
                        Node::Text(text) => self.enter(text, *value)?,
                        Node::Int(n) => self.enter(&n.to_string(), *value)?,
                        _ => {}
                    }
                }
            }
            Node::List(items) | Node::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.enter(&i.to_string(), *item)?;
                }
            }
            _ => {}
        }
        self.open.pop();
        Ok(())
    }

    fn enter(&mut self, key: &str, child: Id) -> Parsed<()> {
        let at = self.name.len();
        if at > 0 {
            self.name.push('.');
        }
        self.name.push_str(key);
        let result = self.visit(child);
        self.name.truncate(at);
        result
    }
}
