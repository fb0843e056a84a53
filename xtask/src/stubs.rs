//! `cargo xtask stubs`: what Python's type checkers and readers see, written from the package itself.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The scripts that write, each of which takes `--check` too.
const WRITERS: [&str; 2] = ["python/tools/stubs.py", "python/tools/coverage_page.py"];

/// Puts the extension that cargo built into the package, then runs the scripts on it.
pub fn write(rest: &[String]) -> ExitCode {
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let built = Path::new(&target).join("debug").join(format!(
        "{}_C{}",
        env::consts::DLL_PREFIX,
        env::consts::DLL_SUFFIX
    ));
    let place = Path::new("python/rushlight").join(if cfg!(windows) { "_C.pyd" } else { "_C.abi3.so" });
    // A link there points at what was just built.
    if !place.is_symlink()
        && let Err(error) = fs::copy(&built, &place)
    {
        eprintln!("xtask: {} could not be copied to {}: {error}", built.display(), place.display());
        return ExitCode::FAILURE;
    }
    let python = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    for script in WRITERS {
        match Command::new(&python).arg(script).args(rest).env("PYTHONPATH", "python").status() {
            Ok(status) if status.success() => {}
            Ok(_) => return ExitCode::FAILURE,
            Err(error) => {
                eprintln!("xtask: {} could not be started: {error}; set PYTHON", python.display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
