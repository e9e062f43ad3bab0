/** Flags of commands that write an output. */
import { createError } from "../../errors.js";
import type { ConvertRequest, OutputMember, WithUndefined } from "../../pipeline/request.js";
import type { CommonArguments, Flag } from "../command.js";
import { outputOf } from "../parse/arguments.js";
import { camelCase } from "../parse/camel-case.js";
import { oneOf, pairs } from "../parse/values.js";
import { takes } from "./flag.js";
import { flag, several, text } from "./source-options.js";

export interface OutputArguments extends CommonArguments {
  readonly to?: string;
  readonly layerName?: string;
  readonly targetCrs?: string;
  readonly reproject: boolean;
  readonly out?: readonly string[];
  readonly append?: boolean;
  readonly overwrite?: boolean;
  readonly replaceLayer?: boolean;
  readonly ifNewer?: boolean;
  readonly allowEmpty?: boolean;
  readonly onNameClash?: string;
  readonly verify?: boolean;
}

const ofOutput = "Output:";

export const outputOptions = {
  to: {
    ...text,
    group: ofOutput,
    accepts: "output-format",
    describe: "Output format; by default detected from the extension",
  },
  "layer-name": { ...takes("NAME"), group: ofOutput, describe: "Name of the layer in the output" },
  "target-crs": {
    ...text,
    group: "Coordinates:",
    accepts: "crs",
    describe: "Coordinate reference system of the output",
    defaultDescription: "WGS84 longitude/latitude",
  },
  reproject: {
    ...flag,
    group: "Coordinates:",
    default: true,
    describe: "Copy coordinates unchanged",
  },
  out: {
    ...several,
    group: ofOutput,
    accepts: "writer-option",
    describe: "Writer option: key=value (see geoferry formats FORMAT)",
  },
  strict: { ...flag, group: "Rejects and losses:", describe: "Fail if there is any loss" },
  verify: {
    ...flag,
    group: "Rejects and losses:",
    describe: "Read the output again before it gets its name, and fail unless it has what was written",
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** Flags for outputs that already exist. */
export const existingOptions = {
  append: { ...flag, group: ofOutput, describe: "Add to the output" },
  overwrite: { ...flag, group: ofOutput, describe: "Replace the output" },
  "replace-layer": { ...flag, group: ofOutput, describe: "Replace this layer of the output" },
  "allow-empty": { ...flag, group: ofOutput, describe: "Allow an empty input to replace a non-empty output" },
} as const satisfies Readonly<Record<string, Flag>>;

/** The output part of a request, without the members that are not given. @throws usage, option-invalid */
export function outputRequest(args: OutputArguments, path: string): WithUndefined<Pick<ConvertRequest, OutputMember>> {
  if (path === "") throw createError("usage", { reason: "OUTPUT is an empty name; check that the variable is set" });
  const output = outputOf(path);
  checkExisting(args, output);
  if (args.reproject === false && args.targetCrs)
    throw createError("usage", {
      reason: "--no-reproject copies coordinates unchanged, --target-crs reprojects them: choose one",
    });
  if (args.json && output === "-")
    throw createError("usage", {
      reason: "both features (OUTPUT is -) and the records of --json would go to stdout: choose one",
    });
  return {
    output,
    to: args.to,
    layerName: args.layerName,
    targetCrs: args.targetCrs,
    reproject: args.reproject,
    writerOptions: pairs("--out", args.out),
    append: args.append,
    overwrite: args.overwrite,
    replaceLayer: args.replaceLayer,
    ifNewer: args.ifNewer,
    allowEmpty: args.allowEmpty,
    verify: args.verify,
    onNameClash:
      args.onNameClash === undefined
        ? undefined
        : oneOf<"error" | "number">("--on-name-clash", args.onNameClash, ["error", "number"], "error"),
  };
}

function checkExisting(args: OutputArguments, output: string): void {
  if (args.append && args.overwrite)
    throw createError("usage", { reason: "--append adds to the output, --overwrite replaces it: choose one" });
  if (args.replaceLayer && (args.append || args.overwrite))
    throw createError("usage", {
      reason: `--replace-layer replaces one layer of the output, ${args.append ? "--append adds to it" : "--overwrite replaces all of it"}: choose one`,
    });
  const flag = ["append", "overwrite", "replace-layer", "if-newer"].find(
    (name) => args[camelCase(name) as keyof OutputArguments],
  );
  if (output !== "-" || !flag) return;
  throw createError("usage", {
    reason: `--${flag} applies to an existing file, but OUTPUT is stdout: remove the flag`,
  });
}
