import type { Batch } from "../../model/batch.js";
import { keepRows } from "../rows.js";
import { type StageSettings, textSetting } from "../settings.js";
import type { Stage } from "../stage.js";
import { TruthValue } from "./compare.js";
import { compile } from "./compile.js";
import { parseExpression } from "./parse.js";

export { fieldsMeantAsValues, referencedFields } from "./parse.js";

export interface WhereSettings {
  /** In the language of docs/where.md. */
  readonly expression: string;
}

/**
 * Keeps the features for which the expression is true: neither false nor unknown.
 * @throws expression-invalid
 */
export function build(settings: StageSettings): Stage {
  const expression = parseExpression(textSetting(settings, "expression"));
  return {
    apply(batch: Batch): Batch {
      const test = compile(expression, batch);
      const keep = new Uint8Array(batch.length);
      for (let row = 0; row < batch.length; row++) if (test(row) === TruthValue.true) keep[row] = 1;
      return keepRows(batch, keep);
    },
  };
}
