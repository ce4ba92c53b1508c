//! The book: `docs/SUMMARY.md` names its pages, which lie anywhere in the repository and keep their places in the
//! book, so that the same links work there and where the files are read as they are. `xtask/book` turns them into
//! HTML; then every link is looked at, and files that are linked to come along.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::summary::Outcome;
use crate::workspace::{Workspace, run};
use crate::{files, headline};

/// `cargo xtask book`: writes anew what is taken from elsewhere, and builds the book.
pub(crate) fn write() -> Result<bool> {
    let workspace = Workspace::find(false)?;
    run(&mut workspace.cargo(["build", "--release", "--package", "broccoli-cli"]))?;
    let mut manual = workspace.command(workspace.broccoli());
    run(manual.args(["manual", "docs/reference", "--format", "markdown"]))?;
    headline::write(&workspace)?;
    build(&workspace)?;
    Ok(true)
}

/// Builds the book and checks its links.
pub(crate) fn build(workspace: &Workspace) -> Result<Outcome> {
    headline::check(workspace)?;
    let folder = workspace.target.join("book");
    stage(workspace, &folder)?;
    let builder = workspace.root.join("xtask/book/Cargo.toml").to_string_lossy().into_owned();
    run(workspace.cargo(["run", "--quiet", "--locked", "--manifest-path", &builder, "--"]).arg(&folder))?;
    let pages = follow_links(&workspace.root, &folder.join("html"))?;
    println!("the book is {}, {pages} pages", folder.join("html/index.html").display());
    Ok(Outcome::Passed)
}

/// The pages of the book in order, relative to the repository.
pub(crate) fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let summary = fs::read_to_string(root.join("docs/SUMMARY.md")).context("reading docs/SUMMARY.md")?;
    let targets = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.is_empty()).map(|target| place(Path::new("docs"), target)).collect()
}

/// Puts everything that the builder needs into a folder of its own.
fn stage(workspace: &Workspace, folder: &Path) -> Result<()> {
    let docs = workspace.root.join("docs");
    let mut wanted = BTreeSet::new();
    for page in pages(&workspace.root)? {
        ensure!(workspace.root.join(&page).is_file(), "docs/SUMMARY.md: there is no {}", page.display());
        wanted.insert(page);
    }
    for file in files::below(&docs)? {
        let is_page =
            file.extension().is_some_and(|extension| extension == "md") && file != Path::new("SUMMARY.md");
        ensure!(
            !is_page || wanted.contains(&Path::new("docs").join(&file)),
            "docs/{} is not in docs/SUMMARY.md, so nobody would find it",
            file.display()
        );
    }
    files::mirror(&workspace.root, &folder.join("src"), &wanted, |_, contents| Ok(contents))?;
    let summary = fs::read_to_string(docs.join("SUMMARY.md"))?;
    // The links of SUMMARY.md start in docs, those of the staged one at the root.
    let mut parts = summary.split("](");
    let mut staged = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (target, rest) = part.split_once(')').context("docs/SUMMARY.md: a link has no end")?;
        let target = if target.is_empty() { PathBuf::new() } else { place(Path::new("docs"), target)? };
        staged += &format!("]({}){rest}", target.display());
    }
    fs::write(folder.join("src/SUMMARY.md"), staged)?;
    for file in ["book.toml", "book.css"] {
        fs::copy(docs.join(file), folder.join(file)).with_context(|| format!("copying docs/{file}"))?;
    }
    let html = folder.join("html");
    if html.exists() {
        fs::remove_dir_all(&html).with_context(|| format!("removing {}", html.display()))?;
    }
    Ok(())
}

/// Where a link leads that stands in `folder`, both relative to the root; an error if it leaves the root.
fn place(folder: &Path, link: &str) -> Result<PathBuf> {
    let mut place = folder.to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => ensure!(place.pop(), "{link} leaves the repository"),
            Component::Normal(name) => place.push(name),
            _ => bail!("{link} is not relative"),
        }
    }
    Ok(place)
}

/// Checks every link between pages and brings files of the repository that are linked to; returns the number of pages.
fn follow_links(root: &Path, html: &Path) -> Result<usize> {
    let mut pages = BTreeMap::new();
    for file in files::below(html)? {
        if file.extension().is_some_and(|extension| extension == "html") {
            pages.insert(file.clone(), fs::read_to_string(html.join(&file))?);
        }
    }
    let mut broken = Vec::new();
    for (page, text) in &pages {
        let main =
            text.split("<main>").nth(1).and_then(|rest| rest.split("</main>").next()).unwrap_or_default();
        for link in attributes(main, "href").chain(attributes(main, "src")) {
            if let Err(why) = follow(root, html, &pages, page, &link) {
                broken.push(format!("{}: {link}: {why:#}", page.display()));
            }
        }
    }
    ensure!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    Ok(pages.len())
}

fn follow(
    root: &Path,
    html: &Path,
    pages: &BTreeMap<PathBuf, String>,
    page: &Path,
    link: &str,
) -> Result<()> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(());
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let folder = page.parent().unwrap_or(Path::new(""));
    let target = if path.is_empty() { page.to_owned() } else { place(folder, path)? };
    match pages.get(&target) {
        Some(text) => ensure!(
            anchor.is_empty() || attributes(text, "id").any(|id| id == anchor),
            "there is no such heading"
        ),
        None if html.join(&target).is_file() => {}
        None => {
            let source = root.join(&target);
            ensure!(source.is_file(), "it is no file of the repository and no page in docs/SUMMARY.md");
            let copy = html.join(&target);
            fs::create_dir_all(copy.parent().unwrap_or(html))?;
            fs::copy(&source, &copy).with_context(|| format!("copying {}", source.display()))?;
        }
    }
    Ok(())
}

/// The values of all attributes of this name; quotation marks in them and in text are always escaped.
fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = String> + 'a {
    let start = format!(" {name}=\"");
    let values: Vec<&str> = html.split(start.as_str()).skip(1).collect();
    values.into_iter().filter_map(|rest| rest.split('"').next()).map(|value| value.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(link: &str) -> Result<()> {
        let page = |text: &str| text.to_owned();
        let pages = BTreeMap::from([
            (PathBuf::from("docs/a.html"), page("<h1 id=\"top\">")),
            (PathBuf::from("index.html"), page("<h2 id=\"start\">")),
        ]);
        let nowhere = Path::new("/nonexistent");
        follow(nowhere, nowhere, &pages, Path::new("docs/a.html"), link)
    }

    #[test]
    fn links_and_headings_are_followed() {
        for good in ["#top", "../index.html#start", "a.html", "https://example.org/x", ""] {
            check(good).unwrap_or_else(|why| panic!("{good}: {why}"));
        }
        for bad in ["#start", "../index.html#top", "b.html", "../../a.html", "/etc/passwd"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn attributes_are_found() {
        let html = r#"<a href="x#y">"</a><img src="a.png" alt=""><a class="b" href="c&amp;d">"#;
        assert_eq!(attributes(html, "href").collect::<Vec<_>>(), ["x#y", "c&d"]);
    }
}
