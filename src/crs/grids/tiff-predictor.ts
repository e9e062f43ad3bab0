interface PredictorOptions {
  /** 2: horizontal differencing of numbers; 3: of the bytes of floating-point numbers, grouped by significance. */
  readonly predictor: number;
  readonly rowBytes: number;
  /** Samples per node, each of which is differenced separately. */
  readonly stride: number;
  readonly bytesPerSample: number;
  readonly isLittleEndian: boolean;
}

/**
 * Undoes the predictor of a block (TIFF 6.0, section 14; Adobe Photoshop TIFF technical note 3). Returns the numbers, and
 * whether they are little-endian.
 */
export function undoPredictor(view: DataView, differences: PredictorOptions): { view: DataView; order: boolean } {
  const { predictor, rowBytes, isLittleEndian } = differences;
  const rows = Math.floor(view.byteLength / rowBytes);
  // An uncompressed block is a view of the reader's buffer and must not be changed.
  const bytes = new Uint8Array(rows * rowBytes);
  bytes.set(new Uint8Array(view.buffer, view.byteOffset, rows * rowBytes));
  const result = new DataView(bytes.buffer);
  if (predictor === 2) {
    for (let row = 0; row < rows; row++) undoHorizontalDifferencing(result, row * rowBytes, differences);
    return { view: result, order: isLittleEndian };
  }
  const mixed = new Uint8Array(rowBytes);
  for (let row = 0; row < rows; row++)
    undoFloatingPoint(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), mixed, differences);
  return { view: result, order: false };
}

function undoHorizontalDifferencing(
  view: DataView,
  start: number,
  { rowBytes, stride, bytesPerSample, isLittleEndian }: PredictorOptions,
): void {
  const step = stride * bytesPerSample;
  for (let at = start + step; at < start + rowBytes; at += bytesPerSample) {
    if (bytesPerSample === 2)
      view.setUint16(
        at,
        view.getUint16(at, isLittleEndian) + view.getUint16(at - step, isLittleEndian),
        isLittleEndian,
      );
    else if (bytesPerSample === 4)
      view.setUint32(
        at,
        view.getUint32(at, isLittleEndian) + view.getUint32(at - step, isLittleEndian),
        isLittleEndian,
      );
    else
      view.setBigUint64(
        at,
        view.getBigUint64(at, isLittleEndian) + view.getBigUint64(at - step, isLittleEndian),
        isLittleEndian,
      );
  }
}

/** The most significant bytes of all numbers come first, independent of the byte order of the file. */
function undoFloatingPoint(row: Uint8Array, mixed: Uint8Array, { stride, bytesPerSample }: PredictorOptions): void {
  for (let at = stride; at < row.length; at++) row[at] = row[at]! + row[at - stride]!;
  mixed.set(row);
  const numbers = row.length / bytesPerSample;
  for (let k = 0; k < numbers; k++) {
    for (let weight = 0; weight < bytesPerSample; weight++)
      row[k * bytesPerSample + weight] = mixed[weight * numbers + k]!;
  }
}
