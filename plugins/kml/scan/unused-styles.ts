/** Shared styles that no feature uses: nothing of them is in the output. */

/** Of so many ids it is known whether they are used; of a document with more, nothing is said. */
const maxIds = 1 << 16;
const maxAliasSteps = 8;

export class StyleUsage {
  /** The styles that each one leads to, by ids: the normal one and the one for features that are pointed at. */
  private readonly targets = new Map<string, string[]>();
  private anonymous = 0;
  private isOverfull = false;

  /** A shared style is there, or a StyleMap; without an id, nothing can use it. */
  add(id: string): string[] | undefined {
    const known = this.targets.get(id);
    if (known) return known;
    if (id === "") this.anonymous++;
    else if (this.targets.size >= maxIds) this.isOverfull = true;
    else {
      const targets: string[] = [];
      this.targets.set(id, targets);
      return targets;
    }
    return undefined;
  }

  /** A StyleMap leads to another style. */
  link(id: string, target: string): void {
    this.add(id)?.push(target);
  }

  /** The ids of those that none of the features' leads to, and how many have no id; null where there are too many to tell. */
  unused(used: Iterable<string>): { readonly ids: readonly string[]; readonly anonymous: number } | null {
    if (this.isOverfull) return null;
    const reached = new Set<string>();
    const reach = (id: string, steps: number): void => {
      if (reached.has(id) || steps > maxAliasSteps) return;
      reached.add(id);
      for (const target of this.targets.get(id) ?? []) reach(target, steps + 1);
    };
    for (const id of used) reach(id, 0);
    return { ids: [...this.targets.keys()].filter((id) => !reached.has(id)), anonymous: this.anonymous };
  }
}
