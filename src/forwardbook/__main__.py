"""`python -m forwardbook`: the same commands as the `forwardbook` script."""

import sys

# `python -m` puts the working directory on sys.path. In a checkout that would let our
# profiling/ hide the standard library's (Python 3.15, PEP 799), so take it off again.
if not sys.flags.safe_path:
    del sys.path[0]

from forwardbook.cli import main  # noqa: E402

raise SystemExit(main())
