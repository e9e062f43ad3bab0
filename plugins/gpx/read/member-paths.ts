import type { XmlPathStep } from "../../../src/model/index.js";
import type { ValuePath } from "./paths.js";

/** The elements that values of points or segments came from, by the names of the values (`Field.members`). */
export class MemberPaths {
  /** Null for a name that several elements share. */
  private readonly paths = new Map<string, ValuePath | null>();
  private known = "";

  add(name: string, path: ValuePath): void {
    const other = this.paths.get(name);
    this.paths.set(name, other === undefined || other === path ? path : null);
  }

  /** Whether a name was added or became shared since the last call. */
  change(): boolean {
    const now = JSON.stringify(this.steps ?? null);
    const isNew = now !== this.known;
    this.known = now;
    return isNew;
  }

  /** The element paths by name; undefined where no value comes from an element of another namespace. */
  get steps(): Readonly<Record<string, readonly XmlPathStep[]>> | undefined {
    const entries = [...this.paths].flatMap(([name, path]) => (path?.steps ? [[name, path.steps] as const] : []));
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  }
}
