// Amounts as people write them in; whole numbers out, and the other way round. No digit is ever rounded on the way in.
(() => {
  "use strict";
  const F = globalThis.forwardbook;
  const R = F.rational;

  const STEPS = { "": 1n, k: 10n ** 3n, m: 10n ** 6n, g: 10n ** 9n, b: 10n ** 9n, t: 10n ** 12n,
    ki: 1n << 10n, mi: 1n << 20n, gi: 1n << 30n, ti: 1n << 40n };
  const WRITTEN = /^([0-9]+)(?:\.([0-9]+))?(?:e\+?([0-9]{1,3})|(k|m|g|b|t|ki|mi|gi|ti)?)$/;
  const MAX_CHARACTERS = 120;

  /** `8192`, `8_192`, `8 192`, `8k`, `8Ki`, `1.5M`, `1e12` as a BigInt; a RangeError says what is wrong. */
  const read = text => {
    const plain = text.replace(/[\s_,]/g, "").toLowerCase();
    const match = plain.length <= MAX_CHARACTERS ? WRITTEN.exec(plain) : null;
    if (!match) throw new RangeError("a whole number is expected, such as 4096, 8_192, 8Ki or 1e12");
    const [, whole, decimals = "", exponent = "0", unit = ""] = match;
    const value = R.ratio(
      BigInt(whole + decimals) * 10n ** BigInt(exponent) * STEPS[unit], 10n ** BigInt(decimals.length));
    if (value.d !== 1n) throw new RangeError(`${text.trim()} is not a whole number`);
    return value.n;
  };

  /** All digits; what is no whole number rounded up, as bytes of elements narrower than a byte are. */
  const digits = value => R.ceil(value).n.toString();

  /** `count` significant digits, exact and half to even, without an exponent: for values from 1 to 10^6 or so. */
  const significant = (value, count = 4) => {
    if (value.n === 0n) return "0";
    const sign = value.n < 0n ? "-" : "";
    const size = value.n < 0n ? R.negative(value) : value;
    let places = count - 1 - magnitude(size);
    let rounded = halfEven(size, places);
    if (rounded >= 10n ** BigInt(count)) rounded = halfEven(size, --places);
    if (places <= 0) return `${sign}${rounded * 10n ** BigInt(-places)}`;
    const text = rounded.toString().padStart(places + 1, "0");
    return `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
  };

  /** The exponent of ten: 10^m <= value < 10^(m + 1). */
  const magnitude = value => {
    let guess = value.n.toString().length - value.d.toString().length;
    while (R.compare(value, power(guess)) < 0) guess--;
    while (R.compare(value, power(guess + 1)) >= 0) guess++;
    return guess;
  };

  const power = exponent =>
    exponent >= 0 ? R.whole(10n ** BigInt(exponent)) : R.ratio(1n, 10n ** BigInt(-exponent));

  const halfEven = (value, places) => {
    const moved = R.times(value, power(places));
    const below = R.floor(moved);
    const twice = R.compare(R.times(R.add(moved, R.negative(below)), R.whole(2)), R.one);
    return twice > 0 || (twice === 0 && below.n % 2n !== 0n) ? below.n + 1n : below.n;
  };

  const NAMES = { op: ["", "k", "M", "G", "T", "P", "E", "Z", "Y"], B: ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"] };

  /** A short form with a unit: operations by thousands (`1.72 T`), bytes by 1024 (`16.5 GiB`). */
  const scaled = (value, unit) => {
    const step = R.whole(unit === "B" ? 1024 : 1000);
    const names = NAMES[unit];
    let [size, place] = [value, 0];
    while (place < names.length - 1 && R.compare(size, step) >= 0) [size, place] = [R.over(size, step), place + 1];
    const text = place === 0 && size.d === 1n ? size.n.toString() : significant(size);
    return text.length > 9 ? `${exponential(value)}${unit === "B" ? " B" : ""}` : `${text} ${names[place]}`.trim();
  };

  /** `1.234e45`, for what has no unit any more. */
  const exponential = value => {
    if (value.n === 0n) return "0";
    const exponent = magnitude(value);
    return `${significant(R.times(value, power(-exponent)))}e${exponent}`;
  };

  /** Seconds in the unit that people would use. */
  const seconds = value => {
    for (const [unit, size] of [["s", 0], ["ms", 3], ["µs", 6]]) {
      const found = R.times(value, power(size));
      if (R.compare(found, R.one) >= 0) return `${found.n > found.d * 10n ** 9n ? exponential(found) : significant(found)} ${unit}`;
    }
    return `${significant(R.times(value, power(9)))} ns`;
  };

  F.amounts = Object.freeze({ read, digits, significant, scaled, seconds, exponential });
})();
