import type { XmlReader } from "../shared/xml.js";
import type { ElementField } from "./element-fields.js";
import { Tag } from "./vocabulary.js";

/** What a style says, under the names of simplestyle and @tmcw/togeojson; arrays as JSON. */
export type StyleProperties = Partial<Record<ElementField, string | number>>;

/** By the element they are in: what the fields of color, scale and so on begin with. */
const prefixes: Readonly<Record<number, "icon" | "label" | "stroke" | "fill">> = {
  [Tag.IconStyle]: "icon",
  [Tag.LabelStyle]: "label",
  [Tag.LineStyle]: "stroke",
  [Tag.PolyStyle]: "fill",
};

/** In this order one goes before the other where both say the same: a line's opacity before an outline that is off. */
const order = [Tag.PolyStyle, Tag.LineStyle, Tag.LabelStyle, Tag.IconStyle];

/** Reads what is inside of a `<Style>`, which the caller has opened. */
export class StyleReader {
  private parts = new Map<number, StyleProperties>();
  private part: StyleProperties | null = null;
  private inIcon = false;
  private code = 0;
  /** Elements that are open within one that is left out, and that one. */
  private passed = 0;
  /** Names of the elements of the style of which nothing is kept. */
  readonly leftOut: string[] = [];

  begin(): void {
    this.passed = 0;
    if (this.leftOut.length > 0) this.leftOut.length = 0;
    this.parts = new Map();
    this.part = null;
    this.inIcon = false;
  }

  /** Whether the text of the element is wanted. */
  open(code: number, reader: XmlReader): boolean {
    if (this.passed === 0 && prefixes[code] !== undefined) {
      this.code = code;
      this.part = this.parts.get(code) ?? {};
      this.parts.set(code, this.part);
      return false;
    }
    if (this.passed > 0) {
      this.passed++;
      return false;
    }
    if (this.part && code === Tag.Icon) {
      this.inIcon = true;
      return false;
    }
    if (this.part && code === Tag.hotSpot) {
      this.hotSpot(reader);
      return false;
    }
    if (this.part && (this.inIcon ? code === Tag.href : values.has(code))) return true;
    this.passed = 1;
    this.leftOut.push(reader.name.text);
    return false;
  }

  close(code: number, text: string): void {
    if (this.passed > 0) this.passed--;
    else if (prefixes[code] !== undefined) this.part = null;
    else if (code === Tag.Icon) this.inIcon = false;
    else if (this.part) this.value(this.part, prefixes[this.code]!, code, text.trim());
  }

  private value(part: StyleProperties, prefix: "icon" | "label" | "stroke" | "fill", code: number, text: string): void {
    if (code === Tag.colorMode) {
      if (text !== "" && text !== "normal") this.leftOut.push("colorMode");
    } else if (code === Tag.color) color(part, prefix, text);
    else if (code === Tag.href && prefix === "icon" && text !== "") part.icon = text;
    else if (code === Tag.scale && (prefix === "icon" || prefix === "label")) number(part, `${prefix}-scale`, text);
    else if (code === Tag.heading && prefix === "icon") number(part, "icon-heading", text);
    else if (code === Tag.width && prefix === "stroke") number(part, "stroke-width", text);
    else if (code === Tag.fill && isOff(text)) part["fill-opacity"] = 0;
    else if (code === Tag.outline && isOff(text)) part["stroke-opacity"] = 0;
  }

  private hotSpot(reader: XmlReader): void {
    const [x, y] = ["x", "y"].map((name) => Number.parseFloat(reader.attributes.get(name) ?? ""));
    if (!this.part || this.code !== Tag.IconStyle || Number.isNaN(x) || Number.isNaN(y)) return;
    this.part["icon-offset"] = JSON.stringify([x, y]);
    const units = ["xunits", "yunits"].map((name) => reader.attributes.get(name) ?? "");
    this.part["icon-offset-units"] = JSON.stringify(units);
  }

  finish(): StyleProperties {
    return Object.assign({}, ...order.map((code) => this.parts.get(code)));
  }
}

const values = new Set<number>([Tag.color, Tag.scale, Tag.heading, Tag.width, Tag.fill, Tag.outline, Tag.colorMode]);
const isOff = (text: string): boolean => text === "0" || text === "false";

function number(part: StyleProperties, field: ElementField, text: string): void {
  const value = Number.parseFloat(text);
  if (Number.isFinite(value)) part[field] = value;
}

/** KML has aabbggrr; three or six digits are taken as they stand, as @tmcw/togeojson does. */
function color(part: StyleProperties, prefix: "icon" | "label" | "stroke" | "fill", text: string): void {
  const field: ElementField = prefix === "stroke" || prefix === "fill" ? prefix : `${prefix}-color`;
  const digits = text.replace(/^#/, "");
  if (!/^([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(digits)) return;
  if (digits.length < 8) {
    part[field] = `#${digits}`;
    return;
  }
  part[`${prefix}-opacity`] = Number.parseInt(digits.slice(0, 2), 16) / 255;
  part[field] = `#${digits.slice(6, 8)}${digits.slice(4, 6)}${digits.slice(2, 4)}`;
}
