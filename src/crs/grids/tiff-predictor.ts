interface PredictorOptions {
  /** 2: each number is the difference to the one before; 3: so are the bytes of floating numbers, put apart by weight. */
  readonly predictor: number;
  readonly rowBytes: number;
  /** Numbers of a node, each of which has its own differences. */
  readonly stride: number;
  readonly bytesPerSample: number;
  readonly isLittleEndian: boolean;
}

/**
 * The numbers of a block, of which it holds differences (TIFF 6.0, section 14; Adobe Photoshop TIFF technical note 3),
 * and whether they are little-endian then.
 */
export function undoPredictor(view: DataView, differences: PredictorOptions): { view: DataView; order: boolean } {
  const { predictor, rowBytes, isLittleEndian } = differences;
  const rows = Math.floor(view.byteLength / rowBytes);
  // What was not compressed belongs to the reader of the file.
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

/** The bytes of the highest weight of all numbers stand first, whatever the order of the file. */
function undoFloatingPoint(row: Uint8Array, mixed: Uint8Array, { stride, bytesPerSample }: PredictorOptions): void {
  for (let at = stride; at < row.length; at++) row[at] = row[at]! + row[at - stride]!;
  mixed.set(row);
  const numbers = row.length / bytesPerSample;
  for (let k = 0; k < numbers; k++) {
    for (let weight = 0; weight < bytesPerSample; weight++)
      row[k * bytesPerSample + weight] = mixed[weight * numbers + k]!;
  }
}
