/** The formats of pages: what to request, and how to read it. */
import type { HttpResponse, ReadContext } from "../../../src/plugin/index.js";
import { type Page, PagesIncomplete } from "../service/complete-download.js";
import { checkXml, type ResponseCheck } from "../service/service-client.js";
import { xmlMedia } from "./capabilities.js";
import { type GmlPage, keyOf, parsePage } from "./page-parser.js";

/** A page with what it says about itself. */
export interface ParsedPage<Content> extends Page<Content> {
  /** The number of features that it announces; null if it does not. */
  readonly announced: number | null;
  /** The address of the next page, if the service names it. */
  readonly next: string | null;
}

export interface PageFormat<Content> {
  /** Parameters of GetFeature. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Media types for the header Accept. */
  readonly accept: string;
  readonly check: (response: HttpResponse) => ResponseCheck;
  /** @throws input-corrupt, input-truncated, PagesIncomplete */
  parse(source: string, body: Buffer, context: ReadContext): Promise<ParsedPage<Content>>;
}

/** Letters and digits of a name: an XML name has others in place of blanks, and services choose which. */
const essenceOf = (name: string): string =>
  name
    .replace(/^.*:/, "")
    .replace(/_x[0-9a-f]{4}_/gi, "")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();

/** Checks that features are of the type that was requested, and all of one namespace. */
class TypeCheck {
  private readonly wanted: string;
  private namespace: string | null | undefined;

  constructor(typeName: string) {
    this.wanted = essenceOf(typeName);
  }

  /** @throws PagesIncomplete */
  check({ features }: GmlPage): void {
    for (const [{ local, namespace }] of features) {
      this.namespace ??= namespace;
      if (essenceOf(local) === this.wanted && namespace === this.namespace) continue;
      const name = namespace === this.namespace ? `"${local}"` : `"${local}" of the namespace "${namespace}"`;
      throw new PagesIncomplete(`a page has a feature of the type ${name}, which was not requested`);
    }
  }
}

export function gmlPages(typeName: string): PageFormat<GmlPage> {
  const types = new TypeCheck(typeName);
  return {
    parameters: {},
    accept: xmlMedia,
    check: checkXml(/FeatureCollection$/),
    async parse(source, body, context) {
      const content = await parsePage(source, body, context);
      types.check(content);
      const { attributes, features } = content;
      const announced = attributes.get("numberReturned") ?? "";
      return {
        keys: features.map(([feature]) => keyOf(feature)),
        content,
        losses: content.losses,
        announced: /^\d+$/.test(announced) ? Number(announced) : null,
        next: attributes.get("next") || null,
      };
    },
  };
}
