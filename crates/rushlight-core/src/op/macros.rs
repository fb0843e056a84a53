//! `ops!` and `pointwise!`: a row becomes a table entry, a Rust method, its docs and its tests.

/// The Rust type of a parameter in a generated signature.
macro_rules! param_ty {
    (Tensor) => { &Tensor };
    (OptTensor) => { Option<&Tensor> };
    (Tensors) => { &[&Tensor] };
    (OptTensors) => { &[Option<&Tensor>] };
    (OptInt) => { Option<i64> };
    (OptFloat) => { Option<f64> };
    (OptNumber) => { Option<$crate::Number> };
    (OptDType) => { Option<$crate::DType> };
    (OptDevice) => { Option<$crate::Device> };
    (OptGenerator) => { Option<&$crate::random::Generator> };
    (Bool) => { bool };
    (OptBool) => { Option<bool> };
    (DType) => { $crate::DType };
    (Int) => { impl Into<i64> };
    (Float) => { impl Into<f64> };
    (Number) => { impl Into<$crate::Number> };
    (Text) => { &str };
    (OptText) => { Option<&str> };
    (Dims) => { impl Into<$crate::op::Dims> };
    (Size) => { impl Into<$crate::op::Size> };
    (Operand) => { impl Into<$crate::op::Operand> };
    (OptOperand) => { impl Into<$crate::op::OptOperand> };
}

/// A parameter of a generated signature as an argument of the table.
macro_rules! param_value {
    (Tensor, $x:expr) => {
        $crate::op::Value::Tensor($x.clone())
    };
    (OptTensor, $x:expr) => {
        $crate::op::Value::OptTensor(Option::<&Tensor>::cloned($x))
    };
    (Tensors, $x:expr) => {
        $crate::op::Value::Tensors($x.iter().map(|t| (*t).clone()).collect())
    };
    (OptTensors, $x:expr) => {
        $crate::op::Value::OptTensors($x.iter().map(|t| t.cloned()).collect())
    };
    (OptGenerator, $x:expr) => {
        $crate::op::Value::OptGenerator(Option::<&$crate::random::Generator>::cloned($x))
    };
    (OptText, $x:expr) => {
        $crate::op::Value::OptText(Option::<&str>::map($x, str::to_string))
    };
    (Text, $x:expr) => {
        $crate::op::Value::Text($x.to_string())
    };
    ($kind:ident, $x:expr) => {
        $crate::op::Value::$kind($x.into())
    };
}

/// The type a row's body sees a parameter as, behind a reference.
macro_rules! body_ty {
    (Tensor) => { Tensor };
    (OptTensor) => { Option<Tensor> };
    (Tensors) => { Vec<Tensor> };
    (OptTensors) => { Vec<Option<Tensor>> };
    (OptInt) => { Option<i64> };
    (OptFloat) => { Option<f64> };
    (OptNumber) => { Option<$crate::Number> };
    (OptDType) => { Option<$crate::DType> };
    (OptDevice) => { Option<$crate::Device> };
    (OptGenerator) => { Option<$crate::random::Generator> };
    (Bool) => { bool };
    (OptBool) => { Option<bool> };
    (Int) => { i64 };
    (Float) => { f64 };
    (Text) => { String };
    (OptText) => { Option<String> };
    ($other:ident) => { $crate::op::$other };
}

/// Binds the names of a row's parameters to its arguments.
macro_rules! bind_args {
    ($op:expr, $args:ident; $($arg:ident $ty:ident),*) => {
        let mut _at = 0usize;
        $( let $arg: &body_ty!($ty) = $crate::op::arg($op, $args, { _at += 1; _at - 1 })?; )*
    };
}

macro_rules! default_of {
    ($kind:ident) => {
        None
    };
    ($kind:ident, $default:expr) => {
        Some((stringify!($default), || param_value!($kind, $default)))
    };
}

