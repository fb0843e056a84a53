//! Ops that join, repeat, move and frame elements, against loops over coordinates.

mod naive;

use naive::{Naive, Rng};
use rushlight::{DType, Kind, Result, Tensor, trace};

fn ints(list: &[i64]) -> Tensor {
    Tensor::from_slice(list, [list.len()]).unwrap()
}

fn kind<T>(r: Result<T>) -> Kind {
    match r {
        Ok(_) => panic!("this must be refused"),
        Err(e) => e.kind(),
    }
}

#[test]
fn cat_and_stack_match_loops() -> Result<()> {
    let mut rng = Rng(1);
    for _ in 0..300 {
        let rank = 1 + rng.below(4);
        let shape = rng.shape(rank, 3);
        let d = rng.below(rank);
        let parts: Vec<Tensor> = (0..1 + rng.below(3))
            .map(|_| {
                let mut own = shape.clone();
                own[d] = 1 + rng.below(3);
                rng.tensor(&own)
            })
            .collect();
        let lists: Vec<Naive> = parts.iter().map(Naive::of).collect();
        let mut joined = shape.clone();
        joined[d] = lists.iter().map(|l| l.shape[d]).sum();
        let want = Naive::build(&joined, |c| {
            let mut c = c.to_vec();
            for l in &lists {
                if c[d] < l.shape[d] {
                    return l.at(&c);
                }
                c[d] -= l.shape[d];
            }
            unreachable!("a coordinate past the parts")
        });
        let refs: Vec<&Tensor> = parts.iter().collect();
        assert_eq!(Naive::of(&Tensor::cat(&refs, d as i64)?), want);
        assert_eq!(Naive::of(&Tensor::cat(&refs, d as i64 - rank as i64)?), want);

        let same: Vec<Tensor> = (0..2).map(|_| rng.tensor(&shape)).collect();
        let lists: Vec<Naive> = same.iter().map(Naive::of).collect();
        let at = rng.below(rank + 1);
        let mut raised = shape.clone();
        raised.insert(at, 2);
        let want = Naive::build(&raised, |c| {
            let mut c = c.to_vec();
            let k = c.remove(at);
            lists[k].at(&c)
        });
        assert_eq!(Naive::of(&Tensor::stack(&[&same[0], &same[1]], at as i64)?), want);
    }
    Ok(())
}

#[test]
fn what_joining_promotes_and_refuses() -> Result<()> {
    let x = ints(&[1, 2]);
    let none = Tensor::from_vec(Vec::<f32>::new(), [0])?;
    let wide = Tensor::from_vec(vec![1i64; 4], [2, 2])?;
    assert_eq!(Tensor::cat(&[&x, &none], 0)?.dtype(), DType::F32);
    assert_eq!(Tensor::cat(&[&none, &wide], 1)?.shape(), [2, 2]);
    assert_eq!(Tensor::cat(&[&none, &none], 0)?.shape(), [0]);
    assert_eq!(kind(Tensor::cat(&[], 0)), Kind::Value);
    assert_eq!(kind(Tensor::stack(&[], 0)), Kind::Runtime);
    assert_eq!(kind(Tensor::cat(&[&x, &wide], 0)), Kind::Runtime);
    assert_eq!(kind(Tensor::cat(&[&wide, &ints(&[1, 2]).unsqueeze(0)?.repeat([1, 2])?], 1)), Kind::Runtime);
    assert_eq!(kind(Tensor::cat(&[&Tensor::scalar(1)?], 0)), Kind::Runtime);
    assert_eq!(kind(Tensor::cat(&[&x], 1)), Kind::Index);
    assert_eq!(kind(Tensor::stack(&[&x, &wide], 0)), Kind::Runtime);
    assert_eq!(Tensor::vstack(&[&x, &wide])?.shape(), [3, 2]);
    assert_eq!(Tensor::hstack(&[&x, &x])?.to_vec::<i64>()?, [1, 2, 1, 2]);
    assert_eq!(Tensor::hstack(&[&wide, &wide])?.shape(), [2, 4]);
    assert_eq!(Tensor::dstack(&[&x, &x])?.to_vec::<i64>()?, [1, 1, 2, 2]);
    assert!(trace::forbid_copies(|| Tensor::cat(&[&x], 0)).is_err());
    Ok(())
}

