// Source lines with the formulas of their costs in; a listing out whose amounts follow the calculator of the page.
(() => {
  "use strict";
  const F = globalThis.forwardbook;
  const { make } = F;
  const R = F.rational;
  const A = F.amounts;

  const QUANTITIES = [["flops", "op"], ["pointwise_ops", "op"], ["reads", "B"], ["writes", "B"]];
  const UNITS = Object.fromEntries(QUANTITIES);
  const PYTHON = new RegExp([
    String.raw`(?<comment>#.*)`,
    String.raw`(?<string>[rbfu]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))`,
    String.raw`(?<keyword>\b(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|if|import|in|is|lambda|not|or|pass|raise|return|try|while|with|yield|None|True|False)\b)`,
    String.raw`(?<number>\b[0-9][0-9_.eE]*\b)`,
    String.raw`(?<self>\bself\b)`,
  ].join("|"), "g");

  /** The line as spans; whatever it holds stays text. */
  const coloured = code => {
    const parts = [];
    let place = 0;
    for (const match of code.matchAll(PYTHON)) {
      const [kind] = Object.entries(match.groups).find(([, text]) => text !== undefined);
      parts.push(code.slice(place, match.index), make("span", { class: `fb-py-${kind}` }, match[0]));
      place = match.index + match[0].length;
    }
    return [...parts, code.slice(place)];
  };

  class Row {
    #formulas = {};
    #details;
    #button;

    constructor(line) {
      this.line = line;
      this.amount = make("span");
      this.#details = make("tr", { class: "fb-line-details", hidden: true });
      this.#button = make("button", { type: "button", class: "fb-more", "aria-expanded": "false",
        "aria-label": `Formulas of line ${line.number}`, onclick: () => this.#toggle() }, "ƒ");
      const isCostly = Object.keys(line.regimes).length > 0;
      this.code = make("td", {}, make("code", {}, coloured(line.code)));
      this.element = make("tr", { class: isCostly ? "fb-costly" : "" },
        make("th", { scope: "row", id: `fb-line-${line.number}` }, String(line.number)), this.code,
        make("td", { class: "fb-number" }, this.amount, isCostly ? [" ", this.#button] : ""));
    }

    get elements() {
      return [this.element, this.#details];
    }

    use(regime) {
      this.#formulas = this.line.regimes[regime] ?? {};
      if (!this.#details.hidden) this.#fill();
    }

    /** The amount at the sizes, null where there are none or the line costs nothing. */
    at(quantity, sizes) {
      if (!sizes || !(quantity in this.#formulas)) return null;
      try {
        return F.valuesOf({ [quantity]: this.#formulas[quantity] }, sizes)[quantity];
      } catch (error) {
        if (error instanceof F.FormulaError) return null; // the total says why
        throw error;
      }
    }

    show(value, unit, share) {
      this.amount.replaceChildren(value === null ? "" : A.scaled(value, unit));
      this.amount.title = value === null ? "" : `${A.digits(value)} ${unit}`;
      this.element.style.setProperty("--fb-share", `${share}%`);
    }

    #toggle() {
      this.#details.hidden = !this.#details.hidden;
      this.#button.setAttribute("aria-expanded", String(!this.#details.hidden));
      if (!this.#details.hidden) this.#fill();
    }

    #fill() {
      const terms = Object.entries(this.#formulas).map(([name, text]) =>
        [make("dt", {}, name), make("dd", {}, make("code", {}, text.replace(/[{}]/g, "")))]);
      const operations = this.line.operations.length
        ? [make("dt", {}, "operations"), make("dd", {}, this.line.operations.map(name => [make("code", {}, name), " "]))] : [];
      const words = terms.length ? [] : [make("dt", {}, "cost"), make("dd", {}, "nothing in this regime")];
      this.#details.replaceChildren(make("td", { colspan: 3 }, make("dl", {}, words, terms, operations)));
    }
  }

  const share = (value, total) =>
    value === null || total.n === 0n ? 0 : Number(R.floor(R.over(R.times(value, R.whole(1000)), total)).n) / 10;

  class Listing {
    constructor(data) {
      this.rows = data.lines.map(line => new Row(line));
      this.regimes = data.regimes;
      this.quantity = F.select("Amounts of", QUANTITIES.map(([name]) => [name, name]), { onchange: () => this.update() });
      this.note = make("p", { class: "fb-hint" });
      this.element = make("div", { class: "fb-listing" },
        make("div", { class: "fb-bar" }, this.quantity.field,
          make("p", { class: "fb-hint" }, make("code", {}, data.file), data.complete ? "" : ": only the lines that cost something")),
        make("div", { class: "fb-scroll", tabindex: 0, role: "region", "aria-label": "Source with costs" },
          make("table", { class: "fb-source" },
            make("caption", { class: "fb-unseen" }, "Source lines with their costs"),
            make("thead", { class: "fb-unseen" }, make("tr", {}, ["line", "source", "amount"].map(text => make("th", { scope: "col" }, text)))),
            make("tbody", {}, this.rows.map(row => row.elements)))),
        this.note);
      this.update();
    }

    update() {
      const regime = F.current?.regime ?? this.regimes[0] ?? "";
      const [name, sizes] = [this.quantity.box.value, F.current?.sizes];
      for (const row of this.rows) row.use(regime);
      const values = this.rows.map(row => row.at(name, sizes));
      const total = values.reduce((sum, value) => (value === null ? sum : R.add(sum, value)), R.zero);
      this.rows.forEach((row, place) => row.show(values[place], UNITS[name], share(values[place], total)));
      this.note.textContent = sizes
        ? `Regime ${regime}, sizes of the calculator; all lines together: ${A.scaled(total, UNITS[name])}.`
        : `Regime ${regime}; amounts appear where the calculator has sizes.`;
    }
  }

  F.component("fb-lines", (element, data) => {
    const listing = new Listing(data);
    element.replaceChildren(listing.element);
    const follow = () => (element.isConnected ? listing.update() : document.removeEventListener("fb:sizes", follow));
    document.addEventListener("fb:sizes", follow);
  });
})();
