import { type Batch, type Field, type GeometryColumn, Kind, Presence, valueAt } from "../../../src/model/index.js";
import type { WriteContext } from "../../../src/plugin/format.js";
import { reportCollapsedGeometries } from "../../shared/rounding-collapse.js";
import { EncodedText, tagPair } from "../../shared/text/literal.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { escapeAttribute, escapeElement, writeXmlText } from "../../shared/xml/escape.js";
import { coordinateField, Gpx, gpxTypeField, gpxTypes } from "../elements.js";
import { declarationsOf, type NamespaceMap, noNamespaces } from "../prefixes.js";
import type { GpxLink } from "../read/visitor.js";
import { type FieldPlan, planFields, type StandardColumn } from "./field-plan.js";
import { type PointList, type PointLists, parseLinks, parsePointLists } from "./point-elements.js";
import { type PointOrigins, PointWriter, writeSegmentEnd } from "./point-writer.js";
import { acceptsAnyText, isShifted, isValidElementText, schemaTextOf, toUtc, writeValue } from "./values.js";
import { isUnqualified, type VendorElement, vendorColumnIndexes, writeVendorElement } from "./vendor-elements.js";
import { collectPrefixes, type VendorSteps } from "./vendor-points.js";

/** The features of a batch by element, in the order of the schema, and the fields they had. */
export interface GpxChunk {
  /** The bytes of the wpt, rte and trk elements. */
  readonly parts: readonly Uint8Array[];
  readonly fields: readonly Pick<Field, "name" | "type">[];
}

export interface GpxEncoderSettings {
  /** The element for lines that do not specify one: Gpx.rte or Gpx.trk. */
  readonly lines: number;
  readonly precision: number;
  readonly zPrecision: number;
  readonly extensions: boolean;
}

/** The elements that the values of a line's points and segments came from, and the prefixes that its element declares. */
interface ElementOrigins {
  readonly declared: NamespaceMap;
  readonly points: PointOrigins;
  readonly segments: PointOrigins;
}

const noSteps: VendorSteps = {};
const noElementOrigins: PointOrigins = { steps: noSteps, declared: noNamespaces };
const noPointOrigins: ElementOrigins = {
  declared: noElementOrigins.declared,
  points: noElementOrigins,
  segments: noElementOrigins,
};

const lineKinds = new Map<number, string>([
  [Kind.LineString, "LineString"],
  [Kind.MultiLineString, "MultiLineString"],
]);
const startTags = gpxTypes.map((name) => new EncodedText(`<${name}>`));
const extensionsTags = tagPair("extensions");
const endTags = gpxTypes.map((name) => new EncodedText(`</${name}>\n`));

/** Writes features as elements of GPX 1.1. */
export class GpxEncoder {
  private readonly outs = gpxTypes.map(() => new TextBuffer(1 << 14));
  private out = this.outs[0]!;
  private readonly points: PointWriter;
  /** Characters left out of each field, in this batch. */
  private readonly dropped = new Map<string, number>();
  private readonly leftOut = new Map<string, number>();
  /** Times with another offset that were written in UTC, in this batch. */
  private shifted = 0;
  /** Features with extension elements that have no namespace of their own. */
  private unqualified = 0;
  /** Features that are another element than their `_gpxType` says, which their geometry or an option decides. */
  private otherElements = 0;
  private hasUnqualified = false;
  private hasExtensions = false;

  constructor(
    private readonly settings: GpxEncoderSettings,
    private readonly context: WriteContext,
  ) {
    this.points = new PointWriter(settings);
  }

