/** Refuses addresses as values of path flags: they would create local files with strange names. */
import { createError } from "../../errors.js";
import { redactUrl } from "../../io/redact.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import { isWebAddress } from "../../pipeline/input/expand-inputs.js";
import type { Command, CommonArguments } from "../command.js";
import { camelCase } from "./camel-case.js";

/** @throws usage */
export function refuseAddresses(
  { options, positionals }: Pick<Command<CommonArguments>, "options" | "positionals">,
  args: CommonArguments,
): void {
  const given = new Map(Object.entries(args));
  const names = [
    ...Object.entries(positionals).map(([name, { isPath }]) => ({ name, label: name.toUpperCase(), onDisk: isPath })),
    ...Object.entries(options).map(([name, { isPath }]) => ({ name, label: `--${name}`, onDisk: isPath })),
  ];
  for (const { name, label, onDisk } of names) {
    const values = [given.get(camelCase(name))].flat();
    const address = values.find(
      (value) => typeof value === "string" && (isBucketAddress(value) || isWebAddress(value)),
    );
    if (onDisk && typeof address === "string")
      throw createError("usage", {
        reason: `${label} must be a local file or folder, and ${redactUrl(address)} is an address: name a path, and copy the file from or to the address separately`,
      });
  }
}
