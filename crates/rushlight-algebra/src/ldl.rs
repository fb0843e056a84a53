//! `L D L^H` and `L D L^T` with the pivots of Bunch and Kaufman (Math. Comp. 31, 1977), as LAPACK's
//! `hetf2` and `sytf2` choose them for lower triangles, and systems solved from them.
//!
//! Written out: faer has no form for complex symmetric matrices, and its exchanges are not LAPACK's.

use crate::{BAD_PIVOTS, Field, Operands};

/// A column-major square matrix and what stands for the other triangle.
struct Lower<'a, T> {
    a: &'a mut [T],
    n: usize,
    hermitian: bool,
}

impl<T: Field> Lower<'_, T> {
    fn at(&self, i: usize, j: usize) -> T {
        self.a[i + j * self.n]
    }
    fn set(&mut self, i: usize, j: usize, x: T) {
        self.a[i + j * self.n] = x;
    }
    /// The element across the diagonal of one that is `x`.
    fn across(&self, x: T) -> T {
        if self.hermitian { x.conjugate() } else { x }
    }
    /// A Hermitian matrix has a real diagonal; what stands beside it does not count.
    fn diagonal(&self, i: usize) -> T {
        if self.hermitian { T::of(self.at(i, i).re()) } else { self.at(i, i) }
    }
    /// The largest of some elements and its place among them.
    fn largest(&self, elements: impl Iterator<Item = (usize, usize)>) -> (f64, usize) {
        elements.fold((0.0, 0), |best, (i, j)| {
            let size = self.at(i, j).size();
            if size > best.0 { (size, i) } else { best }
        })
    }

    /// The row that takes the place of the step's last one, and how many rows the step settles; `None`
    /// where there is no pivot.
    fn pivot(&self, k: usize) -> Option<(usize, usize)> {
        let n = self.n;
        let bound = (1.0 + 17f64.sqrt()) / 8.0;
        let own = self.diagonal(k).size();
        let (column, row) = self.largest((k + 1..n).map(|i| (i, k)));
        if !(own.max(column) > 0.0) || own.is_nan() {
            return None;
        }
        if own >= bound * column {
            return Some((k, 1));
        }
        let left = self.largest((k..row).map(|j| (row, j))).0;
        let beside = left.max(self.largest((row + 1..n).map(|i| (i, row))).0);
        if own >= bound * column * (column / beside) {
            return Some((k, 1));
        }
        Some((row, if self.diagonal(row).size() >= bound * beside { 1 } else { 2 }))
    }

    /// Rows and columns `p < q` change places, from column `first` on.
    fn exchange(&mut self, first: usize, p: usize, q: usize) {
        let n = self.n;
        (q + 1..n).for_each(|i| self.a.swap(i + p * n, i + q * n));
        for j in p + 1..q {
            let (x, y) = (self.at(j, p), self.at(q, j));
            self.set(j, p, self.across(y));
            self.set(q, j, self.across(x));
        }
        self.set(q, p, self.across(self.at(q, p)));
        self.a.swap(p + p * n, q + q * n);
        (first..p).for_each(|j| self.a.swap(p + j * n, q + j * n));
    }

    /// Takes one settled row out of the rest.
    fn clear_one(&mut self, k: usize) {
        let d = self.diagonal(k);
        self.set(k, k, d);
        for j in k + 1..self.n {
            let weight = self.across(self.at(j, k) / d);
            for i in j..self.n {
                self.set(i, j, self.at(i, j) - self.at(i, k) * weight);
            }
        }
        (k + 1..self.n).for_each(|i| self.set(i, k, self.at(i, k) / d));
    }

    /// Takes two settled rows out of the rest.
    fn clear_two(&mut self, k: usize) {
        for i in [k, k + 1] {
            let d = self.diagonal(i);
            self.set(i, i, d);
        }
        let block = self.block(k);
        for j in k + 2..self.n {
            // The row over the block: that of the block's transpose with the corners exchanged.
            let [x, y] = block.solve([self.across(self.at(j, k)), self.across(self.at(j, k + 1))]);
            for i in j..self.n {
                self.set(i, j, self.at(i, j) - self.at(i, k) * x - self.at(i, k + 1) * y);
            }
            self.set(j, k, self.across(x));
            self.set(j, k + 1, self.across(y));
        }
    }

    fn block(&self, k: usize) -> Block<T> {
        let corner = self.at(k + 1, k);
        Block { first: self.diagonal(k), second: self.diagonal(k + 1), corner, across: self.across(corner) }
    }
}

