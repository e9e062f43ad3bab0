/** Asks the server of the view. */
import type { ViewSource } from "../../../view/protocol.js";
import { decodeTile } from "../../../view/tiles/tile-content.js";

type Parameters = Readonly<Record<string, string | number | null>>;

async function request(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<Response> {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  // Relative to the page, whose address contains the secret.
  const address = query.size === 0 ? path : `${path}?${query}`;
  const response = await fetch(address, signal ? { signal } : {}).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Error("geoferry does not answer: it has ended. Start it again to go on.");
  });
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Error(error ?? `The request failed with status ${response.status}.`);
}

const json = async <T>(path: string, parameters?: Parameters): Promise<T> =>
  (await request(path, parameters)).json() as Promise<T>;

const sortText = (sort: { readonly field: number; readonly descending: boolean } | null): string | null =>
  sort && `${sort.descending ? "desc" : "asc"}-${sort.field}`;

const colorText = (color: { readonly method: string; readonly field: number } | null): string | null =>
  color && `${color.method}-${color.field}`;

export const httpSource: ViewSource = {
  async tile({ layer, where }, { z, x, y }, color, signal) {
    const path = `layer/${layer}/tile/${z}/${x}/${y}`;
    const response = await request(path, { where, color: colorText(color) }, signal);
    return decodeTile(await response.arrayBuffer());
  },
  count: ({ layer, where }) => json(`layer/${layer}/count`, { where }),
  rows: (layer, { where, sort }, from, count) =>
    json(`layer/${layer}/rows`, { where, sort: sortText(sort), from, count }),
  positionOf: (layer, { where, sort }, row) => json(`layer/${layer}/position`, { where, sort: sortText(sort), row }),
  feature: (layer, row, zoom) => json(`layer/${layer}/feature`, { row, zoom }),
  pick: (layers, x, y, zoom) =>
    json("pick", { layers: JSON.stringify(layers.map(({ layer, where }) => [layer, where])), x, y, zoom }),
  legend: (layer, choice) => json(`layer/${layer}/legend`, { color: colorText(choice) }),
  locate: (layer, longitude, latitude) => json(`layer/${layer}/locate`, { longitude, latitude }),
  analysis: () => json("analysis"),
};
