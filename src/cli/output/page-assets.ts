/** What pages that stand alone are made of: styles and scripts that the build has made, and their digests. */
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

/** As a Content-Security-Policy names what may stand in a page (CSP Level 3, 2.3.1). */
export const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
