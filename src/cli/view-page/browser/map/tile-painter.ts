/** Paints the content of a tile into a picture. */
import { RingType } from "../../../../view/shape-record.js";
import { cellExtent, type TileContent, tileExtent } from "../../../../view/tiles/tile-content.js";
import { type Rgb, toRgb } from "../palette.js";

export interface TileStyle {
  /** By class: `#rrggbb`. */
  readonly colors: readonly string[];
  /** Of the ring around single dots. */
  readonly ring: string;
  /** Of dots; see `dotStep`. */
  readonly step: number;
  /** The greatest weight of a dot at this zoom. */
  readonly maxWeight: number;
}

/** Radii of dots by step, in CSS pixels: many dots are small. */
const dotRadii = [4, 3, 2] as const;

/** With so many dots a tile shows their density: each cell is a square. */
const densityStep = dotRadii.length;

/**
 * The step of the dots of a tile. Many dots that stand for small shapes are squares at once: as discs they would look
 * larger than the shapes.
 */
export function dotStep(dots: number, areShapes: boolean): number {
  if (dots < 300) return 0;
  if (areShapes) return densityStep;
  return dots < 2500 ? 1 : dots < 9000 ? 2 : densityStep;
}

/** The opacity of a square for one feature: the less, the more features the fullest square stands for. */
const minOpacity = (maxWeight: number): number => 0.8 - 0.48 * Math.min(1, maxWeight / 128);

const fillOpacity = "40";
const lineWidth = 1.5;

/** @param pixels side of the picture in device pixels @param ratio device pixels of a CSS pixel */
export function paintTile(tile: TileContent, pixels: number, ratio: number, style: TileStyle): ImageBitmap | null {
  if (tile.dots.xy.length === 0 && tile.shapes.ringCounts.length === 0) return null;
  const canvas = new OffscreenCanvas(pixels, pixels);
  // Dots are blended pixel by pixel, which is faster than a path for each.
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  const scale = pixels / tileExtent;
  const points = paintShapes(context, tile.shapes, scale, ratio, style);
  if (tile.dots.xy.length > 0 || points.length > 0) paintDots(context, tile, points, pixels, ratio, style);
  return canvas.transferToImageBitmap();
}

/** A position of a feature with several points: x, y and class. */
type LoosePoint = readonly [x: number, y: number, one: number];

/** Paints areas and lines. @returns the points of features with several */
function paintShapes(
  context: OffscreenCanvasRenderingContext2D,
  { classes, ringCounts, ringTypes, ringLengths, xy }: TileContent["shapes"],
  scale: number,
  ratio: number,
  { colors }: TileStyle,
): LoosePoint[] {
  const points: LoosePoint[] = [];
  context.lineWidth = lineWidth * ratio;
  context.lineJoin = "round";
  context.lineCap = "round";
  let ring = 0;
  let at = 0;
  for (let feature = 0; feature < ringCounts.length; feature++) {
    const one = classes[feature]!;
    const areas = new Path2D();
    const lines = new Path2D();
    let isArea = false;
    for (const last = ring + ringCounts[feature]!; ring < last; ring++) {
      const type = ringTypes[ring]!;
      const end = at + 2 * ringLengths[ring]!;
      if (type === RingType.points) for (; at < end; at += 2) points.push([xy[at]! * scale, xy[at + 1]! * scale, one]);
      else {
        const path = type === RingType.line ? lines : areas;
        isArea ||= type !== RingType.line;
        path.moveTo(xy[at]! * scale, xy[at + 1]! * scale);
        for (at += 2; at < end; at += 2) path.lineTo(xy[at]! * scale, xy[at + 1]! * scale);
        if (type !== RingType.line) path.closePath();
      }
    }
    context.strokeStyle = colors[one] ?? colors[0]!;
    if (isArea) {
      context.fillStyle = `${context.strokeStyle}${fillOpacity}`;
      context.fill(areas, "evenodd");
      context.stroke(areas);
    }
    context.stroke(lines);
  }
  return points;
}

