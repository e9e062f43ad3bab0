import { createError } from "../../errors.js";
import type { Batch } from "../../model/batch.js";
import { mapSetting, type StageSettings } from "../settings.js";
import type { Stage } from "../stage.js";

export interface RenameSettings {
  /** Old name → new name, all at once: `{a: "b", b: "a"}` exchanges two. Names that a batch does not have are ignored. */
  readonly map: Readonly<Record<string, string>> | ReadonlyMap<string, string>;
}

/** @throws option-invalid if two fields of a batch would get one name */
export function build(settings: StageSettings): Stage {
  const names = mapSetting(settings, "map");
  return {
    apply(batch: Batch): Batch {
      const taken = new Set<string>();
      const fields = batch.fields.map((field) => {
        const name = names.get(field.name) ?? field.name;
        if (taken.has(name)) throw nameClashError(names, name);
        taken.add(name);
        return name === field.name ? field : { ...field, name };
      });
      return batch.with({ fields });
    },
  };
}

function nameClashError(names: ReadonlyMap<string, string>, name: string): Error {
  const value = [...names].filter(([, to]) => to === name).map(([from, to]) => `${from}=${to}`);
  return createError("option-invalid", {
    option: "--rename",
    value: value.join(","),
    expected: "a name that no other field has",
  });
}