#[test]
fn moved_elements_match_loops() -> Result<()> {
    let mut rng = Rng(2);
    for round in 0..500 {
        let rank = 1 + rng.below(3);
        let shape = rng.shape(rank, 4);
        let x = rng.tensor(&shape);
        let own = Naive::of(&x);
        let d = rng.below(rank);
        let n = shape[d];
        let at = |c: &[usize], i: usize| {
            let mut c = c.to_vec();
            c[d] = i;
            c
        };

        let shift = rng.below(9) as i64 - 4;
        let rolled = |c: &[usize]| own.at(&at(c, (c[d] as i64 - shift).rem_euclid(n as i64) as usize));
        assert_eq!(Naive::of(&x.roll(shift, d)?), Naive::build(&shape, rolled), "round {round}");
        let total = own.data.len() as i64;
        let flat: Vec<i64> = (0..total).map(|i| own.data[(i - shift).rem_euclid(total) as usize]).collect();
        assert_eq!(x.roll(shift, ())?.to_vec::<i64>()?, flat, "round {round}");
        let twice = x.roll([shift, 1], [d, 0])?;
        assert_eq!(Naive::of(&twice), Naive::of(&x.roll(shift, d)?.roll(1, 0)?), "round {round}");

        let flipped = Naive::build(&shape, |c| own.at(&at(c, n - 1 - c[d])));
        assert_eq!(Naive::of(&x.flip(d)?), flipped, "round {round}");
        let all: Vec<usize> = (0..rank).collect();
        let mut reversed = own.data.clone();
        reversed.reverse();
        assert_eq!(x.flip(all)?.to_vec::<i64>()?, reversed, "round {round}");

        let times: Vec<usize> = (0..rank).map(|_| rng.below(3)).collect();
        let grown: Vec<usize> = shape.iter().zip(&times).map(|(n, k)| n * k).collect();
        let modulo = |c: &[usize]| c.iter().zip(&shape).map(|(i, n)| i % n).collect::<Vec<usize>>();
        let want = Naive::build(&grown, |c| own.at(&modulo(c)));
        assert_eq!(Naive::of(&x.repeat(times.as_slice())?), want, "round {round}");
        let mut each = shape.clone();
        each[d] *= 3;
        let want = Naive::build(&each, |c| own.at(&at(c, c[d] / 3)));
        assert_eq!(Naive::of(&x.repeat_interleave(3, Some(d as i64))?), want, "round {round}");
    }
    Ok(())
}

#[test]
fn turns_triangles_and_diagonals() -> Result<()> {
    let mut rng = Rng(3);
    for round in 0..200 {
        let shape = [1 + rng.below(2), 1 + rng.below(4), 1 + rng.below(4)];
        let x = rng.tensor(&shape);
        let own = Naive::of(&x);
        let k = rng.below(9) as i64 - 4;
        let low = Naive::build(&shape, |c| if c[2] as i64 - c[1] as i64 <= k { own.at(c) } else { 0 });
        let high = Naive::build(&shape, |c| if c[2] as i64 - c[1] as i64 >= k { own.at(c) } else { 0 });
        assert_eq!(Naive::of(&x.tril(k)?), low, "round {round}");
        assert_eq!(Naive::of(&x.triu(k)?), high, "round {round}");
        let y = x.copy()?;
        y.tril_(k)?;
        assert_eq!(Naive::of(&y), low, "round {round}");

        let turned =
            Naive::build(&[shape[0], shape[2], shape[1]], |c| own.at(&[c[0], c[2], shape[2] - 1 - c[1]]));
        assert_eq!(Naive::of(&x.rot90(1, [1, 2])?), turned, "round {round}");
        assert_eq!(Naive::of(&x.rot90(-3, [1, 2])?), turned, "round {round}");
        assert_eq!(Naive::of(&x.rot90(2, [1, 2])?.rot90(3, [1, 2])?), turned, "round {round}");

        let line = x.select(0, 0)?.select(0, 0)?;
        let values = line.to_vec::<i64>()?;
        let n = values.len() + k.unsigned_abs() as usize;
        let want = Naive::build(&[n, n], |c| {
            let on = c[1] as i64 - c[0] as i64 == k;
            if on { values[c[0].min(c[1])] } else { 0 }
        });
        assert_eq!(Naive::of(&line.diag(k)?), want, "round {round}");
        assert_eq!(line.diag(k)?.diag(k)?.to_vec::<i64>()?, values, "round {round}");
    }
    assert_eq!(kind(ints(&[1]).tril(0)), Kind::Runtime);
    assert_eq!(kind(ints(&[1]).rot90(1, [0, 1])), Kind::Runtime);
    assert_eq!(kind(ints(&[1]).unsqueeze(0)?.unsqueeze(0)?.diag(0)), Kind::Runtime);
    assert_eq!(kind(ints(&[1]).flip([0, 0])), Kind::Runtime);
    assert_eq!(kind(ints(&[1]).flip(1)), Kind::Index);
    assert_eq!(kind(ints(&[1]).roll([1, 2], 0)), Kind::Runtime);
    Ok(())
}

#[test]
fn every_dtype_moves() -> Result<()> {
    for dtype in DType::ALL.iter().filter(|d| **d != DType::Bool) {
        let x = ints(&[1, 2, 3, 4]).view([2, 2])?.to_dtype(*dtype)?;
        let back = |t: Tensor| t.to_dtype(DType::I64)?.to_vec::<i64>();
        assert_eq!(back(x.flip([0, 1])?)?, [4, 3, 2, 1], "{dtype}");
        assert_eq!(back(x.tril(0)?)?, [1, 0, 3, 4], "{dtype}");
        assert_eq!(back(x.roll(1, 1)?)?, [2, 1, 4, 3], "{dtype}");
        assert_eq!(back(x.pad([1, 0], "constant", 7)?)?, [7, 1, 2, 7, 3, 4], "{dtype}");
        assert_eq!(back(x.i(ints(&[1, 0]))?)?, [3, 4, 1, 2], "{dtype}");
        assert_eq!(back(x.masked_fill(&x.eq(3)?, 9)?)?, [1, 2, 9, 4], "{dtype}");
    }
    let b = Tensor::from_slice(&[true, true, false, true], [2, 2])?;
    assert_eq!(b.triu(0)?.to_vec::<bool>()?, [true, true, false, true]);
    assert_eq!(b.tril(-1)?.to_vec::<bool>()?, [false; 4]);
    Ok(())
}

