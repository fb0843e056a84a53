//! The classes and functions a file may name, and what calling them gives. Nothing else is ever looked
//! up, imported or called: a file that names something else is refused.

use super::pickle::Machine;
use super::tree::{ArrayRef, Id, Map, MapKind, Node, StorageRef, TensorRef};
use crate::fault::{Parsed, refuse};
use rushlight_core::DType;

/// Classes that may stand in a file for themselves, as the factory of a `defaultdict`.
const CLASSES: &[&str] = &["list", "dict", "set", "tuple", "int", "float", "str", "bool", "bytes"];

/// What `module.name` means, as a node.
pub(super) fn global(module: &str, name: &str) -> Parsed<Node> {
    let full = format!("{module}.{name}");
    if module == "torch"
        && let Some(dtype) = DType::ALL.iter().find(|d| d.name() == name || alias(name) == Some(d.name()))
    {
        return Ok(Node::DType(*dtype));
    }
    if let Some(found) = storage_class(module, name) {
        return Ok(Node::Named(found));
    }
    let module = match module {
        "__builtin__" => "builtins",
        // NumPy 2 moved it.
        "numpy._core.multiarray" => "numpy.core.multiarray",
        "numpy._core.numeric" => "numpy.core.numeric",
        other => other,
    };
    if module == "builtins"
        && let Some(class) = CLASSES.iter().find(|c| **c == name)
    {
        return Ok(Node::Named(class));
    }
    let full_here = format!("{module}.{name}");
    match FUNCTIONS.iter().find(|f| **f == full_here) {
        Some(function) => Ok(Node::Named(function)),
        None => refuse!(
            "names {full}, which is no tensor, number or container of Python's: nothing of a file is ever run. \
             Save a state_dict, or only tensors and containers, instead"
        ),
    }
}

const FUNCTIONS: &[&str] = &[
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
    "torch._tensor._rebuild_from_type_v2",
    "torch._tensor._rebuild_from_type",
    "torch.Tensor",
    "torch.nn.parameter.Parameter",
    "torch.Size",
    "torch.device",
    "torch.serialization._get_layout",
    "collections.OrderedDict",
    "collections.defaultdict",
    "collections.Counter",
    "builtins.complex",
    "builtins.bytearray",
    "builtins.frozenset",
    "_codecs.encode",
    "numpy.core.multiarray._reconstruct",
    "numpy.core.multiarray.scalar",
    "numpy.core.numeric._frombuffer",
    "numpy.ndarray",
    "numpy.dtype",
];

/// Storage classes and the dtype of each.
const STORAGES: &[(&str, Option<DType>)] = &[
    ("UntypedStorage", None),
    ("BoolStorage", Some(DType::Bool)),
    ("ByteStorage", Some(DType::U8)),
    ("CharStorage", Some(DType::I8)),
    ("ShortStorage", Some(DType::I16)),
    ("IntStorage", Some(DType::I32)),
    ("LongStorage", Some(DType::I64)),
    ("HalfStorage", Some(DType::F16)),
    ("BFloat16Storage", Some(DType::BF16)),
    ("FloatStorage", Some(DType::F32)),
    ("DoubleStorage", Some(DType::F64)),
    ("ComplexFloatStorage", Some(DType::C64)),
    ("ComplexDoubleStorage", Some(DType::C128)),
];

fn storage_class(module: &str, name: &str) -> Option<&'static str> {
    let here = matches!(module, "torch" | "torch.storage" | "torch.cuda");
    STORAGES.iter().find(|(class, _)| here && *class == name).map(|(class, _)| *class)
}

/// The name of the storage class for a dtype; unsigned integers of more than a byte have none.
pub(super) fn storage_name(dtype: DType) -> Option<&'static str> {
    STORAGES.iter().find(|(_, d)| *d == Some(dtype)).map(|(class, _)| *class)
}

fn alias(name: &str) -> Option<&'static str> {
    Some(match name {
        "float" => "float32",
        "double" => "float64",
        "half" => "float16",
        "long" => "int64",
        "int" => "int32",
        "short" => "int16",
        "cfloat" => "complex64",
        "cdouble" => "complex128",
        _ => return None,
    })
}

