import type { Value } from "../../../src/model/index.js";
import { escapeAttribute, escapeElement, removeForbidden } from "../../shared/xml/escape.js";

/** Returns the value of a feature's field; undefined for none. */
export type FieldValue = (name: string) => Value | undefined;

/** A style, and the fields that it holds completely. Other fields are also written as data, which takes precedence. */
export interface StyleXml {
  readonly xml: string;
  readonly carried: readonly string[];
  /** Fields that a reader derives from the style and the feature does not have. */
  readonly added: readonly string[];
}

/** The fields of a style. */
export const styleFields = [
  "icon",
  "icon-color",
  "icon-opacity",
  "icon-scale",
  "icon-heading",
  "icon-offset",
  "icon-offset-units",
  "label-color",
  "label-opacity",
  "label-scale",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "fill",
  "fill-opacity",
] as const;

const hexColor = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i;
const shortColor = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i;
const hotSpotUnits = new Set(["fraction", "pixels", "insetPixels"]);

/** Builds the style of one feature. */
class StyleBuilder {
  readonly carried: string[] = [];
  readonly added: string[] = [];

  constructor(private readonly value: FieldValue) {}

  /** Writes color and opacity, which KML combines as aabbggrr, with 256 steps of opacity. */
  color(field: string, opacityField: string): string {
    const text = this.value(field);
    if (typeof text !== "string") return "";
    const [, red, green, blue] = hexColor.exec(text) ?? [];
    if (red === undefined) {
      // A color of three digits is read back with six, so that it is also written as data.
      const digits = shortColor
        .exec(text)
        ?.slice(1)
        .map((digit) => digit + digit);
      return digits ? this.alphaColor(opacityField, digits[2]! + digits[1]! + digits[0]!) : "";
    }
    this.carried.push(field);
    return this.alphaColor(opacityField, `${blue}${green}${red}`);
  }

  private alphaColor(opacityField: string, color: string): string {
    const opacity = this.value(opacityField);
    let alpha = 255;
    if (typeof opacity === "number" && opacity >= 0 && opacity <= 1) {
      alpha = Math.round(opacity * 255);
      if (alpha / 255 === opacity) this.carried.push(opacityField);
    } else if (opacity === undefined || opacity === null) this.added.push(opacityField);
    return `<color>${alpha.toString(16).padStart(2, "0")}${color}</color>`;
  }

  /** Writes what is switched off without a color. */
  off(element: "fill" | "outline", colorField: string, opacityField: string): string {
    if (this.value(opacityField) !== 0) return "";
    const color = this.value(colorField);
    if (typeof color === "string" && (hexColor.test(color) || shortColor.test(color))) return "";
    // `outline` does not apply to lines: their opacity is written as data.
    if (element === "fill") this.carried.push(opacityField);
    return `<${element}>0</${element}>`;
  }

  number(element: string, field: string, most = Number.POSITIVE_INFINITY): string {
    const value = this.value(field);
    if (typeof value !== "number" || !Number.isFinite(value) || Math.abs(value) > most) return "";
    this.carried.push(field);
    return `<${element}>${Object.is(value, -0) ? "-0" : value}</${element}>`;
  }

  icon(): string {
    const href = this.value("icon");
    if (typeof href !== "string" || href === "" || href.trim() !== href || removeForbidden(href) !== href) return "";
    this.carried.push("icon");
    return `<Icon><href>${escapeElement(href)}</href></Icon>`;
  }

  hotSpot(): string {
    const [x, y] = parsePair(this.value("icon-offset"), "number");
    const [xUnits, yUnits] = parsePair(this.value("icon-offset-units"), "string");
    if (x === undefined || !hotSpotUnits.has(String(xUnits)) || !hotSpotUnits.has(String(yUnits))) return "";
    this.carried.push("icon-offset", "icon-offset-units");
    const unitsText = `xunits="${escapeAttribute(String(xUnits))}" yunits="${escapeAttribute(String(yUnits))}"`;
    return `<hotSpot x="${x}" y="${y}" ${unitsText}/>`;
  }
}

/** Returns the members of a JSON array of two values of one type. */
function parsePair(json: Value | undefined, type: "number" | "string"): readonly unknown[] {
  if (typeof json !== "string") return [];
  const pair = JSON.parse(json) as unknown;
  return Array.isArray(pair) && pair.length === 2 && pair.every((each) => typeof each === type) ? pair : [];
}

const wrapElement = (element: string, content: string): string =>
  content ? `<${element}>${content}</${element}>` : "";

/** Returns a `<Style>` from the style fields of a feature; null for none (OGC 07-147r2, 12.2). */
export function writeStyleElement(value: FieldValue): StyleXml | null {
  const style = new StyleBuilder(value);
  const xml = wrapElement(
    "Style",
    wrapElement(
      "IconStyle",
      style.color("icon-color", "icon-opacity") +
        style.number("scale", "icon-scale") +
        style.number("heading", "icon-heading", 360) +
        style.icon() +
        style.hotSpot(),
    ) +
      wrapElement("LabelStyle", style.color("label-color", "label-opacity") + style.number("scale", "label-scale")) +
      wrapElement("LineStyle", style.color("stroke", "stroke-opacity") + style.number("width", "stroke-width")) +
      wrapElement(
        "PolyStyle",
        style.color("fill", "fill-opacity") +
          style.off("fill", "fill", "fill-opacity") +
          style.off("outline", "stroke", "stroke-opacity"),
      ),
  );
  return xml === "" ? null : { xml, carried: style.carried, added: style.added };
}
