/** Styles and scripts of self-contained pages, from the build. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Reads an asset of the service's pages by its name in the source: `pages.css`. */
export function pageAssets(): (name: string) => string {
  const manifest = createRequire(import.meta.url).resolve("#service-assets");
  const names = JSON.parse(readFileSync(manifest, "utf8")) as Readonly<Record<string, string>>;
  return (name) => readFileSync(join(dirname(manifest), names[name]!), "utf8");
}

/** The hash source of an inline script or style for a Content-Security-Policy (CSP Level 3, 2.3.1). */
export const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
