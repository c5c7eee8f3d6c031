// Calls of the theme for a diagram in; drawings by our own copy of Mermaid, fetched with the first diagram, out.
// The theme calls window.mermaid.initialize() and .render(); without a window.mermaid it would load one from a CDN.
(() => {
  "use strict";
  const src = new URL("../vendor/mermaid.min.js", document.currentScript.src).href;
  // Newer versions of Mermaid name markers otherwise than the theme's styles do, and `else` labels never had one.
  const repaired = `
.sectionTitle,.sectionTitle>tspan{fill:var(--md-mermaid-sequence-loop-fg-color)!important;font-family:var(--md-mermaid-font-family)!important;stroke:none}
marker[id$="-arrowhead"] path,marker[id$="-filled-head"] path{fill:var(--md-mermaid-sequence-message-line-color)!important;stroke:none}
marker[id$="-crosshead"] path{stroke:var(--md-mermaid-sequence-message-line-color)!important}
marker[id$="-sequencenumber"]{fill:var(--md-mermaid-sequence-number-bg-color)!important}
marker.composition *,marker.dependency *,marker.extension *{fill:var(--md-mermaid-edge-color)!important;stroke:var(--md-mermaid-edge-color)!important}
marker.extension *,marker.aggregation *{fill:var(--md-mermaid-label-bg-color)!important;stroke:var(--md-mermaid-edge-color)!important}`;

  const drawn = { rendered: 0, errors: [] };
  let config = {};
  let loading = null;

  const loaded = () => (loading ??= new Promise((resolve, reject) => {
    const standIn = window.mermaid;
    const script = Object.assign(document.createElement("script"), { src });
    script.onload = () => {
      const mermaid = window.mermaid; // the file puts itself in our place
      window.mermaid = standIn;
      mermaid.initialize({ ...config, startOnLoad: false, securityLevel: "strict", htmlLabels: false,
        themeCSS: `${config.themeCSS ?? ""}${repaired}` });
      resolve(mermaid);
    };
    script.onerror = () => reject(new Error(`cannot load ${src}`));
    document.head.append(script);
  }));

  window.mermaid = {
    initialize(given) {
      config = given;
    },
    async render(id, text) {
      try {
        const mermaid = await loaded();
        const drawing = await mermaid.render(id, text);
        drawn.rendered++;
        return drawing;
      } catch (error) {
        document.getElementById(`d${id}`)?.remove(); // its drawing of the error
        drawn.errors.push(String(error.message ?? error));
        throw error;
      }
    },
    run() {},
    contentLoaded() {},
  };
  globalThis.forwardbook ??= {};
  globalThis.forwardbook.diagrams = drawn;
})();
