//! Arguments as data: what an op's row can take, and how Rust values become it.

use crate::layout::{Shape, checked_shape};
use crate::{DType, Device, Number, Result, Tensor, err};
use smallvec::SmallVec;

/// A tensor or a plain number: what arithmetic takes on its right-hand side.
#[derive(Clone)]
pub enum Operand {
    /// A tensor.
    Tensor(Tensor),
    /// A number, which ranks below every tensor in type promotion.
    Number(Number),
}

/// An operand that is borrowed: what a call works with, so that passing tensors costs nothing.
#[derive(Clone, Copy)]
pub enum OperandRef<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A number, which ranks below every tensor in type promotion.
    Number(Number),
}

impl<'a> From<&'a Tensor> for OperandRef<'a> {
    fn from(t: &'a Tensor) -> Self {
        OperandRef::Tensor(t)
    }
}

/// What pointwise ops take as an operand: a tensor, a reference to one, a number, an [`Operand`].
pub trait AsOperand {
    /// As an operand, borrowed.
    fn as_operand(&self) -> OperandRef<'_>;
}

impl AsOperand for Tensor {
    #[inline]
    fn as_operand(&self) -> OperandRef<'_> {
        OperandRef::Tensor(self)
    }
}
impl AsOperand for &Tensor {
    #[inline]
    fn as_operand(&self) -> OperandRef<'_> {
        OperandRef::Tensor(self)
    }
}
impl AsOperand for Operand {
    #[inline]
    fn as_operand(&self) -> OperandRef<'_> {
        match self {
            Operand::Tensor(t) => OperandRef::Tensor(t),
            Operand::Number(n) => OperandRef::Number(*n),
        }
    }
}
impl AsOperand for &Operand {
    #[inline]
    fn as_operand(&self) -> OperandRef<'_> {
        (**self).as_operand()
    }
}
impl AsOperand for OperandRef<'_> {
    #[inline]
    fn as_operand(&self) -> OperandRef<'_> {
        *self
    }
}
impl<N: Into<Number> + Copy> AsOperand for N {
    #[inline]
    fn as_operand(&self) -> OperandRef<'_> {
        OperandRef::Number((*self).into())
    }
}

/// A tensor, a number or nothing: a bound of `clamp`.
#[derive(Clone)]
pub struct OptOperand(pub Option<Operand>);

impl<T: Into<Operand>> From<T> for OptOperand {
    fn from(t: T) -> OptOperand {
        OptOperand(Some(t.into()))
    }
}
impl From<()> for OptOperand {
    fn from((): ()) -> OptOperand {
        OptOperand(None)
    }
}

/// A list of dimensions, or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dims {
    /// Every dimension (torch: `dim=None`).
    All,
    /// These, negative ones counting from the end.
    List(SmallVec<[isize; 6]>),
}

/// A shape as a user writes it; some ops take one -1 in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size(pub SmallVec<[isize; 6]>);

impl Size {
    /// As sizes, none negative.
    ///
    /// # Errors
    /// `Runtime` for a negative size or a product past the address space.
    pub fn checked(&self, op: &'static str) -> Result<Shape> {
        checked_shape(op, &self.0)
    }
}

macro_rules! values {
    ($($variant:ident($ty:ty) $text:literal;)*) => {
        /// One argument of an op, of one of the types that rows may declare.
        #[derive(Clone)]
        #[allow(missing_docs)]
        pub enum Value { $($variant($ty),)* }

        /// The type of a parameter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum ParamType { $($variant,)* }

        impl ParamType {
            /// As a signature shows it.
            pub fn name(self) -> &'static str { match self { $(ParamType::$variant => $text,)* } }
        }

        $(
            impl Arg for $ty {
                const TYPE: ParamType = ParamType::$variant;
                fn into_value(self) -> Value { Value::$variant(self) }
                fn borrow(value: &Value) -> Option<&Self> {
                    match value { Value::$variant(x) => Some(x), _ => None }
                }
            }
        )*
    };
}

impl<T: Arg> From<T> for Value {
    fn from(x: T) -> Value {
        x.into_value()
    }
}
impl From<&Tensor> for Value {
    fn from(t: &Tensor) -> Value {
        Value::Tensor(t.clone())
    }
}

/// A Rust type that a row may use for a parameter.
pub trait Arg: Sized {
    /// Its name among the parameter types.
    const TYPE: ParamType;
    /// Wraps it.
    fn into_value(self) -> Value;
    /// Finds it again.
    fn borrow(value: &Value) -> Option<&Self>;
}

values! {
    Tensor(Tensor) "Tensor";
    OptTensor(Option<Tensor>) "Tensor | None";
    OptOperand(OptOperand) "Tensor | Number | None";
    Tensors(Vec<Tensor>) "Sequence[Tensor]";
    OptTensors(Vec<Option<Tensor>>) "Sequence[Tensor | None]";
    Operand(Operand) "Tensor | Number";
    Number(Number) "Number";
    OptNumber(Option<Number>) "Number | None";
    Int(i64) "int";
    OptInt(Option<i64>) "int | None";
    Float(f64) "float";
    OptFloat(Option<f64>) "float | None";
    Bool(bool) "bool";
    OptBool(Option<bool>) "bool | None";
    Dims(Dims) "int | Sequence[int] | None";
    Size(Size) "Sequence[int]";
    DType(DType) "dtype";
    OptDType(Option<DType>) "dtype | None";
    OptDevice(Option<Device>) "device | None";
    Text(String) "str";
    OptText(Option<String>) "str | None";
    OptGenerator(Option<crate::random::Generator>) "Generator | None";
}

