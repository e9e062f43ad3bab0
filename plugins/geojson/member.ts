import { Kind } from "../../src/model/index.js";
import { type JsonCursor, Token } from "./json-cursor.js";
import { StringDecoder } from "./json-text.js";
import { memberNames, typeNames } from "./words.js";

/** Types of objects beside the kinds of geometries. */
export const featureType = 8;
export const collectionType = 9;
export const otherType = 10;
const typeNumbers: Record<string, number> = { ...Kind, Feature: featureType, FeatureCollection: collectionType };

/** The name at the cursor. */
export function readName(cursor: JsonCursor): string {
  cursor.string();
  const { bytes, from, to } = cursor;
  if (cursor.encoded) return new StringDecoder().text(bytes, from, to);
  return memberNames.find(bytes, from, to) ?? bytes.toString("utf8", from, to);
}

/** The type written at the cursor, by number. */
export function readType(cursor: JsonCursor): number {
  const token = cursor.value();
  const { bytes, from, to } = cursor;
  if (token === Token.text) return typeNumbers[typeNames.find(bytes, from, to) ?? ""] ?? otherType;
  if (token !== Token.encoded) return otherType;
  const name = Buffer.from(new StringDecoder().text(bytes, from, to));
  return typeNumbers[typeNames.find(name, 0, name.length) ?? ""] ?? otherType;
}
