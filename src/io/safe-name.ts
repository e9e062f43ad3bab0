import { extname } from "node:path";

/** A name from elsewhere as one that any file system takes, at most 150 characters, or null. */
export function safeName(name: string): string | null {
  const base = name.split(/[\\/]/).at(-1) ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const clean = base.replace(/[\u0000-\u001f\u007f<>:"|?*]/g, "_").replace(/^\.+|[. ]+$/g, "");
  if (clean === "") return null;
  const extension = extname(clean).slice(0, 20);
  return clean.length <= 150 ? clean : clean.slice(0, 150 - extension.length) + extension;
}
