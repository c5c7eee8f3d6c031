// The rows of the catalogue and what a reader asks for in; the rows that match, in the order asked for, out.
(() => {
  "use strict";

  /** Rows as objects by the names of the columns; places in the list of operations become their names. */
  const readIndex = index => index.rows.map(cells => {
    const row = Object.fromEntries(index.columns.map((name, place) => [name, cells[place]]));
    row.title = row.name.slice(row.name.lastIndexOf(".") + 1); // the class without its module
    row.ops = (row.ops ?? []).map(place => index.ops[place]);
    row.words = [row.name, row.key, row.library].join(" ").toLowerCase();
    return row;
  });

  const TESTS = {
    text: (row, wanted) => wanted.toLowerCase().split(/\s+/).every(word => row.words.includes(word)),
    library: (row, wanted) => row.library === wanted,
    verdict: (row, wanted) => row.verdict === wanted,
    derivation: (row, wanted) => (wanted === "none" ? row.derived_by.length === 0 : row.derived_by.includes(wanted)),
    op: (row, wanted) => row.ops.some(op => op === wanted || op.startsWith(wanted)),
    open: row => row.unresolved > 0,
    validated: row => row.validated === true,
  };

  /** The rows that pass every question; `asked` maps a name of TESTS to what is wanted, empty for anything. */
  const filtered = (rows, asked) => {
    const tests = Object.entries(asked).filter(([name, wanted]) => wanted && name in TESTS);
    return rows.filter(row => tests.every(([name, wanted]) => TESTS[name](row, wanted.trim?.() ?? wanted)));
  };

  const compared = (left, right) =>
    typeof left === "number" ? left - right : String(left).localeCompare(String(right), "en", { numeric: true });

  /** The rows by a column, equal ones by class name; `falling` turns the order round. */
  const sorted = (rows, column, falling) => {
    const sign = falling ? -1 : 1;
    return [...rows].sort((a, b) => sign * compared(a[column], b[column]) || compared(a.title, b.title) || compared(a.key, b.key));
  };

  /** The different values of a column with how often each occurs, frequent ones first. */
  const counts = (rows, column) => {
    const found = new Map();
    for (const row of rows) for (const value of [row[column]].flat()) found.set(value, (found.get(value) ?? 0) + 1);
    return [...found].sort((a, b) => b[1] - a[1] || compared(a[0], b[0]));
  };

  globalThis.forwardbook.table = Object.freeze({ readIndex, filtered, sorted, counts });
})();
