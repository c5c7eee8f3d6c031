"""A source tree in; how many of a thousand corruptions of its true pages the verifier finds, out.

    python -m benchmarks.explain_mutations TREE --focus PACKAGE --also FOLDER [--corruptions 1000] [--seed 1]

Writes the repository set with a focus and a page for each file of one more folder, judges all of them,
makes one thing wrong at a time, each kind equally often but no kind more often than it has places,
and judges the whole page again. A number of a line that becomes that of another definition is not made.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path

from benchmarks.measuring import about
from benchmarks.publishing import publish, table

from forwardbook.analyzers.index.facts import Repository
from forwardbook.book.verify import Claim, Sources, Verifier
from forwardbook.book.verify.corrupt import KINDS, Corruption, Corruptor
from forwardbook.pipeline.explain.sources import read_sources
from forwardbook.workspace.source_tree import source_tree

SHARE = 0.99
SUFFIXES = (".py", ".cu", ".cuh", ".cpp", ".h")
WRONG = ("contradicted", "stale")


@dataclass(frozen=True)
class Trial:
    """One corruption of a page, and whether it was found."""

    page: str
    kind: str
    line: int
    before: str
    after: str
    found: bool


def write_pages(tree: Path, focus: str, also: str, out: Path) -> dict[str, str]:
    """The pages of the set and of the files of one more folder, by path."""
    below = sorted((tree / also).rglob("*")) if also else []
    files = [str(path) for path in below if path.suffix in SUFFIXES]
    base = [sys.executable, "-P", "-m", "forwardbook", "explain", "--root", str(tree)]
    for more in (["--repository", "--focus", focus, str(tree), "--out", str(out / "set")],
                 [*files, "--out", str(out / "files")]):  # fmt: skip
        done = subprocess.run([*base, *more], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(more[:5])}: {done.stdout}{done.stderr}")
    return {str(path): path.read_text(encoding="utf-8") for path in sorted(out.rglob("*.md"))}


def wrong_of(claims: tuple[Claim, ...]) -> list[Claim]:
    """The claims that do not hold."""
    return [claim for claim in claims if claim.state in WRONG]


def is_defined(repository: Repository) -> Callable[[str, int, int], bool]:
    """Whether something is defined at exactly these lines of a file of this name."""
    spans = {
        (path.rpartition("/")[2], span.start, span.end)
        for path, facts in repository.files.items()
        for one in facts.definitions
        for span in (one.span, one.decorated)
    }
    return lambda path, start, end: (path.rpartition("/")[2], start, end) in spans


def drawn(
    corruptors: Mapping[str, Corruptor], count: int, rng: random.Random
) -> Iterator[tuple[str, Corruption]]:
    """So many corruptions, the kinds in turn, the pages by how many places they have."""
    left = {kind: places_of(kind, corruptors) for kind in KINDS}
    made = 0
    while made < count and any(left.values()):
        kind = next(kind for kind in islice(cycle(KINDS), made % len(KINDS), None) if left[kind])
        pages = [page for page, one in corruptors.items() if kind in one.sites]
        page = rng.choices(pages, [len(corruptors[one].sites[kind]) for one in pages])[0]
        corruption = corruptors[page].draw(kind, rng)
        if corruption is not None:
            made += 1
            left[kind] -= 1
            yield page, corruption


def places_of(kind: str, corruptors: Mapping[str, Corruptor]) -> int:
    """At how many places of all pages a kind of corruption can be made."""
    return sum(len(one.sites.get(kind, ())) for one in corruptors.values())


def main() -> int:
    """Write, judge, corrupt, judge; publish; exit code 1 if a true page is accused or too much is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--focus", required=True)
    parser.add_argument("--also", default="", help="a folder below TREE of whose files pages are written")
    parser.add_argument("--corruptions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dry", action="store_true", help="print, publish nothing")
    given = parser.parse_args()
    root = given.tree.resolve()
    with tempfile.TemporaryDirectory() as folder:
        texts = write_pages(root, given.focus, given.also, Path(folder))
        read = read_sources(source_tree(root), frozenset(), "own", 1)
        verifier = Verifier(Sources(read.repository, read.graph, read.read, texts))
        begin = time.process_time()
        true = {page: verifier.verify(text, page) for page, text in texts.items()}
        cpu = time.process_time() - begin
        accused = [claim.message() for claims in true.values() for claim in wrong_of(claims)]
        defined = is_defined(read.repository)
        corruptors = {page: Corruptor(text, defined) for page, text in texts.items()}
        trials = list(_trials(verifier, texts, corruptors, given.corruptions, random.Random(given.seed)))
        trials = [Trial(Path(one.page).name, *list(asdict(one).values())[1:]) for one in trials]
    record = _record(root.name, given.seed, true, cpu, accused, corruptors, trials)
    sections = _sections(record, accused, corruptors, trials)
    print("\n\n".join(sections))
    if not given.dry:
        publish("explain_mutations", record, sections)
    return 0 if record["holds"] else 1


