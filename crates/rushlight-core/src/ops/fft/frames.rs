//! Short-time Fourier transforms: those of overlapping windowed frames of a signal, and back.

use crate::op::{Sample, Size, Value, samples};
use crate::{Device, Number, Result, Tensor, bail, ensure};
use smallvec::smallvec;

ops! { FRAMES;
    /// The transform of every frame of `n_fft` samples, `hop_length` (default `n_fft / 4`) apart, times
    /// `window`, which is padded with zeros on both sides from `win_length` to `n_fft`. `input` is [L] or [B, L];
    /// the result is [.., frequencies, frames]. With `center` the signal is first padded by `n_fft / 2` on both
    /// sides, so that frame `t` is centred at sample `t * hop_length`. `normalized` divides by `sqrt(n_fft)`.
    /// `onesided`, the default for real signals and windows, keeps the first `n_fft / 2 + 1` frequencies.
    /// With `return_complex = false` real and imaginary parts are a last dimension of size 2.
    /// With `align_to_window`, allowed without `center`, the first window starts at the first sample.
    ///
    /// ```
    /// # use rushlight::Tensor;
    /// let x = Tensor::ones([8])?;
    /// assert_eq!(x.stft(4, None, None, None, true, "reflect", false, None, Some(true), None)?.shape(), [3, 9]);
    /// # Ok::<(), rushlight::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Runtime` for lengths that do not fit the signal, and for real signals without `return_complex`.
    fn stft (input: Tensor, n_fft: Int, hop_length: OptInt = None, win_length: OptInt = None, window: OptTensor = None, center: Bool = true, pad_mode: Text = "reflect", normalized: Bool = false, onesided: OptBool = None, return_complex: OptBool = None, align_to_window: OptBool = None) -> Tensor {
        run: {
            let frames = Frames::new("stft", *n_fft, *hop_length, *win_length, window.as_ref())?;
            let how = How { normalized: *normalized, onesided: *onesided, complex: *return_complex };
            super::stft(input, &frames, center.then_some(pad_mode), how, *align_to_window)
        },
        samples: stft_samples,
    }
    /// The signal of which `stft` gave `input`, by least squares: the frames are transformed back, multiplied
    /// with the window, added up where they overlap, and divided by the sum of the squared windows
    /// (Griffin and Lim 1984). `length` cuts the signal or fills it with zeros.
    ///
    /// # Errors
    /// `Runtime` when no window covers some sample, or shapes do not fit.
    fn istft (input: Tensor, n_fft: Int, hop_length: OptInt = None, win_length: OptInt = None, window: OptTensor = None, center: Bool = true, normalized: Bool = false, onesided: OptBool = None, length: OptInt = None, return_complex: Bool = false) -> Tensor {
        run: {
            let frames = Frames::new("istft", *n_fft, *hop_length, *win_length, window.as_ref())?;
            let how = How { normalized: *normalized, onesided: *onesided, complex: Some(*return_complex) };
            super::istft(input, &frames, *center, how, *length)
        },
        samples: istft_samples,
    }
}

/// Frames of `n` samples, `hop` apart, and the window they are multiplied with.
struct Frames {
    op: &'static str,
    n: i64,
    hop: i64,
    /// How long the window is before it is padded to `n`.
    win: i64,
    window: Option<Tensor>,
}

struct How {
    normalized: bool,
    onesided: Option<bool>,
    complex: Option<bool>,
}

impl Frames {
    fn new(
        op: &'static str,
        n: i64,
        hop: Option<i64>,
        win: Option<i64>,
        window: Option<&Tensor>,
    ) -> Result<Frames> {
        let (hop, win) = (hop.unwrap_or(n / 4), win.unwrap_or(n));
        ensure!(n > 0, Runtime, op, "n_fft = {n}; it must be positive");
        ensure!(hop > 0, Runtime, op, "hop_length = {hop}; it must be positive");
        ensure!(
            0 < win && win <= n,
            Runtime,
            op,
            "win_length = {win}; it must be positive and at most n_fft = {n}"
        );
        let Some(window) = window else { return Ok(Frames { op, n, hop, win, window: None }) };
        ensure!(
            window.shape() == [win as usize],
            Runtime,
            op,
            "a window of shape {:?}; it must be one-dimensional, of win_length = {win} elements",
            window.shape()
        );
        let left = (n - win) / 2;
        let window = Some(window.constant_pad_nd([left, n - win - left], 0.0)?);
        Ok(Frames { op, n, hop, win, window })
    }

