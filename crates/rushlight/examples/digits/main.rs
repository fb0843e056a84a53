//! Learns to read handwritten digits, saves what it learned, and draws what it misread.
//!
//! `cargo run --release --example digits` (and `-- --help`)

mod network;
mod picture;

use network::{Digits, Reader, classify, run, weights};
use rushlight::Result;
use std::path::{Path, PathBuf};
use std::time::Instant;

const HELP: &str = "\
Trains a small convolutional network on 1,438 handwritten digits of 8 x 8 pixels and tests it on 359 others.

    cargo run --release --example digits -- [OPTIONS]

    --epochs N   times to see every training digit; more is slower and a little better  [24]
    --seed N     the network's first weights, the order of digits and dropout follow from it; the same
                 seed gives the same numbers, another one shows how much of a result is luck  [0]
    --out DIR    where to write                                               [target/digits]
    --help       this text

Writes into DIR:
    digits.safetensors   the trained weights, by name
    digits.svg           the loss while training, and every test digit that was misread

Things to try: `--epochs 2` and look at what is misread; another seed; then the network itself, in
crates/rushlight/examples/digits/network.rs.";

/// What the command line asks for.
pub struct Options {
    /// Times to see every training digit.
    pub epochs: usize,
    /// Everything random follows from it.
    pub seed: u64,
    /// The folder to write into.
    pub out: PathBuf,
}

/// What came out.
pub struct Report {
    /// Share of the test digits read rightly.
    pub accuracy: f64,
    /// The same with the weights read back from their file.
    pub reloaded: f64,
    /// Time for all of it.
    pub seconds: f64,
    /// The picture.
    pub picture: PathBuf,
}

/// Trains, saves, reloads and draws.
pub fn digits(options: &Options) -> Result<Report> {
    let start = Instant::now();
    let data =
        Digits::load(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/digits.npz").as_path())?;
    std::fs::create_dir_all(&options.out).map_err(|e| {
        rushlight::err!(Io, "digits", "cannot make the folder {}: {e}", options.out.display())
    })?;

    rushlight::manual_seed(options.seed);
    let reader = Reader::new()?;
    let curve = run(&reader, &data, options.epochs, options.seed)?;
    let (accuracy, read) = classify(&reader, &data)?;

    let file = options.out.join("digits.safetensors");
    weights::save(&reader, &file)?;
    let again = Reader::new()?;
    weights::load(&again, &file)?;
    let (reloaded, _) = classify(&again, &data)?;

    let picture = options.out.join("digits.svg");
    let title = format!("Reading digits: {:.1}% of {} right", accuracy * 100.0, data.test.labels.len());
    let svg = picture::draw(&title, &curve, &data.test, &read)?;
    std::fs::write(&picture, svg)
        .map_err(|e| rushlight::err!(Io, "digits", "cannot write {}: {e}", picture.display()))?;
    Ok(Report { accuracy, reloaded, seconds: start.elapsed().as_secs_f64(), picture })
}

fn options() -> std::result::Result<Option<Options>, String> {
    let out = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/digits");
    let mut options = Options { epochs: 24, seed: 0, out };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--help" || arg == "-h" {
            return Ok(None);
        }
        let value = args.next().ok_or(format!("{arg} needs a value, or is no option; see --help"))?;
        let number =
            || value.parse::<u64>().map_err(|_| format!("{arg} takes a whole number, not {value:?}"));
        match arg.as_str() {
            "--epochs" => options.epochs = number()?.clamp(1, 100_000) as usize,
            "--seed" => options.seed = number()?,
            "--out" => options.out = PathBuf::from(&value),
            _ => return Err(format!("there is no option {arg}; see --help")),
        }
    }
    Ok(Some(options))
}

#[allow(dead_code, reason = "the tests include this file for the functions above")]
fn main() -> Result<()> {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{HELP}");
            return Ok(());
        }
        Err(text) => {
            eprintln!("{text}");
            std::process::exit(2);
        }
    };
    let report = digits(&options)?;
    let picture = report.picture.canonicalize().unwrap_or(report.picture);
    println!("loss curve and misread digits: {}", picture.display());
    println!(
        "test accuracy {:.1}% (reloaded {:.1}%), {:.1} s",
        report.accuracy * 100.0,
        report.reloaded * 100.0,
        report.seconds
    );
    Ok(())
}
