import type { XmlReader } from "../../shared/xml/reader.js";

export const styleName = {
  style: 1,
  "time-style": 2,
  "table-properties": 3,
  "number-style": 4,
  number: 5,
  "currency-style": 6,
  "percentage-style": 7,
} as const;

/** Which styles show durations or leading zeros, and which tables are hidden (ODF 1.3, 16.2, 16.29). */
export class CellStyles {
  /** Time formats in which hours go beyond 24. */
  private readonly durationFormats = new Set<string>();
  /** The least number of digits of formats that show integers, if there are leading zeros. */
  private readonly digits = new Map<string, number>();
  /** The digits of cell styles that were asked for. */
  private readonly known = new Map<string, number>();
  /** The format of a cell style, and its parent. */
  private readonly formats = new Map<string, string>();
  private readonly parents = new Map<string, string>();
  private readonly hidden = new Set<string>();
  private current = "";

  open({ name, attributes }: XmlReader): void {
    switch (name.code) {
      case styleName.style: {
        this.current = attributes.get("name") ?? "";
        const format = attributes.get("data-style-name");
        const parent = attributes.get("parent-style-name");
        if (format !== null) this.formats.set(this.current, format);
        if (parent !== null) this.parents.set(this.current, parent);
        return;
      }
      case styleName["time-style"]:
        if (attributes.get("truncate-on-overflow") === "false") this.durationFormats.add(attributes.get("name") ?? "");
        return;
      case styleName["number-style"]:
      case styleName["currency-style"]:
      case styleName["percentage-style"]:
        this.current = name.code === styleName["number-style"] ? (attributes.get("name") ?? "") : "";
        return;
      case styleName.number: {
        const digits = Number(attributes.get("min-integer-digits") ?? 0);
        const isPlain = Number(attributes.get("decimal-places") ?? 0) === 0 && attributes.get("grouping") !== "true";
        if (this.current !== "" && isPlain && digits > 1 && digits <= 15) this.digits.set(this.current, digits);
        return;
      }
      case styleName["table-properties"]:
        if (attributes.get("display") === "false") this.hidden.add(this.current);
    }
  }

  isHiddenTable(style: string | null): boolean {
    return style !== null && this.hidden.has(style);
  }

  isDuration(style: string | null): boolean {
    const format = this.formatOf(style);
    return format !== null && this.durationFormats.has(format);
  }

  /** The least number of digits of an integer; 0 if the style shows no leading zeros. */
  digitsOf(style: string | null): number {
    if (style === null || this.digits.size === 0) return 0;
    let digits = this.known.get(style);
    if (digits === undefined) {
      digits = this.digits.get(this.formatOf(style) ?? "") ?? 0;
      this.known.set(style, digits);
    }
    return digits;
  }

  /** The format of a cell style or of its next ancestor that has one. */
  private formatOf(style: string | null): string | null {
    let name: string | undefined = style ?? undefined;
    for (let depth = 0; name !== undefined && depth < 8; depth++) {
      const format = this.formats.get(name);
      if (format !== undefined) return format;
      name = this.parents.get(name);
    }
    return null;
  }
}
