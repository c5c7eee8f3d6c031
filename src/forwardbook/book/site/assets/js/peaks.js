// Work of a call and the table of devices in; the least time that each device needs, and what bounds it, out.
// The twin of forwardbook/models/roofline.py.
(() => {
  "use strict";
  const F = globalThis.forwardbook;
  const R = F.rational;

  /** One device of the table, its peaks as rationals. */
  class Device {
    constructor(data, formats) {
      this.id = data.id;
      this.name = data.name;
      this.flops = Object.fromEntries(Object.entries(data.flops).map(([format, peak]) => [format, R.whole(peak)]));
      this.bandwidth = R.whole(data.bandwidth);
      this.formats = formats;
    }

    /** The narrowest format of arithmetic that holds operands of so many bits; the slowest where none does. */
    formatFor(bits) {
      for (const [width, names] of this.formats) {
        const found = names.find(name => name in this.flops);
        if (width >= bits && found) return found;
      }
      return Object.keys(this.flops).reduce((best, name) =>
        R.compare(this.flops[name], this.flops[best]) < 0 ? name : best);
    }

    /** The roof for operands of so many bits: format, flop/s, bytes/s, and the flops per byte where they meet. */
    roof(bits) {
      const format = this.formatFor(bits);
      const peak = this.flops[format];
      return { device: this, format, peak, bandwidth: this.bandwidth, ridge: R.over(peak, this.bandwidth) };
    }
  }

  /** Seconds of flops and bytes (rationals) under a roof, and which of the two is the bound. */
  const timing = (flops, bytes, roof) => {
    const compute = R.over(flops, roof.peak);
    const moving = R.over(bytes, roof.bandwidth);
    const isCompute = R.compare(compute, moving) >= 0;
    const seconds = isCompute ? compute : moving;
    return { seconds, bound: seconds.n === 0n ? "none" : isCompute ? "compute" : "bandwidth" };
  };

  /** The same of a point whose `parts` run one after another: the sum of their times; the bound is of the whole. */
  const timingOf = (point, roof) => {
    const whole = timing(point.flops, point.bytes, roof);
    if (!point.parts?.length) return whole;
    const spent = point.parts.map(part => R.times(timing(part.flops, part.bytes, roof).seconds, R.whole(part.times)));
    return { seconds: spent.reduce(R.add, R.whole(0)), bound: whole.bound };
  };

  /** A point of the page's data with its amounts as rationals. */
  const pointOf = ({ name, flops, bytes, parts }) => ({
    name, flops: R.whole(flops), bytes: R.whole(bytes),
    parts: parts.map(([times, ...work]) => ({ times, flops: R.whole(work[0]), bytes: R.whole(work[1]) })),
  });

  /** flop/s that a roof allows at so many flops per byte. */
  const attainable = (intensity, roof) => {
    const moved = R.times(intensity, roof.bandwidth);
    return R.compare(moved, roof.peak) < 0 ? moved : roof.peak;
  };

  const devicesOf = table => table.devices.map(data => new Device(data, table.formats));

  F.peaks = Object.freeze({ devicesOf, timing, timingOf, pointOf, attainable });
})();
