import { parseWkt } from "./wkt.js";

const blockSize = 1 << 18;
const parts = /^(?:SRID=(\d+);)?(.*)$/i;

/** The lines of a file, a block of them at a time: `[number of the first, lines]`. */
async function* linesOf(source) {
  const file = await source.open();
  try {
    const decoder = new TextDecoder();
    let [first, rest] = [1, ""];
    for (let at = 0; at < file.size; at += blockSize) {
      const lines = (rest + decoder.decode(await file.read(at, blockSize), { stream: true })).split(/\r?\n/);
      rest = lines.pop();
      yield [first, lines];
      first += lines.length;
    }
    yield [first, [rest + decoder.decode()]];
  } finally {
    await file.close();
  }
}

/** @type {import("geoferry/plugin").ReaderModule<{ comment: string }>["open"]} */
export async function open(source, { comment }, context) {
  const isGeometry = (line) => line !== "" && !(comment && line.startsWith(comment));
  const sridOf = async () => {
    for await (const [, lines] of linesOf(source)) {
      const line = lines.map((each) => each.trim()).find(isGeometry);
      if (line !== undefined) return parts.exec(line)?.[1];
    }
  };
  const srid = await sridOf();

  /** A feature, or null where the line is not a geometry and was rejected. */
  const featureOf = (line, number) => {
    try {
      const [, own, wkt] = parts.exec(line) ?? [];
      if (own !== srid) throw new Error(`SRID ${own ?? "(none)"} in a file of ${srid ?? "(none)"}`);
      return { type: "Feature", geometry: parseWkt(wkt ?? ""), properties: {} };
    } catch (error) {
      const reason = `line ${number}: ${error.message}`;
      context.reject({ code: "geometry-malformed", reason, place: { line: number }, feature: null, text: line });
      return null;
    }
  };

  const layer = {
    name: source.name.replace(/^.*[/\\]/, "").replace(/\.[^.]*$/, ""),
    crs: srid === undefined ? null : await context.crs.parse(`EPSG:${srid}`),
    fields: [],
    geometryTypes: null,
    featureCount: null,
    extent: null,
    bytes: source.size,
    async *batches() {
      for await (const [first, lines] of linesOf(source)) {
        context.signal.throwIfAborted();
        const trimmed = lines.map((line) => line.trim());
        yield trimmed.flatMap((line, i) => (isGeometry(line) ? (featureOf(line, first + i) ?? []) : []));
      }
    },
  };
  return { layers: [layer], async [Symbol.asyncDispose]() {} };
}