impl Machine<'_> {
    /// `name(*args)`.
    pub(super) fn call(&mut self, name: &'static str, args: &[Id]) -> Parsed<Node> {
        let short = name.rsplit('.').next().unwrap_or(name);
        match (name, args) {
            (
                "torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor",
                [s, offset, size, stride, rest @ ..],
            ) => {
                let dtype = match self.node(*s) {
                    Node::Storage(s) => s.dtype.unwrap_or(DType::U8),
                    other => refuse!("{short}: {} is no storage", describe(other)),
                };
                self.tensor(*s, dtype, [*offset, *size, *stride], rest.first())
            }
            ("torch._utils._rebuild_tensor_v3", [s, offset, size, stride, grad, _hooks, dtype, ..]) => {
                let Node::DType(dtype) = *self.node(*dtype) else { refuse!("{short}: no dtype is given") };
                self.tensor(*s, dtype, [*offset, *size, *stride], Some(grad))
            }
            (
                "torch._utils._rebuild_parameter" | "torch._utils._rebuild_parameter_with_state",
                [data, grad, ..],
            ) => self.parameter(*data, self.truth(*grad)?),
            ("torch.nn.parameter.Parameter", [data, rest @ ..]) => {
                let grad = rest.first().map_or(Ok(true), |id| self.truth(*id))?;
                self.parameter(*data, grad)
            }
            ("torch._tensor._rebuild_from_type_v2", [function, class, inner, ..]) => {
                self.of_type(*function, *class, *inner)
            }
            ("torch._tensor._rebuild_from_type", [function, class, inner, ..]) => {
                self.of_type(*function, *class, *inner)
            }
            ("torch.Size", [sizes]) => Ok(Node::Size(self.integers(*sizes)?)),
            ("torch.device", [kind]) => Ok(Node::Device(self.text(*kind)?.to_string())),
            ("torch.device", [kind, index]) => {
                let index = self.integer(*index)?;
                Ok(Node::Device(format!("{}:{index}", self.text(*kind)?)))
            }
            ("torch.serialization._get_layout", [name]) => Ok(Node::Text(self.text(*name)?.to_string())),
            ("collections.OrderedDict", []) => Ok(dict(MapKind::Ordered, Vec::new())),
            ("collections.OrderedDict", [pairs]) => Ok(dict(MapKind::Ordered, self.pairs(*pairs)?)),
            ("collections.Counter", []) => Ok(dict(MapKind::Counter, Vec::new())),
            ("collections.Counter", [pairs]) => Ok(dict(MapKind::Counter, self.pairs(*pairs)?)),
            ("collections.defaultdict", []) => Ok(dict(MapKind::Default(None), Vec::new())),
            ("collections.defaultdict", [factory, ..]) => match self.node(*factory) {
                Node::None => Ok(dict(MapKind::Default(None), Vec::new())),
                Node::Named(class) if CLASSES.contains(class) => {
                    Ok(dict(MapKind::Default(Some(class)), Vec::new()))
                }
                other => refuse!("defaultdict of {}", describe(other)),
            },
            ("builtins.complex", [re, im]) => Ok(Node::Complex(self.float(*re)?, self.float(*im)?)),
            ("builtins.bytearray", []) => Ok(Node::ByteArray(Vec::new())),
            ("builtins.bytearray", [bytes, ..]) => Ok(Node::ByteArray(self.bytes(*bytes)?)),
            ("bytes", []) => Ok(Node::Bytes(Vec::new())),
            ("_codecs.encode", [text, ..]) => Ok(Node::Bytes(latin(self.text(*text)?)?)),
            ("set" | "builtins.frozenset" | "list" | "tuple", args) if args.len() < 2 => {
                let items = match args.first().map(|id| self.node(*id)) {
                    None => Vec::new(),
                    Some(Node::List(items) | Node::Tuple(items)) => {
                        self.spend(items.len())?;
                        items.clone()
                    }
                    Some(other) => refuse!("{short} of {}", describe(other)),
                };
                Ok(match name {
                    "set" => Node::Set(items),
                    "list" => Node::List(items),
                    "tuple" => Node::Tuple(items),
                    _ => Node::FrozenSet(items),
                })
            }
            ("dict", []) => Ok(dict(MapKind::Dict, Vec::new())),
            ("numpy.dtype", [code, ..]) => {
                let code = self.text(*code)?;
                let plain = code.trim_start_matches(['<', '|', '=', '>']).to_string();
                if plain.contains('O') || plain.is_empty() {
                    refuse!("holds NumPy objects of dtype {code:?}; only numbers are read");
                }
                Ok(Node::ArrayType { code: plain, big: code.starts_with('>') })
            }
            ("numpy.core.multiarray._reconstruct", _) => Ok(Node::Array(ArrayRef {
                dtype: None,
                shape: Some(vec![0]),
                fortran: false,
                bytes: Vec::new(),
            })),
            ("numpy.core.multiarray.scalar", [dtype, bytes]) => {
                let Node::ArrayType { .. } = self.node(*dtype) else { refuse!("scalar: no dtype is given") };
                let bytes = self.bytes(*bytes)?;
                Ok(Node::Array(ArrayRef { dtype: Some(*dtype), shape: None, fortran: false, bytes }))
            }
            ("numpy.core.numeric._frombuffer", [bytes, dtype, shape, order, ..]) => {
                let Node::ArrayType { .. } = self.node(*dtype) else { refuse!("{short}: no dtype is given") };
                let fortran = self.text(*order)? == "F";
                let (shape, bytes) = (Some(self.sizes(*shape)?), self.bytes(*bytes)?);
                Ok(Node::Array(ArrayRef { dtype: Some(*dtype), shape, fortran, bytes }))
            }
            _ => refuse!("calls {name} with {} arguments, which means nothing here", args.len()),
        }
    }

    /// What `object.__setstate__(state)` would do, for the few objects where it does something.
    pub(super) fn build(&mut self, id: Id, state: Id) -> Parsed<()> {
        let filled = match (self.node(id), self.node(state)) {
            (Node::Dict(map), Node::Dict(_)) if matches!(map.kind, MapKind::Ordered | MapKind::Counter) => {
                self.spend(map.items.len())?;
                let mut map = map.clone();
                map.attributes = Some(state);
                Node::Dict(map)
            }
            (Node::ArrayType { code, .. }, Node::Tuple(parts)) => {
                let order = parts.get(1).map(|id| self.text(*id)).transpose()?.unwrap_or("|");
                Node::ArrayType { code: code.clone(), big: order == ">" }
            }
            (Node::Array(_), Node::Tuple(parts)) => {
                let [.., shape, dtype, fortran, bytes] = parts.as_slice() else {
                    refuse!("an array's state has {} parts", parts.len())
                };
                let Node::ArrayType { .. } = self.node(*dtype) else { refuse!("an array without a dtype") };
                let shape = self.sizes(*shape)?;
                Node::Array(ArrayRef {
                    dtype: Some(*dtype),
                    shape: Some(shape),
                    fortran: self.truth(*fortran)?,
                    bytes: self.bytes(*bytes)?,
                })
            }
            // Hooks and the like of tensors: nothing that is data.
            (Node::Tensor(_) | Node::Parameter { .. }, _) => return Ok(()),
            (object, _) => refuse!("gives {} a state, which it cannot have", describe(object)),
        };
        self.set(id, filled);
        Ok(())
    }

    /// A persistent id: what a storage is called.
    pub(super) fn persistent(&mut self, id: Id) -> Parsed<Node> {
        let Node::Tuple(parts) = self.node(id) else {
            refuse!("a storage is named by {}", describe(self.node(id)))
        };
        let [kind, class, key, device, len, rest @ ..] = parts.as_slice() else {
            refuse!("a storage is named by {} parts", parts.len())
        };
        let kind = self.text(*kind)?;
        if kind != "storage" {
            refuse!("refers to a {kind:?}, which is no storage");
        }
        let class = match self.node(*class) {
            Node::Named(name) => *name,
            other => refuse!("a storage is of class {}", describe(other)),
        };
        let Some((_, dtype)) = STORAGES.iter().find(|(name, _)| *name == class) else {
            refuse!("a storage is of class {class}")
        };
        let key = match self.node(*key) {
            Node::Int(n) => n.to_string(),
            _ => self.text(*key)?.to_string(),
        };
        let mut storage = StorageRef {
            key,
            dtype: *dtype,
            len: self.size(*len)?,
            device: self.text(*device).unwrap_or("cpu").to_string(),
            start: 0,
        };
        // Files of old have storages that are parts of others: (key, start, length).
        if let Some(view) = rest.first()
            && let Node::Tuple(view) = self.node(*view)
        {
            let [_, start, len] = view.as_slice() else {
                refuse!("a part of a storage has {} parts", view.len())
            };
            (storage.start, storage.len) = (self.size(*start)?, self.size(*len)?);
        }
        Ok(Node::Storage(storage))
    }

    fn tensor(&self, storage: Id, dtype: DType, place: [Id; 3], grad: Option<&Id>) -> Parsed<Node> {
        let Node::Storage(_) = self.node(storage) else { refuse!("a tensor without a storage") };
        let [offset, size, stride] = place;
        let (size, stride) = (self.sizes(size)?, self.integers(stride)?);
        if size.len() != stride.len() || size.len() > crate::MAX_RANK {
            refuse!("a tensor has {} sizes and {} strides", size.len(), stride.len());
        }
        Ok(Node::Tensor(TensorRef {
            storage,
            dtype,
            offset: self.size(offset)?,
            size,
            stride: stride.into_iter().map(|s| s as isize).collect(),
            requires_grad: grad.map_or(Ok(false), |id| self.truth(*id))?,
        }))
    }

    fn parameter(&self, data: Id, requires_grad: bool) -> Parsed<Node> {
        match self.node(data) {
            Node::Tensor(_) => Ok(Node::Parameter { data, requires_grad }),
            other => refuse!("a parameter of {}", describe(other)),
        }
    }

    /// `function(*inner)` as an object of `class`, which must be one of torch's own.
    fn of_type(&mut self, function: Id, class: Id, inner: Id) -> Parsed<Node> {
        let Node::Named(function) = *self.node(function) else { refuse!("rebuilds a tensor by no function") };
        let Node::Tuple(args) = self.node(inner) else { refuse!("rebuilds a tensor from no arguments") };
        self.spend(args.len())?;
        let args = args.clone();
        let built = self.call(function, &args)?;
        match (self.node(class), built) {
            (Node::Named("torch.nn.parameter.Parameter"), Node::Tensor(t)) => {
                let requires_grad = t.requires_grad;
                let data = self.add(Node::Tensor(t));
                Ok(Node::Parameter { data, requires_grad })
            }
            (Node::Named("torch.Tensor" | "torch.nn.parameter.Parameter"), built) => Ok(built),
            (other, _) => refuse!("a tensor of class {}", describe(other)),
        }
    }
}

fn dict(kind: MapKind, items: Vec<(Id, Id)>) -> Node {
    Node::Dict(Map { kind, items, attributes: None })
}

/// Text whose characters are bytes.
fn latin(text: &str) -> Parsed<Vec<u8>> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    match bytes {
        Some(bytes) => Ok(bytes),
        None => refuse!("text that should be bytes has characters above 255"),
    }
}

/// A node's sort, for errors.
pub(super) fn describe(node: &Node) -> String {
    match node {
        Node::Named(name) => (*name).to_string(),
        Node::Dict(_) => "a dictionary".into(),
        Node::Tensor(_) => "a tensor".into(),
        Node::Text(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        Node::Int(n) => n.to_string(),
        other => {
            let text = format!("{other:?}");
            text.split(['(', ' ', '{']).next().unwrap_or("something").to_lowercase()
        }
    }
}
