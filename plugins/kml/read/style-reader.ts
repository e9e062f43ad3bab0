import type { XmlReader } from "../../shared/xml/reader.js";
import type { ElementField } from "../element-fields.js";
import { Tag } from "../vocabulary.js";

/**
 * The properties of a style, under the names of simplestyle and @tmcw/togeojson; arrays as JSON. With an `outline` of 0, a
 * polygon has no stroke, whatever the line style is (OGC 07-147r2, 12.11).
 */
export type StyleProperties = Partial<Record<ElementField | "outline", string | number>>;

type StylePrefix = "icon" | "label" | "stroke" | "fill";
/** The prefixes of the fields for color, scale and so on, by the element they are in. */
const stylePrefixes: Readonly<Record<number, StylePrefix>> = {
  [Tag.IconStyle]: "icon",
  [Tag.LabelStyle]: "label",
  [Tag.LineStyle]: "stroke",
  [Tag.PolyStyle]: "fill",
};

const partOrder = [Tag.PolyStyle, Tag.LineStyle, Tag.LabelStyle, Tag.IconStyle];

/** Reads the content of a `<Style>`, which the caller has opened. */
export class StyleReader {
  private parts = new Map<number, StyleProperties>();
  private part: StyleProperties | null = null;
  private inIcon = false;
  private isUnfilled = false;
  private code = 0;
  /** The number of open elements in one that is left out, including it. */
  private skipped = 0;
  /** Names of the elements of the style that are left out. */
  readonly leftOut: string[] = [];

  begin(): void {
    this.skipped = 0;
    if (this.leftOut.length > 0) this.leftOut.length = 0;
    this.parts = new Map();
    this.part = null;
    this.inIcon = this.isUnfilled = false;
  }

  /** Begins an element. @returns whether its text is wanted */
  open(code: number, reader: XmlReader): boolean {
    if (this.skipped === 0 && stylePrefixes[code] !== undefined) {
      this.code = code;
      this.part = this.parts.get(code) ?? {};
      this.parts.set(code, this.part);
      return false;
    }
    if (this.skipped > 0) {
      this.skipped++;
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
    if (this.part && (this.inIcon ? code === Tag.href : valueTags.has(code))) return true;
    this.skipped = 1;
    this.leftOut.push(reader.name.text);
    return false;
  }

  close(code: number, text: string): void {
    if (this.skipped > 0) this.skipped--;
    else if (stylePrefixes[code] !== undefined) this.part = null;
    else if (code === Tag.Icon) this.inIcon = false;
    else if (this.part && text.trim() !== "") {
      if (!this.value(this.part, stylePrefixes[this.code]!, code, text.trim())) this.leftOut.push(tagName(code));
    }
  }

  /** Keeps a value. @returns false where it has no field, or is not valid */
  private value(part: StyleProperties, prefix: StylePrefix, code: number, text: string): boolean {
    switch (code) {
      case Tag.colorMode:
        return text === "normal";
      case Tag.color:
        return setColor(part, prefix, text);
      case Tag.href:
        if (prefix === "icon") part.icon = text;
        return prefix === "icon";
      case Tag.scale:
        return (prefix === "icon" || prefix === "label") && setNumber(part, `${prefix}-scale`, text);
      case Tag.heading:
        return prefix === "icon" && setNumber(part, "icon-heading", text);
      case Tag.width:
        return prefix === "stroke" && setNumber(part, "stroke-width", text);
      default:
        if (prefix !== "fill") return false;
        if (code === Tag.outline) part.outline = isFalseFlag(text) ? 0 : 1;
        else if (isFalseFlag(text)) this.isUnfilled = true;
        return true;
    }
  }

  private hotSpot(reader: XmlReader): void {
    const [x, y] = ["x", "y"].map((name) => Number.parseFloat(reader.attributes.get(name) ?? ""));
    if (!this.part || this.code !== Tag.IconStyle || Number.isNaN(x) || Number.isNaN(y)) {
      this.leftOut.push(tagName(Tag.hotSpot));
      return;
    }
    this.part["icon-offset"] = JSON.stringify([x, y]);
    const units = ["xunits", "yunits"].map((name) => reader.attributes.get(name) ?? "");
    this.part["icon-offset-units"] = JSON.stringify(units);
  }

  finish(): StyleProperties {
    const style: StyleProperties = Object.assign({}, ...partOrder.map((code) => this.parts.get(code)));
    if (this.isUnfilled) style["fill-opacity"] = 0;
    return style;
  }
}

const tagNames = new Map(Object.entries(Tag).map(([name, code]) => [code, name]));
const tagName = (code: number): string => tagNames.get(code as typeof Tag.color) ?? "";

const valueTags = new Set<number>([Tag.color, Tag.scale, Tag.heading, Tag.width, Tag.fill, Tag.outline, Tag.colorMode]);
const isFalseFlag = (text: string): boolean => text === "0" || text === "false";

function setNumber(part: StyleProperties, field: ElementField, text: string): boolean {
  const value = Number.parseFloat(text);
  if (Number.isFinite(value)) part[field] = value;
  return Number.isFinite(value);
}

/** Converts a color of KML, aabbggrr. Three or six digits are kept unchanged, as in @tmcw/togeojson. */
function setColor(part: StyleProperties, prefix: StylePrefix, text: string): boolean {
  const field: ElementField = prefix === "stroke" || prefix === "fill" ? prefix : `${prefix}-color`;
  const digits = text.replace(/^#/, "");
  if (!/^([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(digits)) return false;
  if (digits.length < 8) {
    part[field] = `#${digits}`;
    return true;
  }
  part[`${prefix}-opacity`] = Number.parseInt(digits.slice(0, 2), 16) / 255;
  part[field] = `#${digits.slice(6, 8)}${digits.slice(4, 6)}${digits.slice(2, 4)}`;
  return true;
}
