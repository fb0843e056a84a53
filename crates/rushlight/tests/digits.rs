//! The digits example learns, repeats itself, and its files are whole.

#[path = "../examples/digits/main.rs"]
#[allow(dead_code)]
mod digits;

use digits::{Options, digits as run};
use rushlight::Result;

#[test]
fn a_few_epochs_read_most_digits_and_repeat() -> Result<()> {
    let out = std::env::temp_dir().join(format!("rushlight-digits-{}", std::process::id()));
    let options = Options { epochs: 5, seed: 7, out: out.clone() };
    let report = run(&options)?;
    assert!(report.accuracy > 0.9, "only {}", report.accuracy);
    assert_eq!(report.accuracy, report.reloaded);
    let svg = std::fs::read_to_string(&report.picture).unwrap();
    let misread = ((1.0 - report.accuracy) * 359.0).round() as usize;
    assert!(misread > 0, "five epochs do not read everything; the sheet would be empty");
    assert_eq!(svg.matches(">read ").count(), misread);
    assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));

    let weights = std::fs::read(out.join("digits.safetensors")).unwrap();
    run(&options)?;
    assert_eq!(
        std::fs::read(out.join("digits.safetensors")).unwrap(),
        weights,
        "the seed decides everything"
    );
    std::fs::remove_dir_all(&out).unwrap();
    Ok(())
}
