import { detectXmlEncoding } from "./input.js";

const prolog = /^(?:\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!DOCTYPE[^[>]*(?:\[[^\]]*\]\s*)?>)*/;
const rootElement = /^<([\p{L}_][\p{L}\p{N}._-]*:)?([\p{L}_][\p{L}\p{N}._-]*)(?=[\s/>])/u;

/** Returns the local name of the root element of a document that begins with `head`, or null where it is not found. */
export function rootName(head: Buffer): string | null {
  const { name, start } = detectXmlEncoding(head);
  const bytes = head.subarray(start);
  let text: string;
  if (name === "utf-16le") text = bytes.toString("utf16le");
  else if (name === "utf-16be")
    text = Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString("utf16le");
  else text = bytes.toString("latin1");
  return rootElement.exec(text.slice(prolog.exec(text)![0].length))?.[2] ?? null;
}
