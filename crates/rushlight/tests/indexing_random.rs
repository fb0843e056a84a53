//! Random indices, positions and masks over random layouts, against loops over coordinates.

mod naive;

use naive::{Naive, Rng, coordinates};
use rushlight::{DType, Index, Result, Tensor};

fn ints(list: &[i64]) -> Tensor {
    Tensor::from_slice(list, [list.len()]).unwrap()
}

fn bools(list: &[bool]) -> Tensor {
    Tensor::from_slice(list, [list.len()]).unwrap()
}

/// A view as the list of positions in the base that its elements have.
fn oracle(x: &Naive, parts: &[Index]) -> Result<Naive> {
    let spoken: usize = parts
        .iter()
        .map(|p| match p {
            Index::Int(_) | Index::Slice { .. } => 1,
            Index::Tensor(t) if t.dtype() == DType::Bool => t.dim(),
            Index::Tensor(_) => 1,
            _ => 0,
        })
        .sum();
    let mut rest = x.shape.len() - spoken;
    let (mut view, mut dim) = (x.clone(), 0);
    let mut lists: Vec<(usize, Naive)> = Vec::new();
    for p in parts {
        match p {
            Index::Int(i) => {
                let n = view.shape[dim] as isize;
                let at = if *i < 0 { i + n } else { *i } as usize;
                let mut shape = view.shape.clone();
                shape.remove(dim);
                view = Naive::build(&shape, |c| view.at(&[&c[..dim], &[at], &c[dim..]].concat()));
            }
            Index::Slice { start, end, step } => {
                let n = view.shape[dim] as isize;
                let (least, most) = if *step < 0 { (-1, n - 1) } else { (0, n) };
                let bound = |b: &Option<isize>, other| {
                    b.map_or(other, |b| if b < 0 { (b + n).max(least) } else { b.min(most) })
                };
                let mut picked: Vec<usize> = Vec::new();
                let mut i = bound(start, if *step < 0 { most } else { least });
                let past = bound(end, if *step < 0 { least } else { most });
                while if *step < 0 { i > past } else { i < past } {
                    picked.push(i as usize);
                    i += step;
                }
                let mut shape = view.shape.clone();
                shape[dim] = picked.len();
                view = Naive::build(&shape, |c| {
                    let mut c = c.to_vec();
                    c[dim] = picked[c[dim]];
                    view.at(&c)
                });
                dim += 1;
            }
            Index::None => {
                view.shape.insert(dim, 1);
                dim += 1;
            }
            Index::Ellipsis => dim += std::mem::take(&mut rest),
            Index::Bool(_) => unreachable!("not drawn"),
            Index::Tensor(t) if t.dtype() == DType::Bool => {
                let values = t.to_vec::<bool>()?;
                let ones: Vec<Vec<usize>> = coordinates(t.shape())
                    .into_iter()
                    .zip(values)
                    .filter(|(_, v)| *v)
                    .map(|(c, _)| c)
                    .collect();
                for k in 0..t.dim() {
                    let data = ones.iter().map(|c| c[k] as i64).collect();
                    lists.push((dim + k, Naive { shape: vec![ones.len()], data }));
                }
                dim += t.dim();
            }
            Index::Tensor(t) => {
                lists.push((dim, Naive::of(t)));
                dim += 1;
            }
        }
    }
    if lists.is_empty() {
        return Ok(view);
    }
    let rank = lists.iter().map(|(_, l)| l.shape.len()).max().unwrap_or(0);
    let mut joint = vec![1; rank];
    for (_, l) in &lists {
        for (k, n) in l.shape.iter().enumerate() {
            let j = &mut joint[rank - l.shape.len() + k];
            *j = if *j == 1 { *n } else { *j };
        }
    }
    let dims: Vec<usize> = lists.iter().map(|(d, _)| *d).collect();
    let together = dims.windows(2).all(|w| w[1] == w[0] + 1);
    let at = if together { dims[0] } else { 0 };
    let whole: Vec<usize> = (0..view.shape.len()).filter(|d| !dims.contains(d)).collect();
    let mut shape: Vec<usize> = whole.iter().map(|d| view.shape[*d]).collect();
    shape.splice(at..at, joint.iter().copied());
    Ok(Naive::build(&shape, |c| {
        let mut place = vec![0; view.shape.len()];
        let others = c[..at].iter().chain(&c[at + rank..]);
        for (d, i) in whole.iter().zip(others) {
            place[*d] = *i;
        }
        for (d, l) in &lists {
            let own: Vec<usize> = c[at + rank - l.shape.len()..at + rank]
                .iter()
                .zip(&l.shape)
                .map(|(i, n)| if *n == 1 { 0 } else { *i })
                .collect();
            let i = l.at(&own);
            place[*d] = if i < 0 { i + view.shape[*d] as i64 } else { i } as usize;
        }
        view.at(&place)
    }))
}

