import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { GeoferryError } from "../../src/errors.js";
import { loadPlugin } from "../../src/plugin/load-plugin.js";
import { CompiledSources } from "../support/compiled-sources.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const good = (id = "x") => `{
  apiVersion: 1, id: ${JSON.stringify(id)}, label: "X", extensions: ["x"], identify: () => "no",
  reader: { options: { size: { type: "integer", default: 1, help: "Size" } }, load: async () => ({}) },
}`;

function put(path: string, content: string): void {
  mkdirSync(dirname(scratch.path(path)), { recursive: true });
  writeFileSync(scratch.path(path), content);
}

const load = (specifier: string, cwd = "") => loadPlugin(specifier, scratch.path(cwd));

async function failure(specifier: string): Promise<string> {
  const error = await load(specifier).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GeoferryError);
  expect((error as GeoferryError).code).toBe("plugin-invalid");
  return (error as GeoferryError).message;
}

describe("a plugin is found", () => {
  test("a plugin is found by a path relative to the working folder", async () => {
    put("p/one.mjs", `export default ${good()};`);
    const { formats, module } = await load("./p/one.mjs");
    expect(formats.map((format) => format.id)).toEqual(["x"]);
    expect(module).toBe(pathToFileURL(scratch.path("p/one.mjs")).href);
    expect((await load("../p/one.mjs", "p")).module).toBe(module);
    expect((await load(scratch.path("p/one.mjs"))).module).toBe(module);
    expect((await load(module)).module).toBe(module);
  });

  test("a plugin is found in a folder with special characters in its name", () => {
    put("a b#c%20?/one.mjs", `export default ${good()};`);
    // In a process of its own: the test runner's imports do not take such an address.
    const compiled = new CompiledSources(["src/plugin/load-plugin.ts"]);
    try {
      const script = compiled.script(
        "load.js",
        `
        const { loadPlugin } = await import(${JSON.stringify(compiled.url("src/plugin/load-plugin.js"))});
        const { module } = await loadPlugin("./a b#c%20?/one.mjs", process.argv[2]);
        console.log((await import(module)).default.id);
        `,
      );
      expect(execFileSync(process.execPath, [script, scratch.folder], { encoding: "utf8" })).toBe("x\n");
    } finally {
      compiled.remove();
    }
  });

  test("a plugin can be an array, and CommonJS, plain or compiled", async () => {
    put("many.mjs", `export default [${good("a")}, ${good("b")}];`);
    put("plain.cjs", `module.exports = ${good()};`);
    put("compiled.cjs", `exports.__esModule = true; exports.default = ${good()};`);
    expect((await load("./many.mjs")).formats.map((format) => format.id)).toEqual(["a", "b"]);
    expect((await load("./plain.cjs")).formats.length).toBe(1);
    expect((await load("./compiled.cjs")).formats.length).toBe(1);
  });

  const packages: [string, Record<string, unknown>, string][] = [
    ["main-only", { main: "lib/x.js", type: "module" }, "lib/x.js"],
    ["index-only", { type: "module" }, "index.js"],
    ["import-only", { exports: { import: "./x.mjs" } }, "x.mjs"],
    ["text-exports", { exports: "./x.mjs" }, "x.mjs"],
    [
      "nested-exports",
      { exports: { ".": { types: "./x.d.ts", browser: "./no.js", node: { require: "./no.cjs", import: "./x.mjs" } } } },
      "x.mjs",
    ],
    ["both-builds", { main: "no.cjs", exports: { ".": { require: "./no.cjs", default: "./x.mjs" } } }, "x.mjs"],
    ["list-exports", { exports: { ".": ["not-relative", { import: "./x.mjs" }] } }, "x.mjs"],
    ["@scope/scoped", { exports: { ".": { import: "./x.mjs" } } }, "x.mjs"],
  ];
  test.each(packages)("a plugin is found as the package %s", async (name, manifest, file) => {
    put(`node_modules/${name}/package.json`, JSON.stringify({ name, ...manifest }));
    put(`node_modules/${name}/${file}`, `export default ${good()};`);
    put("deep/er/x", "");
    const { module } = await load(name, "deep/er");
    expect(module).toBe(pathToFileURL(scratch.path(`node_modules/${name}/${file}`)).href);
  });

  test("a plugin is found as a subpath of a package", async () => {
    const exports = {
      ".": "./no.mjs",
      "./named": "./a.mjs",
      "./p/*": { import: "./plugins/*.mjs" },
      "./p/hidden": null,
    };
    put("node_modules/parts/package.json", JSON.stringify({ name: "parts", exports }));
    put("node_modules/parts/a.mjs", `export default ${good("a")};`);
    put("node_modules/parts/plugins/b.mjs", `export default ${good("b")};`);
    put("node_modules/parts/plugins/hidden.mjs", `export default ${good("c")};`);
    expect((await load("parts/named")).formats[0]!.id).toBe("a");
    expect((await load("parts/p/b")).formats[0]!.id).toBe("b");
    expect(await failure("parts/p/hidden")).toContain("cannot be found");
    expect(await failure("parts/a.mjs")).toContain("cannot be found");
  });
});

describe("a plugin is refused", () => {
  test("a plugin that cannot be found or loaded is rejected", async () => {
    expect(await failure("./nowhere.js")).toContain("plugin ./nowhere.js: cannot be found");
    expect(await failure("geoferry-plugin-of-nobody")).toContain("install it, or give a path that begins with ./");
    expect(await failure("fs")).toContain("cannot be found");
    expect(await failure("../../..")).toContain("plugin ../../..: ");
    put("broken.mjs", "export default {");
    expect(await failure("./broken.mjs")).toContain("cannot be loaded");
    put("throws.mjs", "throw new Error('at home only')");
    expect(await failure("./throws.mjs")).toContain("cannot be loaded: at home only");
    put("climbs/../node_modules/climbs/package.json", JSON.stringify({ exports: "./../../broken.mjs" }));
    expect(await failure("climbs")).toContain("cannot be found");
  });

  const flaws: [string, string][] = [
    ["export const a = 1", "no default export"],
    ["export default []", "empty array"],
    ["export default 5", "not a format"],
    ["export default {}", "names no apiVersion, and this geoferry has 1"],
    ["export default { apiVersion: 2 }", "asks for apiVersion 2, and this geoferry has 1"],
    [`export default { ...${good()}, id: "a b" }`, "id must be a word"],
    [`export default { ...${good()}, label: "" }`, "label must be a text"],
    [
      `export default { ...${good()}, extensions: [".x"] }`,
      'extensions has ".x": extensions are lower case, without the dot',
    ],
    [`export default { ...${good()}, companionExtensions: "x" }`, "companionExtensions must be an array"],
    [`export default { ...${good()}, archive: "x" }`, "archive must be an object"],
    [`export default { ...${good()}, archive: {} }`, "archive.extensions must be an array, not empty"],
    [
      `export default { ...${good()}, archive: { extensions: ["z"] } }`,
      'archive.extensions has "z", which is not among its extensions',
    ],
    [
      `export default { ...${good()}, archive: { extensions: ["x"], findMain: "doc" } }`,
      "archive.findMain must be a function",
    ],
    [
      `export default { ...${good()}, archive: { extensions: ["x"], main: () => "doc.x" } }`,
      "archive.main is unknown; an archive has extensions, findMain, isLinked, mainName",
    ],
    [
      `export default { ...${good()}, archive: { extensions: ["x"], mainName: "../doc" } }`,
      "archive.mainName must be the name of a file",
    ],
    [`export default { ...${good()}, identify: "yes" }`, "identify must be a function"],
    [`export default { ...${good()}, reader: undefined }`, "neither a reader nor a writer"],
    [`export default { ...${good()}, reader: null }`, "reader must be an object"],
    [`export default { ...${good()}, reader: { load() {} } }`, "reader.options must be an object"],
    [`export default { ...${good()}, reader: { options: {} } }`, "reader.load must be a function"],
    [`export default { ...${good()}, writer: { options: {}, load() {} } }`, "writer.capabilities must be a function"],
    [
      `export default { ...${good()}, reader: { options: { a: { type: "date", help: "h" } }, load() {} } }`,
      "reader.options.a.type must be one of text",
    ],
    [
      `export default { ...${good()}, reader: { options: { a: { type: "text" } }, load() {} } }`,
      "reader.options.a.help",
    ],
    [
      `export default { ...${good()}, reader: { options: { a: { type: "number", default: "1", help: "h" } }, load() {} } }`,
      "default is not of the type number",
    ],
    [
      `export default { ...${good()}, reader: { options: { a: { type: "choice", choices: ["a"], default: "b", help: "h" } }, load() {} } }`,
      "default must be one of its choices",
    ],
    [`export default [${good("a")}, { apiVersion: 1 }]`, "format 2: id must be"],
    [`export default [${good("a")}, ${good("a")}]`, 'two formats with the id "a"'],
  ];
  test.each(flaws.map(([code, message], index) => [message, index, code] as const))(
    "%s",
    async (message, index, code) => {
      put(`flaw${index}.mjs`, code);
      expect(await failure(`./flaw${index}.mjs`)).toContain(message);
    },
  );
});
