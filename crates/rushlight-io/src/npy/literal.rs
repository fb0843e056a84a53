//! The Python literal in an npy header: a dict with the keys `descr`, `fortran_order` and `shape`.

use crate::fault::{Parsed, refuse};

/// The values of the dict.
#[derive(Debug, PartialEq)]
pub(super) struct Fields {
    pub(super) descr: String,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

/// Reads the dict; keys may come in any order, each exactly once, and none besides.
pub(super) fn parse(text: &str) -> Parsed<Fields> {
    let mut cursor = Cursor(text);
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    cursor.expect('{')?;
    while !cursor.accept('}') {
        let key = cursor.string()?;
        cursor.expect(':')?;
        let fresh = match key {
            "descr" => descr.replace(cursor.descr()?.to_string()).is_none(),
            "fortran_order" => fortran.replace(cursor.boolean()?).is_none(),
            "shape" => shape.replace(cursor.tuple()?).is_none(),
            other => refuse!("has the unknown key {other:?} in its header"),
        };
        if !fresh {
            refuse!("has the key {key:?} twice in its header");
        }
        if !cursor.accept(',') {
            cursor.expect('}')?;
            break;
        }
    }
    if !cursor.rest().is_empty() {
        refuse!("has text after the dict in its header");
    }
    match (descr, fortran, shape) {
        (Some(descr), Some(fortran), Some(shape)) => Ok(Fields { descr, fortran, shape }),
        _ => refuse!("has a header without descr, fortran_order or shape"),
    }
}

/// What is left to read.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    /// What is left, from the first character that is not white.
    fn rest(&mut self) -> &'a str {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
        self.0
    }

    fn accept(&mut self, wanted: char) -> bool {
        let rest = self.rest().strip_prefix(wanted);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, wanted: char) -> Parsed<()> {
        if !self.accept(wanted) {
            refuse!("has a malformed header: {wanted:?} expected {}", self.here());
        }
        Ok(())
    }

    /// For messages: where reading stands.
    fn here(&self) -> String {
        let next: String = self.0.chars().take(12).collect();
        if next.is_empty() { "at its end".to_string() } else { format!("at {next:?}") }
    }

    fn string(&mut self) -> Parsed<&'a str> {
        let quote = if self.rest().starts_with('"') { '"' } else { '\'' };
        self.expect(quote)?;
        match self.0.split_once(quote) {
            Some((text, rest)) if !text.contains('\\') => {
                self.0 = rest;
                Ok(text)
            }
            _ => refuse!("has a malformed string in its header {}", self.here()),
        }
    }

    fn descr(&mut self) -> Parsed<&'a str> {
        if self.rest().starts_with(['[', '(']) {
            refuse!("holds records (a structured dtype), which no tensor can; save each field by itself");
        }
        self.string()
    }

    fn boolean(&mut self) -> Parsed<bool> {
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest().strip_prefix(word) {
                self.0 = rest;
                return Ok(value);
            }
        }
        refuse!("has a malformed header: True or False expected {}", self.here())
    }

    /// `()`, `(3,)`, `(2, 3)`; a number alone in brackets is no tuple in Python either.
    fn tuple(&mut self) -> Parsed<Vec<usize>> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            sizes.push(self.size()?);
            if !self.accept(',') {
                if sizes.len() < 2 {
                    refuse!("has a shape that is no tuple in its header");
                }
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }

    fn size(&mut self) -> Parsed<usize> {
        let text = self.rest();
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(size) = text[..digits].parse() else {
            refuse!("has a size in its shape that is no number from 0 to {}: {}", usize::MAX, self.here());
        };
        // Python 2 wrote long integers with an L behind.
        self.0 = text[digits..].strip_prefix('L').unwrap_or(&text[digits..]);
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Parsed<Vec<usize>> {
        parse(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {text}, }}")).map(|f| f.shape)
    }

    #[test]
    fn any_order_and_spacing() {
        for text in [
            "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }   \n",
            "{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"<f4\"}",
            " { 'shape' : ( 2 , 3 , ) , 'descr' : '<f4' , 'fortran_order' : True }",
        ] {
            let expected = Fields { descr: "<f4".to_string(), fortran: true, shape: vec![2, 3] };
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn shapes() {
        assert!(shape("()").unwrap().is_empty());
        assert_eq!(shape("(7,)").unwrap(), [7]);
        assert_eq!(shape("(1L, 2L)").unwrap(), [1, 2]);
        for text in [
            "(7)",
            "7",
            "(-1,)",
            "(1.0,)",
            "(1,,2)",
            "(,)",
            "(1 2)",
            "(99999999999999999999,)",
            "[1, 2]",
            "(1,",
        ] {
            assert!(shape(text).is_err(), "{text}");
        }
    }

    #[test]
    fn malformed_dicts() {
        for text in [
            "",
            "{",
            "{}",
            "{'descr': '<f4'}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': ()",
            "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}",
            "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
            "{'descr': '<f4' 'fortran_order': False, 'shape': ()}",
            "{'descr': <f4, 'fortran_order': False, 'shape': ()}",
            "{'descr': '<f4, 'fortran_order': False, 'shape': ()}",
            "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
