/** Shares out parallel lanes to stretches that must not lie on each other. Knows no axes. */

interface Stretch {
  low: number;
  high: number;
  order: number;
}

/** Stretches of one net (one source) share a lane; different nets that overlap get different ones. */
export class Lanes {
  private readonly stretches = new Map<number, Stretch>();
  private readonly lanes = new Map<number, number>();
  count = 0;

  /** `order`: which net is to have the lower lane where there is a choice. */
  claim(net: number, a: number, b: number, order = 0): void {
    const low = Math.min(a, b);
    const high = Math.max(a, b);
    const known = this.stretches.get(net);
    if (known === undefined) this.stretches.set(net, { low, high, order });
    else {
      known.low = Math.min(known.low, low);
      known.high = Math.max(known.high, high);
    }
  }

  /** To be called once, after the last claim. `clearance` is kept between two stretches in one lane. */
  settle(clearance: number): void {
    const waiting = [...this.stretches].sort(([, a], [, b]) => a.order - b.order || a.low - b.low);
    const taken: Stretch[][] = [];
    for (const [net, stretch] of waiting) {
      const free = (lane: Stretch[]): boolean =>
        lane.every((other) => other.high + clearance <= stretch.low || stretch.high + clearance <= other.low);
      let lane = taken.findIndex(free);
      if (lane < 0) lane = taken.push([]) - 1;
      taken[lane]!.push(stretch);
      this.lanes.set(net, lane);
    }
    this.count = taken.length;
  }

  of(net: number): number {
    return this.lanes.get(net) ?? 0;
  }
}
