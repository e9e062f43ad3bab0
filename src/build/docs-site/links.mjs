/** Links within a built site. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** @returns the links to pages, files and headings of the site that are not there: `crs.html: #accuracy` */
export function brokenLinks(folder, base) {
  const pages = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));
  const ids = new Map();
  const idsOf = (page) => {
    if (!ids.has(page)) {
      const html = readFileSync(join(folder, page), "utf8");
      ids.set(page, new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)));
    }
    return ids.get(page);
  };
  const broken = [];
  for (const page of pages) {
    const html = readFileSync(join(folder, page), "utf8");
    for (const [, href] of new Set(html.matchAll(/<a\b[^>]*\shref="([^"]+)"/g))) {
      if (/^[a-z]+:/.test(href)) continue;
      const [path, anchor] = href.replaceAll("&amp;", "&").split("#");
      const inside = path.startsWith(base) ? path.slice(base.length) : path === "" ? page : join(dirname(page), path);
      let file = normalize(decodeURIComponent(inside || "index.html"));
      if (existsSync(join(folder, file)) && statSync(join(folder, file)).isDirectory()) file = join(file, "index.html");
      if (!existsSync(join(folder, file)) && existsSync(join(folder, `${file}.html`))) file += ".html";
      if (!existsSync(join(folder, file))) broken.push(`${page}: ${href}`);
      else if (anchor && file.endsWith(".html") && !idsOf(file).has(decodeURIComponent(anchor)))
        broken.push(`${page}: ${href}`);
    }
  }
  return [...new Set(broken)];
}
