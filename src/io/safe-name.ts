import { extname } from "node:path";

/** Converts an untrusted name to one that is valid on every file system, of at most 150 characters; null if nothing is left. */
export function safeName(name: string): string | null {
  const base = name.split(/[\\/]/).at(-1) ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches them
  const clean = base.replace(/[\u0000-\u001f\u007f<>:"|?*]/g, "_").replace(/^\.+|[. ]+$/g, "");
  if (clean === "") return null;
  const extension = extname(clean).slice(0, 20);
  return clean.length <= 150 ? clean : clean.slice(0, 150 - extension.length) + extension;
}
