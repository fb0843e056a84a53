//! The machine that runs a pickle: a stack of values, marks on it, and numbered notes. It knows all
//! opcodes of protocols 0 to 5 that make data; what would call or import goes through `known`.

use super::known::{describe, global};
use super::tree::{Id, Map, MapKind, Node, Tree};
use crate::fault::{Parsed, refuse};
use std::cell::Cell;
use std::collections::HashMap;

/// Runs one pickle from the start of `bytes`; also says how many bytes it took.
///
/// Memory stays within a small multiple of the bytes: each opcode adds one value at most.
pub(super) fn run(bytes: &[u8]) -> Parsed<(Tree, usize)> {
    let mut machine = Machine {
        bytes,
        at: 0,
        nodes: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        notes: HashMap::new(),
        allowance: Cell::new(bytes.len().saturating_mul(4)),
    };
    let root = machine.run().map_err(|fault| fault.within(&format!("byte {} of the pickle", machine.at)))?;
    let tree = Tree { nodes: machine.nodes, root };
    tree.check_depth()?;
    Ok((tree, machine.at))
}

pub(super) struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: Vec<Node>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    notes: HashMap<u64, Id>,
    /// What may still be copied from one value to another: a little file must not make a large one by
    /// calling `list(x)` again and again.
    allowance: Cell<usize>,
}