/// The arguments of one call, in the row's order.
pub type Args = SmallVec<[Value; 4]>;

/// The `k`-th argument as the type its row declares.
///
/// # Errors
/// `Type` when a caller that goes through the table passed another type.
#[inline]
pub fn arg<'a, T: Arg>(op: &'static str, args: &'a [Value], k: usize) -> Result<&'a T> {
    args.get(k).and_then(T::borrow).ok_or_else(|| err!(Type, op, "argument {k} must be {}", T::TYPE.name()))
}

impl Value {
    /// The tensors inside this argument.
    pub fn tensors(&self) -> SmallVec<[&Tensor; 2]> {
        match self {
            Value::Tensor(t)
            | Value::OptTensor(Some(t))
            | Value::Operand(Operand::Tensor(t))
            | Value::OptOperand(OptOperand(Some(Operand::Tensor(t)))) => SmallVec::from_elem(t, 1),
            Value::Tensors(list) => list.iter().collect(),
            Value::OptTensors(list) => list.iter().flatten().collect(),
            _ => SmallVec::new(),
        }
    }
    /// Whether `f` holds for one of the tensors inside.
    pub(crate) fn any_tensor(&self, mut f: impl FnMut(&Tensor) -> bool) -> bool {
        match self {
            Value::Tensor(t)
            | Value::OptTensor(Some(t))
            | Value::Operand(Operand::Tensor(t))
            | Value::OptOperand(OptOperand(Some(Operand::Tensor(t)))) => f(t),
            Value::Tensors(list) => list.iter().any(f),
            Value::OptTensors(list) => list.iter().flatten().any(f),
            _ => false,
        }
    }
}

impl From<&Tensor> for Tensor {
    fn from(t: &Tensor) -> Tensor {
        t.clone()
    }
}
impl From<Tensor> for Operand {
    fn from(t: Tensor) -> Operand {
        Operand::Tensor(t)
    }
}
impl From<&Tensor> for Operand {
    fn from(t: &Tensor) -> Operand {
        Operand::Tensor(t.clone())
    }
}
impl<N: Into<Number>> From<N> for Operand {
    fn from(n: N) -> Operand {
        Operand::Number(n.into())
    }
}

impl From<()> for Dims {
    fn from((): ()) -> Dims {
        Dims::All
    }
}
macro_rules! lists {
    ($($ty:ty),*) => { $(
        impl From<$ty> for Dims { fn from(d: $ty) -> Dims { Dims::List(SmallVec::from_elem(d as isize, 1)) } }
        impl<const N: usize> From<[$ty; N]> for Dims { fn from(d: [$ty; N]) -> Dims { Dims::List(d.iter().map(|x| *x as isize).collect()) } }
        impl From<&[$ty]> for Dims { fn from(d: &[$ty]) -> Dims { Dims::List(d.iter().map(|x| *x as isize).collect()) } }
        impl From<Vec<$ty>> for Dims { fn from(d: Vec<$ty>) -> Dims { Dims::from(d.as_slice()) } }
        impl From<$ty> for Size { fn from(d: $ty) -> Size { Size(SmallVec::from_elem(d as isize, 1)) } }
        impl<const N: usize> From<[$ty; N]> for Size { fn from(d: [$ty; N]) -> Size { Size(d.iter().map(|x| *x as isize).collect()) } }
        impl From<&[$ty]> for Size { fn from(d: &[$ty]) -> Size { Size(d.iter().map(|x| *x as isize).collect()) } }
        impl From<Vec<$ty>> for Size { fn from(d: Vec<$ty>) -> Size { Size::from(d.as_slice()) } }
    )* };
}
lists!(i32, i64, isize, usize);

impl From<()> for Size {
    fn from((): ()) -> Size {
        Size(SmallVec::new())
    }
}
impl From<Shape> for Size {
    fn from(s: Shape) -> Size {
        Size::from(s.as_slice())
    }
}
impl From<&Shape> for Size {
    fn from(s: &Shape) -> Size {
        Size::from(s.as_slice())
    }
}

impl Dims {
    /// A bit for each dimension named; all of `rank` for [`Dims::All`].
    ///
    /// # Errors
    /// `Index` for a dimension that does not exist, `Runtime` for one named twice.
    pub fn mask(&self, op: &'static str, rank: usize) -> Result<u64> {
        match self {
            Dims::All => crate::layout::dims_mask(op, &(0..rank as isize).collect::<Vec<_>>(), rank),
            Dims::List(list) => crate::layout::dims_mask(op, list, rank),
        }
    }
}
