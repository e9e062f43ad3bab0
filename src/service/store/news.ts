import type { KeyNews } from "./reading-keys.js";
import type { ThreadEnd } from "./sqlite/lasting-member.js";

/** Who hears of what a store does by itself: log and metrics. */
export interface StoreNews {
  readonly threadEnded?: (end: ThreadEnd) => void;
  readonly keysRead?: (news: KeyNews) => void;
}
