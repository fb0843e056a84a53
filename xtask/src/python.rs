//! The Python module's tests: its wheel in a fresh virtual environment, then pytest.

use crate::Step;
use std::fs;
use std::path::{Path, PathBuf};

/// What the tests need beside the wheel itself; maturin builds it.
const NEEDED: [&str; 4] = ["maturin>=1.9,<2", "mypy", "numpy", "pytest"];

/// The largest wheel that still is a few megabytes.
pub const LARGEST_WHEEL: u64 = 10_000_000;

fn environment() -> PathBuf {
    crate::target().join("python")
}

fn wheels() -> PathBuf {
    crate::target().join("wheels-tested")
}

fn tool(name: &str) -> String {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    environment().join(folder).join(name).display().to_string()
}

/// Makes the environment anew, builds and installs the wheel, runs the tests; `rest` goes to pytest.
pub fn steps(rest: &[String]) -> Vec<Step> {
    let interpreter = std::env::var("RUSHLIGHT_PYTHON").unwrap_or_else(|_| "python3".into());
    let (env, out) = (environment().display().to_string(), wheels().display().to_string());
    let python = tool("python");
    let pip = [python.as_str(), "-m", "pip", "--disable-pip-version-check", "-q"];
    // As `pip install .` does, but with the maturin that is here already.
    let build = ["build", "--profile", "wheel", "--interpreter", &python, "--out", &out, "--quiet"];
    let install = ["install", "--no-index", "--no-deps", "--find-links", &out, "rushlight"];
    vec![
        Step::new(&[&interpreter, "-m", "venv", "--clear", &env], &[]),
        Step::new(&[&pip[..], &["install"], &NEEDED].concat(), &[]),
        Step::new(&[&[tool("maturin").as_str()], &build[..]].concat(), &[]),
        Step::new(&[&pip[..], &install].concat(), &[]),
        Step::new(&[&python, "-m", "pytest", "-q", "python/tests"], rest),
    ]
}

/// Forgets wheels of earlier runs, which would be installed in place of the one that is built.
pub fn forget_wheels() {
    let _ = fs::remove_dir_all(wheels());
}

/// Says so when the wheel that was built is larger than it should be.
pub fn check_size() -> Result<(), String> {
    let found = fs::read_dir(wheels()).into_iter().flatten().flatten();
    let Some(wheel) = found.map(|f| f.path()).find(|p| p.extension().is_some_and(|e| e == "whl")) else {
        return Ok(()); // not built in this run
    };
    within_budget(&wheel, fs::metadata(&wheel).map_or(0, |m| m.len()))
}

fn within_budget(wheel: &Path, bytes: u64) -> Result<(), String> {
    match bytes > LARGEST_WHEEL {
        true => Err(format!("{} has {bytes} bytes; {LARGEST_WHEEL} is the most", wheel.display())),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_is_built_installed_and_tested() {
        let lines: Vec<String> = steps(&["-x".into()]).iter().map(Step::line).collect();
        assert!(lines[0].ends_with(&environment().display().to_string()));
        assert!(
            lines[2].contains("maturin build ")
                && lines[3].contains(" install ")
                && !lines[3].contains("http")
        );
        assert!(lines[4].ends_with("-m pytest -q python/tests -x"));
    }

    #[test]
    fn a_large_wheel_is_refused() {
        assert!(within_budget(Path::new("a.whl"), LARGEST_WHEEL).is_ok());
        assert!(within_budget(Path::new("a.whl"), LARGEST_WHEEL + 1).is_err());
    }
}
