/**
 * The pages in docs/ against the code. The tables of options are made from it: `npx vitest run test/docs.test.ts -u`
 * writes them again. What a page says of codes is held against where they are used, in both directions.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MetricObject } from "prom-client";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { builtins } from "../plugins/index.js";
import { DocsSandbox } from "../src/build/docs-site/docs-sandbox.mjs";
import { commands, common, type Flag } from "../src/cli/command.js";
import { applyCommand } from "../src/cli/commands/apply.js";
import { checkCommand } from "../src/cli/commands/check.js";
import { convertCommand } from "../src/cli/commands/convert.js";
import { dedupeCommand } from "../src/cli/commands/dedupe.js";
import { deleteCommand } from "../src/cli/commands/delete.js";
import { diffCommand } from "../src/cli/commands/diff.js";
import { gridCommands } from "../src/cli/commands/grids.js";
import { infoCommand } from "../src/cli/commands/info.js";
import { loginCommand } from "../src/cli/commands/login.js";
import { planCommand } from "../src/cli/commands/plan.js";
import { pullCommand } from "../src/cli/commands/pull.js";
import { pushCommand } from "../src/cli/commands/push.js";
import { restoreCommand } from "../src/cli/commands/restore.js";
import { runCommand } from "../src/cli/commands/run.js";
import { serveCommand } from "../src/cli/commands/serve.js";
import { verifyCommand } from "../src/cli/commands/verify.js";
import { viewCommand } from "../src/cli/commands/view.js";
import { workerCommand } from "../src/cli/commands/worker.js";
import { exitStatus } from "../src/cli/exit.js";
import { formatValuePlaceholder } from "../src/cli/help.js";
import { serviceOptions } from "../src/cli/options/service-options.js";
import { storeOptions } from "../src/cli/options/store-location.js";
import { type ErrorCode, errorDefinitions } from "../src/errors.js";
import { jobFile, jobSchema, mapTarget, serviceFile, stepFile } from "../src/jobs/file/schema.js";
import { WorkerMetrics } from "../src/jobs/queue/worker/worker-metrics.js";
import { JobMetrics, jobGauges } from "../src/jobs/report/job-metrics.js";
import type { OptionTable } from "../src/plugin/options.js";
import { geoferry, root } from "./support/command.js";
import { pairReport } from "./support/formats/pair-report.js";
import { describeFormatAbilities, pairCells } from "./support/formats/pair-text.js";
import { fillSections, table } from "./support/markdown.js";
import { isSource, projectFiles, textOf } from "./support/sources.js";

const page = (name: string) => readFileSync(join(root, "docs", name), "utf8");

const namesOfParts = (markdown: string) => [...markdown.matchAll(/<!-- begin (.*?) -->/g)].map((match) => match[1]!);

function formatOptions(options: OptionTable): string {
  const rows = Object.entries(options).map(([name, spec]) => {
    const values = spec.type === "choice" ? spec.choices.map((choice) => `\`${choice}\``).join(" ") : spec.type;
    return [`\`${name}\``, values, spec.default === undefined ? "" : `\`${String(spec.default)}\``, spec.help];
  });
  return table(["option", "takes", "default", ""], rows);
}

function flags(options: Readonly<Record<string, Flag>>): string {
  const rows = Object.entries(options).map(([name, flag]) => {
    const { alias, describe: text, defaultDescription } = flag;
    if (flag.default === true) return [`\`--no-${name}\``, text];
    const short = alias === undefined ? "" : `, \`-${alias}\``;
    const term = `\`--${name}${formatValuePlaceholder(flag)}\`${short}`;
    return [term, defaultDescription ? `${text} (default: ${defaultDescription})` : text];
  });
  return table(["flag", ""], rows);
}

/** The flags of a service stand in a table of their own. */
const withoutService = (options: Readonly<Record<string, Flag>>) =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(serviceOptions, name)));

