/** Names of entries of a zip: what they say, what of it is safe, and how they go together. */
import { extname } from "node:path";
import { type Entry, getFileNameLowLevel } from "yauzl";
import { createError } from "../../errors.js";
import { avoidDeviceName } from "../output/windows-names.js";

/**
 * The name of an entry: UTF-8 where it says so (bit 11, or the Unicode path field), and also where it does not but
 * the bytes can hardly be anything else, as many programs forget to say it; else code page 437.
 */
export function decodeEntryName(entry: Entry): string {
  const raw = entry.fileNameRaw;
  const marked = (entry.generalPurposeBitFlag & 0x800) !== 0 || entry.extraFields.some((field) => field.id === 0x7075);
  if (!marked && raw.some((byte) => byte > 0x7f)) {
    const text = raw.toString("utf8");
    if (!text.includes("\uFFFD")) return text.replaceAll("\\", "/");
  }
  return getFileNameLowLevel(entry.generalPurposeBitFlag, raw, entry.extraFields, false).replaceAll("\\", "/");
}

export const isSymbolicLink = ({ versionMadeBy, externalFileAttributes }: Entry): boolean =>
  versionMadeBy >> 8 === 3 && ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;

export const isHidden = (path: string): boolean =>
  path.split("/").some((part) => part === "__MACOSX" || (part.startsWith(".") && part !== "." && part !== ".."));

/** Roots and drive letters are taken off; what climbs out of its folder is refused. */
export function safePath(name: string, source: string): string {
  const refuse = (reason: string) =>
    createError("input-corrupt", {
      source,
      reason: `the entry ${JSON.stringify(name)} ${reason}; the zip is not to be trusted`,
    });
  if (name.includes("\0")) throw refuse("has a NUL in its name");
  const parts = name
    .replace(/^[a-z]:/i, "")
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refuse("would be outside the folder that it is unpacked into");
  return parts.join("/");
}

/** On disk without the characters and names that some file systems refuse. */
export const replaceReservedNames = (path: string): string =>
  path
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replace(/[\u0001-\u001f<>:"|?*]/g, "_")
    .split("/")
    .map((name) => (process.platform === "win32" ? avoidDeviceName(name).replace(/[. ]+$/, "_") : name))
    .join("/");

/** How names clash on a file system that ignores case. */
export const foldCase = (path: string): string => replaceReservedNames(path).normalize("NFC").toLowerCase();

export const withoutExtension = (path: string): string => path.slice(0, path.length - extname(path).length);

/** `roads.shp.xml` beside `roads.shp` describes it. */
export const possibleStems = (path: string): string[] => {
  const stem = withoutExtension(path);
  return [stem, withoutExtension(stem)].map((text) => text.toLowerCase());
};
