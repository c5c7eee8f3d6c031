// The data of a class in; a form out in which every quantity follows what is typed, exact to the last digit.
(() => {
  "use strict";
  const F = globalThis.forwardbook;
  const { make } = F;
  const R = F.rational;
  const A = F.amounts;
  const [FEWEST_BITS, MOST_BITS] = [2n, 64n];

  /** One input: reads a size, or bits of an element; says what is wrong beside itself. */
  class Field {
    constructor(input, isBits, changed) {
      this.name = input.name;
      this.isBits = isBits;
      this.first = this.#written(input.default);
      const [id, hint, problem] = ["input", "hint", "problem"].map(F.freshId);
      this.box = make("input", { id, type: "text", inputmode: "numeric", autocomplete: "off", spellcheck: "false",
        value: this.first, "aria-describedby": `${hint} ${problem}`, oninput: changed });
      this.problem = make("span", { id: problem, class: "fb-problem", role: "alert" });
      const words = hintOf(input, isBits);
      this.element = make("div", { class: "fb-field" },
        make("label", { for: id }, isBits ? this.name.replace(/_bytes$/, "") : this.name, isBits ? make("small", {}, " bits") : null),
        this.box, make("span", { id: hint, class: "fb-hint", title: words }, words), this.problem);
    }

    #written(bytes) {
      return this.isBits && bytes !== "" ? (8n * BigInt(bytes)).toString() : bytes;
    }

    set(bytes) {
      this.box.value = this.#written(bytes);
    }

    get text() {
      return this.box.value.trim();
    }

    /** The size as a rational, null where the field is empty; undefined with a message where it is no size. */
    value() {
      this.#say("");
      if (this.text === "") return null;
      try {
        const number = A.read(this.text);
        if (!this.isBits) return R.whole(number);
        if (number < FEWEST_BITS || number > MOST_BITS) throw new RangeError(`${FEWEST_BITS} to ${MOST_BITS} bits are expected`);
        return R.ratio(number, 8n);
      } catch (error) {
        this.#say(error.message);
        return undefined;
      }
    }

    #say(problem) {
      if (this.problem.textContent !== problem) this.problem.textContent = problem;
      this.box.setAttribute("aria-invalid", problem !== "");
    }

    uses(isUsed) {
      this.element.classList.toggle("fb-unused", !isUsed);
    }
  }

  /** What an input means and where its value comes from, in one line. */
  const hintOf = (input, isBits) => {
    const meaning = input.meaning.replace(/[.;]+$/, "");
    return [isBits ? meaning.replace(/^bytes\b/, "bits") : meaning, input.source].filter(Boolean).join(" · ");
  };

  class View {
    #calculator;
    #data;
    #fields;
    #roofline = null;
    #gpus = "";

    constructor(data) {
      this.#data = data;
      this.#calculator = new F.Calculator(data.regimes);
      this.#fields = data.inputs.map(input => new Field(input, data.bits.includes(input.name), () => this.update()));
      this.preset = F.select("Known model", [["", "as typed"], ...data.presets.map((one, place) => [place, one.name])],
        { onchange: () => this.#usePreset() });
      this.regime = F.select("Regime", [["", "the first that holds"], ...data.regimes.map(one => [one.name, one.name])],
        { onchange: () => this.#useRegime() });
      this.status = make("div", { class: "fb-status", role: "status" });
      this.results = new Map(data.quantities.map(quantity => [quantity.name, resultCells(quantity)]));
      this.rows = make("tbody", {}, data.quantities.map(quantity => resultRow(quantity, this.results.get(quantity.name))));
      this.plotPlace = make("div", { class: "fb-plot-place" });
      this.element = this.#layout();
    }

    #layout() {
      const wide = this.#fields.filter(field => !field.isBits);
      const narrow = this.#fields.filter(field => field.isBits);
      return make("form", { class: "fb-calculator", onsubmit: event => event.preventDefault() },
        make("div", { class: "fb-bar" },
          this.#data.presets.length ? this.preset.field : null,
          this.#data.regimes.length > 1 ? this.regime.field : null,
          make("div", { class: "fb-buttons" }, this.#copyButton(),
            make("button", { type: "button", onclick: () => this.reset() }, "Reset"))),
        make("fieldset", { class: "fb-inputs" }, make("legend", {}, "Sizes"), wide.map(field => field.element)),
        narrow.length ? make("fieldset", { class: "fb-inputs" }, make("legend", {}, "Number formats"), narrow.map(field => field.element)) : null,
        this.status,
        make("div", { class: "fb-scroll", tabindex: 0, role: "region", "aria-label": "Results" },
          make("table", { class: "fb-table fb-results" },
            make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "quantity"),
              ["exact amount", "short"].map(text => make("th", { scope: "col", class: "fb-number" }, text)))),
            this.rows)),
        this.plotPlace);
    }

    #copyButton() {
      const button = make("button", { type: "button", onclick: async () => {
        F.address.write(this.#state());
        try {
          await navigator.clipboard.writeText(location.href);
          button.textContent = "Copied";
        } catch {
          button.textContent = "Copy it from the address bar";
        }
        setTimeout(() => { button.textContent = "Copy link"; }, 2000);
      } }, "Copy link");
      return button;
    }

    #usePreset() {
      const preset = this.#data.presets[this.preset.box.value];
      if (!preset) return;
      for (const field of this.#fields) if (field.name in preset.values) field.set(preset.values[field.name]);
      if (preset.regime) this.regime.box.value = preset.regime;
      this.update(true);
    }

    /** A regime that is asked for needs its sizes: those that are empty get the value the page began with, or 1. */
    #useRegime() {
      const regime = this.#data.regimes.find(one => one.name === this.regime.box.value);
      for (const field of this.#fields) {
        if (regime?.parameters.includes(field.name) && field.text === "") field.set(field.first || this.#usual(field.name));
      }
      this.update(true);
    }

    #usual(name) {
      return this.#data.presets.find(preset => name in preset.values)?.values[name] ?? (name.endsWith("_len") ? "128" : "1");
    }

    reset() {
      for (const field of this.#fields) field.box.value = field.first;
      this.regime.box.value = this.preset.box.value = "";
      this.update(true);
    }

    /** Values of a link; names that this class does not have are passed over. */
    restore(given) {
      for (const field of this.#fields) if (given.has(field.name)) field.box.value = given.get(field.name);
      for (const field of this.#fields) if (!given.has(field.name)) field.box.value = "";
      if (this.#data.regimes.some(one => one.name === given.get("regime"))) this.regime.box.value = given.get("regime");
      this.#gpus = given.get("gpus") ?? "";
    }

    /** What a link has to say to show the same. */
    #state() {
      const typed = Object.fromEntries(this.#fields.map(field => [field.name, field.text]));
      return { ...typed, regime: this.regime.box.value, gpus: this.#gpus };
    }

    #remember() {
      F.address.writeSoon(this.#state());
    }

    async plot() {
      const view = F.rooflineView(await F.load(this.#data.devices), this.#gpus.split(",").filter(Boolean), ids => {
        this.#gpus = ids.join(",");
        this.#remember();
      });
      this.#roofline = view;
      this.plotPlace.replaceChildren(make("h3", {}, "Roofline of this call"), view.element);
      this.update();
    }

    update(isPreset = false) {
      if (!isPreset) this.preset.box.value = "";
      const values = this.#fields.map(field => [field.name, field.value()]);
      if (values.some(([, value]) => value === undefined)) return this.#refuse([make("p", {}, "A size is not a number yet.")]);
      const sizes = new Map(values.filter(([, value]) => value !== null));
      try {
        this.#show(this.#calculator.costsAt(sizes, this.regime.box.value));
      } catch (error) {
        this.#refuse(refusal(error));
      }
      return undefined;
    }

    #show({ regime, sizes, values, parts }) {
      for (const [name, cells] of this.results) cells.show(values[name]);
      for (const field of this.#fields) field.uses(regime.parameters.includes(field.name));
      this.#say("fb-holds", make("p", {}, "Regime ", make("strong", {}, regime.name), " holds",
        regime.context ? ` (${regime.context})` : "", regime.conditions.length ? ": " : ".",
        regime.conditions.map((text, place) => [place ? ", " : "", make("code", {}, bare(text))])));
      announce({ regime: regime.name, sizes });
      this.#roofline?.show(calls(values, parts, partsInWords(this.#data.by_part, regime.together)), bitsOf(sizes));
      if (this.isTyped) this.#remember();
    }

    #refuse(words) {
      for (const cells of this.results.values()) cells.clear();
      for (const field of this.#fields) field.uses(true);
      this.#say("fb-refuses", ...words);
      announce(null);
      this.#roofline?.clear();
      if (this.isTyped) this.#remember();
    }

    #say(css, ...words) {
      this.status.className = `fb-status ${css}`;
      this.status.replaceChildren(...words);
    }
  }

  const resultCells = quantity => {
    const [exact, brief] = [make("td", { class: "fb-number" }), make("td", { class: "fb-number" })];
    return {
      exact, brief,
      show: value => {
        exact.replaceChildren(F.groupedDigits(A.digits(value)));
        brief.replaceChildren(A.scaled(value, quantity.unit));
      },
      clear: () => [exact, brief].forEach(cell => cell.replaceChildren("–")),
    };
  };

  const resultRow = (quantity, { exact, brief }) =>
    make("tr", { "data-quantity": quantity.name },
      make("th", { scope: "row" }, make("code", {}, quantity.name), make("small", {}, quantity.meaning)), exact, brief);

  const refusal = error => {
    if (!(error instanceof F.OutsideRegimes)) return [make("p", {}, `No answer: ${error.message}.`)];
    const reasons = error.reasons.map(({ regime, problems }) =>
      make("li", {}, make("strong", {}, regime), ": ", bare(problems.join("; "))));
    return [make("p", {}, "No regime holds:"), make("ul", {}, reasons)];
  };

  /** One call as the plot sees it: its parts one after another, and everything fused; `meaning` begins with a name. */
  const calls = (values, parts, meaning) => [
    { name: meaning.split(":")[0], meaning, flops: values.flops, bytes: R.add(values.reads, values.writes), parts },
    { name: "fused", meaning: "fused: only the boundary is moved", flops: values.flops, bytes: values.boundary },
  ];

  /** What a part is; where some are several layers, that, and what it does to the time. */
  const partsInWords = (words, together) => {
    if (!together) return words;
    const lines = together === 1 ? "1 line that calls modules is" : `${together} lines that call modules are`;
    return `${words}; ${lines} taken as one layer with what is beside: layer by layer it takes at least as long`;
  };

  const bitsOf = sizes => {
    const bits = ["w_dtype_bytes", "a_dtype_bytes"].filter(name => sizes.has(name)).map(name => R.times(sizes.get(name), R.whole(8)));
    return bits.length ? Math.max(...bits.map(value => Number(value.n))) : 16;
  };

  const bare = text => text.replace(/[{}]/g, "");

  /** Tells the rest of the page the regime and sizes, null where none holds. */
  const announce = detail => {
    F.current = detail;
    document.dispatchEvent(new CustomEvent("fb:sizes", { detail }));
  };

  F.component("fb-calc", async (element, data) => {
    const view = new View(data);
    const given = F.address.read();
    if (given) view.restore(given);
    view.update(true);
    element.replaceChildren(view.element);
    for (const kind of ["input", "change", "click"]) view.element.addEventListener(kind, () => { view.isTyped = true; }, true);
    try {
      await view.plot();
    } catch (error) {
      view.plotPlace.replaceChildren(make("p", {}, `The table of GPUs cannot be read: ${error.message}`));
    }
  });
})();
