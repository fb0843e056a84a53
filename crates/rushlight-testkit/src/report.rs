//! What a law has found.

/// Cases that were run, and what went wrong in some.
#[derive(Debug, Default)]
#[must_use]
pub struct Report {
    cases: usize,
    failures: Vec<String>,
}

impl Report {
    /// Counts a case; `describe` is asked only when it failed.
    pub fn case(&mut self, result: Result<(), String>, describe: impl FnOnce() -> String) {
        self.cases += 1;
        if let Err(why) = result {
            self.failures.push(format!("{}: {why}", describe()));
        }
    }

    /// How many cases ran.
    pub fn cases(&self) -> usize {
        self.cases
    }

    /// The failures, in order.
    pub fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Passes when at least `cases` cases ran and none failed.
    ///
    /// # Panics
    /// Otherwise, with the first failures.
    #[track_caller]
    pub fn assert(&self, cases: usize) {
        let failed = self.failures.len();
        let shown = self.failures.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("\n");
        assert!(failed == 0, "{failed} of {} cases failed:\n{shown}", self.cases);
        assert!(self.cases >= cases, "only {} cases of at least {cases} ran", self.cases);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic = "1 of 2 cases failed:\nthe second: no"]
    fn failures_are_told() {
        let mut report = Report::default();
        report.case(Ok(()), || "the first".into());
        report.case(Err("no".into()), || "the second".into());
        report.assert(1);
    }

    #[test]
    #[should_panic = "only 0 cases"]
    fn nothing_is_no_success() {
        Report::default().assert(1);
    }
}
