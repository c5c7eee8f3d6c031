// The regimes of a class and sizes in; the costs in the regime that holds, or why none does, out.
// The twin of forwardbook/calculator/choice.py: the same regime is chosen, for the same reasons.
(() => {
  "use strict";
  const F = globalThis.forwardbook;

  // bytes of an element may be given to every class, also to one whose cost does not depend on them
  const WIDTHS = new Set(["w_dtype_bytes", "a_dtype_bytes", "kv_dtype_bytes"]);

  /** No regime holds; `reasons` says for each regime what fails, as [{regime, problems}]. */
  class OutsideRegimes extends Error {
    name = "OutsideRegimes";

    constructor(reasons) {
      super(`no regime holds: ${reasons.map(each => `${each.regime}: ${each.problems.join("; ")}`).join(" | ")}`);
      this.reasons = reasons;
    }
  }

  const dividesByZero = error => error instanceof F.FormulaError && error.message === "division by zero";
  const isFraction = sizes => [...sizes.values()].some(size => size.d !== 1n);
  const shown = size => (size.d === 1n ? `${size.n}` : `${size.n}/${size.d}`);

  class Regime {
    constructor(data) {
      this.name = data.name;
      this.context = data.context || "";
      this.parameters = data.parameters;
      this.conditions = data.conditions;
      this.formulas = data.formulas;
      this.parts = data.parts ?? [];
      this.together = data.together ?? 0;
    }

    /** Formulas are simplified for sizes from 1 on; 0 only where a condition allows it. */
    least(name) {
      return this.conditions.includes(`{${name}} >= 0`) ? 0n : 1n;
    }

    takes(sizes) {
      return this.parameters.every(name => sizes.has(name)) &&
        [...sizes.keys()].every(name => this.parameters.includes(name) || WIDTHS.has(name));
    }

    /** The sizes that count here, given or not. */
    #small(sizes) {
      return this.parameters
        .filter(name => sizes.get(name).d === 1n && sizes.get(name).n < this.least(name))
        .map(name => `{${name}} must be at least ${this.least(name)}, not ${shown(sizes.get(name))}`);
    }

    #failing(sizes) {
      try {
        const exact = isFraction(sizes);
        return this.conditions
          .filter(text => !F.condition(text).holds(sizes, exact))
          .map(text => `${text} does not hold`);
      } catch (error) {
        if (dividesByZero(error)) return ["a condition divides by zero"];
        throw error;
      }
    }

    holds(sizes) {
      return this.#small(sizes).length === 0 && this.#failing(sizes).length === 0;
    }

    problems(sizes, isForced) {
      const missing = this.parameters.filter(name => !sizes.has(name)).map(name => `{${name}}`);
      const foreign = [...sizes.keys()]
        .filter(name => !this.parameters.includes(name) && !WIDTHS.has(name))
        .map(name => `{${name}}`);
      const found = missing.length ? [`missing ${missing.join(", ")}`] : [];
      if (foreign.length && !isForced) found.push(`does not depend on ${foreign.join(", ")}`);
      if (missing.length) return found;
      const small = this.#small(sizes);
      return [...found, ...(small.length ? small : this.#failing(sizes))];
    }
  }

  class Calculator {
    constructor(regimes) {
      this.regimes = regimes.map(data => new Regime(data));
    }

    named(name) {
      const found = this.regimes.find(regime => regime.name === name);
      if (!found) throw new RangeError(`there is no regime '${name}'`);
      return found;
    }

    /** The regime for these sizes (a Map of rationals); `name` forces one, which then ignores names of the others. */
    chosen(sizes, name = "") {
      const candidates = name
        ? [this.named(name)].filter(regime => regime.parameters.every(each => sizes.has(each)))
        : this.regimes.filter(regime => regime.takes(sizes));
      const found = candidates.find(regime => regime.holds(sizes));
      if (found) return found;
      const asked = name ? [this.named(name)] : this.regimes;
      throw new OutsideRegimes(
        asked.map(regime => ({ regime: regime.name, problems: regime.problems(sizes, name !== "") })));
    }

    /** All quantities of one call as rationals by name, and the regime that gave them. */
    costsAt(given, name = "") {
      const sizes = F.asSizes(given);
      const regime = this.chosen(sizes, name);
      const parts = regime.parts.map(({ times, flops, moved }) => ({ times, ...valuesOf({ flops, bytes: moved }, sizes) }));
      return { regime, sizes, values: valuesOf(regime.formulas, sizes), parts };
    }
  }

  /** Each formula of an object at the sizes, in the same object form. */
  const valuesOf = (formulas, sizes) => {
    const exact = isFraction(sizes);
    return Object.fromEntries(
      Object.entries(formulas).map(([quantity, text]) => [quantity, F.formula(text).at(sizes, exact)]));
  };

  Object.assign(F, { Calculator, OutsideRegimes, valuesOf });
})();
