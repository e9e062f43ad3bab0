/** What parsing a JSON document changes without an error. */
import { isUtf8 } from "node:buffer";

export interface ParsingLoss {
  readonly kind: "loss";
  readonly code: "invalid-utf8" | "duplicate-member" | "non-finite-value";
  readonly example: string;
  readonly count: number;
}

/**
 * The text of a JSON document, which is UTF-8 (RFC 8259, 8.1). Only if it is not, the encoding counts that the media type
 * declares, and its bytes are read as that.
 */
export function jsonTextOf(bytes: Buffer, contentType = ""): string {
  const charset = /;\s*charset="?([\w.:-]+)/i.exec(contentType)?.[1];
  if (charset === undefined || isUtf8(bytes) || /^utf-?8$/i.test(charset)) return bytes.toString("utf8");
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}

const replacement = "\ufffd";
const textOrName = /"(?:[^"\\]|\\.)*"(\s*:)?/gs;

/** @param json what `text`, which was made of `bytes`, was parsed to */
export function parsingLossesOf(bytes: Buffer, text: string, json: unknown): ParsingLoss[] {
  const losses: ParsingLoss[] = [];
  if (!isUtf8(bytes) && text.includes(replacement))
    losses.push({ kind: "loss", code: "invalid-utf8", example: "bytes that are not UTF-8 became U+FFFD", count: 1 });
  const found = countMembers(json);
  let names = 0;
  for (const [, colon] of text.matchAll(textOrName)) if (colon !== undefined) names++;
  if (names > found.members)
    losses.push({
      kind: "loss",
      code: "duplicate-member",
      example: "a name occurs more than once in an object; the last value was kept",
      count: names - found.members,
    });
  if (found.infinite > 0)
    losses.push({
      kind: "loss",
      code: "non-finite-value",
      example: "a number beyond 1.8e308 became null",
      count: found.infinite,
    });
  return losses;
}

/** The numbers of members of all objects, and of numbers that are infinite. */
function countMembers(json: unknown): { members: number; infinite: number } {
  const found = { members: 0, infinite: 0 };
  const open: unknown[] = [json];
  while (open.length > 0) {
    const value = open.pop();
    if (value === Infinity || value === -Infinity) found.infinite++;
    if (typeof value !== "object" || value === null) continue;
    const values = Object.values(value);
    if (!Array.isArray(value)) found.members += values.length;
    for (const each of values) if (typeof each === "object" || typeof each === "number") open.push(each);
  }
  return found;
}
