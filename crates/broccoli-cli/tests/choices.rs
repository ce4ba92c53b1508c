//! Fronts, dimensions to ask, prices and all optimal trees on the command line.

use std::fs;

use crate::common::{json, report, run, stderr, stdout, transcript};
use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

const CARTPOLE: [&str; 4] = ["solve", "cartpole", "--thresholds", "5"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&CARTPOLE[..], more].concat()
}

#[test]
fn a_front_as_a_table_and_as_json() {
    assert_snapshot!(transcript(&with(&["--pareto"])));
    let object = json(&run(&with(&["--pareto", "--json"])));
    let front = object["front"].as_array().expect("a list").clone();
    let mut next = 0;
    for part in &front {
        let size = part["size"].as_u64().expect("a size");
        assert_eq!(size, next);
        next = part["up_to"].as_u64().expect("a limit") + 1;
        // Each is the answer of a search with this limit.
        let alone = json(&run(&with(&["--nodes", &(next - 1).to_string(), "--json"])));
        for key in ["status", "value", "bound", "tree", "size"] {
            assert_eq!(part[key], alone[key], "{size}: {key}");
        }
    }
    assert_eq!(next, 4);
    let last = &front[front.len() - 1];
    assert_eq!((&last["tree"], &last["value"]), (&object["tree"], &object["value"]));
    let threads = json(&run(&with(&["--pareto", "--json", "--threads", "3"])));
    assert_eq!(threads["front"], object["front"]);
}

#[test]
fn fronts_that_are_stopped_or_empty() {
    let limited = with(&["--pareto", "--query-limit", "3000"]);
    let output = run(&limited);
    assert_eq!(output.status.code(), Some(4));
    assert!(stdout(&output).contains("not proved"), "{}", report(&[], &output));
    let statuses = |output: &std::process::Output| -> Vec<Value> {
        json(output)["front"].as_array().expect("a list").iter().map(|part| part["status"].clone()).collect()
    };
    let nothing = run(&with(&["--pareto", "--query-limit", "0", "--json"]));
    assert_eq!((nothing.status.code(), statuses(&nothing)), (Some(4), vec!["stopped".into()]));
    let none = run(&["solve", "mountain-car", "--depth", "0", "--pareto", "--json"]);
    assert_eq!((none.status.code(), statuses(&none)), (Some(3), vec!["infeasible".into()]));
}

#[test]
fn only_some_dimensions_are_asked() {
    fn asked(tree: &Value, names: &mut Vec<String>) {
        if let Some(name) = tree.get("feature").and(tree["name"].as_str()) {
            names.push(name.to_owned());
            asked(&tree["true"], names);
            asked(&tree["false"], names);
        }
    }
    for more in [&["--use", "theta,x_dot"][..], &["--without", "x", "--without", "theta_dot"]] {
        let object = json(&run(&[&with(more)[..], &["--json"]].concat()));
        let mut names = Vec::new();
        asked(&object["tree"], &mut names);
        assert!(
            !names.is_empty() && names.iter().all(|name| name == "theta" || name == "x_dot"),
            "{names:?}"
        );
        let left: Vec<bool> = (0..4)
            .map(|i| !object["problem"]["dimensions"][i]["thresholds"].as_array().expect("a list").is_empty())
            .collect();
        assert_eq!(left, [false, true, true, false]);
    }
}

#[test]
fn the_cheapest_tree() {
    let priced = with(&["--depth", "1", "--horizon", "20", "--price", "theta_dot=3", "--price", "x_dot=0.5"]);
    assert_snapshot!(transcript(&priced));
    let object = json(&run(&[&priced[..], &["--json"]].concat()));
    let free = json(&run(&with(&["--depth", "1", "--horizon", "20", "--json"])));
    for key in ["status", "value", "size"] {
        assert_eq!(object[key], free[key], "{key}");
    }
    assert!(object["price"].as_f64().is_some() && free.get("price").is_none());
    assert_eq!(object["problem"]["dimensions"][3]["price"], 3.0);
    // A result is proved with its prices, and runs again from its problem file.
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("best.json"), object.to_string()).expect("written");
    assert_eq!(run(&["prove", &path("best.json")]).status.code(), Some(0));
    let problem = serde_json::from_value(object["problem"].clone()).expect("the problem of a result");
    fs::write(path("again.toml"), broccoli_export::problem_file::toml(&problem)).expect("written");
    let again = json(&run(&["solve", &path("again.toml"), "--json"]));
    for key in ["value", "size", "price", "tree", "problem"] {
        assert_eq!(again[key], object[key], "{key}");
    }
    // The certificate is about value and size.
    let proof = path("proof");
    for form in ["light", "full"] {
        let certified = [&priced[..], &["--certificate", &proof, "--certificate-form", form]].concat();
        let output = run(&certified);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("not the price"), "{}", stderr(&output));
        assert_eq!(run(&["verify", &proof]).status.code(), Some(0));
    }
}

