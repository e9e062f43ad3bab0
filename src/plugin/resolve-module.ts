import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** What `import` asks for in a package's `exports`; `require` would find another build, or none. */
const exportConditions = new Set(["node", "import", "module-sync", "default"]);

/** The file that a target of `exports` names, by the conditions of `import` (Node, "Packages", conditional exports). */
function resolveTarget(value: unknown, match: string): string | null {
  if (typeof value === "string") return value.startsWith("./") ? value.replaceAll("*", match) : null;
  if (Array.isArray(value)) {
    for (const each of value) {
      const found = resolveTarget(each, match);
      if (found !== null) return found;
    }
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  for (const [condition, inner] of Object.entries(value)) {
    const found = exportConditions.has(condition) ? resolveTarget(inner, match) : null;
    if (found !== null) return found;
  }
  return null;
}

/** `subpath` is `.` or `./x`. A key with `*` stands for any text in its place; the longest such key wins. */
function resolveExports(exports: unknown, subpath: string): string | null {
  const isTable = typeof exports === "object" && exports !== null && !Array.isArray(exports);
  const keys = isTable ? Object.keys(exports).filter((key) => key.startsWith(".")) : [];
  if (keys.length === 0) return subpath === "." ? resolveTarget(exports, "") : null;
  const table = exports as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(table, subpath) && !subpath.includes("*")) return resolveTarget(table[subpath], "");
  const patterns = keys.filter((key) => key.includes("*")).sort((a, b) => b.indexOf("*") - a.indexOf("*"));
  for (const key of patterns) {
    const [before = "", after = ""] = key.split("*");
    const fits =
      subpath.startsWith(before) && subpath.endsWith(after) && subpath.length >= before.length + after.length;
    if (fits) return resolveTarget(table[key], subpath.slice(before.length, subpath.length - after.length));
  }
  return null;
}

function* parentFolders(from: string): Generator<string> {
  const { root } = parse(from);
  for (let at = from; ; at = dirname(at)) {
    yield at;
    if (at === root) return;
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

export const isPath = (specifier: string): boolean => /^\.{1,2}([\\/]|$)/.test(specifier) || isAbsolute(specifier);

/**
 * The file that `import(specifier)` in a module of the folder `cwd` would load: a path, a `file:` URL, or a package
 * (with `exports` for `import` only, too). Null if there is none.
 */
export function resolveModule(specifier: string, cwd: string): string | null {
  if (specifier.startsWith("file:")) return fileURLToPath(specifier);
  const require = createRequire(join(resolve(cwd), "noop.js"));
  const asRequired = (name: string): string | null => {
    try {
      return require.resolve(name);
    } catch {
      return null;
    }
  };
  if (isPath(specifier)) return asRequired(resolve(cwd, specifier));
  const [, name, rest] = /^((?:@[^/@]+\/)?[^/@.][^/]*)(\/.+)?$/.exec(specifier) ?? [];
  if (name === undefined) return null;
  for (const folder of parentFolders(resolve(cwd))) {
    const home = join(folder, "node_modules", name);
    const manifest = join(home, "package.json");
    if (!isFile(manifest)) continue;
    const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as { exports?: unknown };
    if (exports === undefined || exports === null) break;
    const found = resolveExports(exports, `.${rest ?? ""}`);
    const path = found === null ? null : join(home, found);
    return path?.startsWith(home + sep) && isFile(path) ? path : null;
  }
  const found = asRequired(specifier);
  return found !== null && isAbsolute(found) ? found : null;
}