impl Machine<'_> {
    fn run(&mut self) -> Parsed<Id> {
        loop {
            let code = self.take(1)?[0];
            if code == b'.' {
                return self.pop();
            }
            self.step(code)?;
        }
    }

    fn step(&mut self, code: u8) -> Parsed<()> {
        match code {
            // Framing: a version, and the length of what follows, which is only there to read ahead.
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.since_mark()?),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'N' => self.push(Node::None),
            0x88 => self.push(Node::Bool(true)),
            0x89 => self.push(Node::Bool(false)),
            b'I' | b'L' => self.decimal()?,
            b'J' => {
                let n = i32::from_le_bytes(self.array()?);
                self.push(Node::Int(n.into()));
            }
            b'K' => {
                let n = self.take(1)?[0];
                self.push(Node::Int(n.into()));
            }
            b'M' => {
                let n = u16::from_le_bytes(self.array()?);
                self.push(Node::Int(n.into()));
            }
            0x8a => {
                let n = self.take(1)?[0].into();
                self.long(n)?;
            }
            0x8b => {
                let n = self.length(4)?;
                self.long(n)?;
            }
            b'F' => {
                let line = self.line()?;
                match line.parse() {
                    Ok(x) => self.push(Node::Float(x)),
                    Err(_) => refuse!("{line:?} is no number"),
                }
            }
            b'G' => {
                let x = f64::from_be_bytes(self.array()?);
                self.push(Node::Float(x));
            }
            b'S' => {
                let line = self.line()?;
                let inner = line
                    .strip_prefix(['\'', '"'])
                    .and_then(|l| l.strip_suffix(['\'', '"']))
                    .filter(|l| !l.contains('\\'));
                match inner {
                    Some(inner) => {
                        let inner = inner.to_string();
                        self.push(Node::Text(inner));
                    }
                    None => refuse!("{line:?} is no text in quotes"),
                }
            }
            b'V' => {
                let line = self.line()?.to_string();
                self.push(Node::Text(line));
            }
            b'U' | 0x8c => self.text_of(1)?,
            b'T' | b'X' => self.text_of(4)?,
            0x8d => self.text_of(8)?,
            b'C' => self.bytes_of(1, false)?,
            b'B' => self.bytes_of(4, false)?,
            0x8e => self.bytes_of(8, false)?,
            0x96 => self.bytes_of(8, true)?,
            b']' => self.push(Node::List(Vec::new())),
            b')' => self.push(Node::Tuple(Vec::new())),
            b'}' => self.push(Node::Dict(Map { kind: MapKind::Dict, items: Vec::new(), attributes: None })),
            0x8f => self.push(Node::Set(Vec::new())),
            b'l' => {
                let items = self.since_mark()?;
                self.push(Node::List(items));
            }
            b't' => {
                let items = self.since_mark()?;
                self.push(Node::Tuple(items));
            }
            0x91 => {
                let items = self.since_mark()?;
                self.push(Node::FrozenSet(items));
            }
            b'd' => {
                let items = self.since_mark()?;
                let items = two_by_two(&items)?;
                self.push(Node::Dict(Map { kind: MapKind::Dict, items, attributes: None }));
            }
            0x85..=0x87 => {
                let mut items = vec![0; usize::from(code - 0x84)];
                for slot in items.iter_mut().rev() {
                    *slot = self.pop()?;
                }
                self.push(Node::Tuple(items));
            }
            b'a' => {
                let item = self.pop()?;
                self.extend(&[item])?;
            }
            b'e' | 0x90 => {
                let items = self.since_mark()?;
                self.extend(&items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.insert(&[(key, value)])?;
            }
            b'u' => {
                let items = self.since_mark()?;
                self.insert(&two_by_two(&items)?)?;
            }
            b'c' => {
                let (module, name) = (self.line()?.to_string(), self.line()?.to_string());
                self.push(global(&module, &name)?);
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let found = global(self.text(module)?, self.text(name)?)?;
                self.push(found);
            }
            b'R' | 0x81 => {
                let (args, function) = (self.pop()?, self.pop()?);
                self.reduce(function, args)?;
            }
            b'b' => {
                let (state, object) = (self.pop()?, self.top()?);
                self.build(object, state)?;
            }
            b'Q' => {
                let id = self.pop()?;
                let storage = self.persistent(id)?;
                self.push(storage);
            }
            b'g' => {
                let k = self.note_of_line()?;
                self.recall(k)?;
            }
            b'h' => {
                let k = self.take(1)?[0].into();
                self.recall(k)?;
            }
            b'j' => {
                let k = u32::from_le_bytes(self.array()?).into();
                self.recall(k)?;
            }
            b'p' => {
                let k = self.note_of_line()?;
                self.note(k)?;
            }
            b'q' => {
                let k = self.take(1)?[0].into();
                self.note(k)?;
            }
            b'r' => {
                let k = u32::from_le_bytes(self.array()?).into();
                self.note(k)?;
            }
            0x94 => self.note(self.notes.len() as u64)?,
            b'i' | b'o' | b'P' | 0x82..=0x84 | 0x92 => {
                refuse!("opcode {code:#04x} makes objects of classes that are not read")
            }
            _ => refuse!("{code:#04x} is no opcode"),
        }
        Ok(())
    }

    fn reduce(&mut self, function: Id, args: Id) -> Parsed<()> {
        let Node::Named(name) = *self.node(function) else {
            refuse!("calls {}, which is no function", describe(self.node(function)))
        };
        let Node::Tuple(args) = self.node(args) else { refuse!("calls {name} with no tuple of arguments") };
        self.spend(args.len())?;
        let args = args.clone();
        let made = self.call(name, &args)?;
        self.push(made);
        Ok(())
    }

    fn extend(&mut self, items: &[Id]) -> Parsed<()> {
        let top = self.top()?;
        match &mut self.nodes[top] {
            Node::List(list) | Node::Set(list) => list.extend_from_slice(items),
            other => refuse!("adds elements to {}", describe(other)),
        }
        Ok(())
    }

    fn insert(&mut self, items: &[(Id, Id)]) -> Parsed<()> {
        let top = self.top()?;
        match &mut self.nodes[top] {
            Node::Dict(map) => map.items.extend_from_slice(items),
            other => refuse!("puts items into {}", describe(other)),
        }
        Ok(())
    }

    fn take(&mut self, n: usize) -> Parsed<&[u8]> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..n)) {
            Some(found) => {
                self.at += n;
                Ok(found)
            }
            None => refuse!("ends before its data does"),
        }
    }

    fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let mut all = [0; N];
        all.copy_from_slice(self.take(N)?);
        Ok(all)
    }

    /// A count of `width` bytes.
    fn length(&mut self, width: usize) -> Parsed<usize> {
        let mut all = [0; 8];
        all[..width].copy_from_slice(self.take(width)?);
        match usize::try_from(u64::from_le_bytes(all)) {
            Ok(n) => Ok(n),
            Err(_) => refuse!("a length beyond all memory"),
        }
    }

    /// The rest of the line, as text.
    fn line(&mut self) -> Parsed<&str> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(end) = rest.iter().position(|b| *b == b'\n') else { refuse!("a line without an end") };
        self.at += end + 1;
        match std::str::from_utf8(&rest[..end]) {
            Ok(line) => Ok(line.trim_end_matches('\r')),
            Err(_) => refuse!("a line that is no text"),
        }
    }

    fn decimal(&mut self) -> Parsed<()> {
        let line = self.line()?;
        let node = match line {
            "00" => Node::Bool(false),
            "01" => Node::Bool(true),
            _ => match line.trim_end_matches('L').parse() {
                Ok(n) => Node::Int(n),
                Err(_) => refuse!("{line:?} is no integer of 64 bits"),
            },
        };
        self.push(node);
        Ok(())
    }

    fn long(&mut self, n: usize) -> Parsed<()> {
        let bytes = self.take(n)?;
        let node = if n > 8 {
            Node::Big(bytes.to_vec())
        } else {
            // The highest bit is the sign.
            let fill = if bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 };
            let mut all = [fill; 8];
            all[..n].copy_from_slice(bytes);
            Node::Int(i64::from_le_bytes(all))
        };
        self.push(node);
        Ok(())
    }

    fn text_of(&mut self, width: usize) -> Parsed<()> {
        let n = self.length(width)?;
        match std::str::from_utf8(self.take(n)?) {
            Ok(text) => {
                let text = text.to_string();
                self.push(Node::Text(text));
            }
            Err(_) => refuse!("text that is not UTF-8"),
        }
        Ok(())
    }

    fn bytes_of(&mut self, width: usize, mutable: bool) -> Parsed<()> {
        let n = self.length(width)?;
        let bytes = self.take(n)?.to_vec();
        self.push(if mutable { Node::ByteArray(bytes) } else { Node::Bytes(bytes) });
        Ok(())
    }

    fn note_of_line(&mut self) -> Parsed<u64> {
        let line = self.line()?;
        match line.parse() {
            Ok(k) => Ok(k),
            Err(_) => refuse!("{line:?} numbers no note"),
        }
    }

    fn note(&mut self, k: u64) -> Parsed<()> {
        let top = self.top()?;
        self.notes.insert(k, top);
        Ok(())
    }

    fn recall(&mut self, k: u64) -> Parsed<()> {
        match self.notes.get(&k) {
            Some(id) => self.stack.push(*id),
            None => refuse!("there is no note {k}"),
        }
        Ok(())
    }

    pub(super) fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn push(&mut self, node: Node) {
        let id = self.add(node);
        self.stack.push(id);
    }

    fn pop(&mut self) -> Parsed<Id> {
        match self.stack.pop() {
            // What a mark closes off is not for opcodes behind it.
            Some(id) if self.marks.last().is_none_or(|m| *m <= self.stack.len()) => Ok(id),
            _ => refuse!("takes a value where there is none"),
        }
    }

    fn top(&mut self) -> Parsed<Id> {
        match self.stack.last() {
            Some(id) => Ok(*id),
            None => refuse!("looks at a value where there is none"),
        }
    }

    fn since_mark(&mut self) -> Parsed<Vec<Id>> {
        match self.marks.pop() {
            Some(mark) if mark <= self.stack.len() => Ok(self.stack.split_off(mark)),
            _ => refuse!("there is no mark"),
        }
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn set(&mut self, id: Id, node: Node) {
        self.nodes[id] = node;
    }

    /// Pays for a copy of `n` items.
    pub(super) fn spend(&self, n: usize) -> Parsed<()> {
        match self.allowance.get().checked_sub(n) {
            Some(left) => self.allowance.set(left),
            None => refuse!("copies its values more often than a file of this size needs"),
        }
        Ok(())
    }

    pub(super) fn text(&self, id: Id) -> Parsed<&str> {
        match self.node(id) {
            Node::Text(text) => Ok(text),
            other => refuse!("{} where there should be text", describe(other)),
        }
    }

    pub(super) fn bytes(&self, id: Id) -> Parsed<Vec<u8>> {
        match self.node(id) {
            Node::Bytes(bytes) | Node::ByteArray(bytes) => {
                self.spend(bytes.len())?;
                Ok(bytes.clone())
            }
            other => refuse!("{} where there should be bytes", describe(other)),
        }
    }

    pub(super) fn integer(&self, id: Id) -> Parsed<i64> {
        match self.node(id) {
            Node::Int(n) => Ok(*n),
            other => refuse!("{} where there should be an integer", describe(other)),
        }
    }

    pub(super) fn size(&self, id: Id) -> Parsed<usize> {
        let n = self.integer(id)?;
        match usize::try_from(n) {
            Ok(n) => Ok(n),
            Err(_) => refuse!("a size of {n}"),
        }
    }

    pub(super) fn float(&self, id: Id) -> Parsed<f64> {
        match self.node(id) {
            Node::Float(x) => Ok(*x),
            other => refuse!("{} where there should be a number", describe(other)),
        }
    }

    pub(super) fn truth(&self, id: Id) -> Parsed<bool> {
        match self.node(id) {
            Node::Bool(b) => Ok(*b),
            Node::Int(n) => Ok(*n != 0),
            other => refuse!("{} where there should be True or False", describe(other)),
        }
    }

    pub(super) fn integers(&self, id: Id) -> Parsed<Vec<i64>> {
        match self.node(id) {
            Node::Tuple(items) | Node::List(items) => {
                self.spend(items.len())?;
                items.iter().map(|i| self.integer(*i)).collect()
            }
            Node::Size(sizes) => Ok(sizes.clone()),
            other => refuse!("{} where there should be integers", describe(other)),
        }
    }

    pub(super) fn sizes(&self, id: Id) -> Parsed<Vec<usize>> {
        let all = self.integers(id)?;
        match all.iter().map(|n| usize::try_from(*n).ok()).collect() {
            Some(sizes) => Ok(sizes),
            None => refuse!("sizes of {all:?}"),
        }
    }

    /// The items of a dictionary, or of a list of pairs.
    pub(super) fn pairs(&self, id: Id) -> Parsed<Vec<(Id, Id)>> {
        match self.node(id) {
            Node::Dict(map) => {
                self.spend(map.items.len())?;
                Ok(map.items.clone())
            }
            Node::List(items) | Node::Tuple(items) => {
                self.spend(items.len())?;
                let pair = |id: &Id| match self.node(*id) {
                    Node::Tuple(two) | Node::List(two) if two.len() == 2 => Ok((two[0], two[1])),
                    other => refuse!("{} where there should be a pair", describe(other)),
                };
                items.iter().map(pair).collect()
            }
            other => refuse!("{} where there should be items", describe(other)),
        }
    }
}

fn two_by_two(items: &[Id]) -> Parsed<Vec<(Id, Id)>> {
    if !items.len().is_multiple_of(2) {
        refuse!("a key without a value");
    }
    Ok(items.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}
