//! The project's own commands, for people and for machines alike: `cargo xtask help`.
//!
//! Only runs cargo and Python, one step after another, and stops at the first that fails. Nothing is printed
//! after the last step, so that a log ends with what the test runners say.

mod python;
mod stubs;
mod table;

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const HELP: &str = "\
The project's own commands.

Usage: cargo xtask <command> [arguments]

  test    Run all tests: units, integration tests and examples, then the
          examples in the documentation, then `python`. With arguments, which go
          to `cargo test`, Rust's tests only: for instance
          `cargo xtask test --package rushlight-core`.
  python  Build the Python module's wheel into a fresh virtual environment and
          run its tests. Arguments go to pytest: `cargo xtask python -k numpy`.
  ci      What a change must pass: formatting, clippy with warnings as errors,
          then `test`. Takes no arguments.
  bench   Run the benchmarks, each case beside candle-core. Further arguments go
          to `cargo bench`, for instance `cargo xtask bench -- matmul`.
  stubs   Build the Python module and write from it the .pyi files and
          docs/coverage.md; with --check, only say which are not current.
  help    Print this text.

Exit status: 0 when all steps passed, 1 when one failed, 2 for a command that
does not exist.
";

/// All crates but the benchmarks, whose peer takes minutes to build.
const ALL_CRATES: [&str; 3] = ["--workspace", "--exclude", "rushlight-bench"];

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("", args.as_slice()),
    };
    match command {
        "test" => tests(rest),
        "python" => python_tests(rest),
        "ci" if rest.is_empty() => then(run(&style_steps()), || tests(&[])),
        "bench" => bench(rest),
        "stubs" => stubs(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        "" => refuse("no command given"),
        "ci" => refuse("`ci` takes no arguments: it always checks everything"),
        other => refuse(&format!("there is no command {other:?}")),
    }
}

fn refuse(why: &str) -> ExitCode {
    eprint!("xtask: {why}\n\n{HELP}");
    ExitCode::from(2)
}

/// A program and its arguments.
struct Step(Vec<String>);

impl Step {
    fn new(words: &[&str], rest: &[String]) -> Step {
        Step(words.iter().map(|word| word.to_string()).chain(rest.iter().cloned()).collect())
    }
    fn line(&self) -> String {
        self.0.join(" ")
    }
}

/// A call of cargo.
fn step(words: &[&str], rest: &[String]) -> Step {
    Step::new(&[&["cargo"], words].concat(), rest)
}

/// Where cargo builds.
fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from)
}

/// The second only when the first went well.
fn then(first: ExitCode, second: impl FnOnce() -> ExitCode) -> ExitCode {
    if first == ExitCode::SUCCESS { second() } else { first }
}

/// Rust's tests, and Python's unless some were chosen.
fn tests(rest: &[String]) -> ExitCode {
    then(run(&test_steps(rest)), || if rest.is_empty() { python_tests(&[]) } else { ExitCode::SUCCESS })
}

fn python_tests(rest: &[String]) -> ExitCode {
    python::forget_wheels();
    let mut steps = python::steps(rest);
    let pytest = steps.split_off(steps.len() - 1);
    then(run(&steps), || match python::check_size() {
        Ok(()) => run(&pytest),
        Err(text) => {
            eprintln!("xtask: {text}");
            ExitCode::FAILURE
        }
    })
}

/// A command of cargo on all crates.
fn everywhere<'a>(command: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&[command], &ALL_CRATES[..], words].concat()
}

/// Tests of all crates but the Python module, which is tested from Python.
fn tested<'a>(words: &[&'a str]) -> Vec<&'a str> {
    everywhere("test", &[&["--exclude", "rushlight-py"], words].concat())
}

fn test_steps(rest: &[String]) -> Vec<Step> {
    // A chosen crate may lack a kind of target, which cargo refuses when asked for it by name.
    if chooses_crates(rest) {
        return vec![step(&["test"], rest)];
    }
    // Not --all-targets: that would run the benchmarks as tests. Documentation needs a run of its own.
    vec![step(&tested(&["--lib", "--bins", "--tests", "--examples"]), rest), step(&tested(&["--doc"]), rest)]
}

fn style_steps() -> Vec<Step> {
    vec![
        step(&["fmt", "--all", "--check"], &[]),
        step(&everywhere("clippy", &["--all-targets", "--", "-D", "warnings"]), &[]),
    ]
}

/// Measures, then shows all medians side by side.
fn bench(rest: &[String]) -> ExitCode {
    let code = run(&[bench_step(rest)]);
    let cases = table::read(&target().join("criterion"));
    if !cases.is_empty() {
        println!("\n{}", table::render(&cases));
    }
    code
}

fn stubs(rest: &[String]) -> ExitCode {
    then(run(&[step(&["build", "--package", "rushlight-py"], &[])]), || match stubs::place_extension() {
        Ok(()) => run(&stubs::steps(rest)),
        Err(error) => {
            eprintln!("xtask: the built extension could not be put into the package: {error}");
            ExitCode::FAILURE
        }
    })
}

fn bench_step(rest: &[String]) -> Step {
    step(&["bench", "--package", "rushlight-bench"], rest)
}

fn chooses_crates(rest: &[String]) -> bool {
    let ours = rest.iter().take_while(|arg| *arg != "--");
    ours.into_iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"))
}

fn run(steps: &[Step]) -> ExitCode {
    // Cargo names itself to what it runs; that is the one of the right toolchain.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for (number, step) in steps.iter().enumerate() {
        let shown = step.line();
        eprintln!("\nxtask: step {} of {}: {shown}", number + 1, steps.len());
        let Some((program, args)) = step.0.split_first() else { continue };
        let program = if program == "cargo" { cargo.clone() } else { program.into() };
        match Command::new(&program).args(args).status() {
            Ok(status) if status.success() => {}
            Ok(status) => {
                eprintln!("xtask: `{shown}` failed: {status}");
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("xtask: `{shown}` could not be started: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(steps: &[Step]) -> Vec<String> {
        steps.iter().map(Step::line).collect()
    }

    #[test]
    fn test_runs_code_then_documentation_and_no_benchmarks() {
        let all = [
            "cargo test --workspace --exclude rushlight-bench --exclude rushlight-py --lib --bins --tests --examples".to_string(),
            "cargo test --workspace --exclude rushlight-bench --exclude rushlight-py --doc".to_string(),
        ];
        assert_eq!(lines(&test_steps(&[])), all);
    }

    #[test]
    fn chosen_crates_replace_the_workspace() {
        let one = ["--package".to_string(), "rushlight-io".to_string()];
        assert_eq!(lines(&test_steps(&one)), ["cargo test --package rushlight-io"]);
        let filter = ["--".to_string(), "-p".to_string()];
        assert_eq!(
            lines(&test_steps(&filter))[1],
            "cargo test --workspace --exclude rushlight-bench --exclude rushlight-py --doc -- -p"
        );
    }

    #[test]
    fn ci_checks_style_before_it_tests() {
        let steps = lines(&style_steps());
        assert_eq!(steps[0], "cargo fmt --all --check");
        assert!(steps[1].starts_with("cargo clippy") && steps[1].ends_with("-D warnings"));
    }
}
