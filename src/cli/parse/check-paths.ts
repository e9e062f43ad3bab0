import { createError } from "../../errors.js";
import { redactUrl } from "../../io/redact.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import { isWebAddress } from "../../pipeline/input/expand-inputs.js";
import type { Command, CommonArguments } from "../command.js";
import { camelCase } from "./camel-case.js";

/**
 * Refuses addresses and `-` as values of path flags: they would create local files with strange names.
 * @throws usage
 */
export function checkPaths(
  { options, positionals }: Pick<Command<CommonArguments>, "options" | "positionals">,
  args: CommonArguments,
): void {
  const given = new Map(Object.entries(args));
  const names = [
    ...Object.entries(positionals).map(([name, argument]) => ({ name, label: name.toUpperCase(), ...argument })),
    ...Object.entries(options).map(([name, flag]) => ({ name, label: `--${name}`, ...flag })),
  ];
  for (const { name, label, isPath, takesStdio } of names) {
    if (!isPath) continue;
    const values = [given.get(camelCase(name))].flat().filter((value) => typeof value === "string");
    if (!takesStdio && values.includes("-"))
      throw createError("usage", { reason: `${label} needs the name of a file or folder, and - is none` });
    const address = values.find((value) => isBucketAddress(value) || isWebAddress(value));
    if (address !== undefined)
      throw createError("usage", {
        reason: `${label} must be a local file or folder, and ${redactUrl(address)} is an address: name a path, and copy the file from or to the address separately`,
      });
  }
}
