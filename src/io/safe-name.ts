import { extname } from "node:path";
import { avoidDeviceName, reservedInNames } from "./output/windows-names.js";

const unsafeCharacters = new RegExp(`[${reservedInNames}\\u007f]`, "g");

/** Converts an untrusted name to one that is valid on every file system, of at most 150 characters; null if nothing is left. */
export function safeName(name: string): string | null {
  const base = name.split(/[\\/]/).at(-1) ?? "";
  const clean = base.replace(unsafeCharacters, "_").replace(/^\.+|[. ]+$/g, "");
  if (clean === "") return null;
  const named = avoidDeviceName(clean);
  const extension = extname(named).slice(0, 20);
  return named.length <= 150 ? named : named.slice(0, 150 - extension.length) + extension;
}
