//! What can be wanted beside the fewest or most steps of the worst run: on the command line, in problem files,
//! in results, and of programs that give rewards.

use std::fs;

use crate::common::{json, run, stderr, stdout};
use serde_json::json;
use tempfile::TempDir;

/// The result of a search that must be optimal.
fn solved(arguments: &[&str]) -> serde_json::Value {
    let output = run(&[&["solve"], arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    json(&output)
}

#[test]
fn returns_of_built_in_environments_are_those_of_gymnasium() {
    let cartpole = solved(&["cartpole", "--objective", "return"]);
    assert_eq!((&cartpole["value"], &cartpole["bound"]), (&json!(500.0), &json!(500.0)));
    assert_eq!((&cartpole["size"], &cartpole["objective"]), (&json!(2), &json!("return")));
    // One step costs 1, so it is the steps to the goal.
    let car = solved(&["mountain-car", "--objective", "return"]);
    assert_eq!(car["value"], json!(-104.0));
    let discounted = solved(&["mountain-car", "--objective", "return", "--discount", "0.9"]);
    let expected = -(1.0 - 0.9_f64.powi(104)) / 0.1;
    assert!((discounted["value"].as_f64().unwrap() - expected).abs() < 1e-9, "{}", discounted["value"]);
}

#[test]
fn several_initial_states_count_in_several_ways() {
    let states = ["mountain-car", "--samples", "4", "--thresholds", "5", "--horizon", "300"];
    let value = |more: &[&str]| solved(&[&states[..], more].concat())["value"].as_f64().unwrap();
    let (worst, mean, sum) = (value(&[]), value(&["--over", "mean"]), value(&["--over", "sum"]));
    assert_eq!((sum, mean <= worst), (4.0 * mean, true));
    assert_eq!(value(&["--weights", "1,1,1,1"]), sum);
    assert_eq!(value(&["--share", "100%"]), worst);
    assert!(value(&["--share", "50%"]) <= worst);
}

#[test]
fn results_can_be_run_again_and_shown() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path in UTF-8").to_owned();
    let (saved, page) = (path("best.json"), path("best.html"));
    let arguments =
        ["pendulum", "--objective", "return", "--depth", "1", "--thresholds", "3", "--samples", "3"];
    let flags = ["--over", "mean", "--actions", "-2,0,2", "--save", &saved, "--report", &page];
    let result = solved(&[&arguments[..], &flags].concat());
    let simulated = json(&run(&["simulate", "pendulum", &saved, "--json"]));
    assert_eq!(simulated["value"], result["value"]);
    assert!(fs::read_to_string(&page).expect("a report").contains("return, mean"));
    let proved = run(&["prove", &saved]);
    assert_eq!(proved.status.code(), Some(0), "{}", stderr(&proved));
    assert!(stdout(&proved).starts_with("Optimal"), "{}", stdout(&proved));
    let fresh = stdout(&run(&["simulate", "pendulum", &saved, "--fresh", "5"]));
    assert!(fresh.contains("return, mean"), "{fresh}");
}

const PROGRAM: &str = r#"
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        reply = dict(type="hello", protocol=1, name="hill", observations=["x"], come_back="reset", verdicts=True,
                     rewards=True, actions=[dict(name="left", value=-1), dict(name="right", value=1)])
    elif message["type"] == "reset":
        x = message["initial"][0]
        reply = dict(observation=[x], verdict="running")
    else:
        x += 2 * message["action"] - 1
        reply = dict(observation=[x], verdict="violated" if abs(x) > 6 else "running", reward=REWARD)
    print(json.dumps(reply), flush=True)
"#;

fn program(reward: &str, objective: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("hill.py"), PROGRAM.replace("REWARD", reward)).expect("written");
    let problem = format!(
        "[system]\ncommand = [\"python3\", \"hill.py\"]\n[predicates]\nx = {{ low = -6, high = 6, step = 1 }}\n\
         [initial]\nstates = [[0], [3]]\n[tree]\ndepth = 2\n[objective]\nkind = \"return\"\nhorizon = 8\n{objective}"
    );
    fs::write(folder.path().join("hill.toml"), problem).expect("written");
    folder
}

