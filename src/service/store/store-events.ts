import type { KeyIndexEvent } from "./key-index-builder.js";
import type { ThreadExit } from "./sqlite/supervised-thread.js";

/** Who hears of what a store does by itself: log and metrics. */
export interface StoreEvents {
  readonly onThreadExit?: (end: ThreadExit) => void;
  readonly onKeyIndex?: (news: KeyIndexEvent) => void;
}
