//! The closing table of `cargo xtask bench`, from the medians that criterion left on disk.

use std::fs;
use std::path::Path;

/// One case, in nanoseconds.
#[derive(Debug, PartialEq)]
pub struct Case {
    pub name: String,
    pub ours: f64,
    pub theirs: f64,
}

/// The number after `key` inside the object called `object`; criterion's files are flat enough.
fn number(text: &str, object: &str, key: &str) -> Option<f64> {
    let inside = &text[text.find(&format!("\"{object}\":"))?..];
    let after = &inside[inside.find(&format!("\"{key}\":"))? + key.len() + 3..];
    let end = after.find([',', '}'])?;
    after[..end].trim().parse().ok()
}

fn string(text: &str, key: &str) -> Option<String> {
    let after = &text[text.find(&format!("\"{key}\":\""))? + key.len() + 4..];
    Some(after[..after.find('"')?].to_string())
}

/// Every case that has a median on both sides, by name.
pub fn read(criterion: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for group in fs::read_dir(criterion).into_iter().flatten().flatten() {
        let median = |side: &str| {
            let file = group.path().join(side).join("new").join("estimates.json");
            number(&fs::read_to_string(file).ok()?, "median", "point_estimate")
        };
        let about = group.path().join("rushlight").join("new").join("benchmark.json");
        let name = fs::read_to_string(about).ok().and_then(|t| string(&t, "group_id"));
        if let (Some(name), Some(ours), Some(theirs)) = (name, median("rushlight"), median("candle")) {
            cases.push(Case { name, ours, theirs });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn time(ns: f64) -> String {
    match ns {
        n if n < 1e3 => format!("{n:.1} ns"),
        n if n < 1e6 => format!("{:.2} us", n / 1e3),
        n => format!("{:.2} ms", n / 1e6),
    }
}

/// The table as text: medians and how many times as long the peer takes.
pub fn render(cases: &[Case]) -> String {
    let mut text = format!("{:<34} {:>12} {:>12} {:>8}\n", "case (medians)", "rushlight", "candle", "ratio");
    let mut logs = 0.0;
    for c in cases {
        let ratio = c.theirs / c.ours;
        logs += ratio.ln();
        text += &format!("{:<34} {:>12} {:>12} {:>7.2}x\n", c.name, time(c.ours), time(c.theirs), ratio);
    }
    let mean = (logs / cases.len().max(1) as f64).exp();
    text + &format!("{:<34} {:>12} {:>12} {:>7.2}x\n", "geometric mean", "", "", mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_found_in_criterions_files() {
        let text = r#"{"mean":{"point_estimate":9.0,"x":1},"median":{"confidence_interval":{"lower_bound":1.0},"point_estimate":12.5,"standard_error":0.1}}"#;
        assert_eq!(number(text, "median", "point_estimate"), Some(12.5));
        assert_eq!(string(r#"{"group_id":"a + b, 8","x":1}"#, "group_id").as_deref(), Some("a + b, 8"));
    }

    #[test]
    fn losing_cases_are_shown_too() {
        let text = render(&[
            Case { name: "won".into(), ours: 10.0, theirs: 20.0 },
            Case { name: "lost".into(), ours: 4e6, theirs: 1e6 },
        ]);
        assert!(text.contains("2.00x") && text.contains("0.25x") && text.contains("4.00 ms"), "{text}");
        assert!(text.ends_with("0.71x\n"), "{text}");
    }
}
