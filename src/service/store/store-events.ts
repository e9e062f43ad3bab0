import type { KeyIndexEvent } from "./key-index-builder.js";
import type { ThreadExit } from "./sqlite/supervised-thread.js";

/** Callbacks for background events of a store, for log and metrics. */
export interface StoreEvents {
  readonly onThreadExit?: (exit: ThreadExit) => void;
  readonly onKeyIndex?: (event: KeyIndexEvent) => void;
}
