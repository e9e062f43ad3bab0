/** Flags and arguments that name files of this machine: an address would be taken for a path of an odd name. */
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
    ...Object.entries(positionals).map(([name, { isPath }]) => ({ name, told: name.toUpperCase(), onDisk: isPath })),
    ...Object.entries(options).map(([name, { isPath }]) => ({ name, told: `--${name}`, onDisk: isPath })),
  ];
  for (const { name, told, onDisk } of names) {
    const values = [given.get(camelCase(name))].flat();
    const address = values.find(
      (value) => typeof value === "string" && (isBucketAddress(value) || isWebAddress(value)),
    );
    if (onDisk && typeof address === "string")
      throw createError("usage", {
        reason: `${told} is a file or folder of this machine, and ${redactUrl(address)} is an address: name a path, and copy from or to the address yourself`,
      });
  }
}
