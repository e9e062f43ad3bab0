/** Names of values by the paths of their elements. */
import type { XmlName } from "../../shared/xml/reader.js";
import { derivedFields, garminNamespaces, knownValues, Owner, positionRoles, Role } from "../elements.js";

/** The maximum number of paths; a file with more uses values as names. */
const maxPaths = 2048;
/** Elements that only group others: they are not part of a path. */
const groups = new Set(["Extensions", "Value"]);
/** Those of ActivityExtension v2. */
const extensionGroups = new Set(["TPX", "LX", "CX"]);

/** The path of an element or attribute in an activity, a lap, a trackpoint … */
export interface ValuePath {
  /** Its number among all paths. */
  readonly index: number;
  /** The name of its field, or of its array if it is in a trackpoint. */
  readonly name: string;
  /** Whether it is part of a position: a `Role`. */
  readonly role: number;
  /** The path as in `knownValues`; a foreign element has its prefix. */
  readonly steps: string;
  /** What the names of its children begin with. */
  readonly prefix: string;
  readonly children: Map<string, ValuePath>;
  readonly attributes: Map<string, ValuePath>;
}

const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

export class ValuePaths {
  private count = 0;
  private readonly roots: ValuePath[];

  constructor() {
    this.roots = Object.values(Owner).map(() => this.make("", "", ""));
  }

  /** The path of an owner itself, whose children are values. */
  root(owner: number): ValuePath {
    return this.roots[owner]!;
  }

  /** The path of an element in another; null if there are too many. */
  child(owner: number, parent: ValuePath, name: XmlName, namespace: string | null): ValuePath | null {
    const known = parent.children.get(name.text);
    if (known) return known;
    const isGarmin = namespace === null ? name.prefix === "" : namespace === "" || garminNamespaces.test(namespace);
    const isGroup = isGarmin && (groups.has(name.local) || extensionGroups.has(name.local));
    const step = isGarmin ? name.local : `${name.prefix || "other"}:${name.local}`;
    const own = isGarmin ? lowerFirst(name.local) : name.prefix === "" ? name.local : `${name.prefix}_${name.local}`;
    const made = isGroup
      ? this.add(owner, parent.steps, parent.prefix, parent.prefix)
      : this.add(owner, parent.steps === "" ? step : `${parent.steps}/${step}`, join(parent.prefix, own), own);
    if (made) parent.children.set(name.text, made);
    return made;
  }

  /** The path of an attribute; null if there are too many. */
  attribute(owner: number, element: ValuePath, name: XmlName): ValuePath | null {
    const known = element.attributes.get(name.text);
    if (known) return known;
    const steps = element.steps === "" ? `@${name.local}` : `${element.steps}/@${name.local}`;
    const made = this.add(owner, steps, join(element.prefix, lowerFirst(name.local)), name.local);
    if (made) element.attributes.set(name.text, made);
    return made;
  }

  private add(owner: number, steps: string, prefix: string, own: string): ValuePath | null {
    if (this.count >= maxPaths) return null;
    const values = knownValues[owner]!;
    if (Object.hasOwn(values, steps)) return this.make(values[steps]!.name, steps, prefix);
    const whole = prefix === "" ? own : prefix;
    const name = derivedFields.has(whole) ? `${whole}_1` : whole;
    return this.make(owner === Owner.trackpoint ? `${name}s` : name, steps, prefix, roleOf(owner, steps));
  }

  private make(name: string, steps: string, prefix: string, role: number = Role.value): ValuePath {
    return { index: this.count++, name, role, steps, prefix, children: new Map(), attributes: new Map() };
  }
}

const join = (prefix: string, name: string): string => (prefix === "" ? name : `${prefix}_${name}`);

const roleOf = (owner: number, steps: string): number =>
  (owner === Owner.trackpoint || owner === Owner.coursePoint) && Object.hasOwn(positionRoles, steps)
    ? positionRoles[steps]!
    : Role.value;
