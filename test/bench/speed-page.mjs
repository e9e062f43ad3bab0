/** docs/speed.md: the tables that the benches write into it, between comments that name them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const path = join(import.meta.dirname, "..", "..", "docs", "speed.md");

export function table(heads, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Replaces parts of the page. @throws where it has no such part */
export function fillSpeedPage(parts) {
  let page = readFileSync(path, "utf8");
  for (const [name, text] of Object.entries(parts)) {
    const [begin, end] = [`<!-- begin ${name} -->\n`, `\n<!-- end ${name} -->`];
    const [from, to] = [page.indexOf(begin), page.indexOf(end)];
    if (from < 0 || to < 0) throw new Error(`docs/speed.md has no part ${name}`);
    page = page.slice(0, from + begin.length) + text + page.slice(to);
  }
  writeFileSync(path, page);
}
