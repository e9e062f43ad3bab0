/** Adds the flags of a run to commands in its messages, so that they use the same service and state. */
import { type DuplicateKeyField, formatDedupeCommand } from "../../errors/dedupe-command.js";
import { quoteForShell } from "../../errors/shell-quote.js";
import { asGeoferryError, GeoferryError } from "../../errors.js";
import { escapeControlCharactersDeep } from "../../escape-control-characters.js";
import type { SessionArguments } from "../run/sync-session.js";

/** The flags of a run that select the service and the state. */
export const sessionFlags = ({ profile, insecureHttp, state }: SessionArguments): readonly string[] => [
  ...(profile === undefined ? [] : ["--profile", profile]),
  ...(insecureHttp ? ["--insecure-http"] : []),
  ...(state === undefined ? [] : ["--state", state]),
];

/** The flag for an address that is not in the environment, where credentials that are there are sent only to it. */
export const urlFlag = ({ url }: SessionArguments): readonly string[] =>
  url === undefined || url === process.env.GEOFERRY_URL || process.env.GEOFERRY_CLIENT_ID === undefined
    ? []
    : ["--url", url];

/** Adds the flags to the dedupe command in the message of a duplicate-key error. */
export function withSessionFlags(error: GeoferryError, args: SessionArguments): GeoferryError {
  const { code, message, details } = error;
  if (code !== "duplicate-key-on-map" && code !== "duplicates-created") return error;
  const command = formatDedupeCommand(escapeControlCharactersDeep(details) as unknown as DuplicateKeyField);
  const flags = [...(args.url === undefined ? [] : ["--url", args.url]), ...sessionFlags(args)].map(quoteForShell);
  const complete = [command, ...flags].join(" ");
  return message.includes(complete)
    ? error
    : new GeoferryError(
        code,
        message.replace(command, () => complete),
        details,
        error.cause,
      );
}

/** @throws errors of `work`, with the flags of the run in their advice */
export async function advising<T>(args: SessionArguments, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw withSessionFlags(asGeoferryError(error), args);
  }
}
