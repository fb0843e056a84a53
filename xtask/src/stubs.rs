//! `cargo xtask stubs`: what Python's type checkers and readers see, written from the package itself.

use crate::{Step, target};
use std::env::{self, consts};
use std::fs;
use std::io;
use std::path::Path;

/// The scripts that write, each of which takes `--check` too.
const WRITERS: [&str; 2] = ["python/tools/stubs.py", "python/tools/coverage_page.py"];

/// Puts the extension that cargo built into the package, where the scripts find it.
pub fn place_extension() -> io::Result<()> {
    let name = format!("{}_C{}", consts::DLL_PREFIX, consts::DLL_SUFFIX);
    let place = Path::new("python/rushlight").join(if cfg!(windows) { "_C.pyd" } else { "_C.abi3.so" });
    // A link there points at what was just built.
    if !place.is_symlink() {
        fs::copy(target().join("debug").join(name), &place)?;
    }
    Ok(())
}

/// Runs the scripts; `rest` goes to each.
pub fn steps(rest: &[String]) -> Vec<Step> {
    let interpreter = env::var("RUSHLIGHT_PYTHON").unwrap_or_else(|_| "python3".into());
    WRITERS.iter().map(|script| Step::new(&[&interpreter, script], rest)).collect()
}
