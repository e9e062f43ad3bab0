import type { Value } from "../../../src/model/index.js";
import { escapeAttribute, escapeElement, removeForbidden } from "../../shared/xml/escape.js";

/** The value of a feature's field, undefined where it has none. */
export type FieldValue = (name: string) => Value | undefined;

/** What a feature's style says, and which fields it says whole: the others are said as data, too, which goes before. */
export interface StyleXml {
  readonly xml: string;
  readonly carried: readonly string[];
  /** Fields that reading the style gives and the feature does not have. */
  readonly added: readonly string[];
}

/** The fields that make a style. */
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

/** Puts the style of one feature together. */
class StyleBuilder {
  readonly carried: string[] = [];
  readonly added: string[] = [];

  constructor(private readonly value: FieldValue) {}

  /** KML has color and opacity in one, as aabbggrr; opacity is one of 256 steps there. */
  color(field: string, opacityField: string): string {
    const text = this.value(field);
    if (typeof text !== "string") return "";
    const [, red, green, blue] = hexColor.exec(text) ?? [];
    if (red === undefined) {
      // One of three digits comes back as six: its text is data.
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

  /** What is off where no color says so. */
  off(element: "fill" | "outline", colorField: string, opacityField: string): string {
    if (this.value(opacityField) !== 0) return "";
    const color = this.value(colorField);
    if (typeof color === "string" && (hexColor.test(color) || shortColor.test(color))) return "";
    // An outline is none of lines: there, its opacity is data.
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

/** The members of a JSON array of two of one type. */
function parsePair(json: Value | undefined, type: "number" | "string"): readonly unknown[] {
  if (typeof json !== "string") return [];
  const pair = JSON.parse(json) as unknown;
  return Array.isArray(pair) && pair.length === 2 && pair.every((each) => typeof each === type) ? pair : [];
}

const wrapElement = (element: string, content: string): string =>
  content ? `<${element}>${content}</${element}>` : "";

/** A `<Style>` of the fields that a style has, null where the feature has none (OGC 07-147r2, 12.2). */
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
