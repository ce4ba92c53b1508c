//! A chart of small panels as SVG: one column per curve, one figure above the other. And what other charts have in common
//! with it.
//!
//! Made by hand, so that it needs nothing, and readable on a light and on a dark page.

use std::fmt::Write;

/// One measurement.
pub(crate) struct Point<'a> {
    pub(crate) environment: &'a str,
    pub(crate) x: f64,
    pub(crate) figures: [f64; 2],
}

/// What a chart shows besides its points.
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    /// For those who cannot see it.
    pub(crate) about: &'a str,
    /// The environments, each a curve.
    pub(crate) series: &'a [&'a str],
    /// The names of the two figures.
    pub(crate) figures: [&'a str; 2],
}

/// One column of the chart.
pub(crate) struct Panel<'a> {
    pub(crate) title: String,
    pub(crate) axis: &'static str,
    pub(crate) linear: bool,
    pub(crate) points: Vec<Point<'a>>,
}

const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 84.0;
const GAP_X: f64 = 58.0;
const GAP_Y: f64 = 62.0;

/// The style of all charts.
pub(crate) const PAGE_STYLE: &str = "\
  .page { fill: #ffffff } text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 } .note { font-size: 10px; fill: #59636e }
  .tick { fill: #59636e; font-size: 11px } .grid { stroke: #d1d9e0; fill: none }
  polyline { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .note, .tick { fill: #9198a1 } .grid { stroke: #30363d }
  }
";

const STYLE: &str = "\
  .s0 { stroke: #0550ae } .s1 { stroke: #bc4c00 } .s2 { stroke: #116329 } .s3 { stroke: #8250df } .s4 { stroke: #57606a }
  .m0 { fill: #0550ae } .m1 { fill: #bc4c00 } .m2 { fill: #116329 } .m3 { fill: #8250df } .m4 { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    .s0 { stroke: #79c0ff } .s1 { stroke: #ffa657 } .s2 { stroke: #7ee787 } .s3 { stroke: #d2a8ff } .s4 { stroke: #b1bac4 }
    .m0 { fill: #79c0ff } .m1 { fill: #ffa657 } .m2 { fill: #7ee787 } .m3 { fill: #d2a8ff } .m4 { fill: #b1bac4 }
  }
";

/// Where a curve over thresholds has all numbers: beyond any list of them.
pub(crate) const BEYOND_ALL: f64 = 1e6;

/// A scale from numbers to a length.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    linear: bool,
    low: f64,
    high: f64,
    length: f64,
}

impl Scale {
    /// A logarithmic scale over whole decades around the numbers.
    fn decades(numbers: impl Iterator<Item = f64>, length: f64) -> Self {
        let (least, most) = numbers.fold((f64::MAX, f64::MIN_POSITIVE), |(l, m), n| (l.min(n), m.max(n)));
        let low = least.log10().floor();
        Scale { linear: false, low, high: most.log10().ceil().max(low + 1.0), length }
    }

    /// A scale that just holds the numbers.
    pub(crate) fn tight(numbers: &[f64], linear: bool, length: f64) -> Self {
        let place = |number: f64| if linear { number } else { number.log10() };
        let least = numbers.iter().copied().fold(f64::MAX, f64::min);
        let most = numbers.iter().copied().fold(f64::MIN, f64::max);
        let (low, high) = (place(least), place(most));
        let margin = ((high - low) * 0.05).max(0.01);
        Scale { linear, low: low - margin, high: high + margin, length }
    }

    /// Where a number is.
    pub(crate) fn at(&self, number: f64) -> f64 {
        let place = if self.linear { number } else { number.log10() };
        (place - self.low) / (self.high - self.low) * self.length
    }
}

impl Chart<'_> {
    /// The chart. `note` says where the figures come from.
    pub(crate) fn svg(&self, panels: &[Panel<'_>], note: &str) -> String {
        let width = LEFT + (panels.len() as f64 * (WIDTH + GAP_X)).max(150.0 * self.series.len() as f64);
        let height = TOP + 2.0 * (HEIGHT + GAP_Y) + 10.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{}\">\n<style>\n{PAGE_STYLE}{STYLE}</style>\n\
             <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n",
            self.about
        );
        label(&mut svg, "title", LEFT, 26.0, "start", self.title);
        for (series, environment) in self.series.iter().enumerate() {
            let x = LEFT + 150.0 * series as f64;
            let _ = writeln!(svg, "<polyline class=\"s{series}\" points=\"{x},44 {},44\"/>", x + 28.0);
            marker(&mut svg, series, x + 14.0, 44.0);
            label(&mut svg, "name", x + 34.0, 48.0, "start", environment);
        }
        label(&mut svg, "note", LEFT, height - 8.0, "start", note);
        for (row, name) in self.figures.into_iter().enumerate() {
            let all = panels.iter().flat_map(|panel| &panel.points).map(|point| point.figures[row]);
            let vertical = Scale::decades(all, HEIGHT);
            for (column, panel) in panels.iter().enumerate() {
                let x = LEFT + column as f64 * (WIDTH + GAP_X);
                let y = TOP + row as f64 * (HEIGHT + GAP_Y);
                let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
                frame(&mut svg, panel, name, vertical);
                curves(&mut svg, self.series, panel, row, vertical);
                svg.push_str("</g>\n");
            }
        }
        svg.push_str("</svg>\n");
        svg
    }
}

fn horizontal(panel: &Panel<'_>) -> (Scale, Vec<f64>) {
    let mut values: Vec<f64> = panel.points.iter().map(|point| point.x).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    (Scale::tight(&values, panel.linear, WIDTH), values)
}

/// The frame, the grid, the ticks and the names of the axes.
fn frame(svg: &mut String, panel: &Panel<'_>, name: &str, vertical: Scale) {
    let _ = writeln!(svg, "<rect class=\"grid\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>");
    label(svg, "name", 0.0, -8.0, "start", &format!("{name}; {}", panel.title));
    for exponent in vertical.low as i32..=vertical.high as i32 {
        let y = HEIGHT - vertical.at(10f64.powi(exponent));
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M0 {y:.1}H{WIDTH}\"/>");
        label(svg, "tick", -6.0, y + 4.0, "end", &power(exponent));
    }
    let (scale, values) = horizontal(panel);
    for value in values {
        let x = scale.at(value);
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M{x:.1} {HEIGHT}v4\"/>");
        let text = if value == BEYOND_ALL { "all".to_owned() } else { value.to_string() };
        label(svg, "tick", x, HEIGHT + 17.0, "middle", &text);
    }
    label(svg, "tick", WIDTH / 2.0, HEIGHT + 33.0, "middle", panel.axis);
}