/** What can follow `geoferry admin`, with the flags beside `--data` and `--database`. */
function adminTable(): string {
  const ofAll = Object.keys(storeOptions);
  const rows = Object.values(commands)
    .filter(({ usage }) => usage.startsWith("admin "))
    .map(({ usage, summary, options }) => {
      const own = Object.entries(options).filter(([name]) => !ofAll.includes(name));
      const flags = own.map(([name, flag]) => {
        const text = `--${name}${formatValuePlaceholder(flag)}`;
        return flag.demandOption ? text : `[${text}]`;
      });
      const words = usage.replace(/<(.*)>/, (_, name: string) => name.toUpperCase());
      return [`\`${[words, ...flags].join(" ")}\``, summary];
    });
  return table(["geoferry", ""], rows);
}

/** The drivers of GDAL have the options of the GDAL that is there. */
const ownFormats = builtins.flatMap((builtin) => builtin.formats).filter(({ id }) => !id.startsWith("gdal:"));

describe("docs/formats.md", () => {
  const formats = ownFormats;
  const parts = Object.fromEntries(
    formats.flatMap((format) => [
      ...(format.reader ? [[`${format.id} reader`, formatOptions(format.reader.options)]] : []),
      ...(format.writer ? [[`${format.id} writer`, formatOptions(format.writer.options)]] : []),
    ]),
  );

  test("docs/formats.md lists the options of all readers and writers", async () => {
    const markdown = page("formats.md");
    // The two GeoJSON formats have one reader, those of spreadsheets one reader and one writer.
    const same = ["geojsonseq reader", "ods reader", "ods writer"];
    const expected = Object.keys(parts).filter((name) => !same.includes(name));
    expect(namesOfParts(markdown).sort()).toEqual(expected.sort());
    await expect(fillSections(markdown, parts)).toMatchFileSnapshot("../docs/formats.md");
  });

  test("docs/formats.md names only codes that errors.md explains", () => {
    const named = [...page("formats.md").matchAll(/\(`[a-z0-9-]+`(?:[ ,][^()]*)?\)/g)].flatMap((match) =>
      [...match[0].matchAll(/`([a-z0-9-]+)`/g)].map((code) => code[1]!),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((code) => !explained().includes(code))).toEqual([]);
  });
});

describe("docs/pairs.md", () => {
  const formats = ownFormats.filter(
    ({ id, reader, writer, addresses }) => reader && writer && !addresses && id !== "geojsonseq",
  );

  test("docs/pairs.md lists the reports of conversions between all formats", async () => {
    const sections: string[] = [];
    for (const from of formats) {
      const reports = [];
      for (const to of formats) reports.push({ to, report: await pairReport(from, to) });
      const rows = reports.map(({ to, report }) => [to.label, ...pairCells(report)]);
      const has = describeFormatAbilities(reports[0]!.report);
      sections.push(`## From ${from.label}\n\nHas ${has}.\n\n${table(["to", "keeps", "changes", "loses"], rows)}`);
    }
    const made = fillSections(page("pairs.md"), { pairs: sections.join("\n\n") });
    await expect(made).toMatchFileSnapshot("../docs/pairs.md");
  });
});

