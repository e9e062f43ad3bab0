import { extname } from "node:path";
import { avoidDeviceName } from "./output/windows-names.js";

/** Converts an untrusted name to one that is valid on every file system, of at most 150 characters; null if nothing is left. */
export function safeName(name: string): string | null {
  const base = name.split(/[\\/]/).at(-1) ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches them
  const clean = base.replace(/[\u0000-\u001f\u007f<>:"|?*]/g, "_").replace(/^\.+|[. ]+$/g, "");
  if (clean === "") return null;
  const named = avoidDeviceName(clean);
  const extension = extname(named).slice(0, 20);
  return named.length <= 150 ? named : named.slice(0, 150 - extension.length) + extension;
}
