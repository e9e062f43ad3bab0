/** Reads a document once, for its layers, their fields, and the places where it can be split. */
import { createError } from "../../../src/errors.js";
import { formatCount, groupDigits } from "../../../src/format-count.js";
import { uniqueName } from "../../../src/model/index.js";
import type { ReadContext, SourceFile } from "../../../src/plugin/index.js";
import { XmlReader } from "../../shared/xml/reader.js";
import type { GmlElement } from "./element.js";
import { FeatureWalker } from "./feature-walker.js";
import { type FieldOptions, LayerScan } from "./layer-scan.js";
import type { GmlPlan, GmlSplit } from "./plan.js";
import { geometryOf, isBounds } from "./properties.js";
import type { ApplicationSchema } from "./schema.js";
import { type ReferenceSystem, resolveSrsName, srsNameIn } from "./srs-name.js";

export interface GmlOptions extends FieldOptions {
  readonly axisOrder: "auto" | "xy" | "yx";
}

/** The key of features whose geometries name no reference system. */
export const noSystem = "";

export const crsKeyOf = ({ crs, srsName }: ReferenceSystem): string => crs?.definition ?? srsName;

/**
 * The geometries of a feature decide its layer: the first names the reference system, or the property `wanted`. Null
 * without geometry.
 */
export function systemNameOf(feature: GmlElement, collection: string | null, wanted?: string): string | null {
  let hasGeometry = false;
  const preferred = wanted === undefined ? [] : feature.children.filter(({ local }) => local === wanted);
  for (const property of [...preferred, ...feature.children]) {
    const geometry = isBounds(property) ? undefined : geometryOf(property);
    if (!geometry) continue;
    hasGeometry = true;
    const name = srsNameIn(geometry);
    if (name !== null) return name;
  }
  if (!hasGeometry) return null;
  const bounds = feature.children.find(isBounds);
  return (bounds && srsNameIn(bounds)) ?? collection ?? noSystem;
}

/** Splits beyond these have the full size, which bounds the memory that they take. */
const maxSmallSplits = 10_000;

interface OpenSplit {
  readonly from: number;
  readonly place: Pick<GmlSplit, "start" | "state">;
  readonly layers: Set<number>;
}

export class DocumentScan {
  private readonly systems = new Map<string, ReferenceSystem>();
  private readonly layers: LayerScan[] = [];
  /** Numbers of layers, by feature type and reference system. */
  private readonly numbers = new Map<string, number>();
  /** The number of the first layer of a type. */
  private readonly firstOf = new Map<string, number>();
  /** Layers whose features have no geometry so far. */
  private readonly unplaced = new Set<number>();
  private readonly splits: GmlSplit[] = [];
  private split: OpenSplit = { from: 0, place: {}, layers: new Set() };

  constructor(
    private readonly source: string,
    private readonly options: GmlOptions,
    private readonly context: ReadContext,
    private readonly splitSize: number,
  ) {}

  /**
   * Scans one document; several are scanned one after the other if they are pages of one.
   * @returns the attributes of the root element
   * @throws input-corrupt, input-truncated, unsupported
   */
  async run(file: SourceFile): Promise<ReadonlyMap<string, string>> {
    const { source, context } = this;
    const xml = new XmlReader(file, { source, context, vocabulary: {} });
    const leftOut = (element: string) =>
      context.reportLoss("element-left-out", undefined, `${element}, beside the features`);
    const walker = new FeatureWalker(xml, source, { leftOut }, undefined);
    for (;;) {
      const event = walker.next();
      if (event === "more") await xml.fill();
      else if (event === "starts") this.mayEndSplit(walker, xml.byte);
      else if (event === "feature") await this.addFeature(walker);
      else break;
    }
    const { damage } = xml;
    if (damage) {
      const { place = {}, reason = damage.message } = damage.details as { place?: object; reason?: string };
      context.skipRange({ source, place, bytes: file.size - xml.byte, reason });
    }
    xml.report();
    this.endSplit(file.size, true);
    this.checkRoot(walker);
    const attributes: ReadonlyMap<string, string> = walker.root?.attributes ?? new Map();
    this.checkPage(attributes);
    return attributes;
  }

