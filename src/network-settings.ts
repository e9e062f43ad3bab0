/** Timeouts and retries of network requests. */
import { AsyncLocalStorage } from "node:async_hooks";

export interface NetworkSettings {
  /** Milliseconds to establish a connection, including name resolution and the TLS handshake. */
  readonly connectTimeout: number;
  /** Milliseconds that a server may be silent, and the period for `minimumRate`. */
  readonly timeout: number;
  /** Minimum bytes per second of a transfer; with 0, one byte within `timeout` is enough. */
  readonly minimumRate: number;
  /** Maximum number of retries of a request. */
  readonly retries: number;
}

export const defaultNetworkSettings: NetworkSettings = {
  connectTimeout: 10_000,
  timeout: 60_000,
  minimumRate: 1000,
  retries: 5,
};

/** Maximum number of retries after a timeout, since the next request would take as long. */
export const maxTimeoutRetries = 1;

/** Settings of the command line and the environment, which take precedence over those of a job. */
let processSettings: Partial<NetworkSettings> = {};
/** Settings of a step of a job, or of a library call. */
const scopedSettings = new AsyncLocalStorage<Partial<NetworkSettings>>();

/** Sets the settings of this process. */
export function setNetworkSettings(settings: Partial<NetworkSettings>): void {
  processSettings = settings;
}

/** The effective settings. @param kept defaults that override the general ones */
export const networkSettings = (kept: Partial<NetworkSettings> = {}): NetworkSettings => ({
  ...defaultNetworkSettings,
  ...kept,
  ...scopedSettings.getStore(),
  ...processSettings,
});

/** Runs `work` with settings that apply where the command line sets none. */
export const withNetworkSettings = <T>(settings: Partial<NetworkSettings>, work: () => T): T =>
  Object.keys(settings).length === 0 ? work() : scopedSettings.run(settings, work);
