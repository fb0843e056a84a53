//! The project's own commands, for people and for machines alike: `cargo xtask help`.
//!
//! Only runs cargo, one step after another, and stops at the first that fails. Nothing is printed
//! after the last step, so that a log ends with what the test runners say.

mod table;

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

const HELP: &str = "\
The project's own commands.

Usage: cargo xtask <command> [arguments]

  test    Run all tests: units, integration tests and examples, then the
          examples in the documentation. Further arguments go to `cargo test`,
          for instance `cargo xtask test --package rushlight-core`.
  ci      What a change must pass: formatting, clippy with warnings as errors,
          then `test`. Takes no arguments.
  bench   Run the benchmarks, each case beside candle-core. Further arguments go
          to `cargo bench`, for instance `cargo xtask bench -- matmul`.
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
        "test" => run(&test_steps(rest)),
        "ci" if rest.is_empty() => run(&ci_steps()),
        "bench" => bench(rest),
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

/// Arguments of one call of cargo.
type Step = Vec<String>;

fn step(words: &[&str], rest: &[String]) -> Step {
    words.iter().map(|word| word.to_string()).chain(rest.iter().cloned()).collect()
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

fn ci_steps() -> Vec<Step> {
    let mut steps = vec![
        step(&["fmt", "--all", "--check"], &[]),
        step(&everywhere("clippy", &["--all-targets", "--", "-D", "warnings"]), &[]),
    ];
    steps.extend(test_steps(&[]));
    steps
}

/// Measures, then shows all medians side by side.
fn bench(rest: &[String]) -> ExitCode {
    let code = run(&[bench_step(rest)]);
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let cases = table::read(&Path::new(&target).join("criterion"));
    if !cases.is_empty() {
        println!("\n{}", table::render(&cases));
    }
    code
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
    for (number, args) in steps.iter().enumerate() {
        let shown = args.join(" ");
        eprintln!("\nxtask: step {} of {}: cargo {shown}", number + 1, steps.len());
        match Command::new(&cargo).args(args).status() {
            Ok(status) if status.success() => {}
            Ok(status) => {
                eprintln!("xtask: `cargo {shown}` failed: {status}");
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("xtask: `cargo {shown}` could not be started: {error}");
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
        steps.iter().map(|step| step.join(" ")).collect()
    }

    #[test]
    fn test_runs_code_then_documentation_and_no_benchmarks() {
        let all = [
            "test --workspace --exclude rushlight-bench --exclude rushlight-py --lib --bins --tests --examples".to_string(),
            "test --workspace --exclude rushlight-bench --exclude rushlight-py --doc".to_string(),
        ];
        assert_eq!(lines(&test_steps(&[])), all);
    }

    #[test]
    fn chosen_crates_replace_the_workspace() {
        let one = ["--package".to_string(), "rushlight-io".to_string()];
        assert_eq!(lines(&test_steps(&one)), ["test --package rushlight-io"]);
        let filter = ["--".to_string(), "-p".to_string()];
        assert_eq!(
            lines(&test_steps(&filter))[1],
            "test --workspace --exclude rushlight-bench --exclude rushlight-py --doc -- -p"
        );
    }

    #[test]
    fn ci_checks_style_before_it_tests() {
        let steps = lines(&ci_steps());
        assert_eq!(steps[0], "fmt --all --check");
        assert!(steps[1].starts_with("clippy") && steps[1].ends_with("-D warnings"));
        assert_eq!(steps[2..], lines(&test_steps(&[])));
    }
}
