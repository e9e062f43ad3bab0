/** Widens a box by other boxes; each is min x, min y, max x, max y. */
export function widenBoxBy(box: Float64Array, boxes: Float64Array): void {
  for (let at = 0; at < boxes.length; at += 4) {
    if (boxes[at]! < box[0]!) box[0] = boxes[at]!;
    if (boxes[at + 1]! < box[1]!) box[1] = boxes[at + 1]!;
    if (boxes[at + 2]! > box[2]!) box[2] = boxes[at + 2]!;
    if (boxes[at + 3]! > box[3]!) box[3] = boxes[at + 3]!;
  }
}
