import type { Batch } from "../model/batch.js";
import { mapSetting, type Settings } from "./settings.js";
import type { Stage } from "./stage.js";

export interface RenameSettings {
  /** Old name → new name, all at once: `{a: "b", b: "a"}` exchanges two. Names that a batch does not have are ignored. */
  readonly map: Readonly<Record<string, string>> | ReadonlyMap<string, string>;
}

export function build(settings: Settings): Stage {
  const names = mapSetting(settings, "map");
  return {
    apply(batch: Batch): Batch {
      return batch.with({
        fields: batch.fields.map((field) => {
          const name = names.get(field.name);
          return name === undefined ? field : { ...field, name };
        }),
      });
    },
  };
}