def _trials(
    verifier: Verifier,
    texts: Mapping[str, str],
    corruptors: Mapping[str, Corruptor],
    count: int,
    rng: random.Random,
) -> Iterator[Trial]:
    for page, one in drawn(corruptors, count, rng):
        found = bool(wrong_of(verifier.verify(one.apply(texts[page]), page)))
        yield Trial(page, one.kind, one.line, one.before, one.after or "", found)


def _record(
    name: str,
    seed: int,
    true: Mapping[str, tuple[Claim, ...]],
    cpu: float,
    accused: list[str],
    corruptors: Mapping[str, Corruptor],
    trials: list[Trial],
) -> dict[str, object]:
    states = Counter(claim.state for claims in true.values() for claim in claims)
    found = sum(one.found for one in trials)
    return {
        "about": about("benchmarks.explain_mutations", ("mini-racer", "mermaidx", "libcst", "tree-sitter")),
        "tree": name,
        "seed": seed,
        "pages": len(true),
        "claims": dict(states),
        "cpu_seconds_to_judge": cpu,
        "accused_on_true_pages": accused,
        "places": {kind: places_of(kind, corruptors) for kind in KINDS},
        "corruptions": len(trials),
        "found": found,
        "share": found / len(trials),
        "by_kind": {
            kind: {"found": sum(one.found for one in of_kind), "made": len(of_kind)}
            for kind in KINDS
            for of_kind in [[one for one in trials if one.kind == kind]]
        },
        "missed": [asdict(one) for one in trials if not one.found],
        "holds": not accused and found >= SHARE * len(trials),
    }


def _sections(
    record: dict[str, object], accused: list[str], corruptors: Mapping[str, Corruptor], trials: list[Trial]
) -> list[str]:
    rows = []
    for kind in KINDS:
        of_kind = [one for one in trials if one.kind == kind]
        numbers = (places_of(kind, corruptors), len(of_kind), sum(one.found for one in of_kind))
        rows.append((kind, *map(str, numbers)))
    found = sum(one.found for one in trials)
    missed = "\n".join(
        f"- {one.kind}, {one.page}:{one.line}: `{one.before.strip()}` became `{one.after.strip()}`"
        for one in trials
        if not one.found
    )
    return [
        f"Tree {record['tree']}, {record['pages']} pages, claims {record['claims']}, judged in "
        f"{record['cpu_seconds_to_judge']:.2f} s of CPU; contradicted on pages as written: {len(accused)}.",
        f"Found: {found} of {len(trials)} corruptions ({100 * found / len(trials):.1f} %).",
        table(("kind of corruption", "places", "made", "found"), rows),
        f"Missed:\n\n{missed}" if missed else "None was missed.",
    ]


if __name__ == "__main__":
    sys.exit(main())
