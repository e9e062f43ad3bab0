import { forbiddenControls } from "../shared/xml/bytes.js";
import { maxNameLength } from "./limits.js";

/** Characters that Excel and LibreOffice do not allow in the names of sheets, and characters that XML does not. */
const forbidden = new RegExp(`[\\\\/?*[\\]:\\t\\n\\r${forbiddenControls}\\ufffe\\uffff]`, "g");

/** The name that a sheet can have: no forbidden characters, no apostrophe at its ends, not `History`. */
function normalizeName(name: string, maxLength: number): string {
  const replaced = Buffer.from(name).toString().replace(forbidden, "_").replace(/^'|'$/g, "_");
  // A pair of surrogates is not cut in two.
  const short = replaced
    .slice(0, maxLength)
    .replace(/[\ud800-\udbff]$/, "")
    .replace(/'$/, "_");
  // Excel reserves it for its list of changes.
  if (/^history$/i.test(short)) return `${short}_`;
  return short.trim() === "" ? "Sheet" : short;
}

export const normalizeExcelName = (name: string): string => normalizeName(name, maxNameLength);

/** LibreOffice has no limit of its own. */
export const normalizeOdsName = (name: string): string => normalizeName(name, 255);
