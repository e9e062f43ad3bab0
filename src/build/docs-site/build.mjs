/**
 * Builds the documentation site into `dist-docs/`: the pages of docs/, the output of their examples, and the reference
 * of the library from its type declarations. Needs a build (`npm run build`), and the npm registry on the first run.
 *
 *   node src/build/docs-site/build.mjs        DOCS_BASE=/geoferry/ for a site that is not at the root of its host
 *
 * Fails on a link that leads nowhere.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { addOutputs } from "./example-outputs.mjs";
import { brokenLinks } from "./links.mjs";
import { writeLlmsTxt } from "./llms-txt.mjs";

const here = import.meta.dirname;
const root = join(here, "..", "..", "..");
const pages = join(here, "pages");
const target = process.env.GEOFERRY_DOCS ?? join(root, "dist-docs");

/** Where the site has a Markdown file of the repository: `docs/crs.md` → `crs.md`. */
function sitePath(path) {
  if (path === "README.md") return "index.md";
  if (path === "docs/README.md") return "overview.md";
  return path.startsWith("docs/") ? path.slice("docs/".length).replace(/README\.md$/, "index.md") : path;
}

const markdownIn = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => posix.join(folder, name.replaceAll("\\", "/")));

const sources = ["README.md", "CHANGELOG.md", ...markdownIn("samples"), ...markdownIn("docs")];
const titleOf = (text) => (/^# (.+)$/m.exec(text)?.[1] ?? "").replaceAll("`", "");

/** Links to pages lead to pages; other files of the repository are copied beside them. */
function rewriteLinks(text, path) {
  return text.replace(/\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)/g, (_, to, anchor = "") => {
    const file = posix.normalize(posix.join(posix.dirname(path), to));
    if (sources.includes(file)) {
      const from = posix.dirname(sitePath(path));
      const relativePath = posix.relative(from, sitePath(file));
      return `](${relativePath.startsWith(".") ? "" : "./"}${relativePath}${anchor})`;
    }
    if (!existsSync(join(root, file))) throw new Error(`${path}: ${to} does not exist`);
    const listing = statSync(join(root, file)).isDirectory() ? "/index.txt" : "";
    // A link with a target is none to a page of VitePress.
    return `](/files/${file}${listing}){target="_self"}`;
  });
}

/** Files and listings of folders that pages link to. */
function copyLinkedFiles(text) {
  for (const [, path] of text.matchAll(/\]\(\/files\/([^)]+)\)/g)) {
    const copy = join(pages, "public", "files", path);
    mkdirSync(dirname(copy), { recursive: true });
    if (path.endsWith("/index.txt")) {
      const folder = join(root, dirname(path));
      writeFileSync(copy, `${readdirSync(folder).join("\n")}\n`);
    } else cpSync(join(root, path), copy);
  }
}

/** The sidebar: the tables of docs/README.md with what they say of each page, then the reference and the rest. */
function createSidebar() {
  const groups = [];
  for (const line of readFileSync(join(root, "docs/README.md"), "utf8").split("\n")) {
    const heading = /^\| (for [^|]+) \|/.exec(line)?.[1];
    if (heading) groups.push({ text: heading[0].toUpperCase() + heading.slice(1), items: [] });
    const [, links, summary] = /^\| (\[[^|]+) \| ([^|]+) \|$/.exec(line) ?? [];
    if (!links) continue;
    for (const [, name] of links.matchAll(/\]\(([\w-]+\.md)\)/g)) {
      const text = titleOf(readFileSync(join(root, "docs", name), "utf8"));
      groups.at(-1).items.push({ text, link: `/${name.replace(/\.md$/, "")}`, summary });
    }
  }
  groups.at(-1).items.push({ text: "API reference", link: "/api/" });
  groups.push({
    text: "More",
    items: [
      { text: "Overview", link: "/overview" },
      { text: "Samples", link: "/samples/README" },
      { text: "Integrations", link: "/samples/integrations/README" },
      { text: "Changes", link: "/CHANGELOG" },
    ],
  });
  return groups;
}

function run(program, args, options = {}) {
  execFileSync(process.execPath, [join(here, "node_modules", program), ...args], {
    cwd: here,
    stdio: ["ignore", "ignore", "inherit"],
    ...options,
  });
}

if (!existsSync(join(root, "dist/src/index.d.ts"))) {
  console.error("docs: there is no build: run npm run build first");
  process.exit(1);
}
if (!existsSync(join(here, "node_modules/vitepress"))) {
  console.error("Installing the packages of the documentation site …");
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: here,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
}

rmSync(pages, { recursive: true, force: true });
rmSync(target, { recursive: true, force: true });
mkdirSync(join(pages, ".vitepress"), { recursive: true });

console.error("Running the examples …");
for (const path of sources) {
  const original = readFileSync(join(root, path), "utf8").replace(/<!--[\s\S]*?-->\n?/g, "");
  const text = rewriteLinks(await addOutputs(original, path), path);
  copyLinkedFiles(text);
  const file = join(pages, sitePath(path));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

console.error("Reading the type declarations …");
run("typedoc/bin/typedoc", [
  "--plugin",
  "typedoc-plugin-markdown",
  "--out",
  join(pages, "api"),
  "--tsconfig",
  join(here, "tsconfig.json"),
  "--skipErrorChecking",
  "--readme",
  "none",
  "--name",
  "API reference",
  "--entryFileName",
  "index",
  "--disableSources",
  "--hideBreadcrumbs",
  "--excludePrivate",
  "--logLevel",
  "Error",
  ...["index", "plugin/index", "testing/index"].flatMap((name) => [
    "--entryPoints",
    join(root, `dist/src/${name}.d.ts`),
  ]),
]);

writeFileSync(
  join(pages, "api/index.md"),
  `# API reference

| module | |
| --- | --- |
| [\`geoferry\`](index/index.md) | convert, read, write, compare and sync from a program: [the library](../library.md) |
| [\`geoferry/plugin\`](plugin/index.md) | the contract of formats: [writing a plugin](../plugin-guide.md) |
| [\`geoferry/testing\`](testing/index.md) | the conformance kit for plugins |
`,
);

const { description, version } = manifest;
const sidebar = createSidebar();
writeFileSync(join(pages, "pages.json"), JSON.stringify({ sidebar, description, version }));
writeFileSync(join(pages, ".vitepress/config.mjs"), 'export { default } from "../../config.mjs";\n');
cpSync(join(here, "theme"), join(pages, ".vitepress/theme"), { recursive: true });

console.error("Building the site …");
run("vitepress/bin/vitepress.js", ["build", "pages", "--outDir", target]);
writeLlmsTxt({ pages, target, sidebar, description });

const broken = brokenLinks(target, process.env.DOCS_BASE ?? "/");
if (broken.length > 0) {
  console.error(`docs: links that lead nowhere:\n${broken.join("\n")}`);
  process.exit(1);
}
console.log(
  `${relative(process.cwd(), target) || "."}: ${readdirSync(target, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html")).length} pages`,
);
