// The index of all classes in; a table out that is searched, filtered and sorted as the reader types, a page at a time.
(() => {
  "use strict";
  const F = globalThis.forwardbook;
  const { make } = F;
  const PAGE = 100;
  const COLUMNS = [["title", "Class"], ["library", "Library"], ["verdict", "Verdict"], ["derived_by", "Derived by"],
    ["regimes", "Regimes"], ["unresolved", "Unresolved"]];

  class View {
    #rows;
    #page = 0;
    #column = "title";
    #falling = false;
    #matches = [];

    constructor(index) {
      this.#rows = F.table.readIndex(index);
      const changed = () => { this.#page = 0; this.update(); };
      this.text = make("input", { type: "search", id: F.freshId("search"), autocomplete: "off", spellcheck: "false", oninput: changed });
      this.op = make("input", { type: "search", id: F.freshId("op"), list: "fb-ops", autocomplete: "off", spellcheck: "false", oninput: changed });
      const choice = (label, column) => F.select(label,
        [["", "any"], ...F.table.counts(this.#rows, column).map(([value, count]) => [value, `${value} (${count})`])], { onchange: changed });
      this.choices = { library: choice("Library", "library"), verdict: choice("Verdict", "verdict"), derivation: choice("Derived by", "derived_by") };
      this.open = checkbox("with unresolved lines", changed);
      this.validated = checkbox("checked by a person", changed);
      this.status = make("p", { class: "fb-status", role: "status" });
      this.heads = COLUMNS.map(([column, title]) => this.#head(column, title));
      this.body = make("tbody");
      this.pages = make("nav", { class: "fb-pages", "aria-label": "Pages of the catalogue" });
      this.element = this.#layout(index.ops);
    }

    #layout(ops) {
      return make("div", { class: "fb-catalogue-view" },
        make("form", { role: "search", class: "fb-bar", onsubmit: event => event.preventDefault() },
          labelled("Class or key", this.text), Object.values(this.choices).map(choice => choice.field),
          labelled("Uses operation", this.op), make("datalist", { id: "fb-ops" }, ops.map(op => make("option", { value: op }))),
          make("div", { class: "fb-checks" }, this.open.field, this.validated.field)),
        this.status,
        make("div", { class: "fb-scroll", tabindex: 0, role: "region", "aria-label": "Classes" },
          make("table", { class: "fb-table fb-classes" },
            make("thead", {}, make("tr", {}, this.heads.map(head => head.cell))), this.body)),
        this.pages);
    }

    #head(column, title) {
      const button = make("button", { type: "button", onclick: () => {
        this.#falling = this.#column === column && !this.#falling;
        this.#column = column;
        this.#page = 0;
        this.update();
      } }, title);
      return { column, cell: make("th", { scope: "col" }, button) };
    }

    #asked() {
      const chosen = Object.fromEntries(Object.entries(this.choices).map(([name, choice]) => [name, choice.box.value]));
      return { text: this.text.value.trim(), ...chosen, op: this.op.value.trim(),
        open: this.open.box.checked ? "1" : "", validated: this.validated.box.checked ? "1" : "" };
    }

    restore(given) {
      this.text.value = given.get("text") ?? "";
      this.op.value = given.get("op") ?? "";
      for (const [name, choice] of Object.entries(this.choices)) choice.box.value = given.get(name) ?? "";
      for (const choice of Object.values(this.choices)) if (choice.box.selectedIndex < 0) choice.box.value = "";
      this.open.box.checked = given.get("open") === "1";
      this.validated.box.checked = given.get("validated") === "1";
      const sort = given.get("sort") ?? "";
      if (COLUMNS.some(([column]) => column === sort.replace("-", ""))) {
        [this.#column, this.#falling] = [sort.replace("-", ""), sort.startsWith("-")];
      }
      this.#page = Math.max(0, (Number.parseInt(given.get("page"), 10) || 1) - 1);
      this.update();
    }

    update() {
      const asked = this.#asked();
      this.#matches = F.table.sorted(F.table.filtered(this.#rows, asked), this.#column, this.#falling);
      const last = Math.max(0, Math.ceil(this.#matches.length / PAGE) - 1);
      this.#page = Math.min(this.#page, last);
      for (const head of this.heads) {
        const order = head.column !== this.#column ? "none" : this.#falling ? "descending" : "ascending";
        head.cell.setAttribute("aria-sort", order);
      }
      const from = this.#page * PAGE;
      const shown = this.#matches.slice(from, from + PAGE);
      this.body.replaceChildren(...shown.map(classRow));
      const place = shown.length < this.#matches.length ? `, ${from + 1} to ${from + shown.length} shown` : "";
      this.status.textContent = `${this.#matches.length} of ${this.#rows.length} classes${place}`;
      this.#turn(last);
      const sort = this.#column === "title" && !this.#falling ? "" : `${this.#falling ? "-" : ""}${this.#column}`;
      if (this.isUsed) F.address.writeSoon({ ...asked, sort, page: this.#page ? String(this.#page + 1) : "" });
    }

    #turn(last) {
      const to = (page, text) => make("button", { type: "button", disabled: page < 0 || page > last || page === this.#page, onclick: () => {
        this.#page = page;
        this.isUsed = true;
        this.update();
        this.element.scrollIntoView({ block: "start" });
        this.pages.querySelector("button:not([disabled])")?.focus({ preventScroll: true });
      } }, text);
      this.pages.hidden = last === 0;
      this.pages.replaceChildren(to(0, "First"), to(this.#page - 1, "Previous"),
        make("span", {}, `Page ${this.#page + 1} of ${last + 1}`), to(this.#page + 1, "Next"), to(last, "Last"));
    }
  }

  const labelled = (text, box) => make("div", { class: "fb-field" }, make("label", { for: box.id }, text), box);

  const checkbox = (text, changed) => {
    const box = make("input", { type: "checkbox", onchange: changed });
    return { box, field: make("label", { class: "fb-chip" }, box, text) };
  };

  /** Only addresses inside the site are followed. */
  const pageUrl = page => {
    const url = new URL(page, F.root);
    return url.origin === F.root.origin && url.protocol === F.root.protocol && url.pathname.startsWith(F.root.pathname) ? url.href : null;
  };

  const classRow = row => {
    const module = row.name.slice(0, -row.title.length - 1);
    return make("tr", {},
      make("th", { scope: "row" }, make("a", { href: pageUrl(row.page) }, row.title), make("small", {}, module)),
      make("td", {}, row.library),
      make("td", {}, make("span", { class: `fb-verdict fb-verdict-${/^[a-z]+$/.test(row.verdict) ? row.verdict : "other"}` }, row.verdict),
        row.validated ? make("small", {}, "checked by a person") : ""),
      make("td", {}, row.derived_by.join(", ") || "–"),
      make("td", { class: "fb-number" }, String(row.regimes)),
      make("td", { class: "fb-number" }, String(row.unresolved)));
  };

  F.component("fb-catalogue", async (element, data) => {
    let index;
    try {
      index = await F.load(data.index);
    } catch (error) {
      element.append(make("p", { class: "fb-problem" }, `The index of classes cannot be read: ${error.message}`));
      return;
    }
    const view = new View(index);
    view.restore(F.address.read() ?? new URLSearchParams());
    for (const kind of ["input", "change", "click"]) view.element.addEventListener(kind, () => { view.isUsed = true; }, true);
    element.replaceChildren(view.element);
  });
})();
