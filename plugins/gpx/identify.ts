import type { Likeness } from "../../src/plugin/format.js";
import { encodingOf } from "../shared/xml-input.js";

const before = /^(?:\s|<\?[^]*?\?>|<!--[^]*?-->|<!DOCTYPE[^[>]*(?:\[[^\]]*\]\s*)?>)*/;

/** Whether the outermost element is `gpx`, whatever its prefix. */
export function likeness(head: Buffer): Likeness {
  const { name, start } = encodingOf(head);
  const bytes = head.subarray(start);
  const text =
    name === "utf-16be"
      ? Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16().toString("utf16le")
      : bytes.toString(name === "utf-16le" ? "utf16le" : "latin1");
  const root = text.slice(before.exec(text)![0].length, text.length);
  return /^<(?:[\w.-]+:)?gpx[\s/>]/.test(root) ? "yes" : "no";
}