#[test]
fn margins_match_loops() -> Result<()> {
    let mut rng = Rng(4);
    for round in 0..400 {
        let shape = [1 + rng.below(2), 1 + rng.below(4), 1 + rng.below(4)];
        let x = rng.tensor(&shape);
        let own = Naive::of(&x);
        // Constant margins may be negative, but must leave a size.
        let mut m = [0i64; 4];
        for (k, v) in m.iter_mut().enumerate() {
            *v = rng.below(5) as i64 - 2;
            let n = shape[if k < 2 { 2 } else { 1 }] as i64;
            *v = (*v).max(-(n / 2));
        }
        let grown = |m: &[i64; 4]| {
            vec![shape[0], (shape[1] as i64 + m[2] + m[3]) as usize, (shape[2] as i64 + m[0] + m[1]) as usize]
        };
        let want = Naive::build(&grown(&m), |c| {
            let (i, j) = (c[1] as i64 - m[2], c[2] as i64 - m[0]);
            let inside = (0..shape[1] as i64).contains(&i) && (0..shape[2] as i64).contains(&j);
            if inside { own.at(&[c[0], i as usize, j as usize]) } else { -1 }
        });
        assert_eq!(Naive::of(&x.pad(m.as_slice(), "constant", -1)?), want, "round {round}, {m:?}");

        for mode in ["reflect", "replicate", "circular"] {
            let most = |n: usize| match mode {
                "reflect" => n,
                "circular" => n + 1,
                _ => 4,
            };
            let m = [most(shape[2]), most(shape[2]), most(shape[1]), most(shape[1])]
                .map(|most| rng.below(most) as i64);
            let place = |i: i64, n: usize| {
                let n = n as i64;
                (match mode {
                    "reflect" if i < 0 => -i,
                    "reflect" if i >= n => 2 * n - 2 - i,
                    "circular" => i.rem_euclid(n),
                    _ => i.clamp(0, n - 1),
                }) as usize
            };
            let want = Naive::build(&grown(&m), |c| {
                own.at(&[c[0], place(c[1] as i64 - m[2], shape[1]), place(c[2] as i64 - m[0], shape[2])])
            });
            assert_eq!(Naive::of(&x.pad(m.as_slice(), mode, 0)?), want, "round {round}, {mode}, {m:?}");
        }
    }
    let x = ints(&[1, 2, 3]);
    assert_eq!(kind(x.pad([3, 0], "reflect", 0)), Kind::Runtime);
    assert_eq!(kind(x.pad([4, 0], "circular", 0)), Kind::Runtime);
    assert_eq!(kind(x.pad([-2, -2], "constant", 0)), Kind::Runtime);
    assert_eq!(kind(x.pad([1], "constant", 0)), Kind::Runtime);
    assert_eq!(kind(x.pad([1, 1, 1, 1], "constant", 0)), Kind::Runtime);
    assert_eq!(kind(x.pad([1, 1], "mirror", 0)), Kind::NotImplemented);
    assert_eq!(kind(x.pad([i64::MAX, 1], "constant", 0)), Kind::Runtime);
    Ok(())
}

#[test]
fn grids_and_counts() -> Result<()> {
    let (a, b) = (ints(&[1, 2]), ints(&[3, 4, 5]));
    let ij = Tensor::meshgrid(&[&a, &b], "ij")?;
    assert_eq!(ij[0].to_vec::<i64>()?, [1, 1, 1, 2, 2, 2]);
    assert_eq!((ij[1].strides(), ij[1].shares_storage(&b)), (&[0, 1][..], true));
    let xy = Tensor::meshgrid(&[&a, &b], "xy")?;
    assert_eq!((xy[0].shape(), xy[0].to_vec::<i64>()?), (&[3, 2][..], vec![1, 2, 1, 2, 1, 2]));
    assert_eq!(kind(Tensor::meshgrid(&[&a], "ji")), Kind::Runtime);
    assert_eq!(b.repeat_interleave(ints(&[0, 2, 1]), None)?.to_vec::<i64>()?, [4, 4, 5]);
    assert_eq!(kind(b.repeat_interleave(-1, None)), Kind::Runtime);
    assert_eq!(kind(b.repeat_interleave(ints(&[1, 2]), None)), Kind::Runtime);
    assert_eq!(kind(b.repeat(())), Kind::Runtime);
    assert_eq!(kind(b.repeat([-1])), Kind::Runtime);
    Ok(())
}