    /// The window at its full length; ones where none was given.
    fn window(&self, like: &Tensor) -> Result<Tensor> {
        let left = (self.n - self.win) / 2;
        match &self.window {
            Some(w) => Ok(w.clone()),
            None => Tensor::ones_with([self.win], Some(like.dtype().real()), Some(like.device()))?
                .constant_pad_nd([left, self.n - self.win - left], 0.0),
        }
    }

    /// Whether only half of the frequencies are kept or given.
    fn onesided(&self, asked: Option<bool>, signal_is_complex: bool) -> Result<bool> {
        let complex = signal_is_complex || self.window.as_ref().is_some_and(|w| w.dtype().is_complex());
        let onesided = asked.unwrap_or(!complex);
        ensure!(
            !(onesided && complex),
            Runtime,
            self.op,
            "half of the frequencies do not determine complex signals or windows; take onesided = false"
        );
        Ok(onesided)
    }
}

fn stft(x: &Tensor, f: &Frames, pad_mode: Option<&String>, how: How, align: Option<bool>) -> Result<Tensor> {
    let op = f.op;
    let complex = x.dtype().is_complex();
    ensure!(
        align.is_none() || pad_mode.is_none(),
        Runtime,
        op,
        "align_to_window has a meaning with center = false only"
    );
    let any_complex = complex || f.window.as_ref().is_some_and(|w| w.dtype().is_complex());
    let Some(as_complex) = how.complex.or(any_complex.then_some(true)) else {
        bail!(Runtime, op, "say return_complex = true (or false, for a last dimension of two parts)")
    };
    ensure!(
        x.dtype().is_float() || complex,
        NotImplemented,
        op,
        "the signal holds {}; it must be of floating point or complex numbers",
        x.dtype()
    );
    ensure!(
        matches!(x.dim(), 1 | 2) && x.shape().iter().skip(x.dim() - 1).all(|n| *n > 0),
        Runtime,
        op,
        "a signal of shape {:?}; it must be [L] or [B, L] with some samples",
        x.shape()
    );
    let mut signal = if x.dim() == 1 { x.unsqueeze(0)? } else { x.clone() };
    if let Some(mode) = pad_mode {
        // Padding by reflection wants a dimension of channels.
        signal = signal
            .unsqueeze(0)?
            .pad([f.n / 2, f.n / 2], mode, Number::Float(0.0))
            .map_err(|e| e.in_op(op))?
            .squeeze(0)?;
    } else if align == Some(true) {
        let left = (f.n - f.win) / 2;
        signal = signal.constant_pad_nd([left, f.n - f.win - left], 0.0)?;
    }
    let len = signal.size(-1)? as i64;
    ensure!(f.n <= len, Runtime, op, "n_fft = {} is longer than the signal of {len} samples", f.n);
    let onesided = f.onesided(how.onesided, complex)?;
    let mut frames = signal.unfold(-1, f.n, f.hop)?;
    if f.window.is_some() || f.win < f.n {
        frames = frames.mul(&f.window(x)?)?;
    }
    let norm = how.normalized.then_some("ortho");
    let spectrum =
        if onesided { frames.rfft(None, -1, norm)? } else { frames.fft(None, -1, norm)? }.transpose(1, 2)?;
    let spectrum = if x.dim() == 1 { spectrum.squeeze(0)? } else { spectrum };
    if as_complex { Ok(spectrum) } else { spectrum.view_as_real() }
}