#[test]
fn all_optimal_trees_are_listed() {
    let few = with(&["--depth", "1", "--horizon", "20", "--all-optimal", "2"]);
    assert_snapshot!(transcript(&few));
    let all = with(&["--depth", "1", "--horizon", "20", "--all-optimal", "1000", "--json"]);
    let object = json(&run(&all));
    let trees = object["optimal_trees"].as_array().expect("a list");
    assert!(trees.len() > 2, "{trees:?}");
    assert_eq!((&trees[0], &object["optimal_trees_complete"]), (&object["tree"], &true.into()));
    let folder = TempDir::new().expect("a folder");
    let saved = folder.path().join("tree.json").display().to_string();
    for tree in trees {
        fs::write(&saved, tree.to_string()).expect("written");
        let proved = [&["prove", &saved], &CARTPOLE[1..], &all[4..8]].concat();
        assert_eq!(run(&proved).status.code(), Some(0), "{tree}");
    }
    let threads = json(&run(&[&all[..], &["--threads", "3"]].concat()));
    assert_eq!(threads["optimal_trees"], object["optimal_trees"]);
    let none = json(&run(&["solve", "mountain-car", "--depth", "0", "--all-optimal", "5", "--json"]));
    assert_eq!((&none["status"], &none["optimal_trees"]), (&"infeasible".into(), &Value::Array(Vec::new())));
}

#[test]
fn reports_show_them() {
    let folder = TempDir::new().expect("a folder");
    let page = folder.path().join("report.html").display().to_string();
    let page_of = |more: &[&str]| {
        let output =
            run(&[&with(&["--depth", "1", "--horizon", "20", "--report", &page])[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        fs::read_to_string(&page).expect("a report")
    };
    assert!(page_of(&["--pareto"]).contains("Size against value"));
    assert!(page_of(&["--all-optimal", "1000"]).contains("All optimal trees"));
    assert!(page_of(&["--all-optimal", "1"]).contains("Optimal trees, perhaps not all"));
    assert!(page_of(&["--price", "theta=1"]).contains("price of the dimensions asked"));
}

#[test]
fn what_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("gap.toml");
    let text =
        "[system]\nenvironment = \"cartpole\"\n[predicates]\nx = { price = 1 }\n[search]\ngap = 0.05\n";
    fs::write(&file, text).expect("written");
    let cases: [&[&str]; 18] = [
        &["cartpole", "--pareto", "--all-optimal", "3"],
        &["cartpole", "--pareto", "--checkpoint", "x.ckpt"],
        &["cartpole", "--pareto", "--certificate", "x.proof"],
        &["cartpole", "--pareto", "--gap", "5%"],
        &["cartpole", "--pareto", "--first"],
        &["cartpole", "--all-optimal", "3", "--checkpoint", "x.ckpt"],
        &["cartpole", "--all-optimal", "0"],
        &["cartpole", "--all-optimal", "many"],
        &["cartpole", "--price", "x=1", "--gap", "5%"],
        &["cartpole", "--price", "x=1", "--checkpoint", "x.ckpt"],
        &["cartpole", "--price", "x"],
        &["cartpole", "--price", "x=-1"],
        &["cartpole", "--price", "x=nan"],
        &["cartpole", "--price", "y=1"],
        &["cartpole", "--price", "x=1e308", "--price", "theta=1e308"],
        &["cartpole", "--use", "thet"],
        &["cartpole", "--without", "x,x_dot,theta,theta_dot"],
        &["FILE"],
    ];
    let name = file.display().to_string();
    let said = cases.map(|arguments| {
        let arguments = [&["solve"], arguments].concat();
        let real: Vec<&str> =
            arguments.iter().map(|word| if *word == "FILE" { &*name } else { word }).collect();
        let output = run(&real);
        assert_eq!(output.status.code(), Some(2), "{}", report(&arguments, &output));
        report(&arguments, &output)
    });
    assert_snapshot!(said.join("\n"));
}
