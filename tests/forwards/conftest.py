"""Puts this folder's own modules, which the tests of other rooms do not need, where its tests find them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