  encode(batch: Batch): GpxChunk {
    const plan = planFields(batch);
    const { geometry } = batch;
    this.points.moved = 0;
    this.points.shifted = 0;
    this.shifted = this.unqualified = this.otherElements = 0;
    let spread = 0;
    let areas = 0;
    for (let row = 0; row < batch.length; row++) {
      this.hasUnqualified = false;
      const kind = geometry.kinds[row]!;
      const isEmpty = geometry.partOffsets[row] === geometry.partOffsets[row + 1];
      let element: number = Gpx.wpt;
      if (kind === Kind.Point && !isEmpty && this.wanted(plan, row) <= Gpx.wpt) this.waypoints(plan, geometry, row);
      else if (kind === Kind.MultiPoint && !isEmpty) {
        spread++;
        this.waypoints(plan, geometry, row);
      } else {
        if (kind === Kind.Polygon || kind === Kind.MultiPolygon) areas++;
        element = this.line(plan, geometry, row);
      }
      if (plan.type?.presence[row] === Presence.value && this.wanted(plan, row) !== element) this.otherElements++;
      if (this.hasUnqualified) this.unqualified++;
    }
    this.reportConversions(spread, areas);
    reportCollapsedGeometries(geometry, this.settings.precision, this.context);
    // Fields from elements of other namespaces need no declaration to be restored.
    const fields = batch.fields.flatMap(({ name, type, element }) => (element ? [] : [{ name, type }]));
    return { parts: this.outs.map((out) => out.finish()), fields };
  }

  /** Reports what GPX cannot hold. */
  private reportConversions(spread: number, areas: number): void {
    const { context, dropped, leftOut, points } = this;
    if (spread > 0) {
      context.reportLoss(
        "multipoint-split",
        undefined,
        "a MultiPoint became a waypoint for each of its positions",
        spread,
      );
    }
    if (areas > 0) {
      context.reportLoss("polygon-as-track", undefined, "a polygon became a track with its rings as segments", areas);
    }
    if (points.moved > 0) {
      const example = "the longitude 180 was written as -180, the same meridian: GPX ends before 180";
      context.reportLoss("longitude-wrapped", undefined, example, points.moved);
    }
    for (const [field, count] of [
      ["time", this.shifted],
      [coordinateField, points.shifted],
    ] as const) {
      const example = "a time with an offset became the same instant in UTC";
      if (count > 0) context.reportLoss("zone-dropped", field, example, count);
    }
    if (this.otherElements > 0) {
      const example = "the geometry of the feature needs another element than this field names";
      context.reportLoss("element-changed", gpxTypeField, example, this.otherElements);
    }
    if (this.unqualified > 0) {
      const example =
        "elements in extensions that have no namespace of their own were kept; GPX 1.1 does not allow them, and programs that validate against its schema reject them";
      context.reportNotice("extension-unqualified", undefined, example, this.unqualified);
    }
    for (const [field, count] of dropped) {
      context.reportLoss("control-character", field, "characters that XML cannot hold were left out", count);
    }
    for (const [field, count] of leftOut) {
      context.reportLoss("field-left-out", field, "GPX has no element for it, and extensions are not wanted", count);
    }
    dropped.clear();
    leftOut.clear();
  }

  /** Returns the element in the feature's `_gpxType`, −1 for none. */
  private wanted(plan: FieldPlan, row: number): number {
    if (!plan.type) return -1;
    const name = schemaTextOf(plan.type, row);
    return (gpxTypes as readonly (string | null)[]).indexOf(name);
  }

  private waypoints(plan: FieldPlan, geometry: GeometryColumn, row: number): void {
    const ring = geometry.ringOffsets[geometry.partOffsets[row]!]!;
    this.out = this.outs[Gpx.wpt]!;
    for (let k = geometry.positionOffsets[ring]!; k < geometry.positionOffsets[ring + 1]!; k++) {
      this.points.open(this.out, "wpt", geometry, k);
      this.out.byte(62);
      this.points.height(this.out, geometry, k);
      this.attributes(plan, Gpx.wpt, row, "", { points: false, segments: false });
      this.out.literal(endTags[Gpx.wpt]!);
    }
  }

