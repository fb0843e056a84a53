//! The one error type. It says which op failed, on which shapes or dtypes, and what would work.
//!
//! A [`Kind`] is torch's exception family, so that a binding can map it without reading text.

use std::fmt;

/// The result type of every fallible call in rushlight.
pub type Result<T> = std::result::Result<T, Error>;

/// The family an error belongs to; each is one of torch's exception classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Shapes, dtypes, devices or autograd rules do not fit (torch: `RuntimeError`).
    Runtime,
    /// An index or a dimension is out of range (torch: `IndexError`).
    Index,
    /// An argument has the wrong kind (torch: `TypeError`).
    Type,
    /// An argument has the right kind and an impossible value (torch: `ValueError`).
    Value,
    /// The op exists, but not for this dtype (torch: `NotImplementedError`, a `RuntimeError`).
    NotImplemented,
    /// A number does not fit the type asked for (Python: `OverflowError`).
    Overflow,
    /// A buffer cannot be lent (Python: `BufferError`).
    Buffer,
    /// A matrix is singular or not positive definite (torch: `LinAlgError`, a `RuntimeError`).
    LinAlg,
    /// A file could not be read or written, or is malformed (Python: `OSError`).
    Io,
}

/// What went wrong. One pointer wide, so that `Result<Tensor>` stays two words.
#[derive(Clone)]
pub struct Error(Box<Repr>);

#[derive(Clone)]
struct Repr {
    kind: Kind,
    op: &'static str,
    text: String,
}

impl Error {
    /// An error of `kind`, raised by `op`; `text` names the shapes or dtypes and what would work.
    #[cold]
    pub fn new(kind: Kind, op: &'static str, text: impl Into<String>) -> Self {
        Error(Box::new(Repr { kind, op, text: text.into() }))
    }

    /// The family.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The op that refused, by its public name.
    pub fn op(&self) -> &'static str {
        self.0.op
    }

    /// The message without the op's name.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The same error, reported by the op the user called instead of by one inside it.
    #[must_use]
    pub fn in_op(mut self, op: &'static str) -> Self {
        self.0.op = op;
        self
    }

    /// The same error with another family; some ops of torch raise a class of their own.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.0.kind = kind;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.op, self.0.text)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} error in {}: {}", self.0.kind, self.0.op, self.0.text)
    }
}

impl std::error::Error for Error {}

/// `err!(Index, "narrow", "start {start} ..")` builds an [`Error`]; the text is a format string.
#[macro_export]
macro_rules! err {
    ($kind:ident, $op:expr, $($text:tt)+) => {
        $crate::Error::new($crate::Kind::$kind, $op, format!($($text)+))
    };
}

/// `bail!(Index, "narrow", "start {start} ..")` returns that error from the function around it.
#[macro_export]
macro_rules! bail {
    ($($all:tt)+) => { return Err($crate::err!($($all)+)) };
}

/// `ensure!(len > 0, Runtime, "narrow", "..")` returns the error unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($cond:expr, $($all:tt)+) => { if !$cond { $crate::bail!($($all)+); } };
}
