/** Commands that messages print find the same service and the same state as the run that prints them. */

import { dedupeCommand, type Repeated } from "../errors/dedupe-command.js";
import { shellWord } from "../errors/shell-word.js";
import { asGeoferryError, GeoferryError } from "../errors.js";
import { printableValues } from "../printable.js";
import type { SessionArguments } from "./sync-session.js";

/** Of the flags that a run was given. */
export const sessionFlags = ({ profile, insecureHttp, state }: SessionArguments): readonly string[] => [
  ...(profile === undefined ? [] : ["--profile", profile]),
  ...(insecureHttp ? ["--insecure-http"] : []),
  ...(state === undefined ? [] : ["--state", state]),
];

/** An error whose message names the way out of doubled keys, with the flags of the run. */
export function withSessionFlags(error: GeoferryError, args: SessionArguments): GeoferryError {
  const { code, message, details } = error;
  if (code !== "key-repeated-on-map" && code !== "keys-doubled") return error;
  const command = dedupeCommand(printableValues(details) as unknown as Repeated);
  const flags = [...(args.url === undefined ? [] : ["--url", args.url]), ...sessionFlags(args)].map(shellWord);
  const whole = [command, ...flags].join(" ");
  return message.includes(whole)
    ? error
    : new GeoferryError(
        code,
        message.replace(command, () => whole),
        details,
        error.cause,
      );
}

/** @throws what `work` throws, with the flags of the run in its advice */
export async function advising<T>(args: SessionArguments, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw withSessionFlags(asGeoferryError(error), args);
  }
}
