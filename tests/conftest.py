"""Keep the checkout's root off sys.path, so that no room hides a top-level module of the same name."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != ROOT]
