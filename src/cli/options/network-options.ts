/** Timeouts and retries of network requests. */
import { createError } from "../../errors.js";
import { defaultNetworkSettings, type NetworkSettings } from "../../network-settings.js";
import { omitUndefined } from "../../pipeline/request.js";
import { numberOf, wholeNumber } from "../parse/values.js";
import { type Flag, grouped, takes } from "./flag.js";

export interface NetworkArguments {
  readonly connectTimeout?: string;
  readonly timeout?: string;
  readonly minimumRate?: string;
  readonly retries?: string;
}

export const networkOptions = grouped("Network:", {
  "connect-timeout": {
    ...takes("SECONDS"),
    describe: "Time to wait for a connection",
    defaultDescription: String(defaultNetworkSettings.connectTimeout / 1000),
  },
  timeout: {
    ...takes("SECONDS"),
    describe: "Time in which a server may send nothing, or less than --minimum-rate",
    defaultDescription: String(defaultNetworkSettings.timeout / 1000),
  },
  "minimum-rate": {
    ...takes("BYTES"),
    describe: "Minimum transfer rate per second, averaged over --timeout",
    defaultDescription: String(defaultNetworkSettings.minimumRate),
  },
  retries: {
    ...takes("N"),
    describe: "Number of retries of a request; 0 for a single attempt",
    defaultDescription: String(defaultNetworkSettings.retries),
  },
} as const satisfies Readonly<Record<string, Flag>>);

/** A day. Larger values are probably milliseconds. */
const maxTimeoutSeconds = 86_400;

function secondsOf(option: string, text: string | undefined): number | undefined {
  const seconds = numberOf(option, text, 0, false);
  if (seconds === 0 || (seconds !== undefined && seconds > maxTimeoutSeconds))
    throw createError("option-invalid", {
      option,
      value: text!,
      expected: `a number of seconds above 0, at most ${maxTimeoutSeconds}`,
    });
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Network settings from flags; the environment is already merged into them. @throws option-invalid */
export function networkSettings(args: NetworkArguments): Partial<NetworkSettings> {
  const connectTimeout = secondsOf("--connect-timeout", args.connectTimeout);
  const timeout = secondsOf("--timeout", args.timeout);
  const minimumRate = numberOf("--minimum-rate", args.minimumRate, 0, false);
  const retries = wholeNumber("--retries", args.retries, 0);
  return omitUndefined<Partial<NetworkSettings>>({ connectTimeout, timeout, minimumRate, retries });
}
