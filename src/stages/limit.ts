import type { Batch } from "../model/batch.js";
import { countSetting, type StageSettings } from "./settings.js";
import type { Stage } from "./stage.js";

export interface LimitSettings {
  readonly count: number;
}

/** Keeps the first `count` features. It counts across batches, and must run on one thread. */
export function build(settings: StageSettings): Stage {
  let left = countSetting(settings, "count");
  return {
    apply(batch: Batch): Batch {
      const passing = Math.min(left, batch.length);
      left -= passing;
      return passing === batch.length ? batch : batch.take(Uint32Array.from({ length: passing }, (_, row) => row));
    },
  };
}
