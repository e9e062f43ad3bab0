import type { Confidence } from "../../src/plugin/format.js";

/** The constructs that may precede the root element, with their ends (XML 1.0, section 2.8). */
const prologParts: readonly (readonly [string, string])[] = [
  ["<?", "?>"],
  ["<!--", "-->"],
  ["<!DOCTYPE", ">"],
];
/** Root elements of documents without `<kml>`. */
const rootlessElements = new Set(["Document", "Folder", "Placemark", "GroundOverlay", "NetworkLink"]);

/** Returns the local name of the root element; undefined where it is not in `head`. */
function rootName(text: string): string | undefined {
  let at = 0;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at++;
    const known = prologParts.find(([opening]) => text.startsWith(opening, at));
    if (!known) return /^<(?:[\w.-]{1,64}:)?(\w{1,64})[\s>/]/.exec(text.slice(at, at + 200))?.[1];
    const [opening, end] = known;
    // The brackets of a document type may contain tags.
    const subset = opening === "<!DOCTYPE" ? /^[^>[]*\[[^\]]*\]/.exec(text.slice(at))?.[0].length : undefined;
    const found = text.indexOf(end, at + (subset ?? opening.length));
    if (found < 0) return undefined;
    at = found + end.length;
  }
}

/** Identifies KML by its root element, in UTF-8 or UTF-16. */
export function rateKml(head: Buffer): Confidence {
  const isWide = head.subarray(0, 64).includes(0);
  const text = head.toString("latin1").replace(/^\xef\xbb\xbf|^\xff\xfe|^\xfe\xff/, "");
  const root = rootName(isWide ? text.replaceAll("\0", "") : text);
  if (root === "kml") return "yes";
  return root !== undefined && rootlessElements.has(root) ? "maybe" : "no";
}