/// A random index for a tensor of that shape.
fn draw(rng: &mut Rng, shape: &[usize]) -> Vec<Index> {
    let joint = {
        let rank = rng.below(3);
        rng.shape(rank, 3)
    };
    // The lists of masks have some length; others beside them must broadcast with it.
    let mut mask_count: Option<usize> = None;
    let mut parts = Vec::new();
    let mut d = 0;
    while d < shape.len() {
        let n = shape[d];
        match rng.below(9) {
            0 => parts.push(Index::Int(rng.below(2 * n) as isize - n as isize)),
            1 | 2 => {
                let bound =
                    |r: &mut Rng| (r.below(3) > 0).then(|| r.below(2 * n + 3) as isize - n as isize - 1);
                let (start, end) = (bound(rng), bound(rng));
                parts.push(Index::Slice { start, end, step: [1, 2, 3, -1, -2][rng.below(5)] });
            }
            3 => {
                parts.push(Index::None);
                continue;
            }
            4 if d > 0 => break,
            5 if mask_count.is_none() => {
                let values: Vec<bool> = (0..n).map(|_| rng.below(2) == 0).collect();
                let count = values.iter().filter(|v| **v).count();
                if joint.is_empty() || joint.last() == Some(&1) || joint.last() == Some(&count) {
                    mask_count = Some(count);
                    parts.push(Index::Tensor(bools(&values)));
                } else {
                    parts.push(Index::from(..));
                }
            }
            6..=8 if !joint.is_empty() => {
                let own: Vec<usize> = joint.iter().map(|j| if rng.below(3) == 0 { 1 } else { *j }).collect();
                let index = rng.tensor(&own);
                let wrapped = index.remainder(2 * n as i64).unwrap().sub(n as i64).unwrap();
                parts.push(Index::Tensor(wrapped));
            }
            _ => parts.push(Index::from(..)),
        }
        d += 1;
    }
    if rng.below(4) == 0 {
        // Parts behind an ellipsis speak of the last dimensions.
        let at = if d == shape.len() { rng.below(parts.len() + 1) } else { parts.len() };
        parts.insert(at, Index::Ellipsis);
    }
    parts
}

#[test]
fn random_indices_read_what_loops_read() -> Result<()> {
    let mut rng = Rng(1);
    let mut advanced = 0;
    for round in 0..3000 {
        let shape = {
            let rank = 1 + rng.below(4);
            rng.shape(rank, 4)
        };
        let x = rng.tensor(&shape);
        let parts = draw(&mut rng, &shape);
        advanced += usize::from(parts.iter().any(|p| matches!(p, Index::Tensor(_))));
        let want = oracle(&Naive::of(&x), &parts)?;
        let got = x.i(parts.as_slice()).unwrap_or_else(|e| panic!("round {round}: {e}"));
        assert_eq!(Naive::of(&got), want, "round {round}");
    }
    assert!(advanced > 1000, "{advanced}");
    Ok(())
}

#[test]
fn random_assignments_write_what_loops_write() -> Result<()> {
    let mut rng = Rng(2);
    for round in 0..2000 {
        let shape = {
            let rank = 1 + rng.below(4);
            rng.shape(rank, 4)
        };
        let x = rng.tensor(&shape).copy()?;
        let parts = draw(&mut rng, &shape);
        // Where each element of the indexed part lies.
        let places = oracle(&Naive { shape: shape.clone(), data: (0..x.numel() as i64).collect() }, &parts)?;
        let mut want = Naive::of(&x);
        if rng.below(3) == 0 {
            x.set(parts.as_slice(), 7)?;
            places.data.iter().for_each(|p| want.data[*p as usize] = 7);
        } else {
            let values = rng.tensor(&places.shape);
            x.set(parts.as_slice(), &values)?;
            for (p, v) in places.data.iter().zip(Naive::of(&values).data) {
                want.data[*p as usize] = v;
            }
        }
        assert_eq!(Naive::of(&x), want, "round {round}");
    }
    Ok(())
}

