import type { GeometryColumn } from "../../src/model/index.js";
import { Literal } from "../shared/literal.js";
import type { TextBuffer } from "../shared/text-buffer.js";
import { attributeText, elementText } from "../shared/xml-text.js";
import { elementName } from "./element-names.js";
import { linksField, standardFields } from "./elements.js";
import { garminElements, garminNamespace, linksOf, ownText, type PointList, standardKeys } from "./point-elements.js";
import type { Namespaces } from "./prefixes.js";
import { fitsElement, inUtc, isShifted } from "./values.js";
import { isVendorValue, type VendorLists, type VendorSteps, vendorListsOf, vendorTextAt } from "./vendor-points.js";

interface Digits {
  readonly precision: number;
  readonly zPrecision: number;
}

const numeric = new Set(
  standardFields.filter(({ type }) => type === "double" || type === "int32").map(({ name }) => name),
);
const standardKeySet = new Map(standardKeys.map(([key, element], index) => [key, { element, index }]));
const garminKeys = new Map(garminElements.map(([key, element]) => [key, element]));

/** The lists of a line by where their values go. */
interface Sorted {
  /** Lists of standard elements, in the order of the schema, before the links and behind them. */
  readonly before: readonly (readonly [element: string, list: PointList])[];
  readonly links: PointList | undefined;
  readonly after: readonly (readonly [element: string, list: PointList])[];
  readonly garmin: readonly (readonly [element: string, list: PointList])[];
  readonly own: readonly PointList[];
  /** Lists of values that stood in elements of other namespaces. */
  readonly vendor: VendorLists;
  readonly steps: VendorSteps;
}

/** What is known of the values of points: where each stood, and which prefixes are declared around the points. */
export interface PointOrigins {
  readonly steps: VendorSteps;
  readonly declared: Namespaces;
}

type PointTag = "wpt" | "rtept" | "trkpt";

const tagged = (text: (tag: PointTag) => string): Readonly<Record<PointTag, Literal>> => ({
  wpt: new Literal(text("wpt")),
  rtept: new Literal(text("rtept")),
  trkpt: new Literal(text("trkpt")),
});
const openings = tagged((tag) => `<${tag} lat="`);
const endings = tagged((tag) => `</${tag}>\n`);
const words = {
  lon: new Literal('" lon="'),
  ele: new Literal("<ele>"),
  eleEnd: new Literal("</ele>"),
  empty: new Literal("/>\n"),
};

/** Writes positions as elements of GPX's wptType, with what their features say of each. */
export class PointText {
  /** Longitudes of 180 degrees written as −180 so far. */
  moved = 0;
  /** Times in another offset written in UTC so far. */
  shifted = 0;

  constructor(private readonly digits: Digits) {}

  /** Writes `<wpt lat="…" lon="…"` of the position k. */
  open(out: TextBuffer, tag: PointTag, geometry: GeometryColumn, k: number): void {
    const { precision } = this.digits;
    const { xy } = geometry;
    out.literal(openings[tag]);
    out.fixedAt(xy, 2 * k + 1, precision);
    out.literal(words.lon);
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
    out.literal(words.ele);
    out.fixedAt(z, k, this.digits.zPrecision);
    out.literal(words.eleEnd);
    return true;
  }

  /** Writes the positions of a ring, each on a line. */
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
    const end = endings[tag];
    for (let k = from; k < to; k++) {
      this.open(out, tag, geometry, k);
      const start = out.length;
      out.byte(62);
      const before = out.length;
      this.height(out, geometry, k);
      if (sorted) this.shifted += writePoint(out, sorted, k - from);
      if (out.length === before) {
        out.length = start;
        out.literal(words.empty);
      } else out.literal(end);
    }
  }
}

/** Writes what a segment says of itself, at its end. */
export function writeSegmentEnd(out: TextBuffer, lists: readonly PointList[], at: number, origins: PointOrigins): void {
  const sorted = sortLists(lists, origins, false);
  writeExtensions(out, sorted, at, ownValues(sorted, at));
}

function sortLists(lists: readonly PointList[], { steps, declared }: PointOrigins, ofPoints = true): Sorted {
  const linksAt = standardKeys.findIndex(([, element]) => element === "src");
  const standard: { element: string; index: number; list: PointList }[] = [];
  const garmin: { element: string; list: PointList }[] = [];
  const own: PointList[] = [];
  const vendor: PointList[] = [];
  let links: PointList | undefined;
  // The prefix that geoferry has for Garmin's extension may be that of another version of it here.
  const hasGarmin = ofPoints && (declared.get("gpxtpx") ?? garminNamespace) === garminNamespace;
  for (const list of lists) {
    const known = ofPoints ? standardKeySet.get(list.key) : undefined;
    const element = hasGarmin ? garminKeys.get(list.key) : undefined;
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
    vendor: vendorListsOf(vendor, steps, declared),
    steps,
  };
}

/** Values that have no element but ours. */
function ownValues({ own, vendor, steps }: Sorted, point: number): [string, unknown][] {
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

/** @returns how many times it brought to UTC */
function writePoint(out: TextBuffer, sorted: Sorted, point: number): number {
  const own = ownValues(sorted, point);
  let shifted = 0;
  for (const [element, list] of sorted.before) shifted += writeStandard(out, element, list, point, own);
  if (sorted.links) {
    const value = sorted.links.values[point];
    const links = linksOf(value);
    if (links) {
      for (const { href, text, type } of links) {
        out.utf8(`<link href="${attributeText(href ?? "")}">`);
        if (text !== null) out.utf8(`<text>${elementText(text)}</text>`);
        if (type !== null) out.utf8(`<type>${elementText(type)}</type>`);
        out.ascii("</link>");
      }
    } else if (value !== null && value !== undefined) own.push([sorted.links.key, value]);
  }
  for (const [element, list] of sorted.after) writeStandard(out, element, list, point, own);
  writeExtensions(out, sorted, point, own);
  return shifted;
}

function writeExtensions(out: TextBuffer, sorted: Sorted, point: number, own: [string, unknown][]): void {
  const vendor = vendorTextAt(sorted.vendor, point);
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
    const name = `geoferry:${elementName(key)}`;
    out.utf8(`<${name}>${elementText(ownText(value))}</${name}>`);
  }
  out.ascii("</extensions>");
}

/**
 * Writes a value as an element of GPX, or puts it among ours where the element does not take it.
 * @returns how many times it brought to UTC
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
  const wanted = numeric.has(element) ? "number" : "string";
  const text = String(value);
  const isUsual = typeof value === wanted && text.trim() !== "";
  if (!isUsual || !fitsElement(element, text)) {
    own.push([list.key, value]);
    return 0;
  }
  const stored = element === "time" ? inUtc(text) : text;
  out.ascii(`<${element}>`);
  out.utf8(elementText(stored));
  out.ascii(`</${element}>`);
  return isShifted(text, stored) ? 1 : 0;
}
