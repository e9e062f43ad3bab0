/** Expands the folders and patterns of a source. */
import { expandInputs } from "../../pipeline/input/expand-inputs.js";
import type { Host } from "../../pipeline/request.js";
import type { SyncRequest } from "../request.js";

/** @throws input-missing, input-unreadable: an incomplete source would delete features */
export async function expandSource(request: SyncRequest, host: Host): Promise<SyncRequest> {
  const { inputs, from } = request.source;
  const expanded = await expandInputs(inputs, host.registry, host.signal, from, host.onLeftOut);
  const refused = expanded.find(({ error }) => error);
  if (refused) throw refused.error;
  return { ...request, source: { ...request.source, inputs: expanded.map(({ address }) => address) } };
}