  private line(plan: FieldPlan, geometry: GeometryColumn, row: number): number {
    const kind = geometry.kinds[row]!;
    const rings = ringsOf(geometry, row);
    const wanted = this.wanted(plan, row);
    // A line without positions can still be a route.
    const isNone = rings.length === 0 && (wanted === Gpx.rte || kind === Kind.LineString);
    const isSingle = (rings.length === 1 || isNone) && kind !== Kind.MultiLineString;
    const isRoute = isSingle && (wanted === Gpx.rte || (wanted < Gpx.rte && this.settings.lines === Gpx.rte));
    const as = isRoute ? Gpx.rte : Gpx.trk;
    const lists = this.listsOf(plan, geometry, row, rings);
    const segments = isRoute ? null : parseSegmentLists(plan, row, rings.length);
    const origins = this.originsOf(plan, lists, segments);
    this.out = this.outs[as]!;
    if (origins.declared.size === 0) this.out.literal(startTags[as]!);
    else this.out.utf8(`<${gpxTypes[as]}${declarationsOf(origins.declared)}>`);
    const former = isNone && isRoute ? "" : originalGeometryType(geometry, row, rings);
    this.attributes(plan, as, row, former, { points: lists !== null, segments: segments !== null });
    for (const [line, ring] of rings.entries()) {
      if (!isRoute) this.out.ascii("<trkseg>\n");
      this.points.line(this.out, isRoute ? "rtept" : "trkpt", geometry, ring, lists?.[line] ?? [], origins.points);
      if (segments) writeSegmentEnd(this.out, segments, line, origins.segments);
      if (!isRoute) this.out.ascii("</trkseg>\n");
    }
    this.out.literal(endTags[as]!);
    return as;
  }

  private listsOf(plan: FieldPlan, geometry: GeometryColumn, row: number, rings: readonly number[]): PointLists | null {
    const value = parseJsonAt(plan.coordinates, row);
    if (value === undefined) return null;
    const lengths = rings.map((ring) => geometry.positionOffsets[ring + 1]! - geometry.positionOffsets[ring]!);
    return parsePointLists(value, lengths, geometry.kinds[row] === Kind.MultiLineString);
  }

  /** Returns the elements that the values of points and segments came from, and the prefixes to declare for them. */
  private originsOf(plan: FieldPlan, lists: PointLists | null, segments: readonly PointList[] | null): ElementOrigins {
    const points = (lists && plan.fields[plan.coordinatesIndex]?.members) ?? noSteps;
    const ofSegments = (segments && plan.fields[plan.segmentsIndex]?.members) ?? noSteps;
    if (points === noSteps && ofSegments === noSteps) return noPointOrigins;
    for (const steps of [...Object.values(points), ...Object.values(ofSegments)]) {
      if (steps.some((step) => !step.isAttribute && isUnqualified(step))) this.hasUnqualified = true;
    }
    const declared = collectPrefixes(segments ?? [], ofSegments);
    for (const [prefix, namespace] of collectPrefixes(lists?.flat() ?? [], points)) {
      if (!declared.has(prefix)) declared.set(prefix, namespace);
    }
    return { declared, points: { steps: points, declared }, segments: { steps: ofSegments, declared } };
  }

  /** Writes the elements before the points, in the order of the schema. `held` has the values of points and segments. */
  private attributes(
    plan: FieldPlan,
    as: number,
    row: number,
    former: string,
    held: { readonly points: boolean; readonly segments: boolean },
  ): void {
    this.hasExtensions = false;
    const misfits: number[] = [];
    const links = parseLinks(parseJsonAt(plan.links, row));
    let linked = links === null;
    for (const field of plan.standards[as]!) {
      if (field.afterLinks && !linked) {
        for (const link of links!) this.link(link);
        linked = true;
      }
      if (!this.standard(plan, field, row)) misfits.push(field.column);
    }
    if (!linked) for (const link of links!) this.link(link);
    for (const column of plan.others[as]!) this.extension(plan, column, row);
    for (const element of plan.vendors) this.vendor(plan, element, row);
    for (const column of misfits) this.extension(plan, column, row);
    if (!links && plan.links) this.extension(plan, plan.linksIndex, row);
    if (!held.segments && plan.segments) this.extension(plan, plan.segmentsIndex, row);
    if (!held.points && plan.coordinates) this.extension(plan, plan.coordinatesIndex, row);
    if (former !== "") {
      this.openExtensions();
      this.out.ascii(`<gf:geometry>${former}</gf:geometry>`);
    }
    if (this.hasExtensions) this.out.literal(extensionsTags.close);
    if (as !== Gpx.wpt) this.out.byte(10);
  }