/// Two rows of `D`.
struct Block<T> {
    first: T,
    second: T,
    corner: T,
    across: T,
}

impl<T: Field> Block<T> {
    /// The solution of a system of two, in the scale of the corner.
    fn solve(&self, [x, y]: [T; 2]) -> [T; 2] {
        let scale = T::from_parts(self.corner.size(), 0.0);
        let [p, q, e, f] = [self.first, self.second, self.corner, self.across].map(|v| v / scale);
        let determinant = (p * q - e * f) * scale;
        [(q * x - f * y) / determinant, (p * y - e * x) / determinant]
    }
}

pub(crate) fn factor<T: Field>(x: &mut Operands<'_, T>, hermitian: bool) -> i32 {
    let n = x.rows;
    let mut lower = Lower { a: &mut x.a[..n * n], n, hermitian };
    let (mut k, mut singular) = (0, 0);
    while k < n {
        let Some((row, rows)) = lower.pivot(k) else {
            if singular == 0 {
                singular = k as i32 + 1;
            }
            lower.set(k, k, lower.diagonal(k));
            x.pivots[k] = k as i32 + 1;
            k += 1;
            continue;
        };
        let last = k + rows - 1;
        if row != last {
            lower.exchange(k, last, row);
        }
        let pivot = row as i32 + 1;
        if rows == 1 {
            lower.clear_one(k);
            x.pivots[k] = pivot;
        } else {
            lower.clear_two(k);
            x.pivots[k..k + 2].fill(-pivot);
        }
        k += rows;
    }
    (0..n).for_each(|j| x.a[j * n..j * n + j].fill(T::default()));
    singular
}

pub(crate) fn solve<T: Field>(x: &mut Operands<'_, T>, hermitian: bool) -> i32 {
    let n = x.rows;
    let Some(steps) = steps(&x.pivots[..n]) else { return BAD_PIVOTS };
    if n == 0 {
        return 0;
    }
    let lower = Lower { a: &mut x.a[..n * n], n, hermitian };
    for b in x.b[..n * x.b_cols].chunks_exact_mut(n) {
        for step in &steps {
            b.swap(step.last, step.row);
            for j in step.at..=step.last {
                (step.last + 1..n).for_each(|i| {
                    let known = b[j];
                    b[i] -= lower.at(i, j) * known;
                });
            }
            if step.at == step.last {
                b[step.at] /= lower.diagonal(step.at);
            } else {
                [b[step.at], b[step.last]] = lower.block(step.at).solve([b[step.at], b[step.last]]);
            }
        }
        for step in steps.iter().rev() {
            for j in step.at..=step.last {
                b[j] = (step.last + 1..n).fold(b[j], |sum, i| sum - lower.across(lower.at(i, j)) * b[i]);
            }
            b.swap(step.last, step.row);
        }
    }
    0
}

/// One step of the elimination: the rows `at` to `last` are settled, after `last` and `row` changed places.
struct Step {
    at: usize,
    last: usize,
    row: usize,
}

/// The steps that LAPACK's pivots stand for, if they do for any.
fn steps(pivots: &[i32]) -> Option<Vec<Step>> {
    let (n, mut at, mut all) = (pivots.len(), 0, Vec::new());
    while at < n {
        let p = pivots[at];
        let last = if p < 0 { at + 1 } else { at };
        let row = (p.unsigned_abs() as usize).checked_sub(1)?;
        if last >= n || row >= n || row < last || pivots[last] != p {
            return None;
        }
        all.push(Step { at, last, row });
        at = last + 1;
    }
    Some(all)
}
