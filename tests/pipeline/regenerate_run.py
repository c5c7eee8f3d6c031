"""A regeneration in a process of its own, whose work is quick: to be killed at any moment.

    python regenerate_run.py WORKSPACE SECONDS_PER_CLASS JOBS

Each class that is done is one line in WORKSPACE/.done; the database is written after every class.
"""

import sys
import time
from pathlib import Path

from forwardbook.guard.regenerated import Regenerated
from forwardbook.pipeline.analysis.one import dated
from forwardbook.pipeline.regenerate import run as room
from forwardbook.pipeline.regenerate.derive import Outcome, Task, found_for
from forwardbook.pipeline.spread import Spread
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace


def quick(task: Task) -> Outcome:
    """The entry as it is stored, dated anew, after a moment."""
    entry = Entry.model_validate(task.entry)
    found = found_for(task, entry)
    time.sleep(float(sys.argv[2]))
    new = dated(entry, found.subject, entry.given)
    with (Path(task.folder) / ".done").open("a") as file:
        file.write(f"{task.key}\n")
    return Outcome(
        key=task.key,
        full_class_name=task.full_class_name,
        fingerprint=found.fingerprint,
        entry=new.model_dump(mode="json"),
    )


if __name__ == "__main__":
    room.FLUSH_SECONDS = 0.0  # type: ignore[misc]
    root = Path(sys.argv[1])
    workspace = Workspace(root)

    def tell(found: Regenerated) -> None:
        """A report of what was done; a run that finds nothing to do leaves the one that is there."""
        if found.rows:
            room.reports(found, [root / "report.json"], root)

    room.regenerate(workspace, room.Wanted(spread=Spread(int(sys.argv[3]))), work=quick, tell=tell)
