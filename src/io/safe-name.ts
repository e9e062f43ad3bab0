import { extname } from "node:path";
import { avoidDeviceName } from "./output/windows-names.js";

/** A name from elsewhere as one that any file system takes, at most 150 characters, or null. */
export function safeName(name: string): string | null {
  const base = name.split(/[\\/]/).at(-1) ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const clean = base.replace(/[\u0000-\u001f\u007f<>:"|?*]/g, "_").replace(/^\.+|[. ]+$/g, "");
  if (clean === "") return null;
  const named = avoidDeviceName(clean);
  const extension = extname(named).slice(0, 20);
  return named.length <= 150 ? named : named.slice(0, 150 - extension.length) + extension;
}
