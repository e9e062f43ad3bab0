import type { ReadContext } from "../../src/plugin/format.js";

/** So many names of elements that are left out are reported one by one. */
const mostNames = 50;

/** Reports elements of which nothing is kept: a loss for each name. */
export class LeftOut {
  private readonly names = new Set<string>();

  constructor(private readonly context: Pick<ReadContext, "lose">) {}

  add(name: string): void {
    const { names } = this;
    if (names.size < mostNames) names.add(name);
    const example = "an element that geoferry has no place for was left out";
    this.context.lose("element-left-out", names.has(name) ? name : undefined, example);
  }
}
