/** The settings of VitePress. `pages.json` is written by build.mjs: titles and the sidebar. */
import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

const { sidebar, description, version } = JSON.parse(
  readFileSync(new URL("pages/pages.json", import.meta.url), "utf8"),
);

export default defineConfig({
  title: "geoferry",
  description,
  base: process.env.DOCS_BASE ?? "/",
  lang: "en-US",
  lastUpdated: false,
  // Files beside the pages; build.mjs checks all links, with their headings.
  ignoreDeadLinks: [/^\/files\//],
  // Text of the pages is never a template of Vue.
  markdown: {
    html: false,
    config(md) {
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const { info, content } = tokens[index];
        if (info.trim() !== "mermaid") return fence(tokens, index, ...rest);
        return `<MermaidDiagram source="${encodeURIComponent(content)}" />`;
      };
      const text = md.renderer.rules.text;
      md.renderer.rules.text = (...args) => text(...args).replaceAll("{{", "&#123;&#123;");
    },
  },
  themeConfig: {
    search: {
      provider: "local",
      options: {
        miniSearch: {
          searchOptions: {
            // The guide before the decisions, and these before the single names of the library. Runs in the browser.
            boostDocument: (id) => (/\/api\//.test(id) ? 0.2 : /\/(decisions|performance)\//.test(id) ? 0.4 : 1),
          },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: "Guide", link: "/converting" },
      { text: "Formats", link: "/formats" },
      { text: "API", link: "/api/" },
      { text: version, link: "/CHANGELOG" },
    ],
    sidebar,
  },
});
