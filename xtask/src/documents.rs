//! What README and the book show is put to the test. Every fenced block has a language, and every language a check:
//!
//! | language | check |
//! |---|---|
//! | `sh` | each command is run and ends with 0, or with N if its comment says "exit code N" |
//! | `console` | the same for lines that begin with `$ `; the lines below are its output |
//! | `text` | the output of the last command if `<!-- output -->` stands above it, else nothing |
//! | `toml` | saved if its first line is a comment with the name of a file; `broccoli-problem` reads all of them |
//! | `json` | is parsed, as a whole or line by line |
//! | `python` | run in the environment of the package's tests, all blocks of a page in one program |
//! | `rust` | some crate has the page in its documentation, so that it is tested there |
//!
//! Commands of a page are run one after the other in a fresh copy of the sources, with `broccoli` as it was built. In
//! outputs the seconds that something took do not count, and a line `…` stands for any number of lines.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::summary::Outcome;
use crate::workspace::{Workspace, run};
use crate::{book, files, package, python};

/// Commands that are not run, by how they begin, and why.
const EXCEPTIONS: [(&str, &str); 4] = [
    ("cargo install --path crates/broccoli-cli", "minutes for what is there already"),
    ("cargo run -p broccoli-core --example my_system", "the step \"example my_system\" runs it"),
    ("cargo xtask", "a chore; that there is one of this name is checked"),
    ("pip install './python[", "the step \"package: quick start\" runs it"),
];

/// The longest that a command may take, in seconds.
const LIMIT: &str = "120";

/// A fenced block.
struct Block {
    /// The page and the line that it begins at.
    place: String,
    language: String,
    text: String,
    /// Whether it is the output of the command before it.
    is_output: bool,
}

/// Every block but those in Python.
pub(crate) fn test(workspace: &Workspace) -> Result<Outcome> {
    let mut runner = Runner::new(workspace)?;
    let mut problems = Vec::new();
    for (page, blocks) in documents(&workspace.root)? {
        runner.start_page()?;
        for block in &blocks {
            if let Err(why) = runner.test(&page, block) {
                problems.push(format!("{}: {why:#}", block.place));
            }
        }
    }
    for (unused, _) in EXCEPTIONS.iter().filter(|(command, _)| !runner.excepted.contains(command)) {
        problems.push(format!("no page has the command {unused:?}: it need not be an exception"));
    }
    ensure!(problems.is_empty(), "the documents are wrong:\n\n{}", problems.join("\n\n"));
    println!("{} commands run", runner.count);
    Ok(Outcome::Passed)
}

/// The blocks in Python.
pub(crate) fn python(workspace: &Workspace) -> Result<Outcome> {
    let environment = package::environment(workspace);
    if !environment.is_ready() {
        return Ok(Outcome::Skipped(python::NOT_READY.to_owned()));
    }
    let folder = workspace.target.join("documents/python");
    fs::create_dir_all(&folder)?;
    for (page, blocks) in documents(&workspace.root)? {
        let blocks: Vec<&str> = blocks
            .iter()
            .filter(|block| block.language == "python")
            .map(|block| block.text.as_str())
            .collect();
        if !blocks.is_empty() {
            println!("{}", page.display());
            fs::write(folder.join("page.py"), blocks.join("\n"))?;
            let mut program = environment.command(workspace, "python", ".");
            run(program.current_dir(&folder).env("MPLBACKEND", "Agg").arg("page.py"))
                .with_context(|| format!("the blocks in Python of {}", page.display()))?;
        }
    }
    Ok(Outcome::Passed)
}

/// The pages and their blocks.
fn documents(root: &Path) -> Result<Vec<(PathBuf, Vec<Block>)>> {
    let read = |page: PathBuf| {
        let text =
            fs::read_to_string(root.join(&page)).with_context(|| format!("reading {}", page.display()))?;
        let blocks = blocks(&page, &text)?;
        Ok((page, blocks))
    };
    book::pages(root)?.into_iter().map(read).collect()
}

