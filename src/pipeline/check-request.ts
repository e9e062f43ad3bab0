import { statSync } from "node:fs";
import { fault, GeoferryError } from "../errors.js";
import { FileSource, isZip, readHead } from "../io/source.js";
import type { Format } from "../plugin/format.js";
import { fieldsOf, parseGeometryType } from "../stages/index.js";
import { askedCrs } from "./asked-crs.js";
import { parseReaderOptions } from "./inputs.js";
import { checkLimits } from "./limits.js";
import type { ConvertRequest, Host } from "./request.js";
import { checkedBox, targetCrs } from "./shape.js";

/**
 * What is wrong with a request by itself, whatever the inputs hold and the outputs are: told before anything else, so that
 * nobody is asked to overwrite a file only to hear of a mistyped option then.
 * @throws usage, format-unknown, format-cannot-read, option-unknown, option-invalid, expression-invalid, crs-mistaken
 */
export async function checkRequest(request: ConvertRequest, host: Host): Promise<void> {
  const { where, geometryType, sourceCrs, bbox, reproject } = request;
  if (where !== undefined) fieldsOf(where);
  if (geometryType !== undefined) parseGeometryType(geometryType);
  checkLimits(request);
  if (sourceCrs !== undefined) await askedCrs("--source-crs", sourceCrs);
  const target = await targetCrs(request);
  if (bbox && reproject !== false) checkedBox(bbox, target);
  await checkReader(request, host);
}

async function checkReader({ from, inputs, readerOptions = {} }: ConvertRequest, host: Host): Promise<void> {
  if (from !== undefined) {
    const format = host.registry.get(from);
    if (!format.reader) throw fault("format-cannot-read", { format: format.id });
    parseReaderOptions(format, readerOptions);
  } else if (Object.keys(readerOptions).length > 0) {
    for (const input of inputs) {
      const format = await formatOf(input, host);
      if (format?.reader) parseReaderOptions(format, readerOptions);
    }
  }
}

/** The format of an input that is an address of its own, or a file and no archive; of anything else, and of what nobody knows, opening it tells. */
async function formatOf(input: string, { registry }: Host): Promise<Format | null> {
  const addressed = registry.ofAddress(input);
  if (addressed) return addressed;
  if (!statSync(input, { throwIfNoEntry: false })?.isFile()) return null;
  try {
    const source = FileSource.at(input);
    return isZip(await readHead(source)) ? null : await registry.identify(source);
  } catch (error) {
    if (error instanceof GeoferryError) return null;
    throw error;
  }
}
