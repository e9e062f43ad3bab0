/** Runs the service as a process: opens the store, listens, purges expired data, and shuts down gracefully. */
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import type { Server as TlsServer } from "node:tls";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { version } from "../version.js";
import { buildApp } from "./app.js";
import { createBudgets } from "./limits/byte-budget.js";
import { registerHealthChecks } from "./monitoring/health-checks.js";
import {
  installRequestLog,
  type LogLevel,
  type LogTarget,
  loggerOptions,
  logKeyIndexProgress,
  logThreadExit,
} from "./monitoring/logging.js";
import { Metrics } from "./monitoring/metrics.js";
import { listenForProbes, type ProbeListener } from "./monitoring/probe-listener.js";
import { traceRequests, traceStoreCalls } from "./monitoring/tracing.js";
import { createSetupLink } from "./pages/account/setup.js";
import {
  checkTrustedProxies,
  listenOrigin,
  readCertificate,
  requireHttpsOrLoopback,
  type TlsFiles,
  toListenError,
} from "./process/listen.js";
import { schedulePurge } from "./process/purge-schedule.js";
import { closeConnectionsOnShutdown, closeWithTimeout } from "./process/shutdown.js";
import { defaultSettings, type Settings } from "./settings.js";
import type { Store } from "./store/contract.js";
import { openStore, prepareFolder, type StoreLocation } from "./store/open-store.js";

export interface ServiceOptions {
  readonly store: StoreLocation;
  /**
   * Spool folder for pages over 1 MiB; null for the data folder, or the temporary folder of the system if there is
   * none.
   */
  readonly spoolFolder: string | null;
  /** A name or an IP address of this machine. */
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** A second port, for probes and metrics only, in plain HTTP; 0 chooses a free port, null opens none. */
  readonly probePort: number | null;
  readonly tls: TlsFiles | null;
  /** Origin seen by clients, if a proxy forwards requests. */
  readonly publicUrl: string | null;
  /** Addresses and networks of proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustProxy: readonly string[];
  /** Whether to allow plain HTTP on an address that other machines can reach. */
  readonly insecureHttp: boolean;
  readonly settings: Partial<Settings>;
  /** Days to keep audit log entries; 0 keeps them forever. */
  readonly auditDays: number;
  readonly logLevel: LogLevel;
  readonly logTarget: LogTarget;
}

export interface RunningService {
  /** URL of the service for users: `https://maps.example.org`. */
  readonly url: string;
  /** The link that creates the first account; null if an account exists. */
  readonly setupUrl: string | null;
  /** The origin of the listener for probes; null if there is none. */
  readonly probeUrl: string | null;
  /** Reloads the certificate from its files; does nothing without TLS. @throws certificate-invalid */
  reloadCertificate(): void;
  /** Finishes requests in progress within a time limit, then releases the port and the store. */
  close(): Promise<void>;
}

/**
 * @throws option-invalid, http-insecure, certificate-invalid, address-in-use, address-unavailable, folder-not-writable,
 * store-unavailable, store-newer, store-foreign
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { host, tls, publicUrl } = options;
  requireHttpsOrLoopback(host, tls !== null, options.insecureHttp);
  checkTrustedProxies(options.trustProxy);
  const certificate = tls && readCertificate(tls, Date.now());
  const spoolFolder = resolveSpoolFolder(options);
  const metrics = new Metrics(version);
  let log: FastifyBaseLogger | undefined;
  const opened = await openStore(options.store, {
    onThreadExit: (exit) => log && logThreadExit(log, exit),
    onKeyIndex(event) {
      metrics.countKeys(event);
      if (log) logKeyIndexProgress(log, event);
    },
  });
  const store = metrics.timed(traceStoreCalls(opened));
  const settings = { ...defaultSettings, ...options.settings };
  const budgets = createBudgets(settings);
  metrics.watchBudgets(budgets);
  let ending = false;
  let probes: ProbeListener | null = null;
  const app = buildApp({
    store,
    settings,
    spoolFolder,
    budgets,
    publicUrl,
    onConnectionClosed: () => metrics.countClosedConnection(),
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    tls: certificate,
    logger: loggerOptions(options.logLevel, options.logTarget),
  });
  log = app.log;
  installRequestLog(app);
  traceRequests(app);
  metrics.watch(app);
  registerHealthChecks(app, { store, metrics, isEnding: () => ending });
  closeConnectionsOnShutdown(app, () => ending);
  try {
    const listening = await listen(app, options);
    if (options.probePort !== null) probes = await listenForProbes(app, host, options.probePort);
    const url = publicUrl ?? listening;
    const setupUrl = await createSetupUrl(store, url);
    const purgeSchedule = schedulePurge(store, options.auditDays, app.log);
    app.log.info({ store: store.name, listening, url }, "started");
    return {
      url,
      setupUrl,
      probeUrl: probes?.url ?? null,
      reloadCertificate: () =>
        tls && (app.server as unknown as TlsServer).setSecureContext(readCertificate(tls, Date.now())),
      async close() {
        ending = true;
        await closeWithTimeout(app, settings.endSeconds);
        await probes?.close();
        await purgeSchedule.stop();
        await store[Symbol.asyncDispose]();
        app.log.info("ended");
      },
    };
  } catch (error) {
    await probes?.close();
    await app.close();
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

/** @throws folder-not-writable */
function resolveSpoolFolder({ store, spoolFolder }: ServiceOptions): string {
  const folder = spoolFolder ?? (store.kind === "folder" ? store.path : tmpdir());
  prepareFolder(folder);
  return folder;
}

/**
 * Connections that the kernel holds until the process accepts them, up to its own limit (`somaxconn`). Beyond it, the
 * kernel drops attempts to connect, and a client repeats its own after 1, 3, 7 … s. With the 511 of Node.js, a crowd of
 * others makes that happen to probes.
 */
const backlog = 4096;

/** @returns the origin, as reachable from this machine */
async function listen(app: FastifyInstance, { host, port, tls }: ServiceOptions): Promise<string> {
  await app.ready();
  try {
    await app.listen({ host, port, backlog });
  } catch (error) {
    throw toListenError(error, host, port);
  }
  return listenOrigin(app.server.address() as AddressInfo, tls ? "https" : "http", host);
}

async function createSetupUrl(store: Store, url: string): Promise<string | null> {
  return (await store.accounts()).length > 0 ? null : createSetupLink(store, url, Date.now());
}
