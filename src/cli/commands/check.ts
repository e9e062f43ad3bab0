import { strictLimit } from "../../crs/index.js";
import { describePlace } from "../../errors.js";
import type { LayerReport } from "../../pipeline/inspect.js";
import type { Held } from "../../pipeline/suspicions.js";
import { printable } from "../../printable.js";
import type { Command } from "../command.js";
import { exitStatus } from "../exit.js";
import { ProgressDisplay } from "../progress.js";
import { describeReference } from "../reference.js";
import { serviceFrom } from "../service-options.js";
import { mapIdOf } from "../sync-options.js";
import { type InfoArguments, inspectInputs, inspectOptions } from "./info.js";

export interface CheckArguments extends InfoArguments {
  readonly strict?: boolean;
  readonly map?: string;
}

/** Problems shown to a person; `--json` has them all. */
const shown = 20;

/** What the checks find in features that were read; all other problems are features that could not be. */
const foundByChecks = new Set(["not-finite", "out-of-range", "invalid-geometry"]);

/** Problems in the order of the records, whatever found them. */
const inOrder = ({ problems }: LayerReport): LayerReport["problems"] =>
  [...problems].sort((a, b) => (a.place.record ?? 0) - (b.place.record ?? 0));

function describe(layer: LayerReport): string {
  const unread = layer.problems.filter(({ code, kept }) => !foundByChecks.has(code) && !kept).length;
  const lines = inOrder(layer)
    .slice(0, shown)
    .map((problem) => {
      const place = describePlace(problem.place);
      return `  ${place === "" ? "" : `${place}: `}${problem.reason}`;
    });
  if (layer.problems.length > shown) lines.push(`  and ${layer.problems.length - shown} more (--json lists them all)`);
  const verdict =
    layer.problems.length === 0
      ? layer.refused === null
        ? "no problem found"
        : layer.refusedFor === "crs-no-operation"
          ? "convert refuses it, but into formats that hold any reference system"
          : "convert refuses it"
      : `${layer.problems.length} of ${layer.featureCount + unread} features have a problem`;
  // That there is no operation stands with the reference system.
  if (layer.refused !== null && layer.refusedFor !== "crs-no-operation") lines.unshift(`  ${layer.refused}`);
  const suspicious = layer.suspicious.map((sentence) => `  look at: ${sentence}`);
  const reference = layer.reference ? describeReference(layer.reference) : [];
  const crs = layer.crs ? [["crs", [layer.crs.id, layer.crs.name].filter((part) => part).join(" ")], ...reference] : [];
  const known = crs.map(([word, sentence]) => `  ${word}: ${sentence}`);
  const all = [`${layer.input}: ${layer.layer}: ${verdict}`, ...known, ...suspicious, ...lines];
  return `${all.map(printable).join("\n")}\n`;
}

function records(layer: LayerReport): string {
  const { input, layer: name, crs, reference, featureCount, suspicious, problems, refused, refusedFor } = layer;
  const all = [
    ...(refused === null ? [] : [{ type: "problem", input, layer: name, code: refusedFor, reason: refused }]),
    ...inOrder(layer).map(({ code, reason, place }) => ({
      type: "problem",
      input,
      layer: name,
      code,
      reason,
      ...place,
    })),
    {
      type: "layer",
      input,
      layer: name,
      crs,
      reference,
      featureCount,
      suspicious,
      problems: problems.length + (refused === null ? 0 : 1),
    },
  ];
  return all.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** What a map holds already. */
async function heldBy(map: string, args: CheckArguments): Promise<Held> {
  const id = mapIdOf(map);
  const service = await serviceFrom(args);
  const display = new ProgressDisplay(process.stderr);
  const tell = (features: number) => display.update({ done: 0, total: 0, features, phase: "download" });
  const { extentOfMap } = await import("../../remote/map-extent.js");
  const { findMap } = await import("../../remote/find-map.js");
  const extent = await extentOfMap(service.map(await findMap(service, id)), args.quiet || args.json ? () => {} : tell);
  display.clear();
  return { name: `map:${id}`, extent };
}

export const checkCommand: Command<CheckArguments> = {
  usage: "check <inputs..>",
  summary: "Check INPUT: coordinate order and ranges, geometry validity",
  positionals: { inputs: { type: "string", array: true, describe: "INPUT...", demandOption: true } },
  options: {
    ...inspectOptions,
    strict: { type: "boolean", describe: "Suspicions count as problems, and operations worse than 5 m are refused" },
    map: {
      type: "string",
      requiresArg: true,
      takes: "map",
      describe: "Id or name of a map that INPUT shall lie where it lies",
    },
  },
  examples: [
    ["check parcels.shp", "are all geometries valid, and where they should be?"],
    ["check 'in/*.geojson' --json", "every problem as a record"],
    ["check parcels.csv --map 7c0e6a52-…", "do they lie where the map has its features?"],
  ],
  async run(args) {
    const held = args.map === undefined ? {} : { held: await heldBy(args.map, args) };
    const accuracy = args.accuracy ?? (args.strict ? String(strictLimit) : undefined);
    const asked = { ...args, ...(accuracy !== undefined && { accuracy }) };
    return inspectInputs(asked, { thorough: true, ...held }, ({ layers }) => {
      for (const layer of layers) {
        if (!args.json) process.stdout.write(describe(layer));
        else process.stdout.write(records(layer));
      }
      const bad = layers.some(
        (layer) => layer.refused !== null || layer.problems.length > 0 || (args.strict && layer.suspicious.length > 0),
      );
      return bad ? exitStatus.rejected : 0;
    });
  },
};
