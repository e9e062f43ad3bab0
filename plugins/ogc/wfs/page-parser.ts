/** Reads a page of GML: its features, their keys, and what the collection says about itself. */
import type { ReadContext } from "../../../src/plugin/index.js";
import { XmlReader } from "../../shared/xml/reader.js";
import { attributeOf, type GmlElement } from "../gml/element.js";
import { FeatureWalker } from "../gml/feature-walker.js";
import { memoryFile } from "../gml/schema.js";
import type { PageLoss } from "../service/complete-download.js";
import type { FeatureKey } from "../service/feature-ledger.js";

/** A page of GML. */
export interface GmlPage {
  readonly body: Buffer;
  /** The features, each with the reference system that the collection around it declares. */
  readonly features: readonly (readonly [feature: GmlElement, srsName: string | null])[];
  /** Elements beside the features. */
  readonly leftOut: readonly string[];
  /** See `FeatureWalker.root`. */
  readonly isMapServer11: boolean;
  /** What reading it lost: invalid bytes, control characters. */
  readonly losses: readonly PageLoss[];
  /** The attributes of the root element. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** The content of a feature without its id, which some services change in each response. */
export function contentOf({ children }: GmlElement): string {
  return JSON.stringify(children, (name, value: unknown) =>
    name === "attributes" && Array.isArray(value)
      ? value.filter(({ local }: { local: string }) => local !== "id" && local !== "fid")
      : value,
  );
}

export const keyOf = (feature: GmlElement): FeatureKey => ({
  id: attributeOf(feature, "id") ?? attributeOf(feature, "fid"),
  content: contentOf(feature),
});

/** @throws input-corrupt, input-truncated */
export async function parsePage(source: string, body: Buffer, context: ReadContext): Promise<GmlPage> {
  const { signal } = context;
  const losses: PageLoss[] = [];
  const keep =
    (kind: PageLoss["kind"]) =>
    (code: string, _: string | undefined, example: string, count = 1): void => {
      losses.push({ kind, code, example, count });
    };
  const quiet = {
    ...{ signal, skipErrors: false, reportLoss: keep("loss"), reportNotice: keep("notice") },
    getTextDecoder: (encoding: string) => context.getTextDecoder(encoding),
  };
  const features: [GmlElement, string | null][] = [];
  const leftOut: string[] = [];
  const xml = new XmlReader(memoryFile(body), { source, context: quiet, vocabulary: {} });
  const walker = new FeatureWalker(xml, source, { leftOut: (element) => leftOut.push(element) }, undefined);
  for (;;) {
    const event = walker.next();
    if (event === "more") await xml.fill();
    else if (event === "end") break;
    else if (event === "feature") features.push([walker.feature!, walker.srsName]);
  }
  xml.report();
  const { root } = walker;
  return {
    body,
    features,
    leftOut,
    losses,
    isMapServer11: root?.isMapServer11 ?? false,
    attributes: root?.attributes ?? new Map(),
  };
}
