"""Opens reports in a real Chromium: they work, ask for nothing, and no name in them can run a script."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chromium import Page

PROGRAM = os.environ.get("BROCCOLI", "broccoli")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SCREENSHOTS = Path(os.environ.get("BROCCOLI_SCREENSHOTS", "."))


@pytest.fixture(scope="session")
def page() -> Iterator[Page]:
    """Return a browser's page."""
    assert CHROMIUM, "Chromium is missing"
    with Page(CHROMIUM) as page:
        yield page


def solve(folder: Path, *arguments: str) -> Path:
    """Solve something and return its report."""
    report = folder / "report.html"
    command = [PROGRAM, "solve", *arguments, "--save", str(folder / "result.json"), "--report", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3, 4), done.stderr
    return report


@pytest.mark.parametrize("system", ["mountain-car", "cartpole", "pendulum", "acrobot"])
@pytest.mark.parametrize(("width", "dark"), [(1200, False), (1200, True), (400, False)])
def test_everything_is_there(page: Page, tmp_path: Path, system: str, width: int, dark: bool) -> None:
    """Tree, plots, animation and tables are there, in every light and width, and nothing goes wrong."""
    more = ["--samples", "5"] if system == "mountain-car" else []
    report = solve(tmp_path, system, *more)
    page.open(report, width, dark=dark)
    dimensions = page.value("JSON.parse(document.getElementById('data').textContent).dimensions.length")
    assert page.value("document.querySelectorAll('#tree [data-node]').length") == 7
    assert page.value("document.querySelectorAll('#tree .node.active').length") == 3
    assert page.value("document.querySelectorAll('#plots svg').length") == dimensions + 1
    assert page.value("document.querySelectorAll('#plane .region').length") >= 2
    assert page.value("document.querySelectorAll('#scene svg').length") == 1
    assert page.value("document.querySelectorAll('#curve path').length") >= 2
    assert page.value("document.querySelectorAll('[data-row]').length") == 3
    assert page.value("document.querySelector('h1').textContent").startswith(
        "Optimal: no tree of depth at most 2"
    )
    assert f"broccoli solve {system}" in page.value("document.getElementById('command').textContent")
    # Nothing sticks out of the page, and no plot is empty or out of its box.
    assert page.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    widths = page.value("[...document.querySelectorAll('.plot')].map((plot) => plot.clientWidth)")
    assert all(150 < plot <= width for plot in widths), widths
    assert "NaN" not in page.value("document.body.innerHTML")
    assert luminance(page, "backgroundColor") < 0.3 if dark else luminance(page, "backgroundColor") > 0.7
    assert abs(luminance(page, "color") - luminance(page, "backgroundColor")) > 0.6
    assert page.requests == [report.resolve().as_uri()]
    assert page.complaints == []
    page.screenshot(SCREENSHOTS / f"{system}-{width}{'-dark' if dark else ''}.png")


def luminance(page: Page, property: str) -> float:
    """Return how light a colour of the page is, from 0 to 1."""
    colour = page.value(f"getComputedStyle(document.body).{property}")
    red, green, blue = (int(part) / 255 for part in colour.strip("rgb()").split(","))
    return 0.21 * red + 0.72 * green + 0.07 * blue


def test_scrubber_pickers_and_nodes(page: Page, tmp_path: Path) -> None:
    """What can be moved moves what it should, also by keyboard."""
    page.open(solve(tmp_path, "cartpole", "--samples", "3"))
    active = "[...document.querySelectorAll('.node.active')].map((n) => n.dataset.node).join()"
    regions = "[...document.querySelectorAll('#plane .region')].map((r) => r.outerHTML).join()"
    cursor = "document.querySelector('#plots .cursor').getAttribute('x1')"
    data = json.loads(page.value("document.getElementById('data').textContent"))

    page.value("document.getElementById('scrubber').focus()")
    before = page.value(cursor)
    page.press("End", 35)
    run = data["observed"]["traces"][data["observed"]["deciding"]]
    assert (
        page.value("document.getElementById('now').textContent")
        == f"{run['steps']:,} of {run['steps']:,} steps"
    )
    assert page.value(cursor) != before
    assert page.value(active) == "", "after the last action no path is active"
    page.press("ArrowLeft", 37)
    leaf = run["leaves"][-2]
    assert page.value(active).split(",")[-1] == str(leaf), "the path to the leaf that acted last"

    before = page.value(regions)
    pick(page, "across", "0")
    assert page.value(regions) != before
    title = page.value("document.querySelector('#plane title').textContent")
    assert " against x:" in title, title
    pick(page, "up", "0")
    assert page.value("document.getElementById('across').value") != "0", "never a dimension against itself"

    pick(page, "trace", "2")
    steps = data["observed"]["traces"][2]["steps"]
    assert page.value("document.getElementById('now').textContent") == f"0 of {steps:,} steps"

    page.point("#tree [data-node='1']")
    visits = data["observed"]["nodes"][1]
    assert f"{visits['states']:,} of" in page.value("document.getElementById('node').textContent")
    assert page.value("document.querySelectorAll('#plots .shade').length") > 0
    page.value("document.querySelector('#tree [data-node=\"0\"]').focus()")
    page.press("Tab", 9)
    assert page.value("document.activeElement.dataset.node") == "1", "nodes are reached one by one"

    page.value("document.getElementById('play').focus()")
    page.press(" ", 32, " ")
    time.sleep(0.5)
    assert page.value("document.getElementById('play').textContent") == "Pause"
    assert page.value("Number(document.getElementById('scrubber').value)") > 0
    page.press(" ", 32, " ")
    assert page.value("document.getElementById('play').textContent") == "Play"

    pick(page, "against", "seconds")
    assert "seconds" in page.value("document.querySelector('#curve title').textContent")
    assert page.complaints == []