fn blocks(page: &Path, text: &str) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut before = "";
    while let Some((number, line)) = lines.next() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            let place = format!("{}:{}", page.display(), number + 1);
            ensure!(!language.is_empty(), "{place}: the block has no language");
            let mut text = String::new();
            loop {
                let (_, line) = lines.next().with_context(|| format!("{place}: the block has no end"))?;
                if line.trim() == "```" {
                    break;
                }
                text += line;
                text.push('\n');
            }
            let is_output = before == "<!-- output -->";
            blocks.push(Block { place, language: language.to_owned(), text, is_output });
        }
        if !line.trim().is_empty() {
            before = line.trim();
        }
    }
    Ok(blocks)
}

/// Runs the commands of the pages.
struct Runner<'a> {
    workspace: &'a Workspace,
    sources: BTreeSet<PathBuf>,
    folder: PathBuf,
    /// What the last command wrote.
    output: String,
    count: usize,
    excepted: BTreeSet<&'static str>,
}

impl<'a> Runner<'a> {
    fn new(workspace: &'a Workspace) -> Result<Self> {
        Ok(Runner {
            workspace,
            sources: files::sources(&workspace.root)?,
            folder: workspace.target.join("documents/copy"),
            output: String::new(),
            count: 0,
            excepted: BTreeSet::new(),
        })
    }

    fn start_page(&mut self) -> Result<()> {
        self.output.clear();
        files::mirror(&self.workspace.root, &self.folder, &self.sources, |_, contents| Ok(contents))
    }

    fn test(&mut self, page: &Path, block: &Block) -> Result<()> {
        match block.language.as_str() {
            "sh" => commands(&block.text).iter().try_for_each(|command| self.run(command)),
            "console" => {
                for part in format!("\n{}", block.text).split("\n$ ").skip(1) {
                    let (command, output) = part.split_once('\n').unwrap_or((part, ""));
                    self.run(command)?;
                    compare(output, &self.output)?;
                }
                Ok(())
            }
            "text" if block.is_output => compare(&block.text, &self.output),
            "toml" => match block.text.lines().next().and_then(|line| line.strip_prefix("# ")) {
                Some(name) if name.ends_with(".toml") => Ok(fs::write(self.folder.join(name), &block.text)?),
                _ => Ok(()),
            },
            "json" => {
                let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).map(|_| ());
                is_json(&block.text).or_else(|_| block.text.lines().try_for_each(is_json)).context("not JSON")
            }
            "rust" => self.is_documentation(page),
            "text" | "python" => Ok(()),
            other => bail!("nothing tests blocks of the language {other:?}"),
        }
    }

    /// Runs one command, unless it is an exception.
    fn run(&mut self, command: &str) -> Result<()> {
        if let Some((begin, _)) = EXCEPTIONS.iter().find(|(begin, _)| command.starts_with(begin)) {
            self.excepted.insert(begin);
            return command.strip_prefix("cargo xtask ").map_or(Ok(()), |rest| self.is_chore(rest));
        }
        self.count += 1;
        let start = Instant::now();
        let expected = command.split("exit code ").nth(1).and_then(|rest| rest.get(..1)).unwrap_or("0");
        let typed = command.replace("cargo run --release -- ", "broccoli ");
        let programs = self.workspace.broccoli().parent().map(Path::to_owned).unwrap_or_default();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(programs).chain(std::env::split_paths(&path));
        let output = Command::new("timeout")
            .args([LIMIT, "bash", "-c", &format!("exec 2>&1\n{typed}")])
            .current_dir(&self.folder)
            .env("PATH", std::env::join_paths(path)?)
            .env("HOME", self.folder.join("home"))
            .env("BROCCOLI_THREADS", "1") // or the number of queries would not be the same every time
            .stdin(std::process::Stdio::null())
            .output()
            .context("cannot run bash")?;
        println!("{:5.1} s  $ {command}", start.elapsed().as_secs_f64());
        self.output = String::from_utf8_lossy(&output.stdout).into_owned();
        let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
        ensure!(code == expected, "`{command}` ended with exit code {code}:\n{}", self.output);
        Ok(())
    }

    /// Whether a chore, or a benchmark, of this name exists.
    fn is_chore(&self, rest: &str) -> Result<()> {
        let typed = rest.split(" #").next().unwrap_or(rest);
        let mut words = typed.split_whitespace();
        let (chore, benchmark) = (words.next().unwrap_or_default(), words.next());
        ensure!(crate::is_chore(chore), "there is no chore {chore:?}");
        match benchmark.filter(|_| chore == "bench") {
            Some(name) => {
                let folder = self.workspace.root.join("benchmarks");
                let is_there = folder.join(format!("src/{name}.rs")).is_file()
                    || folder.join("src").join(name).is_dir()
                    || folder.join(name).is_dir();
                ensure!(is_there, "there is no benchmark {name:?}");
            }
            None => ensure!(chore != "bench", "`cargo xtask bench` does not say which"),
        }
        Ok(())
    }

    /// Whether the blocks in Rust of the page are tested as documentation of some crate.
    fn is_documentation(&self, page: &Path) -> Result<()> {
        let end = format!("../{}\")]", page.display());
        let mut sources = self.sources.iter().filter(|file| file.ends_with("src/lib.rs"));
        let is_there = sources.any(|file| {
            let text = fs::read_to_string(self.workspace.root.join(file)).unwrap_or_default();
            text.lines().any(|line| line.starts_with("#[doc = include_str!(") && line.ends_with(&end))
        });
        ensure!(is_there, "no crate has this page in its documentation, so its Rust is not compiled");
        Ok(())
    }
}

