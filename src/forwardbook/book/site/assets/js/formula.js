// Text of the formula language in; its exact value at sizes given by name out. The twin of
// forwardbook/formula/parsing.py and forwardbook/generate/python_code.py: the same texts are formulas, with the same values.
(() => {
  "use strict";
  const R = globalThis.forwardbook.rational;

  const TOKEN = /\{[A-Za-z_][A-Za-z0-9_.]*\}|[0-9]+|ceil\b|floor\b|min\b|max\b|\/\/|==|!=|<=|>=|[-+*/%(),<>]/y;
  const SPACE = /[ \t\r\n]*/y;
  const COMPARISONS = {
    "==": order => order === 0, "!=": order => order !== 0, "<": order => order < 0,
    "<=": order => order <= 0, ">": order => order > 0, ">=": order => order >= 0,
  };
  // forwardbook/formula/limits.py
  const MAX_TEXT = 200_000;
  const MAX_DEPTH = 120;
  const MAX_LITERAL = 100;
  const MAX_ARGUMENTS = 256;

  /** A text that is no formula, or a formula without a value; the message says what and where. */
  class FormulaError extends Error {
    name = "FormulaError";
  }

  const brief = text => `'${text.length <= 80 ? text : `${text.slice(0, 80)}...`}'`;

  const tokens = text => {
    if (typeof text !== "string") throw new FormulaError(`a formula must be text, found ${typeof text}`);
    if (text.length > MAX_TEXT) throw new FormulaError(`a formula of ${text.length} characters exceeds the limit of ${MAX_TEXT}`);
    const found = [];
    const afterSpace = place => {
      SPACE.lastIndex = place;
      return place + SPACE.exec(text)[0].length;
    };
    let place = afterSpace(0);
    while (place < text.length) {
      TOKEN.lastIndex = place;
      const match = TOKEN.exec(text);
      if (!match) throw new FormulaError(`'${text[place]}' at character ${place} of ${brief(text)} is not part of a formula`);
      found.push([match[0], place]);
      place = afterSpace(TOKEN.lastIndex);
    }
    found.push(["", text.length]);
    return found;
  };

  /** A recursive descent; a node is a function from (sizes, exact) to a rational. */
  class Parser {
    #text;
    #tokens;
    #next = 0;
    #depth = 0;
    #parts = 0; // of the sum read last
    names = new Set();

    constructor(text) {
      this.#text = text;
      this.#tokens = tokens(text);
    }

    peek() {
      return this.#tokens[this.#next][0];
    }

    take() {
      const token = this.peek();
      this.#next = Math.min(this.#next + 1, this.#tokens.length - 1);
      return token;
    }

    error(expected) {
      const [token, place] = this.#tokens[Math.max(this.#next - 1, 0)];
      const found = token ? `'${token}'` : "the end";
      return new FormulaError(`${expected} was expected at character ${place} of ${brief(this.#text)}, found ${found}`);
    }

    expect(token) {
      if (this.take() !== token) throw this.error(`'${token}'`);
    }

    finish() {
      if (this.take()) throw this.error("an operator or the end");
    }

    sum() {
      if (++this.#depth > MAX_DEPTH) throw new FormulaError(`more than ${MAX_DEPTH} parentheses are nested in ${brief(this.#text)}`);
      const parts = [this.product()];
      while (this.peek() === "+" || this.peek() === "-") {
        const sign = this.take();
        const part = this.product();
        parts.push(sign === "+" ? part : (sizes, exact) => R.negative(part(sizes, exact)));
      }
      this.#depth--;
      this.#parts = parts.length;
      if (parts.length === 1) return parts[0];
      return (sizes, exact) => parts.reduce((total, part) => R.add(total, part(sizes, exact)), R.zero);
    }

    product() {
      const first = this.signed();
      const rest = [];
      while (["*", "//", "%"].includes(this.peek())) rest.push([this.take(), this.signed()]);
      if (!rest.length) return first;
      return (sizes, exact) => {
        let value = first(sizes, exact);
        for (const [sign, factor] of rest) value = combined(value, sign, factor(sizes, exact), exact);
        return value;
      };
    }

    signed() {
      let isNegative = false;
      while (this.peek() === "+" || this.peek() === "-") isNegative = (this.take() === "-") !== isNegative;
      const value = this.unit();
      return isNegative ? (sizes, exact) => R.negative(value(sizes, exact)) : value;
    }

    unit() {
      const token = this.take();
      if (token[0] === "{") return this.symbol(token.slice(1, -1));
      if (/^[0-9]/.test(token)) {
        if (token.length > MAX_LITERAL) throw new FormulaError(`an integer of ${token.length} digits exceeds the limit of ${MAX_LITERAL}`);
        const value = R.whole(token);
        return () => value;
      }
      if (token === "(") {
        const value = this.sum();
        this.expect(")");
        return value;
      }
      if (token === "ceil" || token === "floor") return this.rounded(token);
      if (token === "min" || token === "max") return this.extreme(token);
      throw this.error("a number, a {name}, a function or a parenthesis");
    }

    symbol(name) {
      this.names.add(name);
      return sizes => {
        const value = sizes.get(name);
        if (value === undefined) {
          const given = [...sizes.keys()].sort().slice(0, 20).join(", ") || "nothing";
          throw new FormulaError(`no value for {${name}}; values were given for ${given}`);
        }
        return value;
      };
    }

    rounded(name) {
      this.expect("(");
      let value = this.sum();
      const isOpenSum = this.#parts > 1;
      if (this.peek() === "/") {
        // a sum in front of the slash would read as a + (b / c)
        this.take();
        if (isOpenSum) throw this.error("a parenthesis around the sum before '/'");
        const above = value;
        const below = this.signed();
        const round = name === "floor" ? R.floorOver : R.ceilOver;
        value = (sizes, exact) => divided(round, above(sizes, exact), below(sizes, exact));
      }
      this.expect(")");
      return value;
    }

    extreme(name) {
      this.expect("(");
      const values = [this.sum()];
      while (this.peek() === ",") {
        this.take();
        values.push(this.sum());
        if (values.length > MAX_ARGUMENTS) throw new FormulaError(`${name} of more than ${MAX_ARGUMENTS} arguments in ${brief(this.#text)}`);
      }
      this.expect(")");
      const wanted = name === "max" ? 1 : -1;
      return (sizes, exact) =>
        values.map(value => value(sizes, exact)).reduce((best, value) => (R.compare(value, best) === wanted ? value : best));
    }
  }

  const divided = (round, above, below) => {
    if (below.n === 0n) throw new FormulaError("division by zero");
    return round(above, below);
  };

  const combined = (left, sign, right, exact) => {
    if (sign === "*") return R.times(left, right);
    return divided(sign === "%" ? R.modulo : exact ? R.over : R.floorOver, left, right);
  };

  /** Sizes as a Map of rationals, from a Map or an object of BigInts, whole numbers, decimal strings or rationals. */
  const asSizes = given => {
    const sizes = new Map();
    for (const [name, value] of given instanceof Map ? given : Object.entries(given)) {
      const size = typeof value === "object" ? value : R.whole(value);
      if (size.n < 0n) throw new FormulaError(`the value of {${name}} must be at least 0, found ${size.n}`);
      sizes.set(name, size);
    }
    return sizes;
  };

  /** A formula read once. `//` rounds down; with `exact` it divides, as it does where widths are fractions. */
  class Formula {
    #value;

    constructor(text) {
      const parser = new Parser(text);
      this.#value = parser.sum();
      parser.finish();
      this.names = parser.names;
    }

    at(sizes, exact = false) {
      return this.#value(asSizes(sizes), exact);
    }
  }

  /** Two formulas with a comparison between them. */
  class Condition {
    #left;
    #right;
    #holds;

    constructor(text) {
      const parser = new Parser(text);
      this.#left = parser.sum();
      const sign = parser.take();
      if (!Object.hasOwn(COMPARISONS, sign)) throw parser.error("a comparison");
      this.#holds = COMPARISONS[sign];
      this.#right = parser.sum();
      parser.finish();
      this.names = parser.names;
    }

    holds(sizes, exact = false) {
      const given = asSizes(sizes);
      return this.#holds(R.compare(this.#left(given, exact), this.#right(given, exact)));
    }
  }

  const remembered = kind => {
    const known = new Map();
    return text => {
      if (!known.has(text)) known.set(text, new kind(text));
      return known.get(text);
    };
  };

  Object.assign(globalThis.forwardbook, {
    FormulaError,
    asSizes,
    formula: remembered(Formula),
    condition: remembered(Condition),
  });
})();
