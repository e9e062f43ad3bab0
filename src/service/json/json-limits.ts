import { problem } from "../http/problems.js";

export interface JsonLimits {
  /** How deep arrays and objects may lie in each other. */
  readonly bodyDepth: number;
  /** How many members a feature may have, those of its values with them; what is no feature counts as one. */
  readonly featureMembers: number;
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Where features stand: inside of a collection and its list. */
export const featureDepth = 2;

/**
 * Refuses a text that nests too deeply or has too many members before it is parsed, which would build five million
 * arrays out of 10 MiB of brackets, and takes microseconds for a name. Also of what is no JSON. A hot loop: plain and
 * long.
 * @param depth that the text stands at
 * @param before how many members there are already
 * @returns how many there are behind it
 * @throws the problems nested-too-deeply, too-many-members
 */
export function enforceJsonLimits(text: string, limits: JsonLimits, depth = 0, before = 0): number {
  const { bodyDepth } = limits;
  let [level, members] = [depth, before];
  // What opens features, as the second level, is a list.
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

/** @returns how many there are with one more @throws the problem too-many-members */
export function countOneMember(before: number, { featureMembers }: JsonLimits): number {
  if (before >= featureMembers) throw problem("too-many-members", { limit: featureMembers });
  return before + 1;
}

/** The shortest member of an object and what parts it from the next: `"":0,`. */
const minMemberBytes = 5;

/** Whether a text is so short that it cannot have too many members. */
export const isBelowMemberLimit = (length: number, { featureMembers }: JsonLimits): boolean =>
  length < minMemberBytes * featureMembers;
