import type { GeometryColumn } from "../../../src/model/index.js";
import { EncodedText } from "../../shared/text/literal.js";
import type { TextBuffer } from "../../shared/text/text-buffer.js";
import { escapeAttribute, escapeElement } from "../../shared/xml/escape.js";
import { toElementName } from "../element-names.js";
import { linksField, standardFields } from "../elements.js";
import type { NamespaceMap } from "../prefixes.js";
import {
  garminElements,
  garminNamespace,
  geoferryText,
  type PointList,
  parseLinks,
  standardKeys,
} from "./point-elements.js";
import { isShifted, isValidElementText, toUtc } from "./values.js";
import {
  createVendorLists,
  isVendorValue,
  type VendorLists,
  type VendorSteps,
  writeVendorAt,
} from "./vendor-points.js";

interface CoordinateDigits {
  readonly precision: number;
  readonly zPrecision: number;
}

const numericFields = new Set(
  standardFields.filter(({ type }) => type === "double" || type === "int32").map(({ name }) => name),
);
const standardIndexByKey = new Map(standardKeys.map(([key, element], index) => [key, { element, index }]));
const garminElementByKey = new Map(garminElements.map(([key, element]) => [key, element]));

/** The lists of a line, by the elements that their values are written as. */
interface SortedLists {
  /** Lists of standard elements, in the order of the schema, before and after the links. */
  readonly before: readonly (readonly [element: string, list: PointList])[];
  readonly links: PointList | undefined;
  readonly after: readonly (readonly [element: string, list: PointList])[];
  readonly garmin: readonly (readonly [element: string, list: PointList])[];
  readonly own: readonly PointList[];
  /** Lists of values that came from elements of other namespaces. */
  readonly vendor: VendorLists;
  readonly steps: VendorSteps;
}

/** The elements that the values of points came from, and the prefixes that are declared around the points. */
export interface PointOrigins {
  readonly steps: VendorSteps;
  readonly declared: NamespaceMap;
}

type PointTag = "wpt" | "rtept" | "trkpt";

const byPointTag = (text: (tag: PointTag) => string): Readonly<Record<PointTag, EncodedText>> => ({
  wpt: new EncodedText(text("wpt")),
  rtept: new EncodedText(text("rtept")),
  trkpt: new EncodedText(text("trkpt")),
});
const pointStartTags = byPointTag((tag) => `<${tag} lat="`);
const pointEndTags = byPointTag((tag) => `</${tag}>\n`);
const textTokens = {
  lon: new EncodedText('" lon="'),
  ele: new EncodedText("<ele>"),
  eleEnd: new EncodedText("</ele>"),
  empty: new EncodedText("/>\n"),
};

/** Writes positions as elements of GPX's wptType, with the values that their features have for each. */
export class PointWriter {
  /** The number of longitudes of 180 degrees that were written as −180. */
  moved = 0;
  /** The number of times with another offset that were written in UTC. */
  shifted = 0;

  constructor(private readonly digits: CoordinateDigits) {}

  /** Writes `<wpt lat="…" lon="…"` for position `k`. */
  open(out: TextBuffer, tag: PointTag, geometry: GeometryColumn, k: number): void {
    const { precision } = this.digits;
    const { xy } = geometry;
    out.literal(pointStartTags[tag]);
    out.fixedAt(xy, 2 * k + 1, precision);
    out.literal(textTokens.lon);
    // GPX 1.1, longitudeType: less than 180.
    if (xy[2 * k]! > 179 && Number(xy[2 * k]!.toFixed(precision)) >= 180) {
      this.moved++;
      out.ascii("-180");
    } else out.fixedAt(xy, 2 * k, precision);
    out.byte(34);
  }

  height(out: TextBuffer, geometry: GeometryColumn, k: number): boolean {
    const { z } = geometry;
    if (!z || !Number.isFinite(z[k])) return false;
    out.literal(textTokens.ele);
    out.fixedAt(z, k, this.digits.zPrecision);
    out.literal(textTokens.eleEnd);
    return true;
  }

  /** Writes the positions of a ring, one per line. */
  line(
    out: TextBuffer,
    tag: PointTag,
    geometry: GeometryColumn,
    ring: number,
    lists: readonly PointList[],
    origins: PointOrigins,
  ): void {
    const sorted = lists.length > 0 ? sortLists(lists, origins) : null;
    const from = geometry.positionOffsets[ring]!;
    const to = geometry.positionOffsets[ring + 1]!;
    const end = pointEndTags[tag];
    for (let k = from; k < to; k++) {
      this.open(out, tag, geometry, k);
      const start = out.length;
      out.byte(62);
      const before = out.length;
      this.height(out, geometry, k);
      if (sorted) this.shifted += writePoint(out, sorted, k - from);
      if (out.length === before) {
        out.length = start;
        out.literal(textTokens.empty);
      } else out.literal(end);
    }
  }
}

/** Writes the values of a segment, at its end. */
export function writeSegmentEnd(out: TextBuffer, lists: readonly PointList[], at: number, origins: PointOrigins): void {
  const sorted = sortLists(lists, origins, false);
  writeExtensions(out, sorted, at, geoferryValues(sorted, at));
}

