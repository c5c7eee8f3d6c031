// Whole numbers and fractions of any size in; their exact sums, products, quotients and order out.
// A rational is {n, d}: two BigInts without a common factor, d > 0.
(() => {
  "use strict";

  const gcd = (a, b) => {
    if (a < 0n) a = -a;
    while (b) [a, b] = [b, a % b];
    return a;
  };

  const whole = n => ({ n: BigInt(n), d: 1n });

  /** n / d in lowest terms; a RangeError where d is zero. */
  const ratio = (n, d) => {
    if (d === 1n) return { n, d };
    if (d === 0n) throw new RangeError("division by zero");
    if (d < 0n) [n, d] = [-n, -d];
    const common = gcd(d, n < 0n ? -n : n);
    return common === 1n ? { n, d } : { n: n / common, d: d / common };
  };

  /** The quotient of two BigInts rounded towards minus infinity, as Python's `//`; BigInt's `/` cuts off. */
  const floorQuotient = (a, b) => {
    if (b === 0n) throw new RangeError("division by zero");
    const quotient = a / b;
    return a % b !== 0n && (a < 0n) !== (b < 0n) ? quotient - 1n : quotient;
  };

  const add = (a, b) =>
    a.d === 1n && b.d === 1n ? { n: a.n + b.n, d: 1n } : ratio(a.n * b.d + b.n * a.d, a.d * b.d);
  const negative = a => ({ n: -a.n, d: a.d });
  const times = (a, b) => ratio(a.n * b.n, a.d * b.d);
  const over = (a, b) => ratio(a.n * b.d, a.d * b.n);
  const floor = a => whole(floorQuotient(a.n, a.d));
  const ceil = a => whole(-floorQuotient(-a.n, a.d));
  const floorOver = (a, b) => whole(floorQuotient(a.n * b.d, a.d * b.n));
  const ceilOver = (a, b) => negative(floorOver(negative(a), b));
  const modulo = (a, b) => add(a, negative(times(floorOver(a, b), b)));

  /** -1, 0 or 1 as a is less than, equal to or greater than b. */
  const compare = (a, b) => {
    const left = a.n * b.d;
    const right = b.n * a.d;
    return left < right ? -1 : left > right ? 1 : 0;
  };

  /** The logarithm to base 10 of a positive rational, as a double: for places in a plot, never for amounts. */
  const log10 = a => {
    const big = n => {
      const digits = n.toString();
      return Math.log10(Number(digits.slice(0, 17))) + Math.max(0, digits.length - 17);
    };
    return big(a.n) - big(a.d);
  };

  (globalThis.forwardbook ??= {}).rational = Object.freeze({
    whole, ratio, add, negative, times, over, floor, ceil, floorOver, ceilOver, modulo, compare, log10,
    floorQuotient, zero: whole(0), one: whole(1),
  });
})();
