/** Names of zip entries: decoding, safe paths, and stems that group entries. */
import { extname } from "node:path";
import { type Entry, getFileNameLowLevel } from "yauzl";
import { createError } from "../../errors.js";
import { maxNameBytes, shortenName } from "../output/temporary-names.js";
import { avoidDeviceName } from "../output/windows-names.js";

/**
 * Decodes the name of an entry: as UTF-8 if it is marked so (bit 11, or the Unicode path field) or if the bytes are valid
 * UTF-8, since many programs do not mark it; else as code page 437.
 */
export function decodeEntryName(entry: Entry): string {
  const raw = entry.fileNameRaw;
  const isMarkedUtf8 =
    (entry.generalPurposeBitFlag & 0x800) !== 0 || entry.extraFields.some((field) => field.id === 0x7075);
  if (!isMarkedUtf8 && raw.some((byte) => byte > 0x7f)) {
    const text = raw.toString("utf8");
    if (!text.includes("\uFFFD")) return text.replaceAll("\\", "/");
  }
  return getFileNameLowLevel(entry.generalPurposeBitFlag, raw, entry.extraFields, false).replaceAll("\\", "/");
}

export const isSymbolicLink = ({ versionMadeBy, externalFileAttributes }: Entry): boolean =>
  versionMadeBy >> 8 === 3 && ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;

export const isHidden = (path: string): boolean =>
  path.split("/").some((part) => part === "__MACOSX" || (part.startsWith(".") && part !== "." && part !== ".."));

/** Removes roots and drive letters, and refuses paths that leave their folder. @throws input-corrupt */
export function safePath(name: string, source: string): string {
  const refuse = (reason: string) =>
    createError("input-corrupt", {
      source,
      reason: `the entry ${JSON.stringify(name)} ${reason}; do not trust this zip`,
    });
  if (name.includes("\0")) throw refuse("has a NUL in its name");
  const parts = name
    .replace(/^[a-z]:/i, "")
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refuse("would be outside the folder that it is unpacked into");
  return parts.join("/");
}

/** Replaces characters and names that some file systems do not allow. */
const replaceReservedNames = (path: string): string =>
  path
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches them
    .replace(/[\u0001-\u001f<>:"|?*]/g, "_")
    .split("/")
    .map((name) => (process.platform === "win32" ? avoidDeviceName(name).replace(/[. ]+$/, "_") : name))
    .join("/");

/** The extensions of a name: `.shp.xml`. */
const extensionsPattern = /(\.[\w-]{1,9}){0,3}$/;
const maxExtensionsBytes = 30;

/** Maximum length of an unpacked path in bytes; with the temporary folder, systems allow 4096 and fewer. */
const maxPathBytes = 1024;

/** Shortens a name that file systems do not allow with all extensions; files of one stem keep a common one. */
function shortenFileName(name: string): string {
  const stem = name.replace(extensionsPattern, "");
  const maxBytes = maxNameBytes - maxExtensionsBytes;
  if (Buffer.byteLength(stem) <= maxBytes) return name;
  // Companions may differ in case.
  return shortenName(stem.normalize("NFC").toLowerCase(), maxBytes) + name.slice(stem.length);
}

/** The relative path for an entry on disk. The path of the entry itself may be too long for a file system. */
export function unpackedPath(path: string): string {
  const parts = replaceReservedNames(path).split("/").map(shortenFileName);
  const joined = parts.join("/");
  if (Buffer.byteLength(joined) <= maxPathBytes) return joined;
  return `${shortenName(parts.slice(0, -1).join("_").normalize("NFC").toLowerCase(), maxNameBytes)}/${parts.at(-1)}`;
}

/** A key that is equal for names that clash on case-insensitive file systems. */
export const foldCase = (path: string): string => unpackedPath(path).normalize("NFC").toLowerCase();

export const withoutExtension = (path: string): string => path.slice(0, path.length - extname(path).length);

/** The lower-case stems that a path may belong to: `roads.shp.xml` belongs to `roads.shp`. */
export const possibleStems = (path: string): string[] => {
  const stem = withoutExtension(path);
  return [stem, withoutExtension(stem)].map((text) => text.toLowerCase());
};
