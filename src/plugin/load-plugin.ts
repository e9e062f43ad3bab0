import { pathToFileURL } from "node:url";
import { createError } from "../errors.js";
import type { Format } from "./format.js";
import { isPath, resolveModule } from "./resolve-module.js";
import { isFormat, validateFormat } from "./validate-format.js";

export interface LoadedPlugin {
  readonly formats: Format[];
  /** URL that any thread can import it from. */
  readonly module: string;
}

/** What a module of a plugin exports as formats, checked or not; CommonJS compiled from ES modules has it one level deeper. */
export function exportedFormats(loaded: { readonly default?: unknown }): readonly unknown[] {
  const outer = loaded.default;
  const inner = typeof outer === "object" && outer !== null ? (outer as { default?: unknown }).default : undefined;
  const given = inner ?? outer;
  return Array.isArray(given) ? given : [given];
}

/**
 * Loads formats of others: a path (`./x.js`, absolute, `file:` URL) or the name of a package, both seen from `cwd`. The
 * default export is a format, or an array of formats.
 * @throws plugin-invalid
 */
export async function loadPlugin(specifier: string, cwd: string): Promise<LoadedPlugin> {
  const invalid = (reason: string, cause?: unknown) =>
    createError("plugin-invalid", { plugin: specifier, reason }, cause);
  let path: string | null;
  try {
    path = resolveModule(specifier, cwd);
  } catch (error) {
    throw invalid(`cannot be found: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  if (path === null) {
    const remedy = isPath(specifier) ? "there is no such module" : `install it, or give a path that begins with ./`;
    throw invalid(`cannot be found from ${cwd}; ${remedy}`);
  }
  const module = pathToFileURL(path).href;
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(module)) as { readonly default?: unknown };
  } catch (error) {
    throw invalid(`cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  if (loaded.default === undefined) throw invalid("it has no default export; export a format, or an array of formats");
  const list = exportedFormats(loaded);
  if (list.length === 0) throw invalid("its default export is an empty array");
  const formats: Format[] = [];
  for (const [index, each] of list.entries()) {
    if (!isFormat(each))
      throw invalid(`${list.length > 1 ? `format ${index + 1}: ` : ""}${validateFormat(each) ?? ""}`);
    if (formats.some((format) => format.id === each.id)) throw invalid(`it has two formats with the id "${each.id}"`);
    formats.push(each);
  }
  return { formats, module };
}
