/** Commands that messages print find the same service and the same state as the run that prints them. */
import { type DuplicateKeyField, dedupeCommand } from "../../errors/dedupe-command.js";
import { quoteForShell } from "../../errors/shell-quote.js";
import { asGeoferryError, GeoferryError } from "../../errors.js";
import { escapeControlCharactersDeep } from "../../escape-control-characters.js";
import type { SessionArguments } from "../run/sync-session.js";

/** Of the flags that a run was given. */
export const sessionFlags = ({ profile, insecureHttp, state }: SessionArguments): readonly string[] => [
  ...(profile === undefined ? [] : ["--profile", profile]),
  ...(insecureHttp ? ["--insecure-http"] : []),
  ...(state === undefined ? [] : ["--state", state]),
];

/** An error whose message names the way out of doubled keys, with the flags of the run. */
export function withSessionFlags(error: GeoferryError, args: SessionArguments): GeoferryError {
  const { code, message, details } = error;
  if (code !== "duplicate-key-on-map" && code !== "duplicates-created") return error;
  const command = dedupeCommand(escapeControlCharactersDeep(details) as unknown as DuplicateKeyField);
  const flags = [...(args.url === undefined ? [] : ["--url", args.url]), ...sessionFlags(args)].map(quoteForShell);
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
