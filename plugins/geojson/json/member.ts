import { Kind } from "../../../src/model/index.js";
import { type JsonCursor, JsonToken } from "../../shared/json/cursor.js";
import { JsonStringDecoder } from "../../shared/json/text.js";
import { memberNames, typeNames } from "./keyword-table.js";

/** Types of objects that are not geometries. */
export const featureType = 8;
export const collectionType = 9;
export const unknownType = 10;
const typeNumbers: Record<string, number> = { ...Kind, Feature: featureType, FeatureCollection: collectionType };

/** The name at the cursor. */
export function readName(cursor: JsonCursor): string {
  cursor.string();
  const { bytes, from, to } = cursor;
  if (cursor.encoded) return new JsonStringDecoder().text(bytes, from, to);
  return memberNames.find(bytes, from, to) ?? bytes.toString("utf8", from, to);
}

/** The type at the cursor, by number. */
export function readType(cursor: JsonCursor): number {
  const token = cursor.value();
  const { bytes, from, to } = cursor;
  if (token === JsonToken.text) return typeNumbers[typeNames.find(bytes, from, to) ?? ""] ?? unknownType;
  if (token !== JsonToken.encoded) return unknownType;
  const name = Buffer.from(new JsonStringDecoder().text(bytes, from, to));
  return typeNumbers[typeNames.find(name, 0, name.length) ?? ""] ?? unknownType;
}
