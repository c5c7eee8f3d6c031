"""Regeneration that is stopped, by time, by hand or by the system: nothing is lost, nothing done twice."""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from forwardbook import generate
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.regenerate.derive import Outcome, Task
from forwardbook.pipeline.regenerate.run import Wanted, regenerate, stale
from forwardbook.workspace import Workspace
from forwardbook.workspace.kept_outcomes import KeptOutcomes

from .toys import Toys, derived, refused, touch

RUN = Path(__file__).with_name("regenerate_run.py")


def test_an_interrupted_run_is_taken_up(toys: Toys) -> None:
    """What was derived before Ctrl-C is not derived again; the report tells of both runs."""
    place = toys(4)
    touch(place)
    done: list[str] = []

    def work(task: Task) -> Outcome:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(task.key)
        return derived(task)

    with pytest.raises(KeyboardInterrupt):
        regenerate(place, Wanted(), work=work)
    assert 2 == len(stale(place, Wanted()))
    done.clear()
    found = regenerate(place, Wanted(), work=work)

    assert ["toy_Toy02", "toy_Toy03"] == done
    assert (4, 0) == (len(found.rows), found.fresh)
    assert KeptOutcomes(place.root).plan() is None


def test_time_that_is_over_leaves_the_rest(toys: Toys) -> None:
    """With a time to stop, what is done is stored and told, the rest stays stale."""
    place = toys(3)
    touch(place)
    found = regenerate(place, Wanted(stop_after=1e-9), work=derived)

    assert 1 == len(found.rows)
    assert "2 stale entries are left" in found.notes[0]
    assert 2 == len(stale(place, Wanted()))


def test_a_second_regeneration_is_refused(toys: Toys) -> None:
    """Two at once in one workspace: the second says so at once."""
    place = toys(1)
    with KeptOutcomes(place.root).alone(), pytest.raises(ForwardbookError, match="another process is at it"):
        regenerate(place, Wanted(), work=refused)


def start(place: Workspace, seconds: float, jobs: int) -> subprocess.Popen[bytes]:
    """A regeneration in a process of its own."""
    command = [sys.executable, str(RUN), str(place.root), str(seconds), str(jobs)]
    return subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, start_new_session=True)


def killed_until_done(place: Workspace, kills: int, seconds: float, seed: int) -> tuple[int, int]:
    """Kill a regeneration again and again, all whole after each; kills, and classes derived again."""
    rng = random.Random(seed)
    count = len(place.load().own)
    done, again = 0, 0
    base = time.monotonic()
    process = start(place, seconds, 2)
    assert process.wait(120) == 0  # how long a whole run takes on this machine
    span = time.monotonic() - base
    round_ = 0
    while done < kills:
        round_ += 1
        touch(place, f"WIDTH = {round_}\n", f"WIDTH = {round_ + 1}\n")
        (place.root / ".done").unlink()
        here = 0
        while True:
            process = start(place, seconds, 2)
            try:
                code = process.wait(rng.uniform(0.2, 1.0) * span if done < kills else 120)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                done, here = done + 1, here + 1
                found = place.load()
                assert count == len(found.own)
                assert all(found[key].validation.verdict == "exact" for key in found.own)
                continue
            assert code == 0
            break
        worked = Counter((place.root / ".done").read_text().split())
        assert count == len(worked)
        lost = sum(worked.values()) - count
        assert lost <= 2 * here  # of each kill at most what both jobs were at
        again += lost
        report = json.loads((place.root / "report.json").read_text())
        assert count == len(report["entries"])
        assert not stale(place, Wanted())
    database = place.load()
    assert not generate.outdated((database[key] for key in database.own), place.generated_folder)
    assert not [*place.root.glob(".*.tmp"), *place.generated_folder.glob(".*.tmp")]
    return done, again


def test_a_killed_regeneration_loses_nothing(toys: Toys) -> None:
    """Killed with SIGKILL at three random moments, it resumes, and derives nothing twice that was kept."""
    place = toys(6)
    touch(place, "WIDTH = 1\n", "WIDTH = 1\n\n")
    touch(place, "self.width = WIDTH * width", "self.width = 3 * WIDTH * width")

    assert 3 == killed_until_done(place, 3, 0.05, 1)[0]


@pytest.mark.slow
def test_killed_at_fifty_moments(toys: Toys) -> None:
    """The same at fifty random moments, over many regenerations of 24 classes."""
    place = toys(24)
    touch(place, "self.width = WIDTH * width", "self.width = 3 * WIDTH * width")
    done, again = killed_until_done(place, 50, 0.05, 2)
    print(f"{done} kills, {again} classes derived again")

    assert 50 == done