fn istft(x: &Tensor, f: &Frames, center: bool, how: How, length: Option<i64>) -> Result<Tensor> {
    let op = f.op;
    ensure!(x.dtype().is_complex(), Type, op, "takes the complex numbers that stft gives, not {}", x.dtype());
    ensure!(
        matches!(x.dim(), 2 | 3) && x.numel() > 0,
        Runtime,
        op,
        "an input of shape {:?}; it must be [frequencies, frames] or a batch of such",
        x.shape()
    );
    ensure!(f.hop <= f.win, Runtime, op, "hop_length = {} leaves gaps between windows of {}", f.hop, f.win);
    let back_complex = how.complex == Some(true);
    let onesided = f.onesided(how.onesided, back_complex)?;
    let spectrum = if x.dim() == 2 { x.unsqueeze(0)? } else { x.clone() };
    let [batch, bins, count] = *spectrum.shape() else { bail!(Runtime, op, "no frames") };
    let want = if onesided { f.n / 2 + 1 } else { f.n };
    ensure!(
        bins as i64 == want,
        Runtime,
        op,
        "{bins} frequencies where n_fft = {} has {want}{}",
        f.n,
        if onesided { " in its half" } else { "" }
    );
    let norm = how.normalized.then_some("ortho");
    let lines = spectrum.transpose(1, 2)?;
    let frames = match (onesided, back_complex) {
        (true, _) => lines.irfft(Some(f.n), -1, norm)?,
        (false, true) => lines.ifft(None, -1, norm)?,
        (false, false) => lines.ifft(None, -1, norm)?.real()?,
    };
    let window = f.window(x)?;
    let whole = f.n + f.hop * (count as i64 - 1);
    let added = overlapped(&frames.mul(&window)?, whole, f)?;
    let squares = window.mul(&window)?.unsqueeze(0)?.expand([count as i64, f.n])?.unsqueeze(0)?;
    let cover = overlapped(&squares, whole, f)?;
    let start = if center { f.n / 2 } else { 0 };
    let end = match length {
        Some(length) => {
            ensure!(length >= 0, Runtime, op, "a length of {length}; it cannot be negative");
            start.saturating_add(length)
        }
        None if center => whole - f.n / 2,
        None => whole,
    };
    let kept = (end.min(whole) - start).max(0);
    let (added, cover) = (added.narrow(1, start.min(whole), kept)?, cover.narrow(1, start.min(whole), kept)?);
    if cover.device() != Device::META {
        let covered = cover.abs()?.detach()?.gt(1e-11)?.all((), false)?.to_vec::<bool>()?;
        ensure!(
            covered == [true],
            Runtime,
            op,
            "the windows leave some sample uncovered, or all but; see `window`"
        );
    }
    let signal = added.div(&cover)?;
    let signal = match end - start - kept {
        0 => signal,
        missing => signal.constant_pad_nd([0, missing], 0.0)?,
    };
    if x.dim() == 2 && batch == 1 { signal.squeeze(0) } else { Ok(signal) }
}

/// The frames [B, T, n] added up, `hop` apart: [B, whole].
fn overlapped(frames: &Tensor, whole: i64, f: &Frames) -> Result<Tensor> {
    if frames.dtype().is_complex() {
        let parts = frames.view_as_real()?;
        let part = |k: i64| overlapped(&parts.select(-1, k)?, whole, f);
        return Tensor::stack(&[&part(0)?, &part(1)?], -1)?.view_as_complex();
    }
    let one = |n: i64| -> Size { [1, n].into() };
    let columns = frames.transpose(1, 2)?;
    let images = columns.col2im(one(whole), one(f.n), Size::from(1), Size::from(0), one(f.hop))?;
    images.reshape([frames.size(0)? as i64, whole])
}

fn signal(shape: &[usize], frames: [i64; 3], window: bool) -> Option<Sample> {
    let window = match window {
        true => Some(samples::values(&[frames[2] as usize], 3).ok()?.abs().ok()?.add(1.0).ok()?),
        false => None,
    };
    let [n, hop, win] = frames;
    Some(Sample {
        args: smallvec![
            Value::Tensor(samples::values(shape, 2).ok()?),
            Value::Int(n),
            Value::OptInt(Some(hop)),
            Value::OptInt(Some(win)),
            Value::OptTensor(window),
            Value::Bool(true),
            Value::Text("constant".into()),
            Value::Bool(true),
            Value::OptBool(None),
            Value::OptBool(Some(false)),
            Value::OptBool(None),
        ],
        grad: true,
    })
}

fn stft_samples() -> Vec<Sample> {
    let cases = [
        signal(&[9], [4, 2, 4], true),
        signal(&[2, 7], [5, 3, 3], true),
        signal(&[1, 4], [4, 1, 2], false),
        signal(&[0, 4], [4, 1, 4], false),
    ];
    cases.into_iter().flatten().collect()
}

fn istft_samples() -> Vec<Sample> {
    let make = |shape: &[usize], [n, hop]: [i64; 2], length: Option<i64>| {
        let parts = samples::values(shape, 2).ok()?;
        let window = samples::values(&[n as usize], 3).ok()?.abs().ok()?.add(1.0).ok()?;
        Some(Sample {
            args: smallvec![
                Value::Tensor(Tensor::stack(&[&parts, &parts.sin().ok()?], -1).ok()?.view_as_complex().ok()?),
                Value::Int(n),
                Value::OptInt(Some(hop)),
                Value::OptInt(None),
                Value::OptTensor(Some(window)),
                Value::Bool(true),
                Value::Bool(false),
                Value::OptBool(None),
                Value::OptInt(length),
                Value::Bool(false),
            ],
            grad: false,
        })
    };
    let cases =
        [make(&[3, 5], [4, 2], None), make(&[2, 3, 4], [5, 2], Some(9)), make(&[1, 3, 2], [4, 4], Some(2))];
    cases.into_iter().flatten().collect()
}
