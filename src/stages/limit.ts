import type { Batch } from "../model/batch.js";
import { countSetting, type Settings } from "./settings.js";
import type { Stage } from "./stage.js";

export interface LimitSettings {
  readonly count: number;
}

/** Lets the first `count` features through that this stage is given; it counts over its batches, so it runs on one thread. */
export function build(settings: Settings): Stage {
  let left = countSetting(settings, "count");
  return {
    apply(batch: Batch): Batch {
      const passing = Math.min(left, batch.length);
      left -= passing;
      return passing === batch.length ? batch : batch.take(Uint32Array.from({ length: passing }, (_, row) => row));
    },
  };
}