function sortLists(lists: readonly PointList[], { steps, declared }: PointOrigins, ofPoints = true): SortedLists {
  const linksAt = standardKeys.findIndex(([, element]) => element === "src");
  const standard: { element: string; index: number; list: PointList }[] = [];
  const garmin: { element: string; list: PointList }[] = [];
  const own: PointList[] = [];
  const vendor: PointList[] = [];
  let links: PointList | undefined;
  // The prefix that geoferry uses for Garmin's extension may be declared for another version of it here.
  const hasGarmin = ofPoints && (declared.get("gpxtpx") ?? garminNamespace) === garminNamespace;
  for (const list of lists) {
    const known = ofPoints ? standardIndexByKey.get(list.key) : undefined;
    const element = hasGarmin ? garminElementByKey.get(list.key) : undefined;
    if (!(known && known.element !== "number") && Object.hasOwn(steps, list.key)) vendor.push(list);
    else if (known && known.element !== "number") standard.push({ ...known, list });
    else if (ofPoints && list.key === linksField) links = list;
    else if (element !== undefined) garmin.push({ element, list });
    else own.push(list);
  }
  standard.sort((a, b) => a.index - b.index);
  const order = garminElements.map(([, element]) => element);
  garmin.sort((a, b) => order.indexOf(a.element) - order.indexOf(b.element));
  const pair = ({ element, list }: { element: string; list: PointList }) => [element, list] as const;
  return {
    before: standard.filter(({ index }) => index <= linksAt).map(pair),
    links,
    after: standard.filter(({ index }) => index > linksAt).map(pair),
    garmin: garmin.map(pair),
    own,
    vendor: createVendorLists(vendor, steps, declared),
    steps,
  };
}

/** Writes values that need an element of geoferry's. */
function geoferryValues({ own, vendor, steps }: SortedLists, point: number): [string, unknown][] {
  const found: [string, unknown][] = [];
  for (const { key, values } of own) {
    const value = values[point];
    if (value !== null && value !== undefined) found.push([key, value]);
  }
  for (const { key, values } of vendor.lists) {
    const value = values[point];
    if (value !== null && value !== undefined && !isVendorValue(value, steps[key])) found.push([key, value]);
  }
  return found;
}

/** @returns the number of times converted to UTC */
function writePoint(out: TextBuffer, sorted: SortedLists, point: number): number {
  const own = geoferryValues(sorted, point);
  let shifted = 0;
  for (const [element, list] of sorted.before) shifted += writeStandard(out, element, list, point, own);
  if (sorted.links) {
    const value = sorted.links.values[point];
    const links = parseLinks(value);
    if (links) {
      for (const { href, text, type } of links) {
        out.utf8(`<link href="${escapeAttribute(href ?? "")}">`);
        if (text !== null) out.utf8(`<text>${escapeElement(text)}</text>`);
        if (type !== null) out.utf8(`<type>${escapeElement(type)}</type>`);
        out.ascii("</link>");
      }
    } else if (value !== null && value !== undefined) own.push([sorted.links.key, value]);
  }
  for (const [element, list] of sorted.after) writeStandard(out, element, list, point, own);
  writeExtensions(out, sorted, point, own);
  return shifted;
}

function writeExtensions(out: TextBuffer, sorted: SortedLists, point: number, own: [string, unknown][]): void {
  const vendor = writeVendorAt(sorted.vendor, point);
  const garmin: string[] = [];
  for (const [element, list] of sorted.garmin) {
    const value = list.values[point];
    if (typeof value === "number" && Number.isFinite(value))
      garmin.push(`<gpxtpx:${element}>${value}</gpxtpx:${element}>`);
    else if (value !== null && value !== undefined) own.push([list.key, value]);
  }
  if (own.length === 0 && garmin.length === 0 && vendor === "") return;
  out.ascii("<extensions>");
  out.utf8(vendor);
  if (garmin.length > 0) out.ascii(`<gpxtpx:TrackPointExtension>${garmin.join("")}</gpxtpx:TrackPointExtension>`);
  for (const [key, value] of own) {
    const name = `geoferry:${toElementName(key)}`;
    out.utf8(`<${name}>${escapeElement(geoferryText(value))}</${name}>`);
  }
  out.ascii("</extensions>");
}

/**
 * Writes a value as an element of GPX, or as one of geoferry's where the schema does not allow it there.
 * @returns the number of times converted to UTC
 */
function writeStandard(
  out: TextBuffer,
  element: string,
  list: PointList,
  point: number,
  own: [string, unknown][],
): number {
  const value = list.values[point];
  if (value === null || value === undefined) return 0;
  const wanted = numericFields.has(element) ? "number" : "string";
  const text = String(value);
  const isUsual = typeof value === wanted && text.trim() !== "";
  if (!isUsual || !isValidElementText(element, text)) {
    own.push([list.key, value]);
    return 0;
  }
  const stored = element === "time" ? toUtc(text) : text;
  out.ascii(`<${element}>`);
  out.utf8(escapeElement(stored));
  out.ascii(`</${element}>`);
  return isShifted(text, stored) ? 1 : 0;
}
