//! What is wrong with a file, before it is known which file that is.

use rushlight_core::{Error, Kind};
use std::fmt::Display;
use std::io;

/// The result of reading or writing a part of a file.
pub(crate) type Parsed<T> = Result<T, Fault>;

/// A complaint without its place; [`Fault::at`] adds the place.
#[derive(Debug)]
pub(crate) struct Fault {
    kind: Kind,
    text: String,
}

impl Fault {
    /// The file is malformed or holds what no tensor can.
    #[cold]
    pub(crate) fn bad(text: impl Into<String>) -> Fault {
        Fault { kind: Kind::Io, text: text.into() }
    }

    /// The caller asked for what cannot be.
    #[cold]
    pub(crate) fn misuse(kind: Kind, text: impl Into<String>) -> Fault {
        Fault { kind, text: text.into() }
    }

    /// The same complaint about a part with a name.
    #[cold]
    pub(crate) fn within(mut self, entry: &str) -> Fault {
        self.text = format!("{entry:?}: {}", self.text);
        self
    }

    /// The error for the user: `op` failed at `place`, a file or "the reader".
    #[cold]
    pub(crate) fn at(self, op: &'static str, place: impl Display) -> Error {
        Error::new(self.kind, op, format!("{place}: {}", self.text))
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::bad("ends before its data does"),
            _ => Fault::bad(error.to_string()),
        }
    }
}

impl From<zip::result::ZipError> for Fault {
    fn from(error: zip::result::ZipError) -> Fault {
        match error {
            zip::result::ZipError::Io(error) => error.into(),
            other => Fault::bad(other.to_string()),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault { kind: error.kind(), text: error.text().to_string() }
    }
}

/// `refuse!("text {x}")` returns a [`Fault::bad`] from the function around it.
macro_rules! refuse {
    ($($text:tt)+) => { return Err($crate::fault::Fault::bad(format!($($text)+))) };
}
pub(crate) use refuse;
