import { strictAccuracyLimit } from "../../crs/index.js";
import { describePlace } from "../../errors.js";
import { escapeControlCharacters } from "../../escape-control-characters.js";
import type { ExistingMapData } from "../../pipeline/input/layer-warnings.js";
import type { LayerReport } from "../../pipeline/inspect.js";
import type { Command } from "../command.js";
import { exitStatus } from "../exit.js";
import { serviceFrom } from "../options/service-options.js";
import { mapIdOf } from "../options/sync-options.js";
import { describeReference, refusalOf } from "../output/crs-text.js";
import { ProgressDisplay } from "../output/progress.js";
import { type InfoArguments, inspectInputs, inspectOptions } from "./info.js";

export interface CheckArguments extends InfoArguments {
  readonly strict?: boolean;
  readonly map?: string;
}

/** Problems that are listed; `--json` lists all. */
const maxShownProblems = 20;

/** Problems of features that were read; other codes are features that could not be read. */
const checkCodes = new Set(["non-finite", "out-of-range", "geometry-invalid"]);

/** Sorts by record. */
const sortProblems = ({ problems }: LayerReport): LayerReport["problems"] =>
  [...problems].sort((a, b) => (a.place.record ?? 0) - (b.place.record ?? 0));

function describeProblems(layer: LayerReport): string {
  const unread = layer.problems.filter(({ code, kept }) => !checkCodes.has(code) && !kept).length;
  const lines = sortProblems(layer)
    .slice(0, maxShownProblems)
    .map((problem) => {
      const place = describePlace(problem.place);
      return `  ${place === "" ? "" : `${place}: `}${problem.reason}`;
    });
  if (layer.problems.length > maxShownProblems)
    lines.push(`  and ${layer.problems.length - maxShownProblems} more (--json lists them all)`);
  const verdict =
    layer.problems.length === 0
      ? layer.error === null
        ? layer.suspectedOrder === null
          ? "no problem found"
          : "x and y seem to be swapped"
        : layer.errorCode === "crs-no-operation"
          ? "convert refuses it, except for output formats that support any reference system"
          : "convert refuses it"
      : `${layer.problems.length} of ${layer.featureCount + unread} features have a problem`;
  const refusal = refusalOf(layer);
  if (refusal !== null) lines.unshift(`  ${refusal}`);
  const suspicious = layer.warnings.map((sentence) => `  warning: ${sentence}`);
  const reference = layer.reference ? describeReference(layer.reference) : [];
  const crs = layer.crs ? [["crs", [layer.crs.id, layer.crs.name].filter((part) => part).join(" ")], ...reference] : [];
  const known = crs.map(([word, sentence]) => `  ${word}: ${sentence}`);
  const all = [`${layer.input}: ${layer.layer}: ${verdict}`, ...known, ...suspicious, ...lines];
  return `${all.map(escapeControlCharacters).join("\n")}\n`;
}

function toRecords(layer: LayerReport): string {
  const { input, layer: name, crs, reference, featureCount, warnings, suspectedOrder, error, errorCode } = layer;
  const all: { code: string | null; reason: string; place?: object }[] = [];
  if (error !== null) all.push({ code: errorCode, reason: error });
  if (suspectedOrder !== null) all.push({ code: "axis-order-suspected", reason: suspectedOrder });
  all.push(...sortProblems(layer));
  const records = [
    ...all.map(({ code, reason, place }) => ({ type: "problem", input, layer: name, code, reason, ...place })),
    { type: "layer", input, layer: name, crs, reference, featureCount, warnings, problems: all.length },
  ];
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** The existing features of a map. */
async function readMapToCompare(map: string, args: CheckArguments): Promise<ExistingMapData> {
  const id = mapIdOf(map);
  const service = await serviceFrom(args);
  const display = ProgressDisplay.of(args);
  const tell = (features: number) => display.callback?.({ done: 0, total: 0, features, phase: "download" });
  const { readMapExtent } = await import("../../remote/snapshot/map-extent.js");
  const { resolveMapId } = await import("../../remote/client/resolve-map-id.js");
  const extent = await readMapExtent(
    service.map(await resolveMapId(service, id)),
    args.quiet || args.json ? () => {} : tell,
  );
  display.clear();
  return { name: `map:${id}`, extent };
}

export const checkCommand: Command<CheckArguments> = {
  usage: "check <inputs..>",
  summary: "Check INPUT: axis order, coordinate ranges, geometry validity",
  positionals: { inputs: { type: "string", array: true, describe: "INPUT...", demandOption: true } },
  options: {
    ...inspectOptions,
    strict: { type: "boolean", describe: "Count warnings as problems, and refuse operations less accurate than 5 m" },
    map: {
      type: "string",
      requiresArg: true,
      accepts: "map",
      describe: "Id or name of a map to compare the location of INPUT with",
    },
  },
  examples: [
    ["check parcels.shp", "find invalid geometries and implausible coordinates"],
    ["check 'in/*.geojson' --json", "print every problem as a record"],
    ["check parcels.csv --map 7c0e6a52-…", "compare their location with that of the map's features"],
  ],
  async run(args) {
    const held = args.map === undefined ? {} : { held: await readMapToCompare(args.map, args) };
    const accuracy = args.accuracy ?? (args.strict ? String(strictAccuracyLimit) : undefined);
    const asked = { ...args, ...(accuracy !== undefined && { accuracy }) };
    return inspectInputs(asked, { thorough: true, ...held }, ({ layers }) => {
      for (const layer of layers) {
        if (!args.json) process.stdout.write(describeProblems(layer));
        else process.stdout.write(toRecords(layer));
      }
      const bad = layers.some(
        ({ error, problems, suspectedOrder, warnings }) =>
          error !== null || problems.length > 0 || suspectedOrder !== null || (args.strict && warnings.length > 0),
      );
      return bad ? exitStatus.rejected : 0;
    });
  },
};
