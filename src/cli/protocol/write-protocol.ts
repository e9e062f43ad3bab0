import { existsSync, readFileSync } from "node:fs";
import { createError } from "../../errors.js";
import { createSink } from "../../io/output/create-sink.js";
import type { ConvertRequest } from "../../pipeline/request.js";
import { writeReport } from "../output/self-contained-page.js";
import { renderProtocol } from "./page.js";
import type { Protocol } from "./protocol.js";
import { isSamePath } from "./protocol-recorder.js";

/** Bytes at the beginning of a file that show whether it is a protocol. */
const isEarlierProtocol = (text: string): boolean =>
  text.includes('"type": "geoferry-migration-protocol"') || text.includes('<body class="protocol">');

/**
 * Checks `--report` before anything is converted: that the file may be replaced, and that it can be written.
 * @throws usage, output-failed
 */
export async function checkProtocolPath(path: string, { inputs, output, rejects }: ConvertRequest): Promise<void> {
  const refuse = (reason: string) => {
    throw createError("usage", { reason: `--report ${path}: ${reason}` });
  };
  if (!/\.(html|json)$/i.test(path)) refuse("name a file that ends with .html or .json");
  for (const other of [...inputs, output, ...(rejects === undefined ? [] : [rejects])])
    if (isSamePath(path, other)) refuse(`${other} is a file of the conversion; name another one`);
  if (existsSync(path) && !isEarlierProtocol(readFileSync(path, "utf8")))
    refuse("the file exists, but is not the protocol of an earlier conversion; name another one");
  // Disposing of it removes the temporary file and created folders, which the conversion must not find.
  await using sink = await createSink(path, { overwrite: true });
  await sink.create();
}

/** Writes the protocol as a page, or as JSON by the name of the file. @throws report-failed */
export async function writeProtocol(path: string, protocol: Protocol): Promise<void> {
  const text = /\.html$/i.test(path) ? renderProtocol(protocol) : `${JSON.stringify(protocol, null, 2)}\n`;
  await writeReport(text, path, true);
}