/// Rows of the op table. See CONTRIBUTING.md, "Add an op".
///
/// ```text
/// /// Doc text.
/// fn name as public | names / name_with , inplace name_ [out] (input: Tensor, dim: Dims = Dims::All; dtype: OptDType = None) -> Tensor {
///     run: expression over the parameter names,      // or  view: ..  or  view_or_copy: ..  or  mutates: ..
///     grad: [reads inputs 0; outputs 0] |cx| ..,     // left out: made of other ops, or not differentiable
///     samples: function,
/// }
/// ```
/// A function of the family's file that has its row's name is written `super::name(..)`.
/// `as` lists the names bindings show it by, which rows may share: overloads of one name. Without
/// it that is the row's own; `as internal` hides it. After the result's type its parts may be named:
/// `-> (Tensor, Tensor) [values indices]`, which is what pairs are called by default.
/// `[out]` gives it `out=` of the result's dtype, `[out casts]` of any that it can be written to.
/// Parameters before `;` are positional in Rust, those after it are set by `name_with`. Without
/// `input` as the first name the row is an associated function. The Rust types are in `param_ty!`.
macro_rules! ops {
    ($table:ident; $( $(#[doc = $doc:literal])* fn $name:ident $(as $($public:ident)|+)? $(/ $with:ident)? $(, inplace $inplace:ident)? $([out $($casts:ident)?])?
        ( $first:ident : $fty:ident $(= $fdef:expr)? $(, $arg:ident : $ty:ident $(= $def:expr)?)* $(; $($karg:ident : $kty:ident = $kdef:expr),* )? ) -> $ret:ty $([$($part:ident)*])? {
            $mode:ident : $run:expr $(, grad: [reads inputs $($gin:literal)*; outputs $($gout:literal)* $(; $cross:ident)?] |$cx:ident| $grad:expr)? , samples: $samples:expr $(,)? } )* ) => {

        /// The rows of this family.
        pub static $table: &[&$crate::op::OpDef] = &[ $( &rows::$name, )* ];

        #[allow(non_upper_case_globals, unused_variables, unused_imports, clippy::redundant_closure_call)]
        pub(crate) mod rows {
            use super::*;
            use $crate::op::{GradDef, OpDef, Pack, Param, ParamType, Run, Value};
            $( pub static $name: OpDef = OpDef {
                name: stringify!($name),
                names: ops!(@names $name $($($public)+)?),
                returns: ops!(@returns $ret $(, $($part)*)?),
                doc: concat!($($doc, "\n"),*),
                params: &[
                    Param { name: stringify!($first), ty: ParamType::$fty, default: default_of!($fty $(, $fdef)?), keyword_only: false },
                    $( Param { name: stringify!($arg), ty: ParamType::$ty, default: default_of!($ty $(, $def)?), keyword_only: false }, )*
                    $($( Param { name: stringify!($karg), ty: ParamType::$kty, default: default_of!($kty, $kdef), keyword_only: true }, )*)?
                ],
                run: ops!(@run $mode stringify!($name), ($first $fty, $($arg $ty,)* $($($karg $kty,)*)?) $run),
                grad: ops!(@grad $([$($gin)*] [$($gout)*] [$($cross)?] |$cx| $grad)?),
                inplace: ops!(@opt $($inplace)?),
                out: ops!(@out $([out $($casts)?])?),
                method: ops!(@method $first),
                samples: $samples,
            }; )*
        }

        impl Tensor {
            $( ops!(@method_fn $mode [$($doc)*] $name $name $first $fty ($($arg $ty,)*) () { $($($karg $kty = $kdef,)*)? } $ret);
               ops!(@with $mode [$($doc)*] $name ($($with)?) $first $fty ($($arg $ty,)*) ($($($karg $kty,)*)?) $ret);
               ops!(@inplace $name ($($inplace)?) ($($arg $ty,)*) { $($($karg $kty = $kdef,)*)? }); )*
        }
    };

    (@names $name:ident) => { &[stringify!($name)] };
    (@names $name:ident internal) => { &[] };
    (@names $name:ident $($public:ident)+) => { &[$(stringify!($public)),+] };
    (@returns $ret:ty) => { <$ret as Pack>::RETURNS };
    (@returns $ret:ty, $($part:ident)*) => { $crate::op::Returns::Tuple(&[$(stringify!($part)),*]) };
    (@opt) => { None };
    (@opt $x:ident) => { Some(stringify!($x)) };
    (@out) => { None };
    (@out [out]) => { Some($crate::op::Out::Exact) };
    (@out [out casts]) => { Some($crate::op::Out::Casts) };
    (@method input) => { true };
    (@method $other:ident) => { false };

    (@run view $op:expr, ($first:ident $fty:ident, $($arg:ident $ty:ident,)*) $run:expr) => {
        Run::View(|$first, rest| { bind_args!($op, rest; $($arg $ty),*); $run })
    };
    (@run view_or_copy $op:expr, ($first:ident $fty:ident, $($arg:ident $ty:ident,)*) $run:expr) => {
        Run::ViewOrCopy(|$first, rest| { bind_args!($op, rest; $($arg $ty),*); $run })
    };
    (@run run $op:expr, ($($arg:ident $ty:ident,)*) $run:expr) => {
        Run::Function(|args| { bind_args!($op, args; $($arg $ty),*); Ok(Pack::pack($run?)) })
    };
    (@run mutates $op:expr, ($($arg:ident $ty:ident,)*) $run:expr) => {
        Run::Mutates(|args| { bind_args!($op, args; $($arg $ty),*); Ok(Pack::pack($run?)) })
    };

    (@grad) => { None };
    (@grad [$($gin:literal)*] [$($gout:literal)*] [$($cross:ident)?] |$cx:ident| $grad:expr) => {
        Some(GradDef { inputs: &[$($gin),*], outputs: &[$($gout),*], cross: ops!(@cross $($cross)?), formula: |$cx| $grad })
    };
    (@cross) => { false };
    (@cross cross) => { true };

    (@method_fn view $($rest:tt)*) => { ops!(@view_fn $($rest)*); };
    (@method_fn view_or_copy $($rest:tt)*) => { ops!(@view_fn $($rest)*); };
    (@view_fn [$($doc:literal)*] $row:ident $name:ident input Tensor ($($arg:ident $ty:ident,)*) ($($karg:ident $kty:ident,)*) { $($darg:ident $dty:ident = $ddef:expr,)* } $ret:ty) => {
        $(#[doc = $doc])* #[track_caller] #[allow(clippy::too_many_arguments)]
        pub fn $name(&self, $($arg: param_ty!($ty),)* $($karg: param_ty!($kty),)*) -> $crate::Result<$ret> {
            $crate::op::view(&rows::$row, self, &[$(param_value!($ty, $arg),)* $(param_value!($kty, $karg),)* $(param_value!($dty, $ddef),)*])
        }
    };
    (@method_fn $mode:ident [$($doc:literal)*] $row:ident $name:ident input Tensor ($($arg:ident $ty:ident,)*) ($($karg:ident $kty:ident,)*) { $($darg:ident $dty:ident = $ddef:expr,)* } $ret:ty) => {
        $(#[doc = $doc])* #[track_caller] #[allow(clippy::too_many_arguments)]
        pub fn $name(&self, $($arg: param_ty!($ty),)* $($karg: param_ty!($kty),)*) -> $crate::Result<$ret> {
            let args = [$crate::op::Value::Tensor(self.clone()), $(param_value!($ty, $arg),)* $(param_value!($kty, $karg),)* $(param_value!($dty, $ddef),)*];
            $crate::op::dispatch(&rows::$row, args).map($crate::op::Pack::unpack)
        }
    };
    (@method_fn $mode:ident [$($doc:literal)*] $row:ident $name:ident $first:ident $fty:ident ($($arg:ident $ty:ident,)*) ($($karg:ident $kty:ident,)*) { $($darg:ident $dty:ident = $ddef:expr,)* } $ret:ty) => {
        $(#[doc = $doc])* #[track_caller] #[allow(clippy::too_many_arguments)]
        pub fn $name($first: param_ty!($fty), $($arg: param_ty!($ty),)* $($karg: param_ty!($kty),)*) -> $crate::Result<$ret> {
            let args = [param_value!($fty, $first), $(param_value!($ty, $arg),)* $(param_value!($kty, $karg),)* $(param_value!($dty, $ddef),)*];
            $crate::op::dispatch(&rows::$row, args).map($crate::op::Pack::unpack)
        }
    };
    (@with $mode:ident [$($doc:literal)*] $row:ident () $($rest:tt)*) => {};
    (@with $mode:ident [$($doc:literal)*] $row:ident ($with:ident) $first:ident $fty:ident ($($arg:ident $ty:ident,)*) ($($karg:ident $kty:ident,)*) $ret:ty) => {
        ops!(@method_fn $mode [$($doc)*] $row $with $first $fty ($($arg $ty,)*) ($($karg $kty,)*) {} $ret);
    };
    (@inplace $row:ident () $($rest:tt)*) => {};
    (@inplace $row:ident ($inplace:ident) ($($arg:ident $ty:ident,)*) { $($darg:ident $dty:ident = $ddef:expr,)* }) => {
        #[doc = concat!("In-place form of [`Tensor::", stringify!($row), "`]; gives the same tensor back.")] #[track_caller]
        pub fn $inplace(&self, $($arg: param_ty!($ty),)*) -> $crate::Result<Tensor> {
            let args = [$crate::op::Value::Tensor(self.clone()), $(param_value!($ty, $arg),)* $(param_value!($dty, $ddef),)*];
            $crate::op::dispatch_inplace(&rows::$row, args)
        }
    };
}

/// Pointwise rows: a name, operands, parameters, a dtype rule and a formula. The gradient is derived.
///
/// ```text
/// /// Doc text.
/// fn add as public | names / add_with , inplace add_ (input, other; alpha = 1) Promote [no bool?] = |x| x[0] + x[1] * x[2];
/// ```
macro_rules! pointwise {
    ($table:ident; $( $(#[doc = $doc:literal])* fn $name:ident $(as $($public:ident)|+)? $(/ $with:ident)? $(, inplace $inplace:ident)? ( $first:ident $(, $arg:ident)* $(; $($karg:ident = $kdef:expr),*)? )
        $([$($warg:ident = $wdef:expr),*])? $rule:ident $(except $($refused:ident)*)? = |$x:ident| $body:expr $(, plain |$px:ident| $pbody:expr)? $(, grad |$gx:ident, $gy:ident, $gg:ident| $gbody:expr)? ; )* ) => {

        /// The rows of this family.
        pub static $table: &[&$crate::op::OpDef] = &[ $( &rows::$name, )* ];

        #[allow(non_upper_case_globals, unused_variables, unused_imports)]
        pub(crate) mod points {
            use super::*;
            use $crate::op::{Number, PointRow, Refuse, Rule};
            $( pub static $name: PointRow = PointRow::new(
                    stringify!($name),
                    &[stringify!($first) $(, stringify!($arg))*],
                    || vec![ $($(Number::from($kdef),)*)? $($(Number::from($wdef),)*)? ],
                    Rule::$rule, &[$($(Refuse::$refused,)*)?],
                    |$x| vec![$body],
                    pointwise!(@plain $(|$px| vec![$pbody])?),
                    pointwise!(@grad $(|$gx, $gy, $gg| $gbody)?),
                ); )*
        }

        #[allow(non_upper_case_globals, unused_variables, unused_imports)]
        pub(crate) mod rows {
            use super::points;
            use $crate::op::{Number, OpDef, Param, ParamType, Run, Value};
            $( pub static $name: OpDef = OpDef {
                name: stringify!($name),
                names: ops!(@names $name $($($public)+)?),
                returns: $crate::op::Returns::One,
                doc: concat!($($doc, "\n"),*),
                params: &[
                    Param { name: stringify!($first), ty: pointwise!(@first $first), default: None, keyword_only: false },
                    $( Param { name: stringify!($arg), ty: ParamType::Operand, default: None, keyword_only: false }, )*
                    $($( Param { name: stringify!($karg), ty: ParamType::Number, default: Some((stringify!($kdef), || Value::Number(Number::from($kdef)))), keyword_only: false }, )*)?
                    $($( Param { name: stringify!($warg), ty: ParamType::Number, default: Some((stringify!($wdef), || Value::Number(Number::from($wdef)))), keyword_only: true }, )*)?
                ],
                run: Run::Pointwise(&points::$name),
                grad: None,
                inplace: ops!(@opt $($inplace)?),
                out: Some($crate::op::Out::Casts),
                method: ops!(@method $first),
                samples: || $crate::op::samples::pointwise(&$name),
            }; )*
        }

        impl Tensor {
            $( pointwise!(@fn [$($doc)*] $name $first ($($arg)*) ($($($karg)*)?) ($($($wdef,)*)?));
               pointwise!(@with [$($doc)*] $name ($($with)?) ($($arg)*) ($($($warg)*)?));
               pointwise!(@inplace $name ($($inplace)?) ($($arg)*) ($($($karg)*)?) ($($($wdef,)*)?)); )*
        }
    };
    (@first input) => { ParamType::Tensor };
    (@first $other:ident) => { ParamType::Operand };
    (@plain) => { None };
    (@plain |$px:ident| $pbody:expr) => { Some(|$px| $pbody) };
    (@grad) => { None };
    (@grad |$gx:ident, $gy:ident, $gg:ident| $gbody:expr) => { Some(|$gx, $gy, $gg| $gbody) };
    (@fn [$($doc:literal)*] $name:ident input ($($arg:ident)*) ($($karg:ident)*) ($($wdef:expr,)*)) => {
        $(#[doc = $doc])* #[track_caller]
        pub fn $name(&self, $($arg: impl $crate::op::AsOperand,)* $($karg: impl Into<$crate::Number>,)*) -> $crate::Result<Tensor> {
            $crate::op::pointwise(&rows::$name, &[$crate::op::OperandRef::Tensor(self) $(, $crate::op::AsOperand::as_operand(&$arg))*], &[$($karg.into(),)* $($crate::Number::from($wdef),)*])
        }
    };
    (@fn [$($doc:literal)*] $name:ident $first:ident ($($arg:ident)*) ($($karg:ident)*) ($($wdef:expr,)*)) => {
        $(#[doc = $doc])* #[track_caller]
        pub fn $name($first: impl $crate::op::AsOperand, $($arg: impl $crate::op::AsOperand,)* $($karg: impl Into<$crate::Number>,)*) -> $crate::Result<Tensor> {
            $crate::op::pointwise(&rows::$name, &[$crate::op::AsOperand::as_operand(&$first) $(, $crate::op::AsOperand::as_operand(&$arg))*], &[$($karg.into(),)* $($crate::Number::from($wdef),)*])
        }
    };
    (@with [$($doc:literal)*] $name:ident () $($rest:tt)*) => {};
    (@with [$($doc:literal)*] $name:ident ($with:ident) ($($arg:ident)*) ($($warg:ident)*)) => {
        $(#[doc = $doc])* #[track_caller]
        pub fn $with(&self, $($arg: impl $crate::op::AsOperand,)* $($warg: impl Into<$crate::Number>,)*) -> $crate::Result<Tensor> {
            $crate::op::pointwise(&rows::$name, &[$crate::op::OperandRef::Tensor(self) $(, $crate::op::AsOperand::as_operand(&$arg))*], &[$($warg.into(),)*])
        }
    };
    (@inplace $name:ident () $($rest:tt)*) => {};
    (@inplace $name:ident ($inplace:ident) ($($arg:ident)*) ($($karg:ident)*) ($($wdef:expr,)*)) => {
        #[doc = concat!("In-place form of [`Tensor::", stringify!($name), "`]; gives the same tensor back.")] #[track_caller]
        pub fn $inplace(&self, $($arg: impl $crate::op::AsOperand,)* $($karg: impl Into<$crate::Number>,)*) -> $crate::Result<Tensor> {
            $crate::op::pointwise_inplace(&rows::$name, self, &[$crate::op::OperandRef::Tensor(self) $(, $crate::op::AsOperand::as_operand(&$arg))*], &[$($karg.into(),)* $($crate::Number::from($wdef),)*])
        }
    };
}
