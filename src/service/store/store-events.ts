import type { KeyIndexEvent } from "./key-index-builder.js";
import type { ThreadExit } from "./sqlite/supervised-thread.js";

/** Who hears of what a store does by itself: log and metrics. */
export interface StoreEvents {
  readonly threadEnded?: (end: ThreadExit) => void;
  readonly keysRead?: (news: KeyIndexEvent) => void;
}
