// What a page shows in; the part of its address after `#?` out, and back, so that a link shows the same again.
(() => {
  "use strict";
  const START = "#?";

  /** The values in the address, or null where it has none. */
  const read = () =>
    location.hash.startsWith(START) ? new URLSearchParams(location.hash.slice(START.length)) : null;

  /** Puts the values into the address without a step in the history; empty ones are left out. */
  const write = values => {
    const kept = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value !== null));
    const hash = kept.size ? `${START}${kept}` : "";
    history.replaceState(history.state, "", `${location.pathname}${location.search}${hash}`);
  };

  globalThis.forwardbook.address = Object.freeze({ read, write });
})();
