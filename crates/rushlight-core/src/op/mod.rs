//! The op table's machinery: rows, their arguments, and the single path every call takes.

mod autocast;
mod def;
mod dispatch;
mod formula;
#[macro_use]
pub(crate) mod macros;
mod out;
mod point;
mod promote;
pub mod samples;
mod update;
mod usual;
mod value;

pub use crate::{DType, Number};
pub use autocast::{autocast_dtype, set_autocast};
pub use def::{GradDef, OpDef, Outputs, Pack, Param, Returns, Run, Sample, ViewRule};
pub(crate) use dispatch::view;
pub use dispatch::{call, dispatch, dispatch_inplace, find, table};
pub use formula::{Formula, Traced};
pub use out::{Out, call_out, dispatch_out, rows_with_out};
pub(crate) use point::run_program;
pub use point::{PointRow, pointwise, pointwise_inplace, pointwise_out};
pub use promote::{Refuse, Rule, check_accepts, check_castable, compute_type, result_type};
pub use update::Update;
pub use value::{Arg, Args, AsOperand, Dims, Operand, OperandRef, OptOperand, ParamType, Size, Value, arg};
