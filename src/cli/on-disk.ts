/** Flags and arguments that name files of this machine: an address would be taken for a path of an odd name. */
import { fault } from "../errors.js";
import { isBucketAddress } from "../io/s3-address.js";
import { withoutSecrets } from "../io/without-secrets.js";
import { isWebAddress } from "../pipeline/expand.js";
import type { Command, CommonArguments } from "./command.js";
import { camelCase } from "./read-line.js";

/** @throws usage */
export function refuseAddresses(
  { options, positionals }: Pick<Command<CommonArguments>, "options" | "positionals">,
  args: CommonArguments,
): void {
  const given = new Map(Object.entries(args));
  const names = [
    ...Object.entries(positionals).map(([name, { onDisk }]) => ({ name, told: name.toUpperCase(), onDisk })),
    ...Object.entries(options).map(([name, { onDisk }]) => ({ name, told: `--${name}`, onDisk })),
  ];
  for (const { name, told, onDisk } of names) {
    const values = [given.get(camelCase(name))].flat();
    const address = values.find(
      (value) => typeof value === "string" && (isBucketAddress(value) || isWebAddress(value)),
    );
    if (onDisk && typeof address === "string")
      throw fault("usage", {
        reason: `${told} is a file or folder of this machine, and ${withoutSecrets(address)} is an address: name a path, and copy from or to the address yourself`,
      });
  }
}
