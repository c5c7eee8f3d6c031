// Calls and the devices that a reader chooses in; their roofline plot and the same figures as a table out.
(() => {
  "use strict";
  const F = globalThis.forwardbook;
  const { make } = F;
  const R = F.rational;
  const A = F.amounts;

  const USUAL = ["a100-80gb-sxm", "h100-sxm", "b200"];
  const BOUNDS = { compute: "arithmetic", bandwidth: "bandwidth", none: "nothing to do" };

  /** A plot of which devices can be chosen; `show(points, bits)` draws it anew, `clear()` takes it away. */
  const rooflineView = (table, chosen, onChoice = () => {}) => {
    const devices = F.peaks.devicesOf(table);
    const known = new Set(devices.map(device => device.id));
    const first = [chosen, USUAL, [devices[0]?.id]].map(ids => ids.filter(id => known.has(id))).find(ids => ids.length);
    const ids = new Set(first);
    const drawing = make("div", { class: "fb-drawing" });
    const told = make("p", { class: "fb-told", role: "status" });
    const rows = make("div", { class: "fb-scroll", tabindex: 0, role: "region", "aria-label": "Least times on each device" });
    let last = null;
    const redraw = () => {
      if (!last) return;
      const roofs = devices.filter(device => ids.has(device.id)).map(device => device.roof(last.bits));
      drawing.replaceChildren(...figure(roofs, last.points, drawing.clientWidth, point => { told.textContent = point.label; }));
      rows.replaceChildren(timeTable(roofs, last.points));
    };
    const boxes = devices.map(device => choice(device, ids, () => {
      told.textContent = "";
      redraw();
      onChoice([...ids]);
    }));
    new ResizeObserver(() => drawing.firstChild && redraw()).observe(drawing);
    return {
      element: make("div", { class: "fb-roofline-view" },
        make("details", { class: "fb-devices" }, make("summary", {}, "GPUs of the plot"), make("div", { class: "fb-chips" }, boxes)),
        drawing, told, rows),
      show: (points, bits) => {
        last = { points, bits };
        told.textContent = "";
        redraw();
      },
      clear: () => {
        last = null;
        told.textContent = "";
        drawing.replaceChildren(make("p", { class: "fb-hint" }, "Nothing to draw: no regime holds."));
        rows.replaceChildren();
      },
    };
  };

  const brief = name => name.replace(/^(NVIDIA|AMD Instinct) (GeForce )?/, "");

  const choice = (device, ids, changed) => {
    const box = make("input", { type: "checkbox", value: device.id, onchange: () => {
      if (box.checked) ids.add(device.id);
      else if (ids.size > 1) ids.delete(device.id);
      else box.checked = true; // a plot without a device says nothing
      changed();
    } });
    box.checked = ids.has(device.id);
    return make("label", { class: "fb-chip" }, box, brief(device.name));
  };

  const figure = (roofs, points, width, tell) => {
    const shown = roofs.flatMap((roof, place) =>
      points.filter(point => point.flops.n > 0n && point.bytes.n > 0n).map((point) => placed(roof, place, point, points.indexOf(point))));
    const legend = make("ul", { class: "fb-legend" },
      roofs.map((roof, place) => make("li", { class: `fb-c${place % 8}` }, `${roof.device.name}, ${roof.format}`)),
      points.length > FEW ? [] : points.map((point, place) => make("li", { class: "fb-marked" }, F.markSample(place), point.meaning ?? point.name)));
    const words = shown.length ? [] : [make("p", {}, "No matrix products: bandwidth alone bounds the time; the table has it.")];
    return [F.plot({ roofs, points: shown, width: Math.max(width || 640, 280), tell }), legend, ...words];
  };

  const placed = (roof, place, point, mark) => {
    const intensity = R.over(point.flops, point.bytes);
    const rate = F.peaks.attainable(intensity, roof);
    const { seconds, bound } = F.peaks.timingOf(point, roof);
    return {
      roof: place, mark, intensity: R.log10(intensity), rate: R.log10(rate),
      label: `${point.name} on ${roof.device.name} (${roof.format}): ${short(intensity)} flops per byte, ` +
        `at most ${A.scaled(rate, "op")} flop/s, at least ${A.seconds(seconds)}, bound by ${BOUNDS[bound]}`,
    };
  };

  const short = value => A.scaled(value, "op");

  const CAPTION = "Least time of one call: its matrix products at the peak, its bytes at the full bandwidth, whichever takes longer; " +
    "a call of several parts takes the sum over them, one after another.";
  const FEW = 4;

  const timeTable = (roofs, points) => (points.length > FEW ? tableByCall : tableByDevice)(roofs, points);

  const timeCell = (point, roof) => {
    const { seconds, bound } = F.peaks.timingOf(point, roof);
    return make("td", { class: "fb-number" }, A.seconds(seconds), make("small", {}, ` ${BOUNDS[bound]}`));
  };

  const tableByCall = (roofs, points) =>
    make("table", { class: "fb-table" },
      make("caption", {}, CAPTION),
      make("thead", {}, make("tr", {}, head("call"), numberHead("flops"), numberHead("bytes"), numberHead("flops per byte"),
        roofs.map(roof => numberHead(`${brief(roof.device.name)}, ${roof.format}`)))),
      make("tbody", {}, points.map(point => make("tr", {},
        make("th", { scope: "row" }, point.name),
        make("td", { class: "fb-number" }, A.scaled(point.flops, "op")),
        make("td", { class: "fb-number" }, A.scaled(point.bytes, "B")),
        make("td", { class: "fb-number" }, point.bytes.n ? short(R.over(point.flops, point.bytes)) : "–"),
        roofs.map(roof => timeCell(point, roof))))));

  const tableByDevice = (roofs, points) =>
    make("table", { class: "fb-table" },
      make("caption", {}, CAPTION),
      make("thead", {}, make("tr", {}, head("GPU"), head("arithmetic"), numberHead("flop/s"), numberHead("ridge"),
        points.map(point => numberHead(point.name)))),
      make("tbody", {}, roofs.map(roof => make("tr", {},
        make("th", { scope: "row" }, roof.device.name), make("td", {}, roof.format),
        make("td", { class: "fb-number" }, A.scaled(roof.peak, "op")),
        make("td", { class: "fb-number" }, short(roof.ridge)),
        points.map(point => timeCell(point, roof))))));

  const head = text => make("th", { scope: "col" }, text);

  const numberHead = text => make("th", { scope: "col", class: "fb-number" }, text);

  F.rooflineView = rooflineView;

  F.component("fb-roofline", async (element, data) => {
    const points = data.points.map(F.peaks.pointOf);
    const view = rooflineView(await F.load(data.devices), data.chosen);
    element.replaceChildren(view.element);
    view.show(points, Math.max(data.w_bits, data.a_bits));
  });
})();
