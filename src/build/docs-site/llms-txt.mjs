/** `llms.txt` (llmstxt.org): an index of the pages for language models, and their Markdown beside them. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export function writeLlmsTxt({ pages, target, sidebar, description }) {
  const lines = ["# geoferry", "", `> ${description}`];
  const whole = [];
  for (const { text, items } of sidebar) {
    lines.push("", `## ${text}`, "");
    for (const item of items) {
      const path = `${item.link.slice(1)}${item.link.endsWith("/") ? "index" : ""}.md`;
      const markdown = readFileSync(join(pages, path), "utf8");
      mkdirSync(dirname(join(target, path)), { recursive: true });
      cpSync(join(pages, path), join(target, path));
      lines.push(`- [${item.text}](${path})`);
      whole.push(markdown.trim());
    }
  }
  writeFileSync(join(target, "llms.txt"), `${lines.join("\n")}\n`);
  writeFileSync(join(target, "llms-full.txt"), `${whole.join("\n\n---\n\n")}\n`);
}
