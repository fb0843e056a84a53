//! Autograd, with torch's rules: what is recorded, what is kept, and how gradients flow back.
//!
//! [`mode`](is_grad_enabled) says whether ops are recorded; `record` makes a node of a call,
//! `pointwise` of one whose gradient is derived;
//! `view` keeps histories of views and their bases right under in-place writes; `engine` runs
//! backward. Formulas live in the rows of the op table and are written with ops.

mod anomaly;
mod engine;
mod function;
mod gradcheck;
mod hooks;
mod meta;
mod mode;
mod node;
mod pointwise;
mod record;
mod saved;
pub(crate) mod view;

pub use anomaly::{Anomaly, anomaly_mode, set_anomaly_mode, take_failed};
pub use engine::{BackwardOptions, GradOptions, backward, backward_into, current_run, grad};
pub use function::{Call, Context, Custom, Function, apply};
pub use gradcheck::{GradCheck, gradcheck, gradgradcheck};
pub use hooks::{AfterHook, Hook, HookId, Kept, NodeHook, NodePreHook, WeakTensor, visit_kept};
pub use mode::{
    ModeGuard, enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad,
    set_grad_enabled, set_inference_mode,
};
pub use node::{Edge, Node, OutInfo};
pub use record::GradCx;
pub use saved::{SavedHooks, pop_saved_hooks, push_saved_hooks};

pub(crate) use meta::{Meta, Origin, ViewOf, check_inplace, check_out, gradient_edge};
pub(crate) use mode::{below, recording};
pub(crate) use pointwise::{begin_inplace, finish_inplace, record_program};
pub(crate) use record::{
    check_mutation, record_mutation, record_op, stale_argument, stale_source, sum_to, wants_record,
};
pub(crate) use view::{make_view, rebase, reread_from_base};

use crate::Tensor;
use smallvec::SmallVec;

/// Gradients, one per tensor argument of an op in order; `None` where none flows.
pub type Grads = SmallVec<[Option<Tensor>; 2]>;