#[test]
fn a_program_may_give_rewards() {
    // Best is to stay around the top: 4, 5, 4, 5, …
    let folder = program("-abs(x - 4.5)", "over = \"sum\"\nrewards = [-20, 0]\n");
    let problem = folder.path().join("hill.toml");
    let result = solved(&[problem.to_str().unwrap()]);
    assert_eq!(result["value"], json!(-(3.5 + 2.5 + 1.5 + 5.0 * 0.5) - 8.0 * 0.5));
    assert_eq!(result["problem"]["rewards"]["high"], json!(0.0));

    let wrong = [
        ("-abs(x - 4.5)", "rewards = [-1, 0]\n", "according to the problem's bounds it is from -1 to 0"),
        ("None", "", "\"reward\" is missing, though its hello promised rewards"),
        ("float('nan')", "", "JSON has no NaN"),
        (
            "-time.time()",
            "",
            "it breaks the promise that the same actions give the same bits again: first: (-1) Running, reward -",
        ),
    ];
    // Whatever is wanted: a promise is a promise.
    let folder = program("None", "");
    let problem = folder.path().join("hill.toml");
    let output = run(&["solve", problem.to_str().unwrap(), "--objective", "survive"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("\"reward\" is missing"), "{}", stderr(&output));

    for (reward, objective, expected) in wrong {
        let folder = program(reward, objective);
        let output = run(&["solve", folder.path().join("hill.toml").to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{reward}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{reward}: {}", stderr(&output));
    }
}

/// Where rewards have no bound, nothing is proved before the end; what those that were seen come to is called an estimate.
#[test]
fn rewards_that_were_seen_are_an_estimate() {
    let folder = program("-abs(x - 4.5)", "over = \"mean\"\n");
    let problem = folder.path().join("hill.toml");
    let limited = ["solve", problem.to_str().unwrap(), "--query-limit", "100"];
    let result = json(&run(&[&limited[..], &["--json", "--progress", "json"]].concat()));
    let estimate = result["estimate"].as_f64().expect("an estimate");
    assert_eq!(result["bound"], json!(null));
    let output = run(&limited);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = format!(
        "Nothing is proved about others. By the rewards seen so far the best value is at most about {estimate}: an estimate, not proved."
    );
    assert!(text.contains(&expected), "{text}");
    // The whole search proves the value, and estimates nothing any more.
    let result = solved(&[problem.to_str().unwrap()]);
    assert_eq!((&result["bound"], &result["estimate"]), (&result["value"], &json!(null)));
}

#[test]
fn check_compares_rewards_and_tells_their_bounds() {
    let folder = program("-abs(x - 4.5)", "");
    let problem = folder.path().join("hill.toml");
    let arguments = ["check", problem.to_str().unwrap()];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).contains("\nrewards   seen from -9.5 to -0.5\n"), "{}", stdout(&output));
    let object = json(&run(&[&arguments[..], &["--json"]].concat()));
    assert_eq!(object["rewards"], json!([-9.5, -0.5]));

    let folder = program("-time.time()", "");
    let problem = folder.path().join("hill.toml");
    let output = run(&["check", problem.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(
        stdout(&output).contains("BROKEN  the same actions give the same bits again"),
        "{}",
        stdout(&output)
    );

    // Thresholds come later.
    let text = fs::read_to_string(problem).expect("the problem");
    let bare = folder.path().join("bare.toml");
    fs::write(&bare, text.replace("[predicates]\nx = { low = -6, high = 6, step = 1 }\n", ""))
        .expect("written");
    let output = run(&["check", bare.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("BROKEN"), "{}", stderr(&output));
    let none = run(&["check", "thermostat"]);
    assert!(!stdout(&none).contains("rewards  "), "{}", stdout(&none));
}

/// The files of `init --subprocess`, changed, and what `solve` says about them in one line.
fn starter(changes: &[(&str, &str, &str)], flags: &[&str]) -> (Option<i32>, String) {
    let folder = TempDir::new().expect("a folder");
    let problem = folder.path().join("tank.toml");
    let problem = problem.to_str().expect("a path");
    assert_eq!(run(&["init", problem, "--subprocess"]).status.code(), Some(0));
    for (file, old, new) in changes {
        let path = folder.path().join(file);
        let text = fs::read_to_string(&path).expect("the file");
        assert!(text.contains(old), "{file} has no {old}");
        fs::write(path, text.replace(old, new)).expect("written");
    }
    let output = run(&[&["solve", problem], flags].concat());
    let words = format!("{} {}", stdout(&output), stderr(&output));
    (output.status.code(), words.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" "))
}

const NO_VERDICT: (&str, &str, &str) = ("tank.toml", "\nsatisfied =", "\n# satisfied =");
const REWARDS: [(&str, &str, &str); 2] = [
    ("tank.py", "# rewards = True", "rewards = True"),
    (
        "tank.py",
        "return self.reply([position + speed, speed])",
        "return *self.reply([position + speed, speed]), -abs(position - 5)",
    ),
];

#[test]
fn the_starter_can_give_rewards_and_then_needs_no_verdict() {
    let wanted = ("tank.toml", "kind = \"reach\"  ", "kind = \"return\"");
    let short = ("tank.toml", "horizon = 1000", "horizon = 10");
    let (code, said) = starter(&[&REWARDS[..], &[NO_VERDICT, wanted, short]].concat(), &["--depth", "1"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("Optimal: this tree has a return of at least -33.5 from both initial states"),
        "{said}"
    );

    let (code, said) = starter(&[wanted], &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("\"tank\" does not promise rewards: its hello needs \"rewards\": true"), "{said}");
    let (code, said) = starter(&[], &["--objective", "return"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("error: \"tank\" does not promise rewards"), "{said}");
}

#[test]
fn somebody_must_give_the_verdict_that_is_wanted() {
    let survive = ("tank.toml", "kind = \"reach\"", "kind = \"survive\"");
    let violated = ("tank.toml", "# violated =", "violated =");
    let own = ("tank.py", "verdicts = False", "verdicts = True");
    for (changes, expected) in [
        (&[NO_VERDICT][..], Some("satisfied")),
        (&[NO_VERDICT, violated], Some("satisfied")),
        // With a condition in the file the verdicts of the program do not count.
        (&[NO_VERDICT, violated, own], Some("satisfied")),
        (&[survive], Some("violated")),
        (&[survive, NO_VERDICT], Some("violated")),
        (&[survive, NO_VERDICT, violated], None),
        (&[survive, NO_VERDICT, own], None),
    ] {
        let (code, said) = starter(changes, &["--depth", "0", "--horizon", "5"]);
        let Some(verdict) = expected else {
            assert_eq!(code, Some(0), "{changes:?}: {said}");
            continue;
        };
        assert_eq!(code, Some(2), "{changes:?}: {said}");
        assert!(said.contains(&format!("nobody says when a run of \"tank\" is {verdict}")), "{said}");
        assert!(said.contains(&format!("add {verdict} = \"…\" to [system]")), "{said}");
    }
    let (code, said) = starter(&[], &["--objective", "survive"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("nobody says when a run of \"tank\" is violated"), "{said}");
    // Options come first.
    let (code, said) = starter(&[survive], &["--objective", "reach"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let cases: [(&[&str], &str); 13] = [
        (&["thermostat", "--objective", "return"], "thermostat gives no rewards"),
        (&["cartpole", "--discount", "0.9"], "a discount is for `return`, not for `survive`"),
        (&["cartpole", "--objective", "return", "--discount", "1.5"], "the discount is 1.5"),
        (&["cartpole", "--share", "50%"], "is for `reach`, not for `survive`"),
        (&["mountain-car", "--share", "0%"], "it must be above 0"),
        (
            &["mountain-car", "--weights", "1,2"],
            "as many weights as initial states: given are 2, and there are 1",
        ),
        (&["mountain-car", "--weights", "-1"], "weight 0 is -1: it must be from 0 to 1e100"),
        (&["mountain-car", "--weights", "0"], "all weights are 0"),
        (&["mountain-car", "--weights", "1,x"], "finite numbers separated by commas, such as 1,0.5"),
        (&["cartpole", "--objective", "return", "--discount", "-1"], "the discount is -1"),
        (&["cartpole", "--objective", "return", "--rewards", "1,0"], "the least and the largest"),
        (&["cartpole", "--over", "mean", "--certificate", "x"], "from the worst initial state only"),
        (&["cartpole", "--over", "mean", "--engine", "backtracking"], "use `behaviour`"),
    ];
    for (arguments, expected) in cases {
        let output = run(&[&["solve"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

/// What a file says of the initial states and the horizon holds for another objective, too.
#[test]
fn an_objective_on_the_command_line_keeps_the_rest_of_the_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cart.toml");
    let text = |objective: &str| {
        format!(
            "[system]\nenvironment = \"cartpole\"\n[initial]\nstates = [[0, 0, 0, 0], [0, 0, 0.1, 0]]\n\
             [objective]\nkind = \"survive\"\nhorizon = 50\n{objective}\n"
        )
    };
    let path = file.to_str().unwrap();
    for (objective, over, value) in
        [("over = \"mean\"", "mean", 50.0), ("weights = [1, 2]", "weighted", 150.0)]
    {
        fs::write(&file, text(objective)).unwrap();
        let result = solved(&[path, "--thresholds", "3", "--objective", "return"]);
        assert_eq!((&result["problem"]["over"], &result["problem"]["horizon"]), (&json!(over), &json!(50)));
        assert_eq!(result["value"], json!(value));
        // Nothing can be better, so the gap ends the search, unless the smallest tree is known by then.
        let near = json(&run(&["solve", path, "--thresholds", "3", "--gap", "5%", "--json"]));
        assert_eq!((&near["value"], &near["bound"]), (&json!(value), &json!(value)));
    }
}

/// However long the horizon, and whatever the rewards sum up to, a search begins at once and can be stopped.
#[test]
fn a_long_horizon_takes_no_time_by_itself() {
    for more in [["--rewards", "1,1.1"], ["--discount", "0.99999999999"]] {
        let long = ["solve", "cartpole", "--objective", "return", "--horizon", "10000000000"];
        let output = run(&[&long[..], &more, &["--query-limit", "1000"]].concat());
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    }
}

/// The reward at the corner of what is possible is within the bounds that the environment states.
#[test]
fn the_worst_reward_is_no_error() {
    let corner = ["--initial", "3.141592653589793,8", "--thresholds", "2", "--depth", "1", "--horizon", "20"];
    solved(&[&["pendulum", "--objective", "return"], &corner[..]].concat());
}

#[test]
fn a_wrong_option_is_not_overlooked_by_prove() {
    let folder = TempDir::new().unwrap();
    let saved = folder.path().join("s.json");
    let saved = saved.to_str().unwrap();
    run(&["solve", "cartpole", "--depth", "1", "--save", saved]);
    let output = run(&["prove", saved, "--rewards", "1"]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
}
