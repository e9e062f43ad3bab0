import type { Host } from "../../pipeline/request.js";
import type { ServiceClient, Traffic } from "../../remote/client/map-client.js";

/** What the steps of a job need to run. */
export interface StepContext {
  readonly host: Host;
  /** Connects to the service of the job's maps when a step needs it. @throws remote-unknown … */
  readonly service: (signal: AbortSignal) => Promise<ServiceClient>;
  readonly traffic: Traffic;
  /** The state folder. */
  readonly stateRoot: string;
  /** Nothing is written; the reports say what a run would write. */
  readonly dryRun: boolean;
  /** Called with notices for the user. */
  readonly onNotice: (sentence: string) => void;
}
