/** Writes pages that are too large for memory to files. */

import { write } from "node:fs";
import { promisify } from "node:util";
import { isNoRoom } from "../../no-room.js";
import { problem } from "../../problems.js";
import type { PageFacts, SpoolQuestion } from "../contract.js";
import { featureText } from "../page-limit.js";
import type { Database, Session } from "./database.js";
import { uuid } from "./ids.js";
import { featureBytes, find } from "./pages.js";

/** Bytes that are asked for at once; a larger feature is one piece. */
const pieceBytes = 1 << 20;

/** Writes a page to a file, piece by piece in one snapshot; nothing where it has more bytes than the question allows. */
export function spoolPage(db: Database, question: SpoolQuestion, file: number): Promise<PageFacts | null> {
  return db.snapshot(async (session) => {
    const found = await find(session, { ...question, most: -1 });
    if (!found) return null;
    const { text: _none, ...facts } = found;
    if (facts.count > 0 && facts.bytes <= question.most) await writeTexts(session, question.map, facts, file);
    return facts;
  });
}

async function writeTexts(
  session: Session,
  id: string,
  { first, last, bytes }: PageFacts,
  file: number,
): Promise<void> {
  const [found] = await session.rows<{ number: number }>("SELECT number FROM maps WHERE id = $1", uuid(id));
  const lengths = await session.rows<{ seq: number; bytes: number }>(
    `SELECT seq, ${featureBytes} AS bytes FROM features WHERE map = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq`,
    found!.number,
    first,
    last,
  );
  let at = 0;
  for (const piece of piecesOf(lengths)) {
    const [row] = await session.rows<{ text: string }>(
      `SELECT string_agg(${featureText}, ',' ORDER BY seq) AS text
      FROM features WHERE map = $1 AND seq BETWEEN $2 AND $3`,
      found!.number,
      piece.first,
      piece.last,
    );
    at += await writeAt(file, Buffer.from(at === 0 ? row!.text : `,${row!.text}`, "utf8"), at);
  }
  if (at !== bytes) throw new Error(`a page of ${bytes} bytes was written as ${at}`);
}

function* piecesOf(
  lengths: readonly { readonly seq: number; readonly bytes: number }[],
): Generator<{ readonly first: number; readonly last: number }> {
  let first = 0;
  let sum = 0;
  for (const [i, { bytes }] of lengths.entries()) {
    if (i > first && sum + bytes > pieceBytes) {
      yield { first: lengths[first]!.seq, last: lengths[i - 1]!.seq };
      first = i;
      sum = 0;
    }
    sum += bytes;
  }
  yield { first: lengths[first]!.seq, last: lengths.at(-1)!.seq };
}

const writeOnce = promisify(write);

/** @returns the number of bytes */
async function writeAt(file: number, bytes: Buffer, at: number): Promise<number> {
  try {
    for (let done = 0; done < bytes.length; ) {
      done += (await writeOnce(file, bytes, done, bytes.length - done, at + done)).bytesWritten;
    }
    return bytes.length;
  } catch (error) {
    throw isNoRoom((error as NodeJS.ErrnoException).code) ? problem("disk-full", {}, { cause: error }) : error;
  }
}
