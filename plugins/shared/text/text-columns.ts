/** Checks columns of text and JSON that were copied from a file, value by value only where that is necessary. */
import { isUtf8 } from "node:buffer";
import { BytesBuilder, type BytesColumn, type Column, Presence } from "../../../src/model/index.js";
import type { PluginContext } from "../../../src/plugin/index.js";

type Report = Pick<PluginContext, "reportLoss" | "reportNotice">;

const shownCharacters = 60;
const show = (text: string): string => JSON.stringify(text.slice(0, shownCharacters));

/** The column as it is if all of its values are UTF-8; otherwise with U+FFFD for what is not, which is reported. */
export function checkTextColumn(column: BytesColumn, name: string, context: Report): Column {
  return isUtf8(column.bytes) && !hasSplitCharacter(column) ? column : repairText(column, name, context);
}

/** Whether a value begins within a character: then neighbors may be valid only together. */
function hasSplitCharacter({ offsets, bytes }: BytesColumn): boolean {
  for (let row = 0; row < offsets.length; row++) {
    const at = offsets[row]!;
    if (at < bytes.length && (bytes[at]! & 0xc0) === 0x80) return true;
  }
  return false;
}

function repairText({ type, presence, offsets, bytes }: BytesColumn, name: string, context: Report): Column {
  const builder = new BytesBuilder(type, presence.length);
  for (let row = 0; row < presence.length; row++) {
    if (presence[row] !== Presence.value) {
      builder.pushNull();
      continue;
    }
    const value = bytes.subarray(offsets[row]!, offsets[row + 1]!);
    const text = Buffer.from(value).toString("utf8");
    if (!isUtf8(value)) context.reportLoss("text-undecodable", name, `${show(text)} is not in UTF-8`);
    builder.push(text);
  }
  return builder.finish();
}

/** The column with JSON strings for values that are not JSON, which are reported. */
export function checkJsonColumn({ presence, offsets, bytes }: BytesColumn, name: string, context: Report): Column {
  const builder = new BytesBuilder("json", presence.length);
  for (let row = 0; row < presence.length; row++) {
    if (presence[row] !== Presence.value) {
      builder.pushNull();
      continue;
    }
    const from = offsets[row]!;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, offsets[row + 1]! - from).toString();
    try {
      JSON.parse(text);
      builder.push(text);
    } catch {
      context.reportNotice("json-as-text", name, `${show(text)} is not JSON; it became a string`);
      builder.push(JSON.stringify(text));
    }
  }
  return builder.finish();
}
