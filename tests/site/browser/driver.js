// Cases as JSON in, the answers of the site's scripts as JSON out.
globalThis.driver = (() => {
  const F = (globalThis.forwardbook = {});
  const text = value => (value.d === 1n ? `${value.n}` : `${value.n}/${value.d}`);
  const rational = written => {
    const [n, d = "1"] = String(written).split("/");
    return F.rational.ratio(BigInt(n), BigInt(d));
  };
  const sizes = given => new Map(Object.entries(given).map(([name, value]) => [name, rational(value)]));
  const texts = values => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, text(value)]));
  const timesOf = (table, bits, point) => F.peaks.devicesOf(table).map(device => {
    const { seconds, bound } = F.peaks.timingOf(point, device.roof(bits));
    return [Number((seconds.n * 10n ** 30n) / seconds.d) / 1e30, bound];
  });
  const functions = {
    value: ({ formula, sizes: given, exact = false }) => text(F.formula(formula).at(sizes(given), exact)),
    values: ({ formulas, sizes: given }) => {
      const at = sizes(given);
      return formulas.map(formula => guarded(() => text(F.formula(formula).at(at))));
    },
    holds: ({ conditions, sizes: given }) => {
      const at = sizes(given);
      return conditions.map(condition => guarded(() => F.condition(condition).holds(at)));
    },
    costs: ({ regimes, sizes: given, regime = "" }) => {
      try {
        const found = new F.Calculator(regimes).costsAt(sizes(given), regime);
        return { regime: found.regime.name, values: texts(found.values) };
      } catch (error) {
        if (!(error instanceof F.OutsideRegimes)) throw error;
        return { reasons: error.reasons };
      }
    },
    read: written => F.amounts.read(written).toString(),
    digits: value => F.amounts.digits(rational(value)),
    significant: ({ value, count }) => F.amounts.significant(rational(value), count),
    scaled: ({ value, unit }) => F.amounts.scaled(rational(value), unit),
    timing: ({ table, bits, flops, bytes }) => F.peaks.devicesOf(table).map(device => {
      const roof = device.roof(bits);
      const { seconds, bound } = F.peaks.timing(rational(flops), rational(bytes), roof);
      return [roof.format, text(roof.ridge), text(seconds), bound];
    }),
    callTimes: ({ table, bits, regimes, sizes: given }) => {
      const { values, parts } = new F.Calculator(regimes).costsAt(sizes(given));
      const point = { flops: values.flops, bytes: F.rational.add(values.reads, values.writes), parts };
      return timesOf(table, bits, point);
    },
    pointTimes: ({ table, bits, point }) => timesOf(table, bits, F.peaks.pointOf(point)),
    table: ({ index, asked, column, falling }) => {
      const { readIndex, filtered, sorted } = F.table;
      return sorted(filtered(readIndex(index), asked), column, falling).map(row => row.key);
    },
    seconds: value => F.amounts.seconds(rational(value)),
  };
  const guarded = answer => {
    try {
      return answer();
    } catch (error) {
      return { error: error.message, kind: error.name };
    }
  };
  return { functions, rational, text, each: (name, cases) => JSON.stringify(JSON.parse(cases).map(one => guarded(() => functions[name](one)))) };
})();
