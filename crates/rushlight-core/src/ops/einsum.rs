//! Sums of products written with letters.
//!
//! Operands are brought to one order of letters by views, then multiplied pair by pair: letters
//! that both have and nobody needs later are summed by a matrix product.

use crate::op::{Sample, Value, samples};
use crate::{Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { EINSUM;
    /// Einstein summation: `einsum("ij,jk->ik", &[&a, &b])` is a matrix product. Letters not in the
    /// result are summed; `...` stands for broadcast dimensions; a repeated letter takes the diagonal.
    fn einsum (equation: Text, operands: Tensors) -> Tensor {
        run: super::einsum(equation, operands),
        samples: einsum_samples,
    }
}

/// A dimension: a letter, or the `k`-th broadcast dimension counted from the right.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
enum Label {
    Broadcast(usize),
    Letter(char),
}

/// The labels of one term, its ellipsis filled in for `rank` dimensions.
fn labels(term: &str, rank: Option<usize>, widest: usize) -> Result<Vec<Label>> {
    let text: String = term.chars().filter(|c| !c.is_whitespace()).collect();
    let dots = text.matches("...").count();
    let letters = text.replace("...", "");
    ensure!(
        dots <= 1 && letters.chars().all(|c| c.is_ascii_alphabetic()),
        Runtime,
        "einsum",
        "the term {term:?} may hold letters and one ellipsis"
    );
    let count = letters.chars().count();
    if let Some(rank) = rank {
        ensure!(
            count == rank || (dots == 1 && count <= rank),
            Runtime,
            "einsum",
            "the term {term:?} names {count} dimensions, its operand has {rank}"
        );
    }
    let hidden = rank.map_or(widest, |r| r - count.min(r));
    let at = text.find("...").unwrap_or(0);
    let mut all: Vec<Label> = letters.chars().map(Label::Letter).collect();
    if dots == 1 {
        all.splice(at..at, (0..hidden).rev().map(Label::Broadcast));
    }
    Ok(all)
}

fn einsum(equation: &str, operands: &[Tensor]) -> Result<Tensor> {
    let (left, right) = match equation.split_once("->") {
        Some((l, r)) => (l, Some(r)),
        None => (equation, None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    ensure!(
        terms.len() == operands.len() && !operands.is_empty(),
        Runtime,
        "einsum",
        "the equation {equation:?} has {} terms for {} operands",
        terms.len(),
        operands.len()
    );
    let inputs: Result<Vec<Vec<Label>>> =
        terms.iter().zip(operands).map(|(t, x)| labels(t, Some(x.dim()), 0)).collect();
    let inputs = inputs?;
    let widest = inputs
        .iter()
        .map(|l| l.iter().filter(|l| matches!(l, Label::Broadcast(_))).count())
        .max()
        .unwrap_or(0);
    let output = match right {
        Some(r) => labels(r, None, widest)?,
        None => implied(&inputs, widest),
    };
    for (k, l) in output.iter().enumerate() {
        let known = inputs.iter().any(|i| i.contains(l));
        ensure!(
            known && !output[..k].contains(l),
            Runtime,
            "einsum",
            "the result of {equation:?} names a dimension twice, or one that no operand has"
        );
    }
    let mut terms: Vec<(Vec<Label>, Tensor)> = Vec::new();
    for (l, x) in inputs.into_iter().zip(operands) {
        terms.push(diagonals(l, x)?);
    }
    check_sizes(equation, &terms)?;
    let mut terms = terms.into_iter();
    let Some(mut sum) = terms.next() else { bail!(Runtime, "einsum", "no operands") };
    let rest: Vec<(Vec<Label>, Tensor)> = terms.collect();
    for (k, next) in rest.iter().enumerate() {
        let later =
            |l: &Label| output.contains(l) || rest[k + 1..].iter().any(|(labels, _)| labels.contains(l));
        sum = contract(sum, next.clone(), &later)?;
    }
    let (labels, mut x) = sum;
    let gone: Vec<i64> =
        labels.iter().enumerate().filter(|(_, l)| !output.contains(l)).map(|(d, _)| d as i64).collect();
    if !gone.is_empty() {
        x = x.sum(gone, false)?;
    }
    let left: Vec<Label> = labels.into_iter().filter(|l| output.contains(l)).collect();
    let order: Vec<i64> =
        output.iter().filter_map(|l| left.iter().position(|m| m == l)).map(|d| d as i64).collect();
    x.permute(order)
}

/// Without an arrow: broadcast dimensions, then the letters that occur once, in alphabetic order.
fn implied(inputs: &[Vec<Label>], widest: usize) -> Vec<Label> {
    let mut once: Vec<Label> = Vec::new();
    let all: Vec<Label> =
        inputs.iter().flatten().copied().filter(|l| matches!(l, Label::Letter(_))).collect();
    once.extend((0..widest).rev().map(Label::Broadcast));
    let mut letters: Vec<Label> =
        all.iter().copied().filter(|l| all.iter().filter(|m| *m == l).count() == 1).collect();
    letters.sort();
    once.extend(letters);
    once
}

/// Repeated letters become their diagonal, a view.
fn diagonals(mut labels: Vec<Label>, x: &Tensor) -> Result<(Vec<Label>, Tensor)> {
    let mut x = x.clone();
    while let Some((a, b)) = (0..labels.len())
        .find_map(|a| (a + 1..labels.len()).find(|b| labels[*b] == labels[a]).map(|b| (a, b)))
    {
        ensure!(
            x.shape()[a] == x.shape()[b],
            Runtime,
            "einsum",
            "a repeated letter stands for sizes {} and {}",
            x.shape()[a],
            x.shape()[b]
        );
        x = x.diagonal(0, a as i64, b as i64)?;
        let label = labels.remove(b);
        labels.remove(a);
        labels.push(label);
    }
    Ok((labels, x))
}

fn check_sizes(equation: &str, terms: &[(Vec<Label>, Tensor)]) -> Result<()> {
    for (labels, x) in terms {
        for (l, n) in labels.iter().zip(x.shape()) {
            for (other, y) in terms {
                let m = other.iter().position(|o| o == l).map_or(*n, |d| y.shape()[d]);
                ensure!(
                    *n == m || *n == 1 || m == 1,
                    Runtime,
                    "einsum",
                    "in {equation:?} a dimension has sizes {n} and {m}; shapes are {:?} and {:?}",
                    x.shape(),
                    y.shape()
                );
            }
        }
    }
    Ok(())
}

/// Multiplies two terms; letters that neither the result nor a later term has are summed.
fn contract(
    a: (Vec<Label>, Tensor),
    b: (Vec<Label>, Tensor),
    later: &dyn Fn(&Label) -> bool,
) -> Result<(Vec<Label>, Tensor)> {
    let (a, b) = (drop_lonely(a, &b.0, later)?, b);
    let b = drop_lonely(b, &a.0, later)?;
    let size = |t: &(Vec<Label>, Tensor), l: &Label| t.0.iter().position(|m| m == l).map(|d| t.1.shape()[d]);
    let shared = |l: &Label| size(&a, l).is_some() && size(&b, l).is_some();
    let summed: Vec<Label> = a.0.iter().copied().filter(|l| shared(l) && !later(l)).collect();
    let batch: Vec<Label> = a.0.iter().copied().filter(|l| shared(l) && later(l)).collect();
    let rows: Vec<Label> = a.0.iter().copied().filter(|l| !shared(l)).collect();
    let columns: Vec<Label> = b.0.iter().copied().filter(|l| !shared(l)).collect();
    // A size of 1 beside another broadcasts.
    let wide = |l: &Label| match (size(&a, l).unwrap_or(1), size(&b, l).unwrap_or(1)) {
        (1, other) => other,
        (own, _) => own,
    };
    let arrange = |t: &(Vec<Label>, Tensor), groups: [&[Label]; 3], keep: usize| -> Result<Tensor> {
        let order: Vec<i64> = groups
            .iter()
            .flat_map(|g| g.iter())
            .filter_map(|l| t.0.iter().position(|m| m == l))
            .map(|d| d as i64)
            .collect();
        let x = t.1.permute(order)?;
        let target: Vec<i64> = groups
            .iter()
            .enumerate()
            .flat_map(|(g, ls)| ls.iter().map(move |l| (g, l)))
            .map(|(g, l)| if g == keep { size(t, l).unwrap_or(1) } else { wide(l) } as i64)
            .collect();
        let x = x.expand(target)?;
        let merged: Vec<i64> = groups[0]
            .iter()
            .map(|l| wide(l) as i64)
            .chain(groups[1..].iter().map(|g| g.iter().map(|l| wide(l) as i64).product()))
            .collect();
        x.reshape(merged)
    };
    let left = arrange(&a, [&batch, &rows, &summed], usize::MAX)?;
    let right = arrange(&b, [&batch, &summed, &columns], usize::MAX)?;
    let product = left.matmul(&right)?;
    let labels: Vec<Label> = batch.into_iter().chain(rows).chain(columns).collect();
    let shape: Vec<i64> = labels.iter().map(|l| wide(l) as i64).collect();
    Ok((labels, product.reshape(shape)?))
}

/// Letters that only this term has are summed at once.
fn drop_lonely(
    (labels, x): (Vec<Label>, Tensor),
    other: &[Label],
    later: &dyn Fn(&Label) -> bool,
) -> Result<(Vec<Label>, Tensor)> {
    let gone = |l: &Label| !other.contains(l) && !later(l);
    let dims: Vec<i64> = labels.iter().enumerate().filter(|(_, l)| gone(l)).map(|(d, _)| d as i64).collect();
    if dims.is_empty() {
        return Ok((labels, x));
    }
    let left = labels.into_iter().filter(|l| !gone(l)).collect();
    Ok((left, x.sum(dims, false)?))
}

fn einsum_samples() -> Vec<Sample> {
    let cases: [(&str, &[&[usize]]); 10] = [
        ("ij,jk->ik", &[&[2, 3], &[3, 4]]),
        ("ij->ji", &[&[2, 3]]),
        ("ii->i", &[&[3, 3]]),
        ("ii", &[&[3, 3]]),
        ("bij,bjk->bik", &[&[2, 2, 3], &[2, 3, 2]]),
        ("...ij,...jk->...ik", &[&[2, 1, 2, 3], &[3, 3, 2]]),
        ("i,j->ij", &[&[2], &[3]]),
        ("ij,ij->", &[&[2, 3], &[2, 3]]),
        ("ab,bc,cd->ad", &[&[2, 3], &[3, 2], &[2, 2]]),
        ("bhqd,bhkd->bhqk", &[&[1, 2, 3, 2], &[1, 2, 2, 2]]),
    ];
    cases
        .iter()
        .enumerate()
        .filter_map(|(k, (equation, shapes))| {
            let operands: Result<Vec<Tensor>> =
                shapes.iter().enumerate().map(|(i, s)| samples::values(s, k + i)).collect();
            Some(Sample {
                args: smallvec![Value::Text((*equation).to_string()), Value::Tensors(operands.ok()?)],
                grad: true,
            })
        })
        .collect()
}
