import { problem } from "../http/problems.js";

export interface JsonLimits {
  /** Maximum nesting of arrays and objects. */
  readonly bodyDepth: number;
  /** Maximum members of a feature, including nested ones; all members outside of features count together. */
  readonly featureMembers: number;
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Nesting of features: inside the collection and its array. */
export const featureDepth = 2;

/**
 * Rejects text that nests too deeply or has too many members before it is parsed: parsing 10 MiB of brackets would
 * create five million arrays, and each member name takes microseconds. Accepts invalid JSON. This is a hot loop,
 * written plainly.
 * @param depth nesting at which the text starts
 * @param before number of members so far
 * @returns the number of members after the text
 * @throws the problems nested-too-deeply, too-many-members
 */
export function enforceJsonLimits(text: string, limits: JsonLimits, depth = 0, before = 0): number {
  const { bodyDepth } = limits;
  let [level, members] = [depth, before];
  // The array at the second level contains the features.
  let isList = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === quote) {
      for (i++; i < text.length; i++) {
        const inside = text.charCodeAt(i);
        if (inside === quote) break;
        if (inside === backslash) i++;
      }
    } else if (unit === colon) {
      members = countOneMember(members, limits);
    } else if (unit === openBrace || unit === openBracket) {
      if (level === featureDepth - 1) isList = unit === openBracket;
      if (level === featureDepth && isList) members = 0;
      if (++level > bodyDepth) throw problem("nested-too-deeply", { limit: bodyDepth });
    } else if (unit === closeBrace || unit === closeBracket) level--;
  }
  return members;
}

/** @returns the number of members, plus one @throws the problem too-many-members */
export function countOneMember(before: number, { featureMembers }: JsonLimits): number {
  if (before >= featureMembers) throw problem("too-many-members", { limit: featureMembers });
  return before + 1;
}

/** The shortest member with its separator: `"":0,`. */
const minMemberBytes = 5;

/** Whether the text is too short to exceed the member limit. */
export const isBelowMemberLimit = (length: number, { featureMembers }: JsonLimits): boolean =>
  length < minMemberBytes * featureMembers;
