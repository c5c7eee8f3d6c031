"""The content security policy: the theme's own scripts by hash, none of an article's, alike on all pages."""

import base64
import hashlib
import re

from forwardbook.book.site.policy import secured

PAGE = (
    '<html><head><meta charset="utf-8"><script src="a.js"></script>'
    '<script>__md_scope=new URL("{way}",location)</script></head>'
    '<body><article class="md-content"><script>bad()</script></article>'
    '<script id="__config" type="application/json">{{}}</script></body></html>'
)


def policy(html: str) -> str:
    """The policy of a page."""
    return re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[0]


def hashed(text: str) -> str:
    """The source of the policy that allows a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_scripts_of_the_theme_are_allowed_and_those_of_an_article_are_not() -> None:
    """The theme's script is allowed by its hash; one inside the article is not."""
    found = policy(secured(PAGE.format(way="..")))

    assert hashed('__md_scope=new URL("..",location)') in found
    assert hashed("bad()") not in found
    assert "default-src 'none'" in found and "script-src 'self' 'sha256" in found
    assert "unsafe-inline" not in found.partition("style-src")[0]


def test_policy_is_the_same_at_every_depth() -> None:
    """Pages in folders of any depth have one policy, since the first page's one holds for all that follow."""
    assert 1 == len({policy(secured(PAGE.format(way=way))) for way in (".", "..", "../..", "../../..")})


def test_policy_comes_first_and_once() -> None:
    """The policy stands before every script, and a page that has one is left as it is."""
    once = secured(PAGE.format(way="."))

    assert once.index("Content-Security-Policy") < once.index("<script")
    assert once == secured(once)
