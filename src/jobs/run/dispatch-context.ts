import type { DistributedRun } from "../queue/dispatcher/distributed-run.js";
import type { StepContext } from "./step-context.js";

/** `StepContext`, and the run of workers where there is a queue. */
export interface DispatchContext extends StepContext {
  readonly distributedRun?: DistributedRun;
}