  /** Writes a value as an element of GPX. @returns false where the schema does not allow it there */
  private standard(plan: FieldPlan, { name, column: index, open, close }: StandardColumn, row: number): boolean {
    const { out } = this;
    const column = plan.columns[index]!;
    if (column.presence[row] !== Presence.value) return true;
    if (column.type === "text" && acceptsAnyText(name)) {
      out.literal(open);
      this.drop(name, writeXmlText(out, column.bytes, column.offsets[row]!, column.offsets[row + 1]!));
    } else {
      const text = schemaTextOf(column, row);
      if (text === null || !isValidElementText(name, text)) return false;
      out.literal(open);
      const stored = name === "time" ? toUtc(text) : text;
      if (isShifted(text, stored)) this.shifted++;
      out.utf8(escapeElement(stored));
    }
    out.literal(close);
    return true;
  }

  private link({ href, text, type }: GpxLink): void {
    const { out } = this;
    out.utf8(`<link href="${escapeAttribute(href ?? "")}">`);
    if (text !== null) out.utf8(`<text>${escapeElement(text)}</text>`);
    if (type !== null) out.utf8(`<type>${escapeElement(type)}</type>`);
    out.ascii("</link>");
  }

  private extension(plan: FieldPlan, index: number, row: number): void {
    const column = plan.columns[index]!;
    if (column.presence[row] !== Presence.value) return;
    const { name } = plan.fields[index]!;
    if (!this.settings.extensions) {
      this.leftOut.set(name, (this.leftOut.get(name) ?? 0) + 1);
      return;
    }
    this.openExtensions();
    const tag = plan.tags[index]!;
    this.out.literal(tag.open);
    this.drop(name, writeValue(this.out, column, row));
    this.out.literal(tag.close);
  }

  /** Writes fields that came from elements of other namespaces as these elements. */
  private vendor(plan: FieldPlan, element: VendorElement, row: number): void {
    const isSaid = vendorColumnIndexes(element).some(
      (column) => plan.columns[column]!.presence[row] === Presence.value,
    );
    if (!isSaid) return;
    if (this.settings.extensions && plan.unqualified.has(element)) this.hasUnqualified = true;
    if (plan.plain.has(element)) {
      this.extension(plan, element.column, row);
      return;
    }
    if (!this.settings.extensions) {
      for (const column of vendorColumnIndexes(element)) this.extension(plan, column, row);
      return;
    }
    const text = writeVendorElement(element, plan.columns, row);
    if (text === "") return;
    this.openExtensions();
    this.out.utf8(text);
  }

  private openExtensions(): void {
    if (!this.hasExtensions) this.out.literal(extensionsTags.open);
    this.hasExtensions = true;
  }

  private drop(field: string, characters: number): void {
    if (characters > 0) this.dropped.set(field, (this.dropped.get(field) ?? 0) + 1);
  }
}

/** Returns the values of each segment; null unless each name has one array with a value for each segment. */
function parseSegmentLists(plan: FieldPlan, row: number, count: number): readonly PointList[] | null {
  const value = parseJsonAt(plan.segments, row);
  return value === undefined || count === 0 ? null : (parsePointLists(value, [count], false)?.[0] ?? null);
}

/** Returns the rings of all parts of a feature: the lines, or the shells and holes. */
function ringsOf(geometry: GeometryColumn, row: number): number[] {
  const { partOffsets, ringOffsets } = geometry;
  const rings: number[] = [];
  for (let ring = ringOffsets[partOffsets[row]!]!; ring < ringOffsets[partOffsets[row + 1]!]!; ring++) rings.push(ring);
  return rings;
}

/** Returns the geometry type to write where a reader would derive another one; empty where it would not. */
function originalGeometryType(geometry: GeometryColumn, row: number, rings: readonly number[]): string {
  const kind = geometry.kinds[row]!;
  if (rings.length === 0) {
    if (kind === Kind.Point) return "Point";
    if (kind === Kind.MultiPoint) return "MultiPoint";
    return kind === Kind.LineString ? "LineString" : "";
  }
  const isShort = (ring: number) => geometry.positionOffsets[ring + 1]! - geometry.positionOffsets[ring]! < 2;
  const single = kind === Kind.MultiLineString && rings.length === 1;
  return single || rings.some(isShort) ? (lineKinds.get(kind) ?? "") : "";
}

function parseJsonAt(column: FieldPlan["links"], row: number): unknown {
  if (!column || column.presence[row] !== Presence.value) return undefined;
  try {
    return JSON.parse(String(valueAt(column, row)));
  } catch {
    return undefined;
  }
}
