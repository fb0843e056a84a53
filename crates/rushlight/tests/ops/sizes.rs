//! Every family asked for more elements than memory or the address space has: an error that names an
//! op and leaves the operands alone, never an abort, and at once.

use super::{i, range, t};
use rushlight::{DType, Device, Kind, Result, Size, Tensor};

/// Elements that no machine holds, though their bytes can be counted.
const MANY: i64 = 1 << 50;

struct Operands {
    /// One cell, seen `MANY` times.
    x: Tensor,
    /// The same as whole numbers.
    n: Tensor,
    /// The same as truth values.
    b: Tensor,
    /// As rows and as a column of `2^40` places, whose product overflows.
    rows: Tensor,
    column: Tensor,
}

fn operands() -> Result<Operands> {
    let cell = t(&[0.5], &[1]);
    Ok(Operands {
        x: cell.expand(MANY)?,
        n: i(&[0], &[1]).expand(MANY)?,
        b: cell.gt(0.0)?.expand(MANY)?,
        rows: cell.expand([1, 1i64 << 40])?,
        column: cell.view([1, 1])?.expand([1i64 << 40, 1])?,
    })
}

type Call = fn(&Operands) -> Result<()>;

fn calls() -> Vec<(&'static str, Call)> {
    macro_rules! list {
        ($($family:literal: $(|$o:ident| $call:expr);+;)*) => {
            vec![$($(($family, (|$o: &Operands| { let _ = $o; $call.map(drop) }) as Call)),+),*]
        };
    }
    list! {
        "activation": |o| o.x.relu(); |o| o.x.softplus(1.0, 20.0);
        "arithmetic": |o| o.x.add(1.0); |o| o.x.mul(&o.x); |o| o.x.neg(); |o| o.rows.add(&o.column);
        "arrange": |o| o.x.roll(1, ()); |o| o.x.flip(0); |o| o.rows.tril(0); |o| o.x.diag(0);
            |o| o.x.diag_embed(0, -2, -1); |o| range(&[2]).diag(MANY);
            |o| range(&[2]).diag_embed(i64::MAX, 0, 1);
        "binary": |o| o.x.maximum(&o.x); |o| Tensor::where_cond(&o.b, &o.x, 0.0); |o| o.x.lerp(&o.x, 0.5);
        "bits": |o| o.n.bitwise_and(1); |o| o.n.bitwise_left_shift(&o.n);
        "clamp": |o| o.x.clamp(0.0, 1.0); |o| o.x.clamp_min(&o.x);
        "compare": |o| o.x.gt(0.0); |o| o.rows.eq(&o.column); |o| o.x.isclose(&o.x, 1e-5, 1e-8, false);
        "conv": |o| o.x.view([1, 1, MANY])?.conv1d(&range(&[1, 1, 1]), None, 1, 0, 1, 1);
            |o| range(&[1, 1, 3]).conv1d(&o.x.view([1, 1, MANY])?, None, 1, 0, 1i64 << 30, 1);
            |o| range(&[1, 1, 3]).conv1d(&range(&[1, 1, 2]), None, 1, i64::from(i32::MAX), 1, 1);
            |o| o.x.view([1, 1, MANY])?.conv_transpose1d(&range(&[1, 1, 2]), None, 1i64 << 30, 0, 0, 1, 1);
            |o| o.x.view([1, 1, MANY])?.conv1d_padded(&range(&[1, 1, 2]), None, 1, "same", 1, 1);
        "copy": |o| o.x.copy(); |o| o.x.contiguous(); |o| o.x.to_dtype(DType::F32);
            |o| o.x.to_device(Device::REF);
        "create": |o| Tensor::zeros_like(&o.x.narrow(0, 0, MANY)?); |o| Tensor::eye(MANY, None);
            |o| Tensor::full([MANY, MANY], 1.5);
            |o| o.x.bernoulli(); |o| Tensor::rand([MANY, 1 << 20]); |o| o.x.multinomial(MANY, true);
        "einsum": |o| Tensor::einsum("i,j->ij", &[&o.x, &o.x]);
            |o| Tensor::einsum("ij,jk->ik", &[&o.column, &o.rows]);
        "index": |o| o.x.index_select(0, &o.n); |o| range(&[3]).index_select(0, &o.n);
            |o| range(&[3]).gather(0, &o.n);
            |o| o.x.take(&o.n); |o| range(&[3]).index(&[Some(&o.n)]); |o| o.x.masked_fill(&o.b, 1.0);
            |o| o.x.scatter(0, &i(&[0], &[1]), 1.0); |o| o.x.index_add(0, &i(&[0], &[1]), &t(&[1.0], &[1]));
            |o| o.x.scatter_reduce(0, &i(&[0], &[1]), &t(&[1.0], &[1]), "sum");
            |o| o.x.put(&i(&[0], &[1]), &t(&[1.0], &[1]), false);
            |o| range(&[3]).repeat_interleave(MANY, None);
            |o| range(&[3]).repeat_interleave(i64::MAX, None);
            |o| o.x.index_fill(0, &i(&[0], &[1]), 1.0);
            |o| o.x.index_reduce(0, &i(&[0], &[1]), &t(&[1.0], &[1]), "prod");
        "join": |o| Tensor::cat(&[&o.x, &o.x], 0); |o| Tensor::stack(&[&o.x, &o.x], 0);
            |o| range(&[3]).repeat([MANY]);
            |o| range(&[3]).repeat([i64::MAX, i64::MAX]); |o| o.x.tile([1 << 20]);
            |o| Tensor::hstack(&[&o.x, &o.x]);
            |o| Tensor::block_diag(&[&o.x, &o.x]); |o| Tensor::column_stack(&[&o.x, &o.x]);
        "loss": |o| o.x.mse_loss(&o.x); |o| o.x.l1_loss(&o.x); |o| o.x.huber_loss(&o.x);
        "matmul": |o| o.column.matmul(&o.rows); |o| o.x.outer(&o.x); |o| o.rows.linear(&o.column, None);
            |o| range(&[1]).expand([1i64 << 40, 1])?.mm(&o.rows);
        "product": |o| o.x.kron(&o.x);
            |o| o.rows.tensordot(&o.column, Vec::<i64>::new(), Vec::<i64>::new()); |o| o.x.addr(&o.x, &o.x);
        "norm": |o| o.x.view([MANY, 1])?.layer_norm(1, None, None, 1e-5); |o| o.x.dropout(0.5, true);
            |o| i(&[3], &[1]).one_hot(MANY);
            |o| Tensor::embedding(&o.n, &range(&[2, 2]), None); |o| i(&[3, 4], &[2]).one_hot(i64::MAX);
        "order": |o| o.x.sort(0, false); |o| o.x.topk(MANY, 0, true); |o| o.x.argsort(0, false);
        "pad": |o| range(&[3]).constant_pad_nd([MANY, 0], 0);
            |o| range(&[3]).constant_pad_nd([i64::MAX, i64::MAX], 0);
            |o| o.x.constant_pad_nd([1, 1], 0); |o| range(&[1, 3]).pad([MANY, 0], "replicate", 0);
        "pool": |o| o.x.view([1, 1, MANY])?.avg_pool1d(1, ());
            |o| o.x.view([1, 1, MANY])?.max_pool1d(1, ());
            |o| range(&[1, 1, 3]).adaptive_avg_pool1d(MANY);
            |o| range(&[1, 1, 3]).adaptive_max_pool2d([1i64 << 40, 1 << 40]);
        "reduce": |o| o.rows.sum(0, false); |o| o.x.view([1, MANY])?.amax(0, false);
            |o| o.x.view([1, MANY])?.argmax(Some(0), false);
            |o| o.b.view([1, MANY])?.any(0, false);
        "scan": |o| o.x.cumsum(0); |o| o.x.cumprod(0); |o| o.x.softmax(0); |o| o.x.log_softmax(0);
        "statistics": |o| o.x.view([1, MANY])?.var(0); |o| o.x.view([1, MANY])?.norm(2.0, 0, false);
            |o| o.x.view([1, MANY])?.logsumexp(0, false); |o| o.x.view([1, MANY])?.max_dim(0, false);
        "unary": |o| o.x.exp(); |o| o.x.isnan(); |o| o.x.abs();
        "view": |o| o.column.expand([1i64 << 40, 1 << 40]); |o| o.x.view([MANY, MANY]);
            |o| o.x.reshape([i64::MAX, i64::MAX]);
            |o| o.x.unflatten(0, [1i64 << 40, 1 << 40]);
            |o| o.rows.expand([1i64 << 30, 1 << 40])?.t()?.reshape(-1).and_then(|x| x.copy());
            |o| range(&[3]).as_strided([MANY], [1], None); |o| range(&[3]).unfold(0, i64::MAX, 1);
            |o| range(&[3]).narrow(0, i64::MAX, i64::MAX); |o| range(&[3]).broadcast_to([i64::MAX, 3]);
            |o| o.x.select_scatter(&t(&[1.0], &[]), 0, 0); |o| o.x.slice_scatter(&o.x, 0, None, None, 1);
            |o| range(&[3]).split_with_sizes(Size::from([i64::MAX, i64::MAX, 5]), 0);
            |o| range(&[3]).as_strided([2], [i64::MAX], Some(i64::MAX));
    }
}

#[test]
fn more_than_there_is_is_refused() -> Result<()> {
    let o = operands()?;
    let mut families = std::collections::BTreeSet::new();
    for (at, (family, call)) in calls().into_iter().enumerate() {
        families.insert(family);
        match call(&o) {
            Ok(()) => panic!("call {at} of {family} claims to have worked"),
            Err(e) => assert!(
                matches!(e.kind(), Kind::Runtime | Kind::Index | Kind::Value) && !e.op().is_empty(),
                "call {at} of {family}: {e:?}"
            ),
        }
    }
    assert!(families.len() >= 24, "{families:?}");
    for x in [&o.x, &o.n, &o.b, &o.rows, &o.column] {
        assert_eq!(x.version(), 0);
    }
    Ok(())
}