describe("docs/command-line.md", () => {
  test("docs/command-line.md lists the flags of all commands", async () => {
    const markdown = page("command-line.md");
    const parts = {
      common: flags(common),
      convert: flags(withoutService(convertCommand.options)),
      info: flags(withoutService(infoCommand.options)),
      check: flags(withoutService(checkCommand.options)),
      view: flags(withoutService(viewCommand.options)),
      diff: flags(withoutService(diffCommand.options)),
      "grids list": flags(gridCommands["grids list"].options),
      "grids get": flags(gridCommands["grids get"].options),
      pull: flags(withoutService(pullCommand.options)),
      push: flags(withoutService(pushCommand.options)),
      plan: flags(withoutService(planCommand.options)),
      apply: flags(withoutService(applyCommand.options)),
      delete: flags(withoutService(deleteCommand.options)),
      verify: flags(withoutService(verifyCommand.options)),
      restore: flags(withoutService(restoreCommand.options)),
      dedupe: flags(withoutService(dedupeCommand.options)),
      run: flags(withoutService(runCommand.options)),
      worker: flags(workerCommand.options as Record<string, Flag>),
      login: flags(loginCommand.options as Record<string, Flag>),
      service: flags(serviceOptions),
      serve: flags(serveCommand.options as Record<string, Flag>),
      admin: adminTable(),
    };
    expect(namesOfParts(markdown).sort()).toEqual(Object.keys(parts).sort());
    await expect(fillSections(markdown, parts)).toMatchFileSnapshot("../docs/command-line.md");
  });

  test.each([
    "README.md",
    "docs/converting.md",
    "docs/diff.md",
    "docs/statistics.md",
    "docs/plugin-guide.md",
    "docs/where.md",
    "docs/errors.md",
    "docs/formats.md",
    "docs/service.md",
    "docs/sync.md",
    "docs/jobs.md",
    "docs/monitoring.md",
  ])("every flag in %s exists", (name) => {
    const known = [common, ...Object.values(commands).map(({ options }) => options)].flatMap(Object.keys);
    const text = textOf(name).replace(/^(npm|npx|node) .*$|`(docker|systemctl) .*?`/gm, "");
    const spoken = [...text.matchAll(/(?<=^|[\s`(])--([a-z][a-z-]+)/gm)].map((match) => match[1]!);
    const ofOthers = ["help", "version", "no-reproject", "test"];
    expect(spoken.filter((flag) => !known.includes(flag) && !ofOthers.includes(flag))).toEqual([]);
  });
});

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly required?: readonly string[];
  readonly description?: string;
}

function takes(schema: Schema): string {
  const { anyOf, items, type, properties } = schema;
  if (anyOf)
    return anyOf
      .filter(({ pattern }) => pattern !== "\\$\\{")
      .map(takes)
      .join(" or ");
  if (schema.enum) return schema.enum.map((choice) => `\`${choice}\``).join(" ");
  if (items) return `list of ${items.properties ? "steps" : `${takes(items)}s`}`;
  if (properties) return "its own members";
  if (type === "object") return "names with values";
  if (type === "boolean") return "`true` `false`";
  if (type === "integer") return `whole number from ${schema.minimum}`;
  return type === "string" ? "text" : String(type);
}

const members = ({ schema }: { readonly schema: unknown }): string => {
  const { properties = {}, required = [] } = schema as Schema;
  const rows = Object.entries(properties).map(([name, member]) => [
    `\`${name}\`${required.includes(name) ? " (required)" : ""}`,
    takes(member),
    member.description ?? "",
  ]);
  return table(["member", "takes", ""], rows);
};

describe("docs/monitoring.md", () => {
  const metricTable = (metrics: readonly MetricObject[], labels: (name: string) => readonly string[]) =>
    table(
      ["metric", "labels", ""],
      metrics.map(({ name, help }) => {
        const labelled = labels(name).map((label) => `\`${label}\``);
        return [`\`${name}\``, labelled.join(", "), help];
      }),
    );
  const labelsOfRun: Readonly<Record<string, { readonly labels: readonly string[] }>> = jobGauges;
  const ofRun = new JobMetrics("any").registry.getMetricsAsArray();
  const ofWorker = new WorkerMetrics().registry.getMetricsAsArray();

  test("docs/monitoring.md lists all metrics", async () => {
    const parts = {
      "job-metrics": metricTable(ofRun, (name) => labelsOfRun[name.replace("geoferry_", "")]!.labels),
      "worker-metrics": metricTable(ofWorker, (name) => (/duration/.test(name) ? ["outcome"] : [])),
    };
    await expect(fillSections(page("monitoring.md"), parts)).toMatchFileSnapshot("../docs/monitoring.md");
  });

  test("the alert rules and the dashboard use existing metrics", () => {
    const known = new Set([...ofRun, ...ofWorker].flatMap(({ name }) => [name, `${name}_count`]));
    const rules = parse(readFileSync(new URL("../samples/jobs/alerts.yaml", import.meta.url), "utf8"));
    const dashboard = JSON.parse(readFileSync(new URL("../samples/jobs/dashboard.json", import.meta.url), "utf8"));
    const asked = JSON.stringify([rules, dashboard]).match(/geoferry_\w+/g)!;
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
    expect(rules.groups[0].rules.map(({ alert }: { alert: string }) => alert)).toContain("JobLate");
    expect(dashboard.panels.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe("docs/jobs.md", () => {
  test("docs/jobs.md and the JSON Schema list the members of a job file", async () => {
    const markdown = page("jobs.md");
    const parts = {
      job: members(jobFile),
      service: members(serviceFile),
      step: members(stepFile),
      target: members(mapTarget),
    };
    expect(namesOfParts(markdown).sort()).toEqual(Object.keys(parts).sort());
    await expect(fillSections(markdown, parts)).toMatchFileSnapshot("../docs/jobs.md");
    await expect(`${JSON.stringify(jobSchema, null, 2)}\n`).toMatchFileSnapshot("../docs/job.schema.json");
  });
});

/** Sections of errors.md by their title. */
function sections(): Record<string, string> {
  const [, ...parts] = page("errors.md").split(/^## /m);
  return Object.fromEntries(parts.map((part) => [part.slice(0, part.indexOf("\n")), part]));
}

/** The codes in the first column of a section's table. */
function codesOf(section: string): string[] {
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  return rows.flatMap((row) => [...row.split(" | ")[0]!.matchAll(/`([a-z0-9-]+)`/g)].map((match) => match[1]!));
}

const explained = () => Object.values(sections()).flatMap(codesOf);

const sources = projectFiles()
  .filter(isSource)
  .map((path) => ({ path, text: textOf(path) }));
/** Code that runs for users: neither the registry itself nor the kit for tests. */
const running = sources.filter(({ path }) => !path.startsWith("src/errors") && !path.startsWith("src/testing/"));

describe("errors", () => {
  test("docs/errors.md lists exactly the errors of the registry, with kinds and exit statuses", () => {
    const rows = sections()
      .Errors!.split("\n")
      .filter((line) => line.startsWith("| `"));
    const documented = rows.map((row) => {
      const [code, kind, exit, remedy] = row.slice(2, -2).split(" | ");
      expect(remedy?.length, code).toBeGreaterThan(10);
      return { code: code!.slice(1, -1), kind, exit: Number(exit) };
    });
    const expected = Object.entries(errorDefinitions).map(([code, { kind }]) => ({
      code,
      kind,
      exit: exitStatus[kind],
    }));
    expect(documented).toEqual(expected);
  });

  test.each(Object.keys(errorDefinitions) as ErrorCode[])("the error %s is thrown by the sources", (code) => {
    const asFault = new RegExp(`\\bcreateError\\(\\s*"${code}"`);
    const asCode = new RegExp(`\\bcode(: .*?)? = .*"${code}"|\\bcode: "${code}"|\\? "${code}"`);
    // `asGeoferryError` recognizes errors of the system.
    const found =
      running.some(({ text }) => asFault.test(text) || asCode.test(text)) || asFault.test(textOf("src/errors.ts"));
    expect(found, `nothing throws ${code}: it has no place in the registry`).toBe(true);
  });

  test("the sources throw only errors of the registry", () => {
    const thrown = running.flatMap(({ text }) =>
      [...text.matchAll(/\bcreateError\(\s*"([^"]+)"/g)].map((match) => match[1]!),
    );
    expect(thrown.length).toBeGreaterThan(80);
    expect(thrown.filter((code) => !Object.hasOwn(errorDefinitions, code))).toEqual([]);
  });

  test("docs/converting.md has the exit status of every kind of error", () => {
    const rows = [...page("converting.md").matchAll(/^\| (\d+) \| .* \|$/gm)].map((match) => Number(match[1]));
    const used = new Set(Object.values(errorDefinitions).map(({ kind }) => exitStatus[kind]));
    expect(rows).toEqual([...new Set([0, exitStatus.rejected, exitStatus.differences, ...used])].sort((a, b) => a - b));
  });
});

describe("losses, notes and rejects", () => {
  const section = { Losses: codesOf(sections().Losses!), Notes: codesOf(sections().Notes!) };
  const rejects = codesOf(sections().Rejects!);
  const all = [...section.Losses, ...section.Notes, ...rejects];

  /** What the patterns find in the code, with the file it is found in. The service converts nothing. */
  const converting = running.filter(({ path }) => !path.startsWith("src/service/"));
  const found = (...patterns: RegExp[]) =>
    converting.flatMap(({ path, text }) =>
      patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => ({ path, code: match[1]! }))),
    );

  test.each([
    ["Losses", /\blose\(\s*"([a-z0-9-]+)"/g],
    ["Losses", /\blosses\.add\(\s*"([a-z0-9-]+)"/g],
    ["Losses", /\bcosts\.add\(\s*"([a-z0-9-]+)"/g],
    ["Notes", /\bnotice\(\s*"([a-z0-9-]+)"/g],
    ["Notes", /\bnotices\.add\(\s*"([a-z0-9-]+)"/g],
    ["Notes", /\bnotices\.push\(\[\s*"([a-z0-9-]+)"/g],
    ["Notes", /(?<![.\w])(?:say|once)\(\s*"([a-z0-9-]+)"/g],
  ] as const)("%s has every code of %s", (name, pattern) => {
    const codes = found(pattern);
    expect(codes.length).toBeGreaterThan(0);
    expect(codes.filter(({ code }) => !section[name].includes(code))).toEqual([]);
  });

  test("docs/errors.md has every notice of readers of cells and shapes", () => {
    const codes = found(
      /\bthis\.note\(\s*"([a-z0-9-]+)"/g,
      /\btroubles\.set\(\s*"([a-z0-9-]+)"/g,
      /^ {2}"?([a-z]+(?:-[a-z0-9]+)*)"?: "[a-z]+ [^"]*",$/gm,
    ).filter(({ path }) => path.startsWith("plugins/shapefile/") || path === "plugins/geojson/read/feature-parser.ts");
    expect(codes.length).toBeGreaterThan(10);
    expect(codes.filter(({ code }) => !all.includes(code))).toEqual([]);
  });

  test("docs/errors.md has every code of rejected features", () => {
    const codes = found(
      /\breject\(\{\s*code: "([a-z0-9-]+)"/g,
      /\breject\([^;{]*?"([a-z]+(?:-[a-z0-9]+)+)"/g,
      /\breturn \{ code: "([a-z0-9-]+)", reason/g,
      /\bconst code = "([a-z0-9-]+)"/g,
    );
    expect(codes.length).toBeGreaterThan(10);
    expect(codes.filter(({ code }) => !rejects.includes(code))).toEqual([]);
  });

  test("docs/errors.md explains only codes that the sources have", () => {
    const text = running.map((source) => source.text).join("\n");
    // Made from the dimension that is dropped.
    const made = text.includes("-dropped`, undefined,") ? ["z-dropped", "m-dropped"] : [];
    const unused = all.filter(
      (code) => !made.includes(code) && !text.includes(`"${code}"`) && !new RegExp(`^\\s+${code}: "`, "m").test(text),
    );
    expect(unused).toEqual([]);
  });

  test("docs/errors.md has every code that conversions of the samples report", { timeout: 240_000 }, async () => {
    const sandbox = new DocsSandbox();
    const met = new Set<string>();
    try {
      const inputs = ["samples/*.geojson", "samples/csv/*.csv", "samples/flawed/*", "samples/shapefile/*.shp"];
      for (const [i, input] of inputs.entries()) {
        for (const to of ["csv", "geojson", "shapefile"]) {
          const out = `out-${i}-${to}`;
          const args = [
            "convert",
            input,
            `${out}/`,
            "--to",
            to,
            "--make-valid",
            "--geometry-type",
            "multi",
            "--json",
            "-q",
          ];
          const records = geoferry(args, { cwd: sandbox.folder }).stdout.trim().split("\n");
          for (const record of records) {
            const { code } = JSON.parse(record) as { code?: string };
            if (code !== undefined) met.add(code);
          }
          const { output } = await sandbox.run(`cat ${out}/*.rejects.geojsonl 2>/dev/null; true`);
          for (const line of output.split("\n").filter((text) => text !== "")) met.add(JSON.parse(line).reject.code);
        }
      }
    } finally {
      sandbox.remove();
    }
    expect(met.size).toBeGreaterThan(10);
    expect([...met].filter((code) => !explained().includes(code))).toEqual([]);
  });
});

describe("links of the pages", () => {
  const pages = projectFiles().filter((path) => /^(README\.md|docs\/[^/]+\.md)$/.test(path));
  test.each(pages)("links of %s lead to existing files", (path) => {
    const links = [...textOf(path).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map((match) => match[1]!);
    const local = links.filter((link) => !/^https?:/.test(link));
    const files = new Set(projectFiles());
    const resolved = local.map((link) => join(path, "..", link).replaceAll("\\", "/"));
    expect(resolved.filter((target) => !files.has(target))).toEqual([]);
  });
});
