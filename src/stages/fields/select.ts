import type { Batch } from "../../model/batch.js";
import { listSetting, type StageSettings } from "../settings.js";
import type { Stage } from "../stage.js";

export interface SelectSettings {
  /** The fields that stay, in the order wanted. Names that a batch does not have are ignored. */
  readonly fields: readonly string[];
}

export function build(settings: StageSettings): Stage {
  const names = [...new Set(listSetting(settings, "fields"))];
  return {
    apply(batch: Batch): Batch {
      const places = new Map(batch.fields.map((field, f) => [field.name, f]));
      const kept = names.map((name) => places.get(name)).filter((f) => f !== undefined);
      return batch.with({
        fields: kept.map((f) => batch.fields[f]!),
        columns: kept.map((f) => batch.columns[f]!),
      });
    },
  };
}
