// Roofs of devices and points under them in; a drawing with logarithmic axes out, walked with the arrow keys.
(() => {
  "use strict";
  const F = globalThis.forwardbook;
  const { draw } = F;
  const R = F.rational;

  const MARGIN = { left: 72, right: 16, top: 14, bottom: 46 };
  const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 4", "12 4", "1 4", "7 3 2 3 2 3"];
  const UNITS = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"];

  const powerText = exponent => {
    if (exponent < 0) return exponent < -3 ? `1e${exponent}` : (10 ** exponent).toFixed(-exponent);
    const unit = UNITS[Math.floor(exponent / 3)];
    return unit === undefined ? `1e${exponent}` : `${10 ** (exponent % 3)}${unit && ` ${unit}`}`;
  };

  /** From the lowest to the highest value, in whole powers of ten. */
  const span = values => {
    const low = Math.floor(Math.min(...values) - 0.15);
    return [low, Math.max(Math.ceil(Math.max(...values) + 0.15), low + 2)];
  };

  const scale = ([low, high], from, to) => value => from + ((value - low) / (high - low)) * (to - from);

  const axis = (low, high, step) => {
    const ticks = [];
    for (let tick = low; tick <= high; tick++) if ((tick - low) % step === 0) ticks.push(tick);
    return ticks;
  };

  const MARKS = [
    (x, y) => draw("circle", { cx: x, cy: y, r: 6 }),
    (x, y) => draw("rect", { x: x - 5, y: y - 5, width: 10, height: 10 }),
    (x, y) => draw("path", { d: `M${x} ${y - 7}L${x + 7} ${y + 5}H${x - 7}Z` }),
    (x, y) => draw("path", { d: `M${x} ${y - 8}L${x + 7} ${y}L${x} ${y + 8}L${x - 7} ${y}Z` }),
  ];

  /**
   * `roofs` of peaks.js; `points` as {roof, mark, intensity, rate, label} with logarithms of flops per byte and
   * of flop/s; `tell` is called with the point that is looked at. `width` in pixels of the page.
   */
  const plot = ({ roofs, points, width, tell }) => {
    const height = Math.max(280, Math.min(420, Math.round(width * 0.56)));
    const ridges = roofs.map(roof => R.log10(roof.ridge));
    const xs = span([...points.map(point => point.intensity), ...ridges, 0, Math.max(...ridges) + 0.6]);
    const rates = roofs.flatMap(roof => [R.log10(roof.peak), R.log10(roof.bandwidth) + xs[0]]);
    const lowest = points.length ? Math.min(...points.map(point => point.rate)) - 0.5 : Math.min(...rates) + 1;
    const ys = span([Math.max(Math.min(...rates), Math.min(lowest, Math.min(...roofs.map(roof => R.log10(roof.peak))) - 2)), Math.max(...rates)]);
    const x = scale(xs, MARGIN.left, width - MARGIN.right);
    const y = scale(ys, height - MARGIN.bottom, MARGIN.top);
    const clip = F.freshId("clip");
    const area = { x: MARGIN.left, y: MARGIN.top, width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    return draw("svg", { class: "fb-plot", viewBox: `0 0 ${width} ${height}`, width, height, role: "group",
      "aria-label": "Roofline plot: flop/s over flops per byte, both logarithmic. The table below has the same figures." },
      draw("clipPath", { id: clip }, draw("rect", area)),
      grid(xs, ys, x, y, width),
      draw("g", { class: "fb-roofs", "clip-path": `url(#${clip})`, "aria-hidden": "true" },
        roofs.map((roof, place) => roofLine(roof, place, xs, x, y))),
      walk(points.map(point => mark(point, x, y)), points, tell));
  };

  const grid = (xs, ys, x, y, width) => {
    const step = xs[1] - xs[0] > 8 || width < 480 ? 2 : 1;
    const [left, right] = xs.map(x);
    const [bottom, top] = ys.map(y);
    return draw("g", { class: "fb-grid", "aria-hidden": "true" },
      axis(...xs, step).map(tick => [
        draw("line", { x1: x(tick), x2: x(tick), y1: bottom, y2: top }),
        draw("text", { x: x(tick), y: bottom + 18, "text-anchor": "middle" }, powerText(tick))]),
      axis(...ys, ys[1] - ys[0] > 7 ? 2 : 1).map(tick => [
        draw("line", { x1: left, x2: right, y1: y(tick), y2: y(tick) }),
        draw("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, powerText(tick))]),
      draw("text", { class: "fb-axis", x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle" }, "flops per byte"),
      draw("text", { class: "fb-axis", x: 14, y: (top + bottom) / 2, "text-anchor": "middle",
        transform: `rotate(-90 14 ${(top + bottom) / 2})` }, "flop/s"));
  };

  const roofLine = (roof, place, xs, x, y) => {
    const [slope, peak, ridge] = [R.log10(roof.bandwidth), R.log10(roof.peak), R.log10(roof.ridge)];
    const d = `M${x(xs[0])} ${y(slope + xs[0])}L${x(ridge)} ${y(peak)}L${x(xs[1])} ${y(peak)}`;
    return draw("path", { d, class: `fb-roof fb-c${place % 8}`, "stroke-dasharray": DASHES[Math.floor(place / 8) % 8] || null });
  };

  const mark = (point, x, y) =>
    draw("g", { class: `fb-point fb-c${point.roof % 8}`, role: "img", tabindex: -1, "aria-label": point.label },
      draw("title", {}, point.label),
      draw("circle", { class: "fb-halo", cx: x(point.intensity), cy: y(point.rate), r: 13 }),
      MARKS[point.mark % MARKS.length](x(point.intensity), y(point.rate)));

  /** Points of which one is a stop of the tabulator; arrows, Home and End move between them. */
  const walk = (marks, points, tell) => {
    const at = place => {
      marks.forEach((one, index) => one.setAttribute("tabindex", index === place ? 0 : -1));
      marks[place].focus();
    };
    const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    marks.forEach((one, place) => {
      one.addEventListener("focus", () => tell(points[place]));
      one.addEventListener("pointerenter", () => tell(points[place]));
      one.addEventListener("keydown", event => {
        const next = event.key === "Home" ? 0 : event.key === "End" ? marks.length - 1
          : event.key in moves ? (place + moves[event.key] + marks.length) % marks.length : null;
        if (next === null) return;
        event.preventDefault();
        at(next);
      });
    });
    marks[0]?.setAttribute("tabindex", 0);
    return draw("g", { role: "group", "aria-label": "Points; the arrow keys move between them" }, marks);
  };

  /** A mark by itself, for a legend. */
  const markSample = place => draw("svg", { class: "fb-sample", viewBox: "0 0 18 18", width: 14, height: 14, "aria-hidden": "true" }, MARKS[place % MARKS.length](9, 9));

  Object.assign(F, { plot, markSample });
})();
