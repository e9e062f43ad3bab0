import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { html } from "../../../src/service/pages/rendering/html.js";
import { projectFiles } from "../../support/sources.js";

test("text in a template is escaped", () => {
  const text = `<script>alert("1" + '2') & more</script>`;
  expect(html`<p title="${text}">${text}</p>`.toString()).toBe(
    '<p title="&lt;script&gt;alert(&quot;1&quot; + &#39;2&#39;) &amp; more&lt;/script&gt;">' +
      "&lt;script&gt;alert(&quot;1&quot; + &#39;2&#39;) &amp; more&lt;/script&gt;</p>",
  );
});

test("markup in a template is not escaped again, nor in lists", () => {
  const items = ["a", "<b>"].map((text) => html`<li>${text}</li>`);
  expect(html`<ul>${items}</ul>`.toString()).toBe("<ul><li>a</li><li>&lt;b&gt;</li></ul>");
});

test("missing values produce nothing, and zero produces 0", () => {
  expect(html`[${null}${undefined}${false}${""}${0}]`.toString()).toBe("[0]");
});

test("objects that resemble markup are escaped as text", () => {
  const forged = JSON.parse('{"toString": "<b>", "text": "<b>"}') as string;
  expect(() => html`${{ ...Object(forged), toString: () => "<b>" }}`.toString()).not.toThrow();
  expect(html`${{ toString: () => "<b>" } as unknown as string}`.toString()).toBe("&lt;b&gt;");
});

test("all templates quote attribute values, and insert none into scripts or styles", () => {
  const templates = projectFiles().filter((path) => /^src\/service\/pages\/(?!browser\/).*\.ts$/.test(path));
  expect(templates.length).toBeGreaterThan(15);
  for (const path of templates) {
    const text = readFileSync(path, "utf8");
    expect(text.match(/\s[a-z-]+=\$\{/g), path).toBeNull();
    expect(text.match(/<style|<script(?! type="module" src="\$\{)|\son[a-z]+="/g), path).toBeNull();
  }
});
