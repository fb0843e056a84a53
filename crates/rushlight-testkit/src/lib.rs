//! The laws that every op and every backend of rushlight obeys, as functions.

pub mod laws;
