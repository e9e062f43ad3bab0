/**
 * Every command of the README and of the page on the command line is run on a copy of the samples. What a `console`
 * block shows is compared with what comes out; `npx vitest run test/e2e/readme.test.ts -u` writes it anew.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../support/command.js";
import { type Block, blocksOf, Desk } from "../support/document.js";

/** Lines of `sh no-run` blocks, each with the reason why it is not run here. */
const notRun: Readonly<Record<string, string>> = {
  "npm install -g geoferry": "needs the registry",
  "npm install && npm run build && npm install -g .":
    "changes the machine; the packed package is installed by other tests",
  "npm run demo": "a step of .ci/run",
};

let server: Server;
let address = "";

/** The samples as `https://example.org` has them. */
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
});
afterAll(() => server.close());

const here = (command: string) => command.replaceAll("https://example.org", address);

/** A command that runs until it is stopped, is; on a port that is free. */
const stopped = (command: string) =>
  /# until Ctrl\+C$/.test(command)
    ? `export GEOFERRY_PORT=0; timeout --preserve-status --signal INT 5 ${command}`
    : command;

/** The commands of a `sh` block, each with the status that the text promises: `# exit 5`. */
function promised(text: string): { command: string; status: number }[] {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  return lines
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((command) => ({ command, status: Number(/#\s*exit (\d+)/.exec(command)?.[1] ?? 0) }));
}

async function shellBlock(block: Block): Promise<void> {
  const desk = new Desk();
  try {
    for (const { command, status } of promised(block.text)) {
      const ran = await desk.run(stopped(here(command)));
      expect(ran.status, `line ${block.line}: ${command}\n${ran.output}`).toBe(status);
    }
  } finally {
    desk.remove();
  }
}

/** The text of a `console` block with the output that its commands have; each must end with 0 or ask for `$?`. */
async function consoleBlock(block: Block): Promise<string> {
  const desk = new Desk();
  let text = "";
  try {
    const commands = block.text.split("\n").filter((line) => line.startsWith("$ "));
    for (const [i, line] of commands.entries()) {
      const { status, output } = await desk.run(here(line.slice(2)));
      if (commands[i + 1] !== "$ echo $?") expect(status, `line ${block.line}: ${line}\n${output}`).toBe(0);
      text += `${line}\n${output}${output === "" || output.endsWith("\n") ? "" : "\n"}`;
    }
  } finally {
    desk.remove();
  }
  return text.replaceAll(address, "https://example.org");
}

describe.each(["README.md", "docs/command-line.md"])("%s", (page) => {
  const markdown = readFileSync(join(root, page), "utf8");
  const blocks = blocksOf(markdown);

  test("has only blocks that a test looks at", () => {
    const known = ["sh", "sh no-run", "console", "ts"];
    expect(blocks.filter(({ info }) => !known.includes(info))).toEqual([]);
    const lines = blocks.filter(({ info }) => info === "sh no-run").flatMap(({ text }) => text.trim().split("\n"));
    expect(lines.filter((line) => !Object.hasOwn(notRun, line))).toEqual([]);
  });

  const shell = blocks.filter(({ info }) => info === "sh");
  if (shell.length > 0) {
    test.each(shell)("does what is written at line $line", shellBlock);
  }

  test("shows what comes out", async () => {
    let shown = markdown;
    for (const block of blocks.filter(({ info }) => info === "console")) {
      const text = await consoleBlock(block);
      shown = shown.replace(`\`\`\`console\n${block.text}`, () => `\`\`\`console\n${text}`);
    }
    await expect(shown).toMatchFileSnapshot(join(root, page));
  });
});

describe("the example of the library", () => {
  const example = blocksOf(readFileSync(join(root, "README.md"), "utf8")).find(({ info }) => info === "ts");

  test("is of the right types, and does what it says", async () => {
    const desk = new Desk();
    try {
      writeFileSync(join(desk.folder, "package.json"), '{ "type": "module" }');
      writeFileSync(join(desk.folder, "example.ts"), example?.text ?? "");
      const tsc = join(root, "node_modules/typescript/bin/tsc");
      const flags = "--strict --module nodenext --target es2023 --types node --ignoreConfig";
      const compiled = await desk.run(`"${process.execPath}" "${tsc}" ${flags} example.ts`);
      expect(compiled).toMatchObject({ status: 0, output: "" });
      const ran = await desk.run(`"${process.execPath}" example.js`);
      expect(ran).toMatchObject({ status: 0 });
      // The survey has so many buildings above 150 metres.
      const survey = JSON.parse(readFileSync(join(root, "samples/survey.geojson"), "utf8"));
      const tall = survey.features.filter(
        (feature: { properties: { height_m: number } }) => feature.properties.height_m > 150,
      );
      expect(ran.output).toBe(`${tall.length} of 20 features []\n`);
      expect(JSON.parse(desk.read("tall.geojson")).features).toHaveLength(tall.length);
    } finally {
      desk.remove();
    }
  });
});
