"""A built site in; seconds until a browser shows a first search result, and rows of the catalogue, out."""

from __future__ import annotations

import shutil
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROUNDS: Final = 5
WORD: Final = "attention"
FLAGS: Final = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""


def searched(site: Path) -> dict[str, float]:
    """Medians of five fresh visits each; nothing where there is no Chromium."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return {}
    from playwright.sync_api import sync_playwright

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
            found = {
                "first_result_s": median(_first_result(browser, address) for _ in range(ROUNDS)),
                "catalogue_rows_s": median(_rows(browser, address) for _ in range(ROUNDS)),
            }
            browser.close()
    finally:
        server.shutdown()
        server.server_close()
    return found


def _first_result(browser: Browser, address: str) -> float:
    """From the word in the box of a page just loaded to the first result; the index is fetched in it."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address + "index.html")
    begin = time.monotonic()
    page.keyboard.press("/")
    page.keyboard.type(WORD)
    page.locator(".md-search-result__item").first.wait_for()
    seconds = time.monotonic() - begin
    context.close()
    return seconds


def _rows(browser: Browser, address: str) -> float:
    """From the address of the catalogue to its first row."""
    context = browser.new_context()
    page = context.new_page()
    begin = time.monotonic()
    page.goto(address + "book/catalogue.html")
    page.locator("article table tbody tr").first.wait_for()
    seconds = time.monotonic() - begin
    context.close()
    return seconds