  /** Reports that the document is one of several answers of a WFS (OGC 09-025r2, 7.7.4). */
  private checkPage(attributes: ReadonlyMap<string, string>): void {
    const [matched, returned] = [Number(attributes.get("numberMatched")), Number(attributes.get("numberReturned"))];
    if (!(returned < matched)) return;
    const example = `the file has ${groupDigits(returned)} of ${formatCount(matched, "feature")} that matched the request (numberReturned, numberMatched); name the address of the service, such as wfs:https://host/path, instead of this file`;
    this.context.reportLoss("page-of-more", undefined, example, matched - returned);
  }

  /** @throws unsupported */
  private checkRoot({ root, hasMembers }: FeatureWalker): void {
    if (!root || hasMembers || /FeatureCollection$/.test(root.name)) return;
    throw createError("unsupported", {
      source: this.source,
      reason: `<${root.name}> is not a collection of features: it has no featureMember, featureMembers or member`,
    });
  }

  private mayEndSplit(walker: FeatureWalker, byte: number): void {
    // Each layer reads all of its splits: with many layers, small ones keep a layer from reading the features of all others.
    const isFull = this.splits.length >= maxSmallSplits;
    const size = isFull ? this.splitSize : this.splitSize / Math.max(1, this.layers.length);
    if (byte - this.split.from < size) return;
    this.endSplit(byte, false);
    this.split = { from: byte, place: walker.position(), layers: new Set() };
  }

  private endSplit(to: number, isLast: boolean): void {
    const { from, place, layers } = this.split;
    if (layers.size > 0)
      this.splits.push({ bytes: to - from, ...place, ...(isLast ? {} : { to }), layers: [...layers] });
    this.split = { from: 0, place: {}, layers: new Set() };
  }

  private async addFeature(walker: FeatureWalker): Promise<void> {
    const feature = walker.feature!;
    const name = systemNameOf(feature, walker.srsName, this.options.geometry);
    const number = await this.layerOf(feature, name, walker.root?.isMapServer11 ?? false);
    this.layers[number]!.add(feature);
    this.split.layers.add(number);
  }

  private async layerOf(feature: GmlElement, srsName: string | null, isMapServer11: boolean): Promise<number> {
    const type = `${feature.local} ${feature.namespace}`;
    const first = this.firstOf.get(type);
    if (srsName === null && first !== undefined) return first;
    const system = await this.systemOf(srsName ?? noSystem, isMapServer11);
    const crsKey = crsKeyOf(system);
    const key = `${type} ${crsKey}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    if (first !== undefined && this.unplaced.delete(first)) {
      this.layers[first]!.place(system.crs, crsKey);
      this.numbers.set(key, first);
      return first;
    }
    const number = this.layers.length;
    if (srsName === null) this.unplaced.add(number);
    else this.numbers.set(key, number);
    if (first === undefined) this.firstOf.set(type, number);
    const layer = new LayerScan(feature.local, feature.namespace, first === undefined, this.context);
    layer.place(system.crs, crsKey);
    this.layers.push(layer);
    return number;
  }

  private async systemOf(srsName: string, isMapServer11: boolean): Promise<ReferenceSystem> {
    const known = this.systems.get(srsName);
    if (known) return known;
    const { axisOrder: option } = this.options;
    const axisOrder = option === "auto" && isMapServer11 ? "authority" : option;
    const found =
      srsName === noSystem
        ? { srsName, crs: null, isNorthFirst: axisOrder === "yx" }
        : await resolveSrsName(srsName, axisOrder, this.context.crs);
    if (srsName !== noSystem && found.crs === null)
      this.context.reportNotice("crs-unreadable", undefined, `"${srsName.slice(0, 120)}" is not a known system`);
    this.systems.set(srsName, found);
    return found;
  }

  /** @param schema declares the fields; null without one */
  plan(schema: ApplicationSchema | null): GmlPlan {
    const taken = new Set<string>();
    const layers = this.layers.map((layer) => {
      const suffix = layer.isFirst ? "" : `_${(layer.crs?.id ?? "unknown").replace(":", "_")}`;
      const name = uniqueName(layer.typeName + suffix, taken);
      taken.add(name);
      if (!layer.isFirst) {
        const example = `features of "${layer.typeName}" in ${layer.crs?.id ?? (layer.crsKey || "no system")} are a layer of their own`;
        this.context.reportNotice("layers-by-crs", undefined, example, layer.features);
      }
      return layer.plan(name, schema?.propertiesOf(layer.typeName) ?? null, this.options);
    });
    return { layers, systems: [...this.systems.values()], splits: this.splits };
  }
}
