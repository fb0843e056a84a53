//! The loss curve and the misread digits as an SVG that reads well in light and dark.

use super::network::{Curve, Set};
use rushlight::Result;
use std::fmt::Write;

const WIDTH: f64 = 860.0;
/// The plot's frame: left, top, right, bottom.
const FRAME: [f64; 4] = [70.0, 70.0, 830.0, 330.0];
const TILE: f64 = 72.0;
const PER_ROW: usize = 9;

const STYLE: &str = "\
svg { color-scheme: light dark; font-family: system-ui, sans-serif; }
.page { fill: #fff; } text { fill: #222; font-size: 13px; } .title { font-size: 20px; font-weight: 600; } .small { font-size: 12px; fill: #555; }
.grid { stroke: #ddd; } .frame { stroke: #888; fill: none; } .train { stroke: #8fb4dc; fill: none; }
.test { stroke: #c2410c; fill: none; stroke-width: 2; } .dot { fill: #c2410c; } .paper { fill: #f2f2f2; } .ink { fill: #111; }
@media (prefers-color-scheme: dark) {
.page { fill: #16181c; } text { fill: #eee; } .small { fill: #aaa; } .grid { stroke: #33363c; }
.train { stroke: #4a7099; } .test { stroke: #fb923c; } .dot { fill: #fb923c; } .paper { fill: #25282e; } .ink { fill: #f5f5f5; } }";

/// The picture as text.
pub fn draw(title: &str, curve: &Curve, test: &Set, read: &[i64]) -> Result<String> {
    let wrong: Vec<usize> = (0..read.len()).filter(|i| read[*i] != test.labels[*i]).collect();
    let rows = wrong.len().div_ceil(PER_ROW);
    let height = FRAME[3] + 110.0 + rows as f64 * (TILE + 36.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n<rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>\n<text class=\"title\" x=\"{}\" y=\"34\">{title}</text>\n",
        FRAME[0]
    );
    plot(&mut svg, curve);
    sheet(&mut svg, test, read, &wrong)?;
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// `write!` to a string cannot fail.
macro_rules! put {
    ($svg:expr, $($text:tt)+) => { let _ = writeln!($svg, $($text)+); };
}

/// Losses by epoch, on a logarithmic axis.
fn plot(svg: &mut String, curve: &Curve) {
    let [left, top, right, bottom] = FRAME;
    let all = || curve.batches.iter().chain(&curve.tests).copied().filter(|x| *x > 0.0 && x.is_finite());
    let low = all().fold(1.0, f64::min).log10().floor().max(-6.0);
    let high = all().fold(0.1, f64::max).log10().ceil();
    let epochs = curve.tests.len().max(1) as f64;
    let x = |epoch: f64| left + (right - left) * epoch / epochs;
    let y =
        |loss: f64| bottom - (bottom - top) * ((loss.max(1e-9).log10() - low) / (high - low)).clamp(0.0, 1.0);

    for power in low as i32..=high as i32 {
        let (at, label) = (y(10f64.powi(power)), 10f64.powi(power));
        put!(svg, "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>");
        put!(
            svg,
            "<text class=\"small\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            left - 8.0,
            at + 4.0
        );
    }
    let step = (epochs / 8.0).ceil().max(1.0) as usize;
    for epoch in (0..=curve.tests.len()).step_by(step) {
        put!(
            svg,
            "<text class=\"small\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{epoch}</text>",
            x(epoch as f64),
            bottom + 18.0
        );
    }
    let per_epoch = curve.batches.len() as f64 / epochs;
    let path = |points: &mut dyn Iterator<Item = (f64, f64)>| -> String {
        points.map(|(e, loss)| format!("{:.1},{:.1}", x(e), y(loss))).collect::<Vec<_>>().join(" ")
    };
    let train = path(&mut curve.batches.iter().enumerate().map(|(i, l)| ((i + 1) as f64 / per_epoch, *l)));
    let test = path(&mut curve.tests.iter().enumerate().map(|(i, l)| ((i + 1) as f64, *l)));
    put!(svg, "<polyline class=\"train\" points=\"{train}\"/>\n<polyline class=\"test\" points=\"{test}\"/>");
    for (i, loss) in curve.tests.iter().enumerate() {
        put!(svg, "<circle class=\"dot\" r=\"3\" cx=\"{:.1}\" cy=\"{:.1}\"/>", x((i + 1) as f64), y(*loss));
    }
    let (middle, centre) = ((left + right) / 2.0, (top + bottom) / 2.0);
    put!(
        svg,
        "<rect class=\"frame\" x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\"/>",
        right - left,
        bottom - top
    );
    put!(svg, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">epoch</text>", bottom + 38.0);
    put!(
        svg,
        "<text x=\"20\" y=\"{centre}\" text-anchor=\"middle\" transform=\"rotate(-90 20 {centre})\">cross entropy (nats, log scale)</text>"
    );
    for (k, (class, label)) in [("train", "each training batch"), ("test", "test digits")].iter().enumerate()
    {
        let at = right - 330.0 + 170.0 * k as f64;
        put!(svg, "<line class=\"{class}\" x1=\"{at}\" x2=\"{}\" y1=\"54\" y2=\"54\"/>", at + 24.0);
        put!(svg, "<text class=\"small\" x=\"{}\" y=\"58\">{label}</text>", at + 30.0);
    }
}

/// Every misread digit, what it was read as and what it is.
fn sheet(svg: &mut String, test: &Set, read: &[i64], wrong: &[usize]) -> Result<()> {
    let [left, _, _, bottom] = FRAME;
    let top = bottom + 76.0;
    let heading = match wrong {
        [] => format!("None of {} test digits was misread", read.len()),
        _ => format!("The {} of {} test digits that were misread", wrong.len(), read.len()),
    };
    put!(svg, "<text x=\"{left}\" y=\"{top}\">{heading}</text>");
    let pixel = TILE / 8.0;
    for (k, i) in wrong.iter().enumerate() {
        let x0 = left + (k % PER_ROW) as f64 * (TILE + 12.0);
        let y0 = top + 14.0 + (k / PER_ROW) as f64 * (TILE + 36.0);
        put!(svg, "<rect class=\"paper\" x=\"{x0}\" y=\"{y0}\" width=\"{TILE}\" height=\"{TILE}\"/>");
        for (at, ink) in test.images.select(0, *i as i64)?.to_vec::<f32>()?.iter().enumerate() {
            if *ink > 0.0 {
                let (x, y) = (x0 + (at % 8) as f64 * pixel, y0 + (at / 8) as f64 * pixel);
                put!(
                    svg,
                    "<rect class=\"ink\" x=\"{x}\" y=\"{y}\" width=\"{pixel}\" height=\"{pixel}\" fill-opacity=\"{ink:.3}\"/>"
                );
            }
        }
        let (centre, below) = (x0 + TILE / 2.0, y0 + TILE + 16.0);
        put!(
            svg,
            "<text class=\"small\" x=\"{centre}\" y=\"{below}\" text-anchor=\"middle\">read {}, is {}</text>",
            read[*i],
            test.labels[*i]
        );
    }
    Ok(())
}
