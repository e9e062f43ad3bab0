/** Finds shared styles that no feature uses: they are not in the output. */

/** The maximum number of ids that are tracked; for a document with more, unused styles are not reported. */
const maxIds = 1 << 16;
const maxAliasSteps = 8;

export class StyleUsage {
  /** The styles that each StyleMap refers to, by id: the normal one and the one for highlighted features. */
  private readonly targets = new Map<string, string[]>();
  private anonymous = 0;
  private isOverfull = false;

  /** Adds a shared style or StyleMap; without an id, no feature can use it. */
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

  /** Adds a reference from a StyleMap to a style. */
  link(id: string, target: string): void {
    this.add(id)?.push(target);
  }

  /** Returns the ids of styles that no feature's style refers to, and the number without an id; null for too many styles. */
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