#[test]
fn picking_and_placing_match_loops() -> Result<()> {
    let mut rng = Rng(3);
    for round in 0..600 {
        let shape = {
            let rank = 1 + rng.below(3);
            rng.shape(rank, 4)
        };
        let d = rng.below(shape.len());
        let n = shape[d];
        let x = rng.tensor(&shape);
        let own = Naive::of(&x);
        let mut small: Vec<usize> = shape.iter().map(|n| 1 + rng.below(*n)).collect();
        small[d] = 1 + rng.below(5);
        let index = rng.tensor(&small).remainder(n as i64)?;
        let at = Naive::of(&index);
        let moved = |c: &[usize]| {
            let mut place = c.to_vec();
            place[d] = at.at(c) as usize;
            place
        };
        assert_eq!(Naive::of(&x.gather(d as i64, &index)?), Naive::build(&small, |c| own.at(&moved(c))));
        assert_eq!(Naive::of(&x.gather(d as i64, &index.to_dtype(DType::I32)?)?).shape, small);
        let src = rng.tensor(&small);
        let values = Naive::of(&src);
        let (mut set, mut sum, mut product) = (own.clone(), own.clone(), own.clone());
        for c in coordinates(&small) {
            let p = naive::flat(&shape, &moved(&c));
            set.data[p] = values.at(&c);
            sum.data[p] += values.at(&c);
            product.data[p] = product.data[p].wrapping_mul(values.at(&c));
        }
        assert_eq!(Naive::of(&x.scatter(d as i64, &index, &src)?), set, "round {round}");
        assert_eq!(Naive::of(&x.scatter_add(d as i64, &index, &src)?), sum, "round {round}");
        assert_eq!(Naive::of(&x.scatter_with(d as i64, &index, &src, "add")?), sum, "round {round}");
        assert_eq!(Naive::of(&x.scatter_with(d as i64, &index, &src, "multiply")?), product, "round {round}");

        let count = rng.below(4);
        let list = rng.tensor(&[count.max(1)]).narrow(0, 0, count as i64)?.remainder(n as i64)?;
        let places = Naive::of(&list);
        let mut picked = shape.clone();
        picked[d] = count;
        let along = |c: &[usize]| {
            let mut place = c.to_vec();
            place[d] = places.data[c[d]] as usize;
            place
        };
        assert_eq!(
            Naive::of(&x.index_select(d as i64, &list)?),
            Naive::build(&picked, |c| own.at(&along(c)))
        );
        let src = if count == 0 {
            Tensor::from_vec(Vec::<i64>::new(), picked.as_slice())?
        } else {
            rng.tensor(&picked)
        };
        let values = Naive::of(&src);
        let (mut set, mut sum, mut filled) = (own.clone(), own.clone(), own.clone());
        for c in coordinates(&picked) {
            let p = naive::flat(&shape, &along(&c));
            set.data[p] = values.at(&c);
            sum.data[p] += 2 * values.at(&c);
            filled.data[p] = -5;
        }
        assert_eq!(Naive::of(&x.index_copy(d as i64, &list, &src)?), set, "round {round}");
        assert_eq!(Naive::of(&x.index_add_with(d as i64, &list, &src, 2)?), sum, "round {round}");
        assert_eq!(Naive::of(&x.index_fill(d as i64, &list, -5)?), filled, "round {round}");

        let total = x.numel() as i64;
        let any = rng.tensor(&[2, 3]).remainder(2 * total)?.sub(total)?;
        let flat: Vec<usize> = Naive::of(&any).data.iter().map(|i| i.rem_euclid(total) as usize).collect();
        let taken: Vec<i64> = flat.iter().map(|i| own.data[*i]).collect();
        assert_eq!(x.take(&any)?.to_vec::<i64>()?, taken, "round {round}");
        let src = rng.tensor(&[6]);
        let mut set = own.clone();
        for (p, v) in flat.iter().zip(Naive::of(&src).data) {
            set.data[*p] = v;
        }
        assert_eq!(Naive::of(&x.put(&any, &src, false)?), set, "round {round}");

        let mask = x.remainder(2)?.eq(0)?;
        let want: Vec<i64> = own.data.iter().map(|v| if v % 2 == 0 { 9 } else { *v }).collect();
        assert_eq!(x.masked_fill(&mask, 9)?.to_vec::<i64>()?, want);
        let even: Vec<i64> = own.data.iter().copied().filter(|v| v % 2 == 0).collect();
        assert_eq!(x.masked_select(&mask)?.to_vec::<i64>()?, even);
        let fresh: Vec<i64> = (0..x.numel() as i64).collect();
        let mut next = fresh.iter();
        let want: Vec<i64> =
            own.data.iter().map(|v| if v % 2 == 0 { *next.next().unwrap_or(&0) } else { *v }).collect();
        assert_eq!(x.masked_scatter(&mask, &ints(&fresh))?.to_vec::<i64>()?, want);
    }
    Ok(())
}
