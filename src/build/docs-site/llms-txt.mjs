/** `llms.txt` (llmstxt.org): an index of the pages for language models, and their Markdown beside them. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Writes `llms.txt`, which links every page except those of single names of the library (their index is linked), and
 * `llms-full.txt`, the text of the home page and of those of the sidebar.
 */
export function writeLlmsTxt({ pages, target, sidebar, description }) {
  const names = readdirSync(pages, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".md"));
  for (const name of names) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    cpSync(join(pages, name), join(target, name));
  }
  const textOf = (name) => readFileSync(join(pages, name), "utf8").trim();
  const entry = (name, text, summary) => `- [${text}](${name})${summary ? `: ${summary}` : ""}`;

  const lines = [
    "# geoferry",
    "",
    `> ${description}`,
    "",
    entry("index.md", "Introduction", "install, first commands"),
  ];
  const listed = ["index.md"];
  for (const { text, items } of sidebar) {
    lines.push("", `## ${text}`, "");
    for (const { text, link, summary } of items) {
      const name = `${link.slice(1)}${link.endsWith("/") ? "index" : ""}.md`;
      lines.push(entry(name, text, summary));
      listed.push(name);
    }
  }
  // The name of this section is that of the convention: what may be left out.
  lines.push("", "## Optional", "");
  for (const name of names.sort()) {
    if (listed.includes(name) || name.startsWith("api/")) continue;
    lines.push(entry(name, /^# (.+)$/m.exec(textOf(name))[1].replaceAll("`", "")));
  }
  writeFileSync(join(target, "llms.txt"), `${lines.join("\n")}\n`);
  writeFileSync(join(target, "llms-full.txt"), `${listed.map(textOf).join("\n\n---\n\n")}\n`);
}
