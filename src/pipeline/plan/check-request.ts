import { statSync } from "node:fs";
import { createError, GeoferryError } from "../../errors.js";
import { FileSource, isZip, readHead } from "../../io/input/source.js";
import type { Format } from "../../plugin/format.js";
import { parseGeometryType, referencedFields } from "../../stages/index.js";
import { parseReaderOptions } from "../input/open-inputs.js";
import type { ConvertRequest, Host } from "../request.js";
import { parseCrsOption } from "./parse-crs-option.js";
import { checkBbox, targetCrs } from "./plan-stages.js";
import { checkThresholdOptions } from "./thresholds.js";

/**
 * Checks the options of a request before inputs and outputs are looked at, so that a mistyped option is reported before
 * the user is asked whether to overwrite a file.
 * @throws usage, format-unknown, format-cannot-read, option-unknown, option-invalid, expression-invalid, crs-option-invalid
 */
export async function checkRequest(request: ConvertRequest, host: Host): Promise<void> {
  const { where, geometryType, sourceCrs, bbox, reproject } = request;
  if (where !== undefined) referencedFields(where);
  if (geometryType !== undefined) parseGeometryType(geometryType);
  checkThresholdOptions(request);
  if (sourceCrs !== undefined) await parseCrsOption("--source-crs", sourceCrs);
  const target = await targetCrs(request);
  if (bbox && reproject !== false) checkBbox(bbox, target);
  await checkReader(request, host);
}

async function checkReader({ from, inputs, readerOptions = {} }: ConvertRequest, host: Host): Promise<void> {
  if (from !== undefined) {
    const format = host.registry.get(from);
    if (!format.reader) throw createError("format-cannot-read", { format: format.id });
    parseReaderOptions(format, readerOptions);
  } else if (Object.keys(readerOptions).length > 0) {
    for (const input of inputs) {
      const format = await inputFormat(input, host);
      if (format?.reader) parseReaderOptions(format, readerOptions);
    }
  }
}

/** The format of an input that is a database address or a file; null for archives and if only opening the input can tell. */
async function inputFormat(input: string, { registry }: Host): Promise<Format | null> {
  const addressed = registry.findByAddress(input);
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