fn curves(svg: &mut String, environments: &[&str], panel: &Panel<'_>, row: usize, vertical: Scale) {
    let (scale, _) = horizontal(panel);
    for (series, environment) in environments.iter().enumerate() {
        let points: Vec<(f64, f64)> = (panel.points.iter())
            .filter(|point| point.environment == *environment)
            .map(|point| (scale.at(point.x), HEIGHT - vertical.at(point.figures[row])))
            .collect();
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(svg, "<polyline class=\"s{series}\" points=\"{}\"/>", line.join(" "));
        for (x, y) in points {
            marker(svg, series, x, y);
        }
    }
}

/// A shape per series, so that colour is not all that tells them apart.
fn marker(svg: &mut String, series: usize, x: f64, y: f64) {
    let shape = match series {
        0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4.0),
        1 => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
        2 => format!("M{x:.1} {:.1}l5 8h-10z", y - 5.0),
        3 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
        _ => format!("M{x:.1} {:.1}l-5 -8h10z", y + 5.0),
    };
    let _ = writeln!(svg, "<path class=\"m{series}\" d=\"{shape}\"/>");
}

/// A text.
pub(crate) fn label(svg: &mut String, class: &str, x: f64, y: f64, anchor: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
    );
}

/// A power of ten as people write it: `0.01`, `100`, `10k`, `1M`.
pub(crate) fn power(exponent: i32) -> String {
    let digits = |exponent: i32| 10i64.pow(exponent.unsigned_abs()).to_string();
    match exponent {
        ..0 => format!("{:.*}", exponent.unsigned_abs() as usize, 10f64.powi(exponent)),
        0..4 => digits(exponent),
        4..6 => digits(exponent - 3) + "k",
        6..9 => digits(exponent - 6) + "M",
        _ => digits(exponent - 9) + "G",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_scales() {
        assert_eq!(["0.001", "1", "1000", "10k", "1M", "1G"], [-3, 0, 3, 4, 6, 9].map(power));
        let scale = Scale::decades([20.0, 3000.0].into_iter(), 300.0);
        assert_eq!((scale.at(10.0), scale.at(100.0), scale.at(10_000.0)), (0.0, 100.0, 300.0));
    }

    #[test]
    fn a_chart_has_a_curve_per_environment_and_measure() {
        let point = |environment, x| Point { environment, x, figures: [10.0 * x, x / 1000.0] };
        let points = vec![point("a", 1.0), point("a", 2.0), point("b", 1.0)];
        let panel = Panel { title: "one < two".to_owned(), axis: "nodes", linear: true, points };
        let series = &["a", "b"];
        let chart = Chart { title: "title", about: "about", series, figures: ["queries", "seconds"] };
        let chart = chart.svg(&[panel], "note");
        assert_eq!(chart.matches("<polyline").count(), 2 + 4);
        assert!(chart.contains("one &lt; two") && !chart.contains("NaN"));
    }
}
