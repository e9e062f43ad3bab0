import type { Confidence } from "../../src/plugin/format.js";

/** What may stand before the root element, one after another, and where each ends (XML 1.0, section 2.8). */
const prologParts: readonly (readonly [string, string])[] = [
  ["<?", "?>"],
  ["<!--", "-->"],
  ["<!DOCTYPE", ">"],
];
/** Elements that a document without `<kml>` around it begins with. */
const rootlessElements = new Set(["Document", "Folder", "Placemark", "GroundOverlay", "NetworkLink"]);

/** The local name of the root element, undefined where it is not there. */
function rootName(text: string): string | undefined {
  let at = 0;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at++;
    const known = prologParts.find(([opening]) => text.startsWith(opening, at));
    if (!known) return /^<(?:[\w.-]{1,64}:)?(\w{1,64})[\s>/]/.exec(text.slice(at, at + 200))?.[1];
    const [opening, end] = known;
    // The brackets of a document type may hold tags of their own.
    const subset = opening === "<!DOCTYPE" ? /^[^>[]*\[[^\]]*\]/.exec(text.slice(at))?.[0].length : undefined;
    const found = text.indexOf(end, at + (subset ?? opening.length));
    if (found < 0) return undefined;
    at = found + end.length;
  }
}

/** KML by its root element, in UTF-8 or UTF-16. */
export function rateKml(head: Buffer): Confidence {
  const isWide = head.subarray(0, 64).includes(0);
  const text = head.toString("latin1").replace(/^\xef\xbb\xbf|^\xff\xfe|^\xfe\xff/, "");
  const root = rootName(isWide ? text.replaceAll("\0", "") : text);
  if (root === "kml") return "yes";
  return root !== undefined && rootlessElements.has(root) ? "maybe" : "no";
}
