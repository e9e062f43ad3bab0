import { resolve } from "node:path";
import { createError } from "../../errors.js";
import type { RunningService, ServiceOptions } from "../../service/serve.js";
import type { Settings } from "../../service/settings.js";
import type { Command } from "../command.js";
import { takes } from "../options/flag.js";
import { file, folder } from "../options/source-options.js";
import { type StoreArguments, storeLocation, storeOptions } from "../options/store-location.js";
import { listOf } from "../parse/arguments.js";
import { pairs, portNumber, wholeNumber } from "../parse/values.js";
import { interrupted, reloadAtHangup } from "../signals.js";

export interface ServeArguments extends StoreArguments {
  readonly host?: string;
  readonly port?: string;
  readonly probePort?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly publicUrl?: string;
  readonly trustProxy?: string;
  readonly insecureHttp?: boolean;
  readonly spool?: string;
  readonly limit?: readonly string[];
  readonly auditDays?: string;
  readonly logLevel?: string;
}

export const serveCommand: Command<ServeArguments> = {
  usage: "serve",
  summary: "Run a Map Features Service",
  positionals: {},
  options: {
    ...storeOptions,
    host: { ...takes("HOST"), describe: "Host name or address to listen on", defaultDescription: "127.0.0.1" },
    port: { ...takes("PORT"), describe: "Port to listen on; 0 picks a free port", defaultDescription: "8080" },
    "probe-port": {
      ...takes("PORT"),
      describe: "Second port, for /healthz, /readyz and /metrics only, so that probes do not wait behind other clients",
    },
    "tls-cert": { ...file, describe: "Certificate for https with its chain, as PEM" },
    "tls-key": { ...file, describe: "Private key of the certificate, as PEM" },
    "public-url": {
      ...takes("URL"),
      describe: "Public URL behind a proxy: https://maps.example.org or https://example.org/maps",
    },
    "trust-proxy": {
      type: "string",
      placeholder: "ADDRESS",
      bareValue: "loopback,linklocal,uniquelocal",
      describe:
        "Trust the X-Forwarded-* headers of proxies with these addresses: a,b/24; without a value, of all private addresses",
    },
    "insecure-http": { type: "boolean", describe: "Allow connections from other machines without https" },
    limit: { ...takes("NAME=VALUE"), array: true, describe: "Change a limit: name=value (see docs/service.md)" },
    spool: {
      ...folder,
      describe: "Folder for pages over 1 MiB while clients read them",
      defaultDescription: "the data folder; with --database the system's temporary folder",
    },
    "audit-days": {
      ...takes("DAYS"),
      describe: "Time to keep audit log entries; 0 keeps them forever",
      defaultDescription: "400",
    },
    "log-level": {
      ...takes("LEVEL"),
      accepts: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
      describe: "Log level: trace, debug, info, warn, error, fatal, silent",
      defaultDescription: "info; with --quiet error",
    },
  },
  examples: [
    ["serve", "serve this machine at http://127.0.0.1:8080"],
    ["serve --data maps --port 0 --json", "use a free port, and print its URL as JSON"],
    [
      "serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --public-url https://maps.example.org",
      "serve other machines with https",
    ],
  ],
  async run(args) {
    const options = await parseServiceOptions(args);
    const { startService } = await import("../../service/serve.js");
    const service = await startService(options);
    announce(service, args);
    // Without TLS, there is nothing to reload, and SIGHUP means that the terminal was closed.
    if (options.tls) reloadAtHangup(() => reloadCertificate(service));
    if (!interrupted.aborted) await new Promise((resolve) => interrupted.addEventListener("abort", resolve));
    await service.close();
    return 0;
  },
};

function announce({ url, setupUrl, probeUrl }: RunningService, args: ServeArguments): void {
  if (args.json)
    process.stdout.write(
      `${JSON.stringify({ url, ...(probeUrl === null ? {} : { probes: probeUrl }), ...(setupUrl === null ? {} : { setup: setupUrl }) })}\n`,
    );
  if (args.quiet) return;
  process.stderr.write(`geoferry: serving at ${url}\n`);
  if (probeUrl !== null) process.stderr.write(`geoferry: probes at ${probeUrl}/healthz and ${probeUrl}/readyz\n`);
  if (setupUrl !== null)
    process.stderr.write(
      `geoferry: there is no account yet; create the first one within a day at ${setupUrl}, which works once\n`,
    );
}

function reloadCertificate(service: RunningService): void {
  try {
    service.reloadCertificate();
  } catch (error) {
    process.stderr.write(`geoferry: ${(error as Error).message}; the old certificate stays in use\n`);
  }
}

/** More than a year. */
const defaultAuditDays = 400;

async function parseServiceOptions(args: ServeArguments): Promise<ServiceOptions> {
  const { tlsCert, tlsKey } = args;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw createError("usage", { reason: "https needs both --tls-cert and --tls-key" });
  const port = portNumber("--port", args.port) ?? 8080;
  return {
    store: storeLocation(args, process.env),
    spoolFolder: args.spool === undefined ? null : resolve(args.spool),
    host: args.host ?? "127.0.0.1",
    port,
    probePort: portNumber("--probe-port", args.probePort) ?? null,
    tls: tlsCert === undefined || tlsKey === undefined ? null : { cert: tlsCert, key: tlsKey },
    publicUrl: parsePublicUrl(args.publicUrl),
    trustProxy: listOf(args.trustProxy) ?? [],
    insecureHttp: args.insecureHttp ?? false,
    settings: await parseLimits(args.limit),
    auditDays: wholeNumber("--audit-days", args.auditDays, 0) ?? defaultAuditDays,
    logLevel: await parseLogLevel(args),
    logTarget: process.stderr,
  };
}

/** @throws option-invalid */
function parsePublicUrl(text: string | undefined): string | null {
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const address = url && url.origin + url.pathname;
  // Unreserved characters only (RFC 3986, 2.3).
  const isPlain = url && /^(\/[\w.~-]+)*\/?$/.test(url.pathname);
  if (isPlain && /^https?:$/.test(url.protocol) && address === url.href) return address!.replace(/\/$/, "");
  throw createError("option-invalid", {
    option: "--public-url",
    value: text,
    expected: "an address like https://maps.example.org or https://example.org/maps",
  });
}

/** @throws option-invalid, option-unknown */
async function parseLimits(given: readonly string[] | undefined): Promise<ServiceOptions["settings"]> {
  const limits = Object.entries(pairs("--limit", listOf(given)) ?? {});
  if (limits.length === 0) return {};
  const { defaultSettings, maxSetting } = await import("../../service/settings.js");
  const known = Object.keys(defaultSettings) as (keyof Settings)[];
  return Object.fromEntries(
    limits.map(([name, value]) => {
      const setting = known.find((one) => one === name);
      if (!setting)
        throw createError("option-invalid", { option: "--limit", value: name, expected: `one of ${known.join(", ")}` });
      const option = `--limit ${name}`;
      const number = wholeNumber(option, value, 1)!;
      const most = maxSetting(setting);
      if (number > most) throw createError("option-invalid", { option, value, expected: `at most ${most}` });
      return [setting, number];
    }),
  );
}

/** @throws option-invalid */
async function parseLogLevel({ logLevel, quiet }: ServeArguments): Promise<ServiceOptions["logLevel"]> {
  const { logLevels } = await import("../../service/monitoring/logging.js");
  const level = logLevel ?? (quiet ? "error" : "info");
  const found = logLevels.find((known) => known === level);
  if (found) return found;
  throw createError("option-invalid", {
    option: "--log-level",
    value: level,
    expected: `one of ${logLevels.join(", ")}`,
  });
}