def pick(page: Page, select: str, value: str) -> None:
    """Choose a value of a list, as a reader would."""
    page.value(
        f"(() => {{ const s = document.getElementById({select!r}); s.value = {value!r};"
        " s.dispatchEvent(new Event('change')); })()"
    )
    page.frame()


def test_no_tree(page: Page, tmp_path: Path) -> None:
    """A proof that there is no tree has a report, too."""
    page.open(solve(tmp_path, "mountain-car", "--depth", "0"))
    assert page.value("document.querySelector('h1').textContent").startswith("Infeasible: it is proved")
    assert page.value("document.querySelectorAll('.tree').length") == 0
    assert page.complaints == []


def test_a_large_result(page: Page, tmp_path: Path) -> None:
    """A hundred traces of ten thousand steps make a file of less than 10 MiB that opens at once."""
    report = solve(tmp_path, "mountain-car", "--samples", "100", "--seed", "3")
    result = json.loads((tmp_path / "result.json").read_text())
    # A tree that never gets there; that is not what the file claims, so the report warns.
    result["tree"] = {"feature": 0, "threshold": -0.5, "true": {"action": 0}, "false": {"action": 1}}
    (tmp_path / "result.json").write_text(json.dumps(result))
    subprocess.run([PROGRAM, "report", str(tmp_path / "result.json"), "-o", str(report)], check=True)
    assert report.stat().st_size < 10 * 1024 * 1024
    began = time.monotonic()
    page.open(report)
    assert time.monotonic() - began < 10
    states = page.value("JSON.parse(document.getElementById('data').textContent).observed.state_count")
    notes = page.value("[...document.querySelectorAll('.note')].map((n) => n.textContent).join(' ')")
    assert states == 100 * 10_001
    assert "Do not trust this result" in notes
    assert "To keep this file small" in notes
    print(
        f"{states} states, {report.stat().st_size} bytes, opened in {time.monotonic() - began:.1f} s; {notes}"
    )
    assert page.complaints == []


def test_no_script_comes_in_through_a_result(page: Page, tmp_path: Path) -> None:
    """Names, errors and commands in a result are text, whatever they look like."""
    solve(tmp_path, "mountain-car")
    result = json.loads((tmp_path / "result.json").read_text())
    evil = "</script></style></title><script>evil = 1</script><img src=x onerror='evil = 2'>\"'`{{data}}"
    report = tmp_path / "report.html"
    for i, place in enumerate(["system", "names", "command", "error", "engine"]):
        bad = json.loads(json.dumps(result))
        if place == "system":
            bad["problem"]["system"] = {"environment": evil}
        elif place == "names":
            # The names of another system: it cannot be run, but the tree is shown.
            bad["problem"]["system"] = {"environment": "other"}
            for kind in ["dimensions", "actions"]:
                for item in bad["problem"][kind]:
                    item["name"] = evil + item["name"]
            rename(bad["tree"], evil)
        elif place == "command":
            bad["command"] = [evil, evil]
        elif place == "error":
            bad.update(status="error", error=evil)
        else:
            bad["engine"] = evil
        file = tmp_path / f"{i}.json"
        file.write_text(json.dumps(bad))
        subprocess.run([PROGRAM, "report", str(file), "-o", str(report)], check=True)
        page.open(report)
        page.point("#tree [data-node='0']")
        assert page.value("typeof window.evil") == "undefined", place
        assert page.value("document.querySelectorAll('img').length") == 0, place
        assert page.value("document.querySelectorAll('script').length") == 2, place
        assert page.requests == [report.resolve().as_uri()], place
        assert page.complaints == [], place
        assert evil[:20] in page.value("document.body.textContent"), f"{place} is shown"


def test_the_page_lets_no_other_script_run(page: Page, tmp_path: Path) -> None:
    """Even a script that were in the page would not run: the policy of the page forbids it."""
    report = solve(tmp_path, "mountain-car")
    text = report.read_text(encoding="utf-8")
    report.write_text(text.replace("<main>", "<main><script>evil = 1</script>"), encoding="utf-8")
    page.open(report)
    assert page.value("typeof window.evil") == "undefined"
    assert len(page.complaints) == 1
    assert "Content Security Policy" in page.complaints[0]


def rename(tree: dict[str, object], prefix: str) -> None:
    """Put a prefix before every name in a tree."""
    tree["name"] = prefix + str(tree["name"])
    for child in ["true", "false"]:
        if isinstance(branch := tree.get(child), dict):
            rename(branch, prefix)
