const [quote, lineFeed, carriageReturn] = [0x22, 0x0a, 0x0d];

/**
 * The offset after the last record that ends in the block, or the end of the block if it `isLast`. It looks only at quotes,
 * which must open and close whole cells (RFC 4180, 2.5 to 2.7), and at line feeds.
 * @returns 0 if a quote is elsewhere, or not closed, or if no record ends with a line feed
 */
export function lastRecordEnd(bytes: Buffer, delimiter: number, isLast: boolean): number {
  const endsCell = (at: number) => {
    const byte = bytes[at];
    return byte === delimiter || byte === lineFeed || byte === carriageReturn;
  };
  /** The end of the last quoted cell. */
  let closedAt = 0;
  for (let open = bytes.indexOf(quote); open >= 0; open = bytes.indexOf(quote, closedAt)) {
    if (open > 0 && !endsCell(open - 1)) return 0;
    let close = bytes.indexOf(quote, open + 1);
    while (close >= 0 && bytes[close + 1] === quote) close = bytes.indexOf(quote, close + 2);
    // A block may end between the two quotes of a pair.
    const isCut = close < 0 || (close + 1 === bytes.length && !isLast);
    if (isCut) return isLast ? 0 : lineEndAfter(bytes.subarray(0, open), closedAt);
    if (close + 1 < bytes.length && !endsCell(close + 1)) return 0;
    closedAt = close + 1;
  }
  return isLast ? bytes.length : lineEndAfter(bytes, closedAt);
}

/** The offset after the last line feed, which is in no quotes from `from` on; 0 if it is before. */
function lineEndAfter(bytes: Buffer, from: number): number {
  const end = bytes.lastIndexOf(lineFeed) + 1;
  return end > from ? end : 0;
}
