/**
 * Runs every command of the README and of the command-line page on a copy of the samples. The outputs in `console`
 * blocks are compared; `npx vitest run test/e2e/readme.test.ts -u` updates them.
 */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CodeBlock, commandsOf, DocsSandbox, parseCodeBlocks } from "../../src/build/docs-site/docs-sandbox.mjs";
import { root } from "../support/command.js";
import { SyncFixture } from "../support/sync/sync-fixture.js";

const workers = "needs a queue; test/jobs has one";
const collectors = "needs a collector; test/tracing has one";

/** Lines of `sh no-run` blocks, each with the reason why it is not run here. */
const notRun: Readonly<Record<string, string>> = {
  "npm install -g geoferry": "needs the registry",
  "npm install && npm run build && npm install -g .":
    "changes the machine; the packed package is installed by other tests",
  "npm run demo": "a step of .ci/run",
  "geoferry login https://maps.example.org --client-id gfc_jx1f0 < secret.txt": "needs a service; test/cli has one",
  "geoferry whoami": "needs a service; test/cli has one",
  "geoferry maps": "needs a service; test/cli has one",
  "export GEOFERRY_QUEUE=redis://user:password@queue.example.org          # rediss:// with TLS": workers,
  "geoferry worker --state /srv/geoferry/state                            # on every machine": workers,
  "geoferry run /srv/geoferry/nightly.yaml --state /srv/geoferry/state    # on one of them": workers,
  "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 geoferry run nightly.yaml": collectors,
  "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 OTEL_SERVICE_NAME=maps geoferry serve": collectors,
};

let server: Server;
let address = "";
/** A Map Features Service with an account. */
let world: SyncFixture;
/** The map id in the pages. */
const shownMap = "7c0e6a52-5d0c-7d5a-9f0e-3c6f2f1f7a10";
const shownService = "https://maps.example.org";

