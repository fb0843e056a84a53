//! Arrays as plain lists, indexed and joined by the slowest means there are; and tensors to compare.
#![allow(dead_code, reason = "each test file uses its part")]

use rushlight::Tensor;

/// Row-major values.
#[derive(Clone, Debug, PartialEq)]
pub struct Naive {
    pub shape: Vec<usize>,
    pub data: Vec<i64>,
}

impl Naive {
    pub fn of(t: &Tensor) -> Naive {
        Naive { shape: t.shape().to_vec(), data: t.to_vec::<i64>().unwrap() }
    }
    pub fn build(shape: &[usize], f: impl Fn(&[usize]) -> i64) -> Naive {
        Naive { shape: shape.to_vec(), data: coordinates(shape).iter().map(|c| f(c)).collect() }
    }
    pub fn at(&self, c: &[usize]) -> i64 {
        self.data[flat(&self.shape, c)]
    }
    pub fn tensor(&self) -> Tensor {
        Tensor::from_vec(self.data.clone(), self.shape.as_slice()).unwrap()
    }
}

pub fn flat(shape: &[usize], c: &[usize]) -> usize {
    c.iter().zip(shape).fold(0, |at, (i, n)| at * n + i)
}

/// Every coordinate of a shape in row-major order.
pub fn coordinates(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for n in shape {
        all = all.iter().flat_map(|c: &Vec<usize>| (0..*n).map(|i| [c.as_slice(), &[i]].concat())).collect();
    }
    all
}

/// A small generator, so that failures repeat.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 11
    }
    pub fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n.max(1)
    }
    pub fn shape(&mut self, rank: usize, most: usize) -> Vec<usize> {
        (0..rank).map(|_| 1 + self.below(most)).collect()
    }
    /// int64 values in one of many layouts: plain, permuted, a part of more, expanded, odd strides of 1.
    pub fn tensor(&mut self, shape: &[usize]) -> Tensor {
        let rank = shape.len();
        match self.below(5) {
            0 | 1 if rank > 1 => {
                let turned: Vec<usize> = shape.iter().rev().copied().collect();
                self.plain(&turned).T().unwrap()
            }
            2 if rank > 0 => {
                let d = self.below(rank);
                let mut wide = shape.to_vec();
                wide[d] = 2 * wide[d] + 1;
                self.plain(&wide).slice(d as i64, Some(1), None, 2).unwrap()
            }
            3 if rank > 0 => {
                let d = self.below(rank);
                let mut thin = shape.to_vec();
                thin[d] = 1;
                self.plain(&thin).expand(shape).unwrap()
            }
            4 if shape.contains(&1) => {
                let x = self.plain(shape);
                let strides: Vec<i64> = x
                    .strides()
                    .iter()
                    .zip(shape)
                    .map(|(s, n)| if *n == 1 { 77 } else { *s as i64 })
                    .collect();
                x.as_strided(shape, strides, None).unwrap()
            }
            _ => self.plain(shape),
        }
    }
    fn plain(&mut self, shape: &[usize]) -> Tensor {
        let n = shape.iter().product::<usize>();
        Tensor::from_vec((0..n).map(|_| self.below(1000) as i64).collect(), shape).unwrap()
    }
}
