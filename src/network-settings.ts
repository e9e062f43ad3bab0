/** How long other machines are waited for, and how often they are asked again. */
import { AsyncLocalStorage } from "node:async_hooks";

export interface NetworkSettings {
  /** Milliseconds until there is a connection: the name looked up, TLS agreed on. */
  readonly connectTimeout: number;
  /** Milliseconds that a server may stay silent, and the time that `minimumRate` is an average over. */
  readonly timeout: number;
  /** Bytes a second that a transfer carries at least; 0 for no more than a byte in `timeout`. */
  readonly minimumRate: number;
  /** Times that a request is sent again. */
  readonly retries: number;
}

export const defaultNetworkSettings: NetworkSettings = {
  connectTimeout: 10_000,
  timeout: 60_000,
  minimumRate: 1000,
  retries: 5,
};

/** Times that a server which let `timeout` pass is asked again: the next request would take as long. */
export const maxTimeoutRetries = 1;

/** What the command line and the environment say: it goes before what a job says. */
let processSettings: Partial<NetworkSettings> = {};
/** What a step of a job, or a call of the library, says. */
const scopedSettings = new AsyncLocalStorage<Partial<NetworkSettings>>();

/** Sets what holds in all of this process. */
export function setNetworkSettings(settings: Partial<NetworkSettings>): void {
  processSettings = settings;
}

/** The settings that hold here. @param kept what holds where neither the command line nor a job says anything */
export const networkSettings = (kept: Partial<NetworkSettings> = {}): NetworkSettings => ({
  ...defaultNetworkSettings,
  ...kept,
  ...scopedSettings.getStore(),
  ...processSettings,
});

/** Runs `work` with other settings, as far as the command line leaves them open. */
export const withNetworkSettings = <T>(settings: Partial<NetworkSettings>, work: () => T): T =>
  Object.keys(settings).length === 0 ? work() : scopedSettings.run(settings, work);
