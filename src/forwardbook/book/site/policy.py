"""A built page in, the same page with a content security policy out: only the theme's own scripts run.

The policy is the same on every page, because instant navigation keeps that of the first. Scripts that the
theme writes into a page are allowed by their hash; what stands inside the article is never hashed.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from typing import Final

DEPTH: Final = 8
"""Folders below the root of the site for which the theme's script of a page is allowed."""

_ARTICLE: Final = re.compile(r"<article\b.*</article>", re.DOTALL)
_SCRIPT: Final = re.compile(r"<script(?![^>]*\bsrc=)([^>]*)>(.*?)</script>", re.DOTALL)
_SCOPE: Final = re.compile(r'(__md_scope=new URL\(")[^"]*(")')
_HEAD: Final = '<meta charset="utf-8">'


def secured(html: str) -> str:
    """The page with its policy in the head; a page that has one already is left as it is."""
    if 'http-equiv="Content-Security-Policy"' in html:
        return html
    outside = _ARTICLE.sub("", html)
    scripts = [text for kind, text in _SCRIPT.findall(outside) if "application/json" not in kind and text]
    meta = f'<meta http-equiv="Content-Security-Policy" content="{_policy(tuple(scripts))}">'
    return html.replace(_HEAD, f"{_HEAD}{meta}", 1)


@lru_cache(maxsize=64)
def _policy(scripts: tuple[str, ...]) -> str:
    texts = {variant for script in scripts for variant in _variants(script)}
    hashes = " ".join(sorted(_hash(text) for text in texts))
    return (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
        "base-uri 'none'; form-action 'none'; object-src 'none'"
    )


def _variants(script: str) -> list[str]:
    """The script as it stands on pages at every depth: it holds the way to the root of the site."""
    if not _SCOPE.search(script):
        return [script]
    ways = [".", *("/".join([".."] * depth) for depth in range(1, DEPTH + 1))]
    return [_SCOPE.sub(lambda found, way=way: f"{found[1]}{way}{found[2]}", script) for way in ways]  # type: ignore[misc]


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
