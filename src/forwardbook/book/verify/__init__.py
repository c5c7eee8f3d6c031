"""Written Markdown and the facts of a repository in, every claim of the page and its state out."""

from forwardbook.book.verify.claims import Claim, Kind, State
from forwardbook.book.verify.sources import Sources
from forwardbook.book.verify.verify import Verifier, verify_page

__all__ = ["Claim", "Kind", "Sources", "State", "Verifier", "verify_page"]
