import type { Batch } from "../../model/batch.js";
import { uniqueName } from "../../model/field.js";
import { type StageSettings, textSetting } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";

export interface IdsToFieldSettings {
  /** The field's name; `name_1` … where the batch has a field of that name already. */
  readonly name: string;
}

/** Moves the feature IDs into a new first field. A batch without IDs is not changed. */
export function build(settings: StageSettings, context: StageContext): Stage {
  const wanted = textSetting(settings, "name");
  return {
    apply(batch: Batch): Batch {
      if (!batch.ids) return batch;
      const name = uniqueName(wanted, new Set(batch.fields.map((field) => field.name)));
      if (name !== wanted) context.reportNotice("field-renamed", wanted, `the feature ids go to "${name}"`);
      return batch.with({
        ids: null,
        fields: [{ name, type: batch.ids.type }, ...batch.fields],
        columns: [batch.ids, ...batch.columns],
      });
    },
  };
}
