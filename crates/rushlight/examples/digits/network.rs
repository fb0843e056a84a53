//! The data, the network and its training.

use indicatif::{ProgressBar, ProgressStyle};
use rushlight::nn::{
    Adam, Conv2d, ConvOptions, CosineAnnealingLR, Dropout, Flatten, Linear, MaxPool2d, Module, Optimizer,
    Padding, Relu, Sequential, Visitor,
};
use rushlight::{DType, Generator, Result, Tensor, io, no_grad};
use std::path::Path;

const BATCH: usize = 64;

/// Digits with their labels.
pub struct Set {
    /// [N, 1, 8, 8], ink from 0 to 1.
    pub images: Tensor,
    /// [N], as a tensor of class numbers.
    pub target: Tensor,
    /// The same on the host.
    pub labels: Vec<i64>,
}

/// All digits, parted once and for all: a seed changes the training and not the test.
pub struct Digits {
    /// Four fifths.
    pub train: Set,
    /// The held-out fifth.
    pub test: Set,
}

impl Digits {
    /// Reads the archive beside the examples.
    pub fn load(path: &Path) -> Result<Digits> {
        let archive = io::npz::Archive::open(path)?;
        let images = archive.get("images")?.to_dtype(DType::F32)?.div(16.0)?.unsqueeze(1)?;
        let target = archive.get("labels")?.to_dtype(DType::I64)?;
        let n = images.size(0)? as i64;
        let order = Tensor::randperm_with(n, None, None, Some(&Generator::new(1797)))?;
        let pick = |from: i64, count: i64| -> Result<Set> {
            let rows = order.narrow(0, from, count)?;
            let target = target.index_select(0, &rows)?;
            Ok(Set { images: images.index_select(0, &rows)?, labels: target.to_vec()?, target })
        };
        Ok(Digits { test: pick(0, n / 5)?, train: pick(n / 5, n - n / 5)? })
    }
}

/// Two convolutions look for strokes and for their corners; two linear layers decide.
pub struct Reader(Sequential);

impl Reader {
    /// At random first weights.
    pub fn new() -> Result<Reader> {
        let same = ConvOptions { padding: Padding::Same, ..ConvOptions::default() };
        Ok(Reader(
            Sequential::new()
                .named("strokes", Conv2d::new(1, 16, [3, 3], same)?)
                .push(Relu)
                .named("corners", Conv2d::new(16, 32, [3, 3], same)?)
                .push(Relu)
                .push(MaxPool2d(2))
                .push(Flatten)
                .push(Dropout::new(0.3)?)
                .named("shapes", Linear::new(32 * 4 * 4, 64)?)
                .push(Relu)
                .named("digit", Linear::new(64, 10)?),
        ))
    }
}

impl Module for Reader {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        self.0.forward(images)
    }
    fn visit(&self, v: &mut dyn Visitor) {
        self.0.visit(v);
    }
}

/// Losses while training.
#[derive(Default)]
pub struct Curve {
    /// Of each batch.
    pub batches: Vec<f64>,
    /// Of the test digits after each epoch.
    pub tests: Vec<f64>,
}

/// Trains with Adam, the learning rate falling to zero along half a cosine.
pub fn run(reader: &Reader, data: &Digits, epochs: usize, seed: u64) -> Result<Curve> {
    let mut adam = Adam::new(reader.parameters(), 2e-3)?;
    let mut rate = CosineAnnealingLR::new(&adam, epochs as u32, 0.0)?;
    let shuffle = Generator::new(seed);
    let n = data.train.labels.len();
    let bar = ProgressBar::new((epochs * n.div_ceil(BATCH)) as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}  {eta} left") {
        bar.set_style(style);
    }
    let mut curve = Curve::default();
    for epoch in 1..=epochs {
        reader.train(true);
        let order = Tensor::randperm_with(n as i64, None, None, Some(&shuffle))?;
        for rows in order.split(BATCH as i64, 0)? {
            let images = data.train.images.index_select(0, &rows)?;
            let target = data.train.target.index_select(0, &rows)?;
            adam.zero_grad()?;
            let loss = reader.forward(&images)?.cross_entropy(&target)?;
            loss.backward()?;
            adam.step()?;
            curve.batches.push(loss.item()?.to_f64());
            bar.inc(1);
        }
        rate.step(&mut adam);
        reader.eval();
        let loss = no_grad(|| reader.forward(&data.test.images)?.cross_entropy(&data.test.target))?;
        curve.tests.push(loss.item()?.to_f64());
        bar.set_message(format!("epoch {epoch}/{epochs}, test loss {:.4}", curve.tests[epoch - 1]));
    }
    bar.finish();
    Ok(curve)
}

/// The share of test digits that is read rightly, and what each is read as.
pub fn classify(reader: &Reader, data: &Digits) -> Result<(f64, Vec<i64>)> {
    reader.eval();
    let read = no_grad(|| reader.forward(&data.test.images)?.argmax(Some(1), false))?.to_vec::<i64>()?;
    let right = read.iter().zip(&data.test.labels).filter(|(a, b)| a == b).count();
    Ok((right as f64 / read.len() as f64, read))
}

/// Weights in a file, by name.
pub mod weights {
    use super::{Module, Path, Reader, Result, io};
    use std::collections::BTreeMap;

    /// Writes them.
    pub fn save(reader: &Reader, path: &Path) -> Result<()> {
        let about = BTreeMap::from([("trained_on".to_string(), "UCI handwritten digits".to_string())]);
        io::safetensors::save(path, &reader.state_dict()?, &about)
    }

    /// Reads them.
    pub fn load(reader: &Reader, path: &Path) -> Result<()> {
        reader.load_state_dict(&io::safetensors::load(path)?)
    }
}
