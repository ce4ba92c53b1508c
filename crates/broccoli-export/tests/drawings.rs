//! Pictures and documents are accepted by the programs they are for, whatever the names in them.
//!
//! Graphviz and LaTeX are installed by `cargo xtask test`; where they are missing, their tests are
//! skipped, loudly, unless `BROCCOLI_PYTHON` says that everything is there.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;

use std::fs;
use std::path::Path;
use std::process::Command;

use broccoli_core::tree::Tree;
use broccoli_export::code::{FixedError, Program, c_fixed};
use broccoli_export::drawing::{Theme, dot, png, svg, tikz};
use broccoli_export::format::{Format, Options};
use cases::{cases, hostile, policy};

#[test]
fn svg_is_well_formed_and_complete() {
    for (name, policy) in cases() {
        for theme in [Theme::Auto, Theme::Light, Theme::Dark, Theme::Page] {
            let text = svg(&policy, theme);
            let document =
                roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let with =
                |attribute| document.descendants().filter(|n| n.has_attribute(attribute)).count() as u64;
            assert_eq!(
                (with("data-node"), with("data-edge")),
                (2 * policy.tree.size() + 1, 2 * policy.tree.size())
            );
            let allowed = ["svg", "title", "desc", "style", "rect", "g", "path", "text"];
            for element in document.descendants().filter(|n| n.is_element()) {
                assert!(allowed.contains(&element.tag_name().name()), "{name}: {element:?}");
                assert!(element.attributes().all(|a| !a.name().starts_with("on")), "{name}: {element:?}");
            }
        }
    }
}

#[test]
fn names_are_in_the_svg_in_full() {
    let policy =
        policy(&["<b> & \"c\"", "</title>"], &["a", "b"], Tree::node(1, 0.5, Tree::Leaf(0), Tree::Leaf(1)));
    let text = svg(&policy, Theme::Light);
    let document = roxmltree::Document::parse(&text).unwrap();
    let title = document.descendants().find(|n| n.attribute("data-node") == Some("0")).unwrap();
    assert_eq!(title.first_element_child().unwrap().text(), Some("</title> ≥ 0.5"));
}

#[test]
fn png_is_a_picture_with_ink_on_it() {
    for (name, policy) in cases() {
        for theme in [Theme::Light, Theme::Dark] {
            let picture = resvg::tiny_skia::Pixmap::decode_png(&png(&policy, theme).unwrap()).unwrap();
            let ground = picture.pixel(0, 0).unwrap();
            assert_eq!(ground.red() > 128, theme == Theme::Light, "{name}");
            let inked = picture.pixels().iter().filter(|pixel| **pixel != ground).count();
            assert!(inked * 50 > picture.pixels().len(), "{name}: {inked} pixels");
        }
    }
}

#[test]
fn letters_are_drawn() {
    let picture = |name| png(&policy(&["x"], &[name, "b"], Tree::Leaf(0)), Theme::Light).unwrap();
    assert_ne!(picture("qqq"), picture("ppp"), "the font is there, so different letters differ");
    assert_ne!(picture("θθθ"), picture("ωωω"), "Greek, too");
}

#[test]
fn graphviz_accepts_dot() {
    for (name, policy) in cases() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tree.dot"), dot(&policy)).unwrap();
        let Ok(output) = Command::new("dot").arg("-Tsvg").arg("tree.dot").current_dir(&folder).output()
        else {
            return skip("Graphviz");
        };
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !warnings.contains("rror"), "{name}: {warnings}");
        let drawn = String::from_utf8(output.stdout).unwrap();
        assert_eq!(drawn.matches("class=\"node\"").count() as u64, 2 * policy.tree.size() + 1, "{name}");
    }
}

#[test]
fn latex_accepts_tikz() {
    let folder = tempfile::tempdir().unwrap();
    let mut document =
        "\\documentclass{article}\n\\usepackage{tikz}\n\\pdfpagewidth=200in\n\\begin{document}\n".to_owned();
    for (_, policy) in &cases() {
        document += &format!("{}\n\n", tikz(policy));
    }
    fs::write(folder.path().join("tree.tex"), document + "\\end{document}\n").unwrap();
    let mut latex = Command::new("pdflatex");
    latex
        .args(["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "tree.tex"])
        .current_dir(&folder);
    let Ok(output) = latex.output() else { return skip("LaTeX") };
    let log = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{log}");
    assert!(!log.contains("Missing character"), "{log}");
    assert!(Path::new(&folder.path().join("tree.pdf")).exists());
}

#[test]
fn every_format_of_the_car() {
    let (_, car) = &cases()[0];
    for format in Format::ALL.into_iter().filter(|format| !format.is_binary()) {
        let bytes = format.export(car, Options::default()).unwrap();
        insta::assert_snapshot!(format.name().0, String::from_utf8(bytes).unwrap());
    }
}

#[test]
fn names_in_tikz() {
    let names = ["theta_dot", "x_dot", "θ", "x", "speed_dot", "-2", "+2", "1e5", "NaN", "a_b %", "é速"];
    let drawn = names.map(|name| tikz(&policy(&["x"], &[name, "other"], Tree::Leaf(0))));
    let leaves: Vec<&str> =
        drawn.iter().filter_map(|text| text.lines().find(|line| line.contains("node[l"))).collect();
    insta::assert_snapshot!(leaves.join("\n"));
}

#[test]
fn thresholds_that_have_no_fixed_point_form() {
    let tree = |a, b| Tree::node(0, a, Tree::node(0, b, Tree::Leaf(0), Tree::Leaf(1)), Tree::Leaf(0));
    let error = |a, b, bits| {
        c_fixed(&Program::new(&policy(&["speed"], &["a", "b"], tree(a, b))).unwrap(), bits)
            .map(|_| ())
            .unwrap_err()
    };
    let input = "x_speed".to_owned();
    assert_eq!(
        error(0.3, 0.26, 2),
        FixedError::Collapse { input: input.clone(), first: 0.26, second: 0.3, bits: 2 }
    );
    assert_eq!(
        error(0.3, 40_000.0, 16),
        FixedError::Range { input: input.clone(), threshold: 40_000.0, bits: 16 }
    );
    assert_eq!(error(0.3, f64::MIN, 0), FixedError::Range { input, threshold: f64::MIN, bits: 0 });
    assert_eq!(error(0.0, 1.0, 32), FixedError::Bits(32));
    let fits =
        |a, b, bits| c_fixed(&Program::new(&policy(&["x"], &["a", "b"], tree(a, b))).unwrap(), bits).is_ok();
    assert!(fits(0.25, 0.26, 2) && fits(0.3, 0.3, 0) && fits(-32_768.0, 32_767.0, 16));
    assert!(!fits(0.0, 32_768.0, 16) && fits(0.0, 32_767.0 + 65_535.0 / 65_536.0, 16));
}

#[test]
fn hostile_names_are_in_no_format_as_they_are() {
    let policy = hostile();
    for format in Format::ALL {
        let bytes = format.export(&policy, Options::default()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        if !matches!(format, Format::Json | Format::Text) {
            assert!(!text.contains('\u{202e}'), "{format:?} can be reordered by a name");
        }
        if !matches!(format, Format::Text) {
            assert!(!text.contains("line\nbreak"), "{format:?}");
        }
    }
}

fn skip(program: &str) {
    assert!(std::env::var_os("BROCCOLI_PYTHON").is_none(), "{program} is missing");
    eprintln!("SKIPPED: {program} is missing; `cargo xtask test --only exports` installs it");
}
