// Names, attributes and texts in; elements of the page out. Nothing is ever read as HTML.
(() => {
  "use strict";
  const F = globalThis.forwardbook;
  const SVG = "http://www.w3.org/2000/svg";
  const ROOT = new URL("../../", document.currentScript.src); // this file is assets/js/dom.js

  const filled = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.flat(3).filter(child => child !== null && child !== undefined && child !== ""));
    return element;
  };

  /** An element; attributes `onclick`, `oninput`, ... are functions, children are elements or text. */
  const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

  /** The same for a drawing. */
  const draw = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

  let counter = 0;
  const freshId = name => `fb-${name}-${++counter}`;

  /** A labelled choice; `options` are [value, text]. */
  const select = (label, options, attributes = {}) => {
    const id = freshId("select");
    const box = make("select", { id, ...attributes }, options.map(([value, text]) => make("option", { value }, text)));
    return { box, field: make("div", { class: "fb-field" }, make("label", { for: id }, label), box) };
  };

  /** All digits in groups of three that copy and read as one number. */
  const groupedDigits = text => {
    const groups = text.replace(/\B(?=(\d{3})+$)/g, " ").split(" ");
    return make("span", { class: "fb-digits" }, groups.map(group => make("span", {}, group)));
  };

  const components = [];

  /** What takes over each element of a class: a function from (element, data). */
  const component = (css, build) => components.push([css, build]);

  const mountAll = () => {
    for (const [css, build] of components) {
      for (const element of document.querySelectorAll(`.${css}[data-fb]:not([data-fb-live])`)) {
        element.dataset.fbLive = "";
        build(element, JSON.parse(element.dataset.fb));
      }
    }
    requestAnimationFrame(reachWide); // once the theme has wrapped its tables
  };

  /** What is wider than its place can be scrolled with the keyboard too. */
  const reachWide = () => {
    for (const place of document.querySelectorAll(".fb-math, .md-typeset__scrollwrap")) {
      const isWide = place.scrollWidth > place.clientWidth;
      const label = place.matches(".fb-math") ? "Formulas" : "Table";
      for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", label]]) {
        if (isWide) place.setAttribute(name, value);
        else place.removeAttribute(name);
      }
    }
  };

  const pending = new Map();

  /** A file of data of the site, fetched once. */
  const load = path => {
    if (!pending.has(path)) pending.set(path, fetched(path));
    return pending.get(path);
  };

  const fetched = async path => {
    const answer = await fetch(new URL(path, ROOT));
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${answer.statusText}`);
    return answer.json();
  };

  Object.assign(F, { make, draw, select, groupedDigits, freshId, component, mountAll, load, root: ROOT });

  addEventListener("resize", reachWide);
  addEventListener("DOMContentLoaded", () => {
    // the theme says when it has replaced the page without loading it
    if (globalThis.document$) globalThis.document$.subscribe(mountAll);
    else mountAll();
  });
})();
