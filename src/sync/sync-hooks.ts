import type { ApplyReport } from "./apply/apply-context.js";
import type { PreparedSync, UnchangedSync } from "./plan/prepare-sync.js";

/** Callbacks during a synchronization. */
export interface SyncHooks {
  /** Called after features were recreated that an interrupted run had deleted. */
  onInterruptedUpdatesFinished?(earlier: ApplyReport): void;
  /** Called before the guards check the plan. */
  onPlan(prepared: PreparedSync): void;
  /** Called after the guards pass; false leaves the map unchanged. */
  confirm(prepared: PreparedSync): Promise<boolean>;
  /**
   * Called when another writer changed the map after it was read, with the changes so far; both sides are then read
   * again.
   */
  onConflict?(report: ApplyReport): void;
}

/** The result of a synchronization. `applied` is null if there was nothing to do or the user did not confirm. */
export interface SyncResult {
  readonly prepared: PreparedSync | UnchangedSync;
  readonly applied: ApplyReport | null;
}
