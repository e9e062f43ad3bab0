import { randomUUID } from "node:crypto";
import { createError } from "../../../src/errors.js";
import { describeSyntaxError, parseExactly } from "../../shared/json/parse-features.js";
import { isObject, type Json } from "../../shared/json/values.js";

/** A topology whose structure, but not each of its arcs and geometries, has been checked (TopoJSON 1.0, 2.1). */
export interface TopologyDocument {
  readonly members: Json;
  readonly arcs: readonly unknown[];
  readonly objects: Json;
  readonly transform: { readonly scale: readonly number[]; readonly translate: readonly number[] } | null;
  /** What the text of an integer begins with that a number would round. */
  readonly mark: string;
}

/**
 * @param source the name of the file, for messages
 * @throws input-corrupt, input-truncated
 */
export function parseTopology(text: string, source: string): TopologyDocument {
  // A random mark, which no text of the file has.
  const mark = randomUUID();
  const members = parseJson(text, mark, source);
  const corrupt = (reason: string) => createError("input-corrupt", { source, place: {}, reason });
  if (!isObject(members) || members.type !== "Topology") throw corrupt('it has no member "type" with "Topology"');
  const { arcs = [], objects, transform = null } = members;
  if (!Array.isArray(arcs)) throw corrupt('its member "arcs" is not an array');
  if (!isObject(objects)) throw corrupt('its member "objects" is not an object');
  for (const [name, object] of Object.entries(objects))
    if (!isObject(object)) throw corrupt(`"${name.slice(0, 80)}" in its member "objects" is not a geometry`);
  const isTransform =
    transform === null || (isObject(transform) && isPair(transform.scale) && isPair(transform.translate));
  if (!isTransform) throw corrupt('its member "transform" has no scale and translate of two numbers each');
  return { members, arcs, objects, transform: transform as TopologyDocument["transform"], mark };
}

const isPair = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && value.every((each) => Number.isFinite(each));

function parseJson(text: string, mark: string, source: string): unknown {
  try {
    return parseExactly(text, mark);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const reason = `it is ${describeSyntaxError(error)}`;
    const at = findSyntaxError(text);
    const details = { source, place: { byte: Buffer.byteLength(text.slice(0, at)) }, reason };
    throw createError(at >= text.trimEnd().length ? "input-truncated" : "input-corrupt", details, error);
  }
}

/**
 * Where a text is not JSON, in characters; its length if it ends too early. Not all messages of V8 have the position, and
 * the text that was parsed may have marks in it: finds the longest beginning of the text that only lacks its end.
 */
function findSyntaxError(text: string): number {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endsTooEarly(text.slice(0, middle + 1))) low = middle + 1;
    else high = middle;
  }
  return low;
}

function endsTooEarly(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    if (/end of JSON/.test(message)) return true;
    return /position (\d+)/.exec(message)?.[1] === String(beginning.length);
  }
}