/// The commands of a block: one a line, or several lines that end with a backslash.
fn commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let is_command = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    joined.lines().filter(is_command).map(|line| line.trim().to_owned()).collect()
}

/// Whether an output is the expected one.
fn compare(expected: &str, output: &str) -> Result<()> {
    let lines = |text: &str| text.trim_end().lines().map(timeless).collect::<Vec<_>>();
    ensure!(
        is_like(&lines(expected), &lines(output)),
        "the output is not the one shown:\n--- shown\n{}\n--- now\n{}",
        expected.trim_end(),
        output.trim_end()
    );
    Ok(())
}

fn is_like(expected: &[String], output: &[String]) -> bool {
    match expected.split_first() {
        None => output.is_empty(),
        Some((line, rest)) if line == "…" => {
            (0..=output.len()).any(|skipped| is_like(rest, &output[skipped..]))
        }
        Some((line, rest)) => output.first() == Some(line) && is_like(rest, &output[1..]),
    }
}

/// A line without the seconds in it.
fn timeless(line: &str) -> String {
    let mut words: Vec<&str> = line.trim_end().split(' ').collect();
    for index in 1..words.len() {
        if words[index] == "s" && words[index - 1].parse::<f64>().is_ok() {
            words[index - 1] = "#";
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found() {
        let page = "a\n```sh\nx\n\ny \\\n  --z\n# only a comment\n```\n<!-- output -->\n\n```text\n1\n```\n";
        let found = blocks(Path::new("p.md"), page).unwrap();
        assert_eq!((found[0].place.as_str(), found[0].is_output), ("p.md:2", false));
        assert_eq!(commands(&found[0].text), ["x", "y    --z"]);
        assert!(found[1].is_output && found[1].text == "1\n");
        assert!(blocks(Path::new("p.md"), "```\nx\n```\n").is_err());
        assert!(blocks(Path::new("p.md"), "```sh\nx\n").is_err());
    }

    #[test]
    fn outputs_are_compared_without_times() {
        assert!(compare("time  0.05 s (a)\n", "time  1.2 s (a)\n\n").is_ok());
        assert!(compare("a\n…\nd", "a\nb\nc\nd\n").is_ok());
        assert!(compare("a\n…", "a").is_ok());
        assert!(compare("104 steps", "103 steps").is_err());
        assert!(compare("a", "a\nb").is_err());
    }
}
