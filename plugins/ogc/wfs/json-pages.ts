/** Pages of GeoJSON, which several services send instead of GML (`outputFormat=application/json`). */
import { parseExactly } from "../../../src/model/index.js";
import { createError } from "../../../src/plugin/index.js";
import { describeSyntaxError } from "../../shared/json/parse-features.js";
import { type ParsingLoss, parsingLossesOf } from "../../shared/json/parsing-losses.js";
import { integerOf, isObject, type Json, objectsOf, textOf } from "../../shared/json/values.js";
import { PagesIncomplete } from "../service/complete-download.js";
import { exceptionMessage, isPermanent, type ResponseCheck } from "../service/service-client.js";
import type { PageFormat } from "./page-format.js";

const geoJsonName = /^(application\/(vnd\.)?(geo\+)?json|geojson|json)(\s*;\s*subtype="?geojson"?)?$/i;
const maxExceptionBytes = 1 << 16;

/** What is the same on all pages of a layer. Plain data. */
export interface JsonForm {
  readonly outputFormat: string;
  /** The member `crs` as text; null for none. */
  readonly crs: string | null;
  /** Whether the latitude or northing comes first. */
  readonly isNorthFirst: boolean;
}

/** The name by which a service offers GeoJSON; null if it does not. */
export function jsonFormatIn(formats: readonly string[]): string | null {
  const found = formats.filter((name) => geoJsonName.test(name));
  return found.find((name) => /^application\/json$/i.test(name)) ?? found[0] ?? null;
}

export const crsMemberOf = ({ crs }: Json): string | null =>
  crs === undefined || crs === null ? null : JSON.stringify(crs);

/** The exception in a JSON report of GeoServer; null for another document. */
function jsonException(body: Buffer): string | null {
  if (body.length > maxExceptionBytes || !body.includes('"exceptions"')) return null;
  try {
    const json: unknown = JSON.parse(body.toString("utf8"));
    const [first] = isObject(json) ? objectsOf(json.exceptions) : [];
    return first ? `${textOf(first.text) ?? "an exception"} (${textOf(first.code) ?? ""})` : null;
  } catch {
    return null;
  }
}

/** Checks that a response is a JSON object and not cut; its content is checked by `parseJson`. */
function checkJson({ body }: { readonly body: Buffer }): ResponseCheck {
  const head = body.toString("utf8", 0, 4096).trimStart();
  const exception = head.startsWith("<") ? exceptionMessage(body.toString("utf8")) : jsonException(body);
  if (exception !== null) return { error: exception, isTransient: !isPermanent(exception) };
  if (!head.startsWith("{")) return { error: "the response is not a JSON object", isTransient: true };
  const isWhole = /\}\s*$/.test(body.toString("latin1", Math.max(0, body.length - 64)));
  return { error: isWhole ? null : "the response is truncated", isTransient: true };
}

/** A feature collection. @throws input-corrupt, PagesIncomplete */
export function parseJson(
  source: string,
  body: Buffer,
): { readonly json: Json; readonly features: readonly Json[]; readonly losses: readonly ParsingLoss[] } {
  const text = body.toString("utf8");
  let json: unknown;
  try {
    json = parseExactly(text);
  } catch (error) {
    throw createError("input-corrupt", { source, reason: describeSyntaxError(error) }, error);
  }
  if (!isObject(json) || !Array.isArray(json.features)) throw new PagesIncomplete("a page has no list of features");
  const list = json.features as unknown[];
  const features = list.filter(isObject).filter(({ type }) => type === "Feature");
  if (features.length < list.length) throw new PagesIncomplete("a page has a member that is not a feature");
  return { json, features, losses: parsingLossesOf(body, text, json) };
}

const keyOf = ({ id, geometry, properties }: Json) => ({
  id: typeof id === "string" || typeof id === "number" ? String(id) : null,
  content: JSON.stringify([geometry, properties]),
});

/** @param crs as in `JsonForm`; undefined to accept any */
export const jsonPages = (outputFormat: string, crs?: string | null): PageFormat<readonly Json[]> => ({
  parameters: { OUTPUTFORMAT: outputFormat },
  accept: "application/geo+json, application/json;q=0.9, */*;q=0.5",
  check: checkJson,
  async parse(source, body) {
    const { json, features, losses } = parseJson(source, body);
    const found = crsMemberOf(json);
    if (crs !== undefined && features.length > 0 && found !== crs)
      throw new PagesIncomplete(`a page has the reference system ${found?.slice(0, 80)}, and others have ${crs}`);
    const next = objectsOf(json.links).find(({ rel }) => rel === "next");
    return {
      ...{ keys: features.map(keyOf), content: features, losses },
      announced: integerOf(json.numberReturned),
      next: next ? textOf(next.href) : null,
    };
  },
});
