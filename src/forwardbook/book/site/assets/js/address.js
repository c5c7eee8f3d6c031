// What a page shows in; the part of its address after `#?` out, and back, so that a link shows the same again.
(() => {
  "use strict";
  const START = "#?";

  /** The values in the address, or null where it has none. */
  const read = () =>
    location.hash.startsWith(START) ? new URLSearchParams(location.hash.slice(START.length)) : null;

  const PAUSE = 150; // milliseconds: browsers refuse an address that changes with every key
  let waiting = 0;

  /** Puts the values into the address without a step in the history; empty ones are left out. */
  const write = values => {
    const kept = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value !== null));
    const hash = kept.size ? `${START}${kept}` : "";
    history.replaceState(history.state, "", `${location.pathname}${location.search}${hash}`);
  };

  /** The same once nothing has changed for a moment, if the reader is still on the page by then. */
  const writeSoon = values => {
    const page = location.pathname;
    clearTimeout(waiting);
    waiting = setTimeout(() => page === location.pathname && write(values), PAUSE);
  };

  globalThis.forwardbook.address = Object.freeze({ read, write, writeSoon });
})();