/** Serves the samples as `https://example.org`. */
beforeAll(async () => {
  server = createServer((request, response) => {
    try {
      response.end(readFileSync(join(root, new URL(request.url ?? "", "http://any").pathname)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = await SyncFixture.start(["--data", mkdtempSync(join(tmpdir(), "geoferry-readme-"))]);
});
afterAll(() => server.close());

/** A sandbox with its own map. */
class MapSandbox extends DocsSandbox {
  private constructor(private readonly map: string) {
    super({
      GEOFERRY_URL: world.url,
      GEOFERRY_CLIENT_ID: world.ada.clientId,
      GEOFERRY_CLIENT_SECRET: world.ada.clientSecret,
    });
  }

  static async create(): Promise<MapSandbox> {
    return new MapSandbox(await world.newMap());
  }

  override run(command: string) {
    return super.run(command.replaceAll("https://example.org", address).replaceAll(shownMap, this.map));
  }

  /** Replaces values of this run by those that the pages show. */
  shown(text: string): string {
    return text
      .replaceAll(address, "https://example.org")
      .replaceAll(world.url, shownService)
      .replaceAll(this.map, shownMap)
      .replaceAll(this.folder, "/srv/maps");
  }
}

/** Stops a command that runs until Ctrl+C; uses a free port. */
const stopped = (command: string) =>
  /# until Ctrl\+C$/.test(command)
    ? `export GEOFERRY_PORT=0; timeout --foreground --preserve-status --signal INT 5 ${command}`
    : command;

/** The commands of a `sh` block, each with its expected status: `# exit 5`. */
function promised(text: string): { command: string; status: number }[] {
  return commandsOf(text).map((command) => ({ command, status: Number(/#\s*exit (\d+)/.exec(command)?.[1] ?? 0) }));
}

async function shellBlock(block: CodeBlock): Promise<void> {
  const sandbox = await MapSandbox.create();
  try {
    for (const { command, status } of promised(block.text)) {
      const ran = await sandbox.run(stopped(command));
      expect(ran.status, `line ${block.line}: ${command}\n${ran.output}`).toBe(status);
    }
  } finally {
    sandbox.remove();
  }
}

/** The text of a `console` block with the outputs of its commands; each must exit with 0 or print `$?`. */
async function consoleBlock(block: CodeBlock): Promise<string> {
  const sandbox = await MapSandbox.create();
  let text = "";
  try {
    const commands = block.text.split("\n").filter((line) => line.startsWith("$ "));
    for (const [i, line] of commands.entries()) {
      const { status, output } = await sandbox.run(line.slice(2));
      if (commands[i + 1] !== "$ echo $?") expect(status, `line ${block.line}: ${line}\n${output}`).toBe(0);
      text += `${line}\n${output}${output === "" || output.endsWith("\n") ? "" : "\n"}`;
    }
  } finally {
    sandbox.remove();
  }
  return sandbox.shown(text);
}

describe.each([
  "README.md",
  "docs/converting.md",
  "docs/diff.md",
  "docs/from-ogr2ogr.md",
  "docs/statistics.md",
  "docs/command-line.md",
  "docs/sync.md",
  "docs/jobs.md",
  "docs/monitoring.md",
])("%s", (page) => {
  const markdown = readFileSync(join(root, page), "utf8");
  const blocks = parseCodeBlocks(markdown);

  test("all blocks are covered by a test", () => {
    const known = ["sh", "sh no-run", "console", "ts", "yaml"];
    expect(blocks.filter(({ info }) => !known.includes(info))).toEqual([]);
    const lines = blocks.filter(({ info }) => info === "sh no-run").flatMap(({ text }) => text.trim().split("\n"));
    expect(lines.filter((line) => !Object.hasOwn(notRun, line))).toEqual([]);
  });

  const shell = blocks.filter(({ info }) => info === "sh");
  if (shell.length > 0) {
    test.each(shell)("the commands at line $line succeed", shellBlock);
  }

  test("the console blocks show the actual output", async () => {
    let shown = markdown;
    for (const block of blocks.filter(({ info }) => info === "console")) {
      const text = await consoleBlock(block);
      shown = shown.replace(`\`\`\`console\n${block.text}`, () => `\`\`\`console\n${text}`);
    }
    await expect(shown).toMatchFileSnapshot(join(root, page));
  });
});

/** Examples that are compiled, each a program of its own, at once: the compiler takes longest to read its own library. */
const compiledPages = ["docs/library.md", "README.md", "docs/sync.md"];
const programs = new Map<string, string>();

async function compileExamples(): Promise<void> {
  if (programs.size > 0) return;
  const sandbox = await MapSandbox.create();
  try {
    writeFileSync(join(sandbox.folder, "package.json"), '{ "type": "module" }');
    const names = compiledPages.flatMap((page) =>
      parseCodeBlocks(readFileSync(join(root, page), "utf8"))
        .filter(({ info }) => info === "ts")
        .map((block, nth) => {
          const name = `${page.replace(/\W/g, "-")}-${nth}`;
          writeFileSync(join(sandbox.folder, `${name}.ts`), block.text);
          return { key: `${page} ${nth}`, name };
        }),
    );
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const flags = "--strict --module nodenext --target es2023 --types node --ignoreConfig";
    const files = names.map(({ name }) => `${name}.ts`).join(" ");
    const compiled = await sandbox.run(`"${process.execPath}" "${tsc}" ${flags} ${files}`);
    expect(compiled).toMatchObject({ status: 0, output: "" });
    for (const { key, name } of names) programs.set(key, sandbox.read(`${name}.js`));
  } finally {
    sandbox.remove();
  }
}

/** Runs an example of a page, compiled as a separate program, with the map of the sandbox. */
async function example(page: string, sandbox: MapSandbox, runs: readonly string[], nth = 0) {
  await compileExamples();
  writeFileSync(join(sandbox.folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(sandbox.folder, "example.js"), programs.get(`${page} ${nth}`)!);
  const outputs = [];
  for (const arguments_ of runs) {
    const ran = await sandbox.run(`"${process.execPath}" example.js ${arguments_}`);
    expect(ran, ran.output).toMatchObject({ status: 0 });
    outputs.push(ran.output);
  }
  return outputs;
}

describe("docs/library.md", () => {
  const survey = JSON.parse(readFileSync(join(root, "samples/survey.geojson"), "utf8")) as {
    readonly features: readonly { readonly properties: { readonly height_m: number } }[];
  };
  const tall = survey.features.filter(({ properties }) => properties.height_m > 150);
  const outputs: readonly RegExp[] = [
    new RegExp(`^survey EPSG:\\d+ .*\n(.*\n){${tall.length}}\\[\\]\n$`),
    /^1 SQLite format 3\n$/,
    /^1 written, 0 rejected\ntrue\n$/,
    /^true {\n( {2}\w+: \d+,?\n)+}\n$/,
    /^format-undecided usage \[ 'to' \]\n$/,
  ];

  test.each(outputs.map((output, nth) => [nth + 1, output] as const))(
    "example %i of docs/library.md compiles and prints the documented output",
    async (number, expected) => {
      const sandbox = await MapSandbox.create();
      try {
        const [output] = await example("docs/library.md", sandbox, [""], number - 1);
        expect(output).toMatch(expected);
      } finally {
        sandbox.remove();
      }
    },
  );

  test("docs/library.md has no other examples", () => {
    const infos = parseCodeBlocks(readFileSync(join(root, "docs/library.md"), "utf8")).map(({ info }) => info);
    expect(infos).toEqual(outputs.map(() => "ts"));
  });
});

describe("the example of the library", () => {
  test("the library example runs unchanged, without TypeScript", async () => {
    const sandbox = await MapSandbox.create();
    try {
      const block = parseCodeBlocks(readFileSync(join(root, "README.md"), "utf8")).find(({ info }) => info === "ts");
      writeFileSync(join(sandbox.folder, "example.mjs"), block?.text ?? "");
      const ran = await sandbox.run(`"${process.execPath}" example.mjs`);
      expect(ran, ran.output).toMatchObject({ status: 0 });
    } finally {
      sandbox.remove();
    }
  });

  test("the library example for conversions compiles and prints the documented output", async () => {
    const sandbox = await MapSandbox.create();
    try {
      const [output] = await example("README.md", sandbox, [""]);
      // The number of buildings above 150 metres in the survey.
      const survey = JSON.parse(readFileSync(join(root, "samples/survey.geojson"), "utf8"));
      const tall = survey.features.filter(
        (feature: { properties: { height_m: number } }) => feature.properties.height_m > 150,
      );
      const shown = tall.map(
        (feature: { properties: { height_m: number }; geometry: { type: string } }) =>
          `${feature.properties.height_m} ${feature.geometry.type}\n`,
      );
      expect(output).toBe(`${shown.join("")}${tall.length} of 20 features []\n`);
      expect(JSON.parse(sandbox.read("tall.geojson")).features).toHaveLength(tall.length);
    } finally {
      sandbox.remove();
    }
  });

  test("the library example for maps compiles and prints the documented output", async () => {
    const sandbox = await MapSandbox.create();
    try {
      const [first, second] = await example("docs/sync.md", sandbox, [shownMap, shownMap]);
      const { features } = JSON.parse(readFileSync(join(root, "samples/parks.geojson"), "utf8"));
      expect(first).toContain(`create: ${features.length},`);
      expect(first).toMatch(new RegExp(`^${features.length} created$`, "m"));
      expect(second).toBe("nothing to do\n");
    } finally {
      sandbox.remove();
    }
  });
});
