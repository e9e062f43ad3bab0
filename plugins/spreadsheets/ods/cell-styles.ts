import type { XmlReader } from "../../shared/xml/reader.js";

export const styleName = { style: 1, "time-style": 2, "table-properties": 3 } as const;

/** Which styles show durations, and which tables are hidden (ODF 1.3, 16.2, 16.29). */
export class CellStyles {
  /** Time formats in which hours go beyond 24. */
  private readonly durationFormats = new Set<string>();
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
      case styleName["table-properties"]:
        if (attributes.get("display") === "false") this.hidden.add(this.current);
    }
  }

  isHiddenTable(style: string | null): boolean {
    return style !== null && this.hidden.has(style);
  }

  isDuration(style: string | null): boolean {
    let name: string | undefined = style ?? undefined;
    for (let depth = 0; name !== undefined && depth < 8; depth++) {
      const format = this.formats.get(name);
      if (format !== undefined) return this.durationFormats.has(format);
      name = this.parents.get(name);
    }
    return false;
  }
}