/** How much a dot and its ring cover the pixels around its center. */
interface DotMask {
  readonly size: number;
  readonly inner: Float32Array;
  readonly outer: Float32Array;
}

function makeMask(radius: number, ring: number): DotMask {
  const size = 2 * Math.ceil(radius + ring) + 1;
  const center = (size - 1) / 2;
  const inner = new Float32Array(size * size);
  const outer = new Float32Array(size * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const distance = Math.hypot(x - center, y - center);
      inner[y * size + x] = Math.max(0, Math.min(1, radius + 0.5 - distance));
      outer[y * size + x] = ring === 0 ? 0 : Math.max(0, Math.min(1, radius + ring + 0.5 - distance));
    }
  }
  return { size, inner, outer };
}

function paintDots(
  context: OffscreenCanvasRenderingContext2D,
  { dots }: TileContent,
  points: readonly LoosePoint[],
  pixels: number,
  ratio: number,
  { colors, ring, step, maxWeight }: TileStyle,
): void {
  const image = context.getImageData(0, 0, pixels, pixels);
  const radius = dotRadii[Math.min(step, densityStep - 1)]!;
  const ringWidth = radius > 2 ? ratio : 0.6 * ratio;
  const mask = makeMask(radius * ratio, ringWidth);
  const inks = colors.map(toRgb);
  const ringInk = toRgb(ring);
  const scale = pixels / tileExtent;
  const stamp = (x: number, y: number, one: number) => {
    const [left, top] = [Math.round(x - mask.size / 2), Math.round(y - mask.size / 2)];
    blend(image, mask.size, mask.outer, left, top, ringInk, radius > 2 ? 1 : 0.6);
    blend(image, mask.size, mask.inner, left, top, inks[one] ?? inks[0]!, 1);
  };
  const { xy, classes, weights } = dots;
  const least = minOpacity(maxWeight);
  for (let d = 0; d < classes.length; d++) {
    const [x, y, one] = [xy[2 * d]!, xy[2 * d + 1]!, classes[d]!];
    if (step < densityStep) stamp(x * scale, y * scale, one);
    else {
      const opacity = least + (1 - least) * Math.min(1, weights[d]! / Math.max(1, maxWeight));
      fillCell(image, x, y, scale, inks[one] ?? inks[0]!, opacity);
    }
  }
  for (const [x, y, one] of points) stamp(x, y, one);
  context.putImageData(image, 0, 0);
}

/** Fills the cell of a dot, without a gap to its neighbors. */
function fillCell(image: ImageData, x: number, y: number, scale: number, ink: Rgb, opacity: number): void {
  const [column, row] = [Math.floor(x / cellExtent), Math.floor(y / cellExtent)];
  const [left, right] = [column, column + 1].map((at) => Math.round(at * cellExtent * scale)) as [number, number];
  const [top, bottom] = [row, row + 1].map((at) => Math.round(at * cellExtent * scale)) as [number, number];
  const [width, height] = [Math.max(1, right - left), Math.max(1, bottom - top)];
  for (let dy = 0; dy < height; dy++)
    for (let dx = 0; dx < width; dx++) blendPixel(image, left + dx, top + dy, ink, opacity);
}

function blend(
  image: ImageData,
  size: number,
  mask: Float32Array,
  left: number,
  top: number,
  ink: Rgb,
  opacity: number,
): void {
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) blendPixel(image, left + x, top + y, ink, mask[y * size + x]! * opacity);
}

/** Source over destination, without premultiplied alpha (Porter and Duff 1984). */
function blendPixel(
  { data, width, height }: ImageData,
  x: number,
  y: number,
  [red, green, blue]: Rgb,
  alpha: number,
): void {
  if (alpha === 0 || x < 0 || y < 0 || x >= width || y >= height) return;
  const at = 4 * (y * width + x);
  const below = (data[at + 3]! / 255) * (1 - alpha);
  const total = alpha + below;
  data[at] = (red * alpha + data[at]! * below) / total;
  data[at + 1] = (green * alpha + data[at + 1]! * below) / total;
  data[at + 2] = (blue * alpha + data[at + 2]! * below) / total;
  data[at + 3] = 255 * total;
}
