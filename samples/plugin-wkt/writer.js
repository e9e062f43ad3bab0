import { Presence } from "geoferry/plugin";
import { printWkt } from "./wkt.js";

/** @typedef {import("geoferry/plugin").WriterModule<{ srid: boolean }, { text: string }>} Module */

/** @type {Module["encoder"]} */
export async function createEncoder(layer, options, context) {
  const code = /^EPSG:(\d+)$/.exec(layer.crs?.id ?? "")?.[1];
  const prefix = options.srid && code ? `SRID=${code};` : "";
  return {
    encode(batch) {
      batch.fields.forEach(({ name }, f) => {
        const values = batch.columns[f].presence.filter((presence) => presence === Presence.value).length;
        if (values > 0) context.reportLoss("field-dropped", name, "WKT has geometries only", values);
      });
      let text = "";
      for (const { geometry } of batch.features()) text += `${prefix}${printWkt(geometry)}\n`;
      return { text };
    },
  };
}

/** @type {Module["assembler"]} */
export async function createAssembler(sink) {
  const file = await sink.create();
  return {
    append: ({ text }) => file.write(Buffer.from(text)),
    async finish() {},
  };
}
