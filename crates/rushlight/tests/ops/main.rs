//! Rules of single families of ops, with torch's values.

mod combine;
mod complex;
mod corners;
mod create;
mod graph;
mod out;
mod padding;
mod products;
mod sizes;

use rushlight::{DType, Kind, Result, Tensor};

/// A float64 tensor.
#[track_caller]
fn t(values: &[f64], shape: &[usize]) -> Tensor {
    Tensor::from_vec(values.to_vec(), shape).unwrap()
}

/// An int64 tensor.
#[track_caller]
fn i(values: &[i64], shape: &[usize]) -> Tensor {
    Tensor::from_vec(values.to_vec(), shape).unwrap()
}

/// 0, 1, 2 ... as float64.
#[track_caller]
fn range(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    t(&(0..n).map(|i| i as f64).collect::<Vec<_>>(), shape)
}

/// All elements as float64, on the host.
#[track_caller]
fn of(x: &Tensor) -> Vec<f64> {
    let host = x.detach().unwrap().to_device(rushlight::Device::CPU).unwrap();
    host.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap()
}

/// Demands an error of that family whose text holds `words`.
#[track_caller]
fn refused<T>(kind: Kind, words: &str, r: Result<T>) {
    match r {
        Ok(_) => panic!("accepted, although: {words}"),
        Err(e) => {
            assert!(e.kind() == kind && e.text().contains(words), "{e:?} is no {kind:?} about {words:?}")
        }
    }
}
