import { fault } from "../errors.js";
import type { ChosenWriter } from "./outputs.js";
import type { ConvertRequest } from "./request.js";

/** Before anything is read: a layer has more fields than the target can hold. @throws unsupported */
export function checkFieldCount(
  source: string,
  count: number,
  { select }: Pick<ConvertRequest, "select">,
  { accepts: { mostFields }, format }: Pick<ChosenWriter, "accepts" | "format">,
): void {
  if (mostFields === undefined || select || count <= mostFields) return;
  const reason = `${format.label} holds at most ${mostFields} fields, and there are ${count}; choose some with --select, or write GeoJSON or CSV`;
  throw fault("unsupported", { source, reason });
}
