import { isUtf8 } from "node:buffer";
import type { ReadContext } from "../../../src/plugin/format.js";
import { forbiddenControls } from "./bytes.js";
import { EntityError, XmlEntities } from "./entities.js";
import type { XmlWindow } from "./window.js";

const repairMessages = {
  "bare-ampersand": "an & without a reference was kept as a literal ampersand",
  "entity-unknown": "a reference to an undeclared entity was kept as text",
  "control-character": "a character that XML does not allow was removed",
  "invalid-utf8": "bytes that are invalid in the encoding became U+FFFD",
  "attribute-repeated": "an attribute is repeated in one tag; its first value was used",
} as const;
type XmlRepair = keyof typeof repairMessages;

const controls = new RegExp(`[${forbiddenControls}]`, "g");

/** Resolves references, and repairs flaws that leave the meaning clear. */
export class XmlReferenceResolver {
  private readonly entities = new XmlEntities();
  private readonly flaws = new Map<XmlRepair, { count: number; readonly byte: number }>();

  constructor(
    private readonly window: XmlWindow,
    private readonly context: Pick<ReadContext, "reportLoss" | "reportNotice">,
  ) {}

  /** Reads the entities of a document type. */
  declare(doctype: string): void {
    this.entities.declare(doctype);
  }

  /** Resolves the references in a text that begins at `at`. A reference that cannot be resolved is damage. */
  resolve(raw: string, at: number): string {
    return this.clean(raw, at).replace(/&(?:(#?[\p{L}\p{N}_:.-]{1,64});)?/gu, (written: string, name?: string) => {
      if (name === undefined) {
        this.flaw("bare-ampersand", at);
        return written;
      }
      return this.entity(name, at) ?? written;
    });
  }

  /** Removes the characters that XML does not allow from a text that begins at `at`. */
  clean(raw: string, at: number): string {
    return raw.replace(controls, () => {
      this.flaw("control-character", at);
      return "";
    });
  }

  private entity(name: string, at: number): string | null {
    try {
      const text = this.entities.text(name);
      if (text === null) this.flaw(name.startsWith("#") ? "control-character" : "entity-unknown", at);
      return text === null && name.startsWith("#") ? "" : text;
    } catch (error) {
      if (!(error instanceof EntityError)) throw error;
      this.window.fail(at, error.message);
      return null;
    }
  }

  /** Records bytes of the window that are not valid UTF-8. */
  checkUtf8(from: number, to: number): void {
    const { window } = this;
    if (!window.valid && !isUtf8(window.bytes.subarray(from, to))) this.flaw("invalid-utf8", from);
  }

  /** Records a flaw at a position in the window. */
  flaw(code: XmlRepair, at: number): void {
    const known = this.flaws.get(code);
    if (known) known.count++;
    else this.flaws.set(code, { count: 1, byte: this.window.byteAt(at) });
  }

  /** Reports the repairs since the last call. */
  report(): void {
    for (const [code, { count, byte }] of this.flaws) {
      const example = `${repairMessages[code]}, first near byte ${byte}`;
      if (code === "invalid-utf8") this.context.reportLoss(code, undefined, example, count);
      else this.context.reportNotice(code, undefined, example, count);
    }
    this.flaws.clear();
  }
}
