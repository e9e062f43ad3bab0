import type { ReadContext } from "../../../src/plugin/format.js";
import type { XmlReader } from "../../shared/xml/reader.js";

/** The maximum number of names that are reported separately. */
const maxNames = 50;

const noNames: ReadonlySet<string> = new Set();

/** Reports elements and attributes that are left out: a loss or a notice for each name. */
export class DroppedReporter {
  private readonly names = new Set<string>();

  constructor(private readonly context: Pick<ReadContext, "reportLoss" | "reportNotice">) {}

  add(name: string): void {
    const example = "an element that geoferry does not support was left out";
    this.context.reportLoss("element-left-out", this.fieldOf(name), example);
  }

  /** Reports the attributes of the element opened last, except `kept`. An id is a notice, because it holds only a name. */
  attributes({ name, attributes }: XmlReader, kept = noNames): void {
    for (let a = 0; a < attributes.count; a++) {
      const { text, local, prefix, isDeclaration } = attributes.names[a]!;
      const isUnprefixed = prefix === "" || prefix === "kml";
      if (isDeclaration || prefix === "xsi" || (isUnprefixed && kept.has(local))) continue;
      const field = this.fieldOf(`${name.text} ${text}`);
      if (isUnprefixed && (local === "id" || local === "targetId")) {
        this.context.reportNotice(
          "attribute-left-out",
          field,
          "an id that nothing in the output refers to was left out",
        );
      } else
        this.context.reportLoss("element-left-out", field, "an attribute that geoferry does not support was left out");
    }
  }

  private fieldOf(name: string): string | undefined {
    if (this.names.size < maxNames) this.names.add(name);
    return this.names.has(name) ? name : undefined;
  }
}
